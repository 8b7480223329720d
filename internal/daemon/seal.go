package daemon

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/efg-tools/efg/internal/durable"
)

// sealing is the content of NAME.sealing: the segments that become a run, or a part of
// one (NAME/part-NODE).
type sealing struct {
	Name     string   `json:"name"`
	Node     string   `json:"node"`
	Spool    string   `json:"spool"`
	Segments []string `json:"segments"`      // names in the spool
	Job      string   `json:"job,omitempty"` // launch of a part
	Exit     *Exit    `json:"exit,omitempty"`
	Gone     int64    `json:"gone,omitempty"` // when its processes had ended, in Unix nanoseconds
}

// sealer turns ended jobs into runs.
type sealer struct {
	store *Store
	node  string
	tool  string
	// reader finds a program that reads segments of another layout.
	reader func(layout uint64) (program string, ok bool)
	stop   <-chan struct{} // closed when copying must be given up; nil: never
}

// begin writes the list of a job's segments. From then on they belong to this run.
func (x *sealer) begin(j *Job, spool *Spool) (*sealing, error) {
	s := &sealing{Node: x.node, Spool: spool.Dir, Job: j.shared(), Exit: j.exit()}
	if !j.gone.IsZero() {
		s.Gone = j.gone.UnixNano()
	}
	for _, g := range j.Segments {
		s.Segments = append(s.Segments, g.Name)
	}
	if s.Job != "" {
		return s, x.beginPart(s, j)
	}
	return s, x.reserve(s, j.Name())
}

// reserve finds a name that is not used on any machine, and writes the list.
func (x *sealer) reserve(s *sealing, name string) error {
	return numbered(name, "-", func(try string) (bool, error) {
		if taken, err := x.store.taken(try); taken || err != nil {
			return false, err
		}
		s.Name = try
		if ok, err := x.list(s); !ok || err != nil {
			return false, err
		}
		// Another machine may have finished a run of this name just before.
		taken, err := x.store.taken(try, sealingExt)
		if taken || err != nil {
			return false, errors.Join(err, os.Remove(x.store.path(try, sealingExt)))
		}
		return true, nil
	})
}

// list writes the list, unless there is one of this name already.
func (x *sealer) list(s *sealing) (ok bool, err error) {
	data, err := json.Marshal(s)
	if err != nil {
		return false, err
	}
	err = durable.WriteNew(x.store.nodeFile(x.node, ".new"), x.store.path(s.Name, sealingExt), data)
	if errors.Is(err, os.ErrExist) {
		return false, nil
	}
	return err == nil, err
}

// numbered tries a name, and then numbered variants of it, until one is free.
func numbered(name, separator string, try func(string) (ok bool, err error)) error {
	for n := 1; ; n++ {
		text := name
		if n > 1 {
			text = fmt.Sprintf("%s%s%d", name, separator, n)
		}
		if ok, err := try(text); ok || err != nil {
			return err
		}
	}
}

// taken reports whether a name is used by files of a run, finished or not, except those with
// some extensions.
func (s *Store) taken(name string, except ...string) (bool, error) {
	for _, ext := range []string{"", runExt, summaryExt, sealingExt} {
		if slices.Contains(except, ext) {
			continue
		}
		if _, err := os.Lstat(s.path(name, ext)); !errors.Is(err, os.ErrNotExist) {
			return err == nil, err
		}
	}
	return false, nil
}

// unfinished reads this machine's lists of runs whose sealing was interrupted, and removes
// partially written files.
func (x *sealer) unfinished() ([]*sealing, error) {
	var list []*sealing
	os.RemoveAll(x.copies())
	os.RemoveAll(x.translations())
	for _, pattern := range []string{"*", "*/*"} {
		files, err := filepath.Glob(filepath.Join(x.store.Dir, pattern+sealingExt))
		if err != nil {
			return nil, err
		}
		for _, f := range files {
			s := &sealing{}
			data, err := os.ReadFile(f)
			if errors.Is(err, os.ErrNotExist) {
				continue // another machine's, and finished
			}
			if err == nil {
				err = json.Unmarshal(data, s)
			}
			if err != nil {
				return nil, fmt.Errorf("%s: %w", f, err)
			}
			if s.Node != x.node {
				continue
			}
			rel, err := filepath.Rel(x.store.Dir, f)
			if err != nil {
				return nil, err
			}
			s.Name = strings.TrimSuffix(rel, sealingExt)
			x.store.tidy(s.Name)
			list = append(list, s)
		}
	}
	return list, nil
}

// finish does all steps that have not been done. If there is no summary, nothing could be
// stored; the segments that were set aside are reported in any case.
func (x *sealer) finish(s *sealing) (sum *Summary, leftOut []string, err error) {
	stored, err := x.store.Summary(s.Name)
	switch {
	case err == nil:
		return &stored, stored.LeftOut, x.end(s)
	case !errors.Is(err, os.ErrNotExist):
		return nil, nil, err
	}
	if sum, leftOut, err = x.make(s); err != nil {
		return nil, nil, err
	}
	return sum, leftOut, x.end(s)
}

// make makes the run file and its summary from the segments that can be read and fit together.
// The others are set aside.
func (x *sealer) make(s *sealing) (*Summary, []string, error) {
	var paths []string
	for _, name := range s.Segments {
		path := filepath.Join(s.Spool, filepath.Base(name))
		if _, err := os.Lstat(path); err == nil {
			paths = append(paths, path)
		}
	}
	file := x.store.RunFile(s.Name)
	if len(paths) == 0 { // after a reboot: the file counts if it exists
		sum, err := summarize(s.Name, file)
		if errors.Is(err, os.ErrNotExist) {
			return nil, nil, nil
		}
		if err != nil {
			return nil, nil, err
		}
		return sum, nil, x.summary(s, sum)
	}
	c := &collecting{sealer: x, name: s.Name, file: file, exit: s.Exit, gone: s.Gone}
	if err := c.run(paths); err != nil || len(c.good) == 0 {
		return nil, c.leftOut, err
	}
	sum, err := summarize(s.Name, file)
	if err != nil {
		return nil, nil, err
	}
	sum.LeftOut = c.leftOut
	sum.Complete = sum.Complete && len(c.leftOut) == 0
	return sum, c.leftOut, x.summary(s, sum)
}

// summary writes the summary, which makes the run exist.
func (x *sealer) summary(s *sealing, sum *Summary) error {
	sum.Exit = s.Exit
	if s.Job != "" {
		sum.Node, sum.Job = x.node, s.Job
	} else {
		sum.Worlds = nil
	}
	return writeJSON(x.store.path(s.Name, summaryExt), sum)
}

// copies is a directory for copies of segments.
func (x *sealer) copies() string { return x.store.nodeFile(x.node, ".copies") }

// translations is a directory for run files that other versions make from segments.
func (x *sealer) translations() string { return x.store.nodeFile(x.node, ".translated") }

func isFull(err error) bool { return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) }

// end removes the segments, and then their list.
func (x *sealer) end(s *sealing) error {
	for _, name := range s.Segments {
		path := filepath.Join(s.Spool, filepath.Base(name))
		if err := errors.Join(removeFile(path), removeFile(path+jobExt)); err != nil {
			return err
		}
	}
	return os.Remove(x.store.path(s.Name, sealingExt))
}
