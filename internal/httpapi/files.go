package httpapi

import (
	"fmt"
	"path/filepath"
	"time"

	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/daemon"
	"github.com/efg-tools/efg/internal/jsondoc"
)

// Files serves run files. The list has their file names; documents use the names as given.
type Files struct {
	list    *jsondoc.RunList
	entries map[string]*Entry
}

// NewFiles reads the files. Duplicate names get a number.
func NewFiles(given []string, paths []string) (*Files, error) {
	f := &Files{list: jsondoc.NewRunList(""), entries: map[string]*Entry{}}
	taken := map[string]bool{"last": true}
	for i, path := range paths {
		path, err := filepath.Abs(path)
		if err != nil {
			return nil, err
		}
		name := freeName(plainName(runName(path)), taken)
		run, err := runfile.OpenRun(path)
		if err != nil {
			return nil, err
		}
		x := daemon.Summarize(name, run)
		x.Ended = time.Unix(0, max(run.Meta.Started, run.Meta.Ended)).UTC()
		run.Close()
		f.list.Runs = append(f.list.Runs, *x)
		f.entries[name] = &Entry{Name: given[i], File: path}
	}
	f.list.Total, f.list.Stamp = len(f.list.Runs), "files"
	return f, nil
}

// List implements Runs.
func (f *Files) List() (*jsondoc.RunList, error) { return f.list, nil }

// Find implements Runs.
func (f *Files) Find(name string) (*Entry, error) {
	if name == "last" {
		name = f.list.Runs[len(f.list.Runs)-1].Name
	}
	return f.entries[name], nil
}

// freeName makes a name unique by appending a number, and reserves it.
func freeName(name string, taken map[string]bool) string {
	try := name
	for n := 2; taken[try]; n++ {
		try = fmt.Sprintf("%s-%d", name, n)
	}
	taken[try] = true
	return try
}
