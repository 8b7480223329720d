package daemon

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/efg-tools/efg/hook/segment"
	"github.com/efg-tools/efg/internal/durable"
	"github.com/efg-tools/efg/merge"
)

// sealing is the content of NAME.sealing: the segments that become a run.
type sealing struct {
	Name     string   `json:"name"`
	Spool    string   `json:"spool"`
	Segments []string `json:"segments"` // names in the spool
}

// sealer turns ended jobs into runs.
type sealer struct {
	store *Store
	tool  string
}

// begin writes the list of a job's segments. From here on they belong to this run.
func (x *sealer) begin(j *Job, spool *Spool) (*sealing, error) {
	name, err := x.freeName(j.Name())
	if err != nil {
		return nil, err
	}
	s := &sealing{Name: name, Spool: spool.Dir}
	for _, g := range j.Segments {
		s.Segments = append(s.Segments, g.Name)
	}
	return s, writeJSON(x.store.path(name, sealingExt), s)
}

// freeName finds a name that no run has.
func (x *sealer) freeName(name string) (string, error) {
	for n := 1; ; n++ {
		try := name
		if n > 1 {
			try = fmt.Sprintf("%s-%d", name, n)
		}
		taken := false
		for _, ext := range []string{runExt, summaryExt, sealingExt} {
			_, err := os.Lstat(x.store.path(try, ext))
			if err != nil && !errors.Is(err, os.ErrNotExist) {
				return "", err
			}
			taken = taken || err == nil
		}
		if !taken {
			return try, nil
		}
	}
}

// unfinished reads the lists of runs whose sealing was interrupted.
func (x *sealer) unfinished() ([]*sealing, error) {
	files, err := filepath.Glob(filepath.Join(x.store.Dir, "*"+sealingExt))
	if err != nil {
		return nil, err
	}
	var list []*sealing
	for _, f := range files {
		s := &sealing{}
		data, err := os.ReadFile(f)
		if err == nil {
			err = json.Unmarshal(data, s)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f, err)
		}
		s.Name = strings.TrimSuffix(filepath.Base(f), sealingExt)
		list = append(list, s)
	}
	return list, nil
}

// finish does all steps that have not been done.
func (x *sealer) finish(s *sealing) (*Summary, error) {
	sum, err := x.store.Summary(s.Name)
	if errors.Is(err, os.ErrNotExist) {
		var made *Summary
		if made, err = x.make(s); err != nil {
			return nil, err
		}
		if made == nil {
			return nil, x.end(s) // nothing was in any of the segments
		}
		sum = *made
	} else if err != nil {
		return nil, err
	}
	return &sum, x.end(s)
}

// make makes the run file and its summary. Segments that cannot be read are put
// aside; nil: all of them.
func (x *sealer) make(s *sealing) (*Summary, error) {
	var paths []string
	for _, name := range s.Segments {
		path := filepath.Join(s.Spool, filepath.Base(name))
		if _, err := os.Lstat(path); err == nil {
			paths = append(paths, path)
		}
	}
	file := x.store.RunFile(s.Name)
	if len(paths) == 0 { // the machine was started anew: the file counts, if it is there
		sum, err := summarize(s.Name, file)
		if errors.Is(err, os.ErrNotExist) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		return sum, writeJSON(x.store.path(s.Name, summaryExt), sum)
	}
	good, leftOut, err := x.merge(s.Name, file, paths)
	if err != nil || len(good) == 0 {
		return nil, err
	}
	sum, err := summarize(s.Name, file)
	if err != nil {
		return nil, err
	}
	sum.LeftOut = leftOut
	sum.Complete = sum.Complete && len(leftOut) == 0
	return sum, writeJSON(x.store.path(s.Name, summaryExt), sum)
}

// merge makes the run file of the segments that can be read, and fit together. The
// others are copied to a folder in the store: what is in them may be of use to somebody.
func (x *sealer) merge(name, file string, paths []string) (good, leftOut []string, err error) {
	options := merge.Options{Output: file, Workers: 1, Tool: x.tool}
	if _, err = merge.Run(paths, options); err == nil {
		return paths, nil, nil
	}
	if isFull(err) {
		return nil, nil, err
	}
	for _, path := range paths {
		cause := x.fits(append(good, path), name)
		if cause == nil {
			good = append(good, path)
			continue
		}
		if isFull(cause) {
			return nil, nil, cause
		}
		if begun, err := hasBegun(path); err == nil && !begun {
			continue // its process ended before it recorded anything
		}
		leftOut = append(leftOut, cause.Error())
		if err := x.putAside(name, path); err != nil {
			return nil, nil, err
		}
	}
	if len(good) > 0 {
		_, err = merge.Run(good, options)
		return good, leftOut, err
	}
	return nil, leftOut, nil
}

// fits tries whether the last of the segments can be part of a run with the first.
func (x *sealer) fits(paths []string, name string) error {
	last := paths[len(paths)-1]
	if _, err := segment.Read(last); err != nil {
		return err
	}
	trial := x.store.path("."+name, ".trial.tmp")
	defer os.Remove(trial)
	_, err := merge.Run([]string{paths[0], last}, merge.Options{Output: trial, Workers: 1, Tool: x.tool})
	return err
}

func isFull(err error) bool { return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) }

func (x *sealer) putAside(name, path string) error {
	dir := filepath.Join(x.store.Dir, brokenDir)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return copyFile(path, filepath.Join(dir, name+"."+filepath.Base(path)))
}

// hasBegun tells whether there is anything in a segment.
func hasBegun(path string) (bool, error) {
	f, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	head := make([]byte, segment.HeaderSize)
	n, err := io.ReadFull(f, head)
	for _, c := range head[:n] {
		if c != 0 {
			return true, nil
		}
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil
	}
	return false, err
}

func copyFile(from, to string) error {
	f, err := os.Open(from)
	if err != nil {
		return err
	}
	defer f.Close()
	return durable.Write(to, func(w io.Writer) error {
		_, err := io.Copy(w, f)
		return err
	})
}

// end removes the segments, and then their list.
func (x *sealer) end(s *sealing) error {
	for _, name := range s.Segments {
		path := filepath.Join(s.Spool, filepath.Base(name))
		for _, p := range []string{path, path + jobExt} {
			if err := os.Remove(p); err != nil && !errors.Is(err, os.ErrNotExist) {
				return err
			}
		}
	}
	return os.Remove(x.store.path(s.Name, sealingExt))
}
