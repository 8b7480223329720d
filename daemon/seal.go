package daemon

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/efg-tools/efg/hook/segment"
	"github.com/efg-tools/efg/internal/durable"
	"github.com/efg-tools/efg/merge"
)

// sealing is the content of NAME.sealing: the segments that become a run, or a part of
// one (NAME/part-NODE).
type sealing struct {
	Name     string   `json:"name"`
	Node     string   `json:"node"`
	Spool    string   `json:"spool"`
	Segments []string `json:"segments"`      // names in the spool
	Job      string   `json:"job,omitempty"` // of a part: the launch
}

// sealer turns ended jobs into runs.
type sealer struct {
	store *Store
	node  string
	tool  string
}

// begin writes the list of a job's segments. From here on they belong to this run.
func (x *sealer) begin(j *Job, spool *Spool) (*sealing, error) {
	s := &sealing{Node: x.node, Spool: spool.Dir, Job: j.shared()}
	for _, g := range j.Segments {
		s.Segments = append(s.Segments, g.Name)
	}
	if s.Job != "" {
		return s, x.beginPart(s, j)
	}
	return s, x.reserve(s, j.Name())
}

// reserve finds a name that no run has, of any machine, and writes the list.
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

// list writes the list, unless somebody else has one of this name.
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

// numbered tries a name, and then others that begin like it, until one is free.
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

// taken tells whether a name has files of a run, or of one that is being made, but for
// those with an extension.
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

// unfinished reads this machine's lists of runs whose sealing was interrupted, and
// removes what was half written of them.
func (x *sealer) unfinished() ([]*sealing, error) {
	var list []*sealing
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
		return sum, x.summary(s, sum)
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
	return sum, x.summary(s, sum)
}

// summary writes the summary, with which a run is there.
func (x *sealer) summary(s *sealing, sum *Summary) error {
	if s.Job != "" {
		sum.Node, sum.Job = x.node, s.Job
	} else {
		sum.Worlds = nil
	}
	return writeJSON(x.store.path(s.Name, summaryExt), sum)
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
		cause := x.fits(append(good, path))
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
func (x *sealer) fits(paths []string) error {
	last := paths[len(paths)-1]
	if _, err := segment.Read(last); err != nil {
		return err
	}
	trial := x.store.nodeFile(x.node, ".trial")
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
	return copyFile(path, filepath.Join(dir, strings.ReplaceAll(name, "/", ".")+"."+filepath.Base(path)))
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
		if err := errors.Join(removeFile(path), removeFile(path+jobExt)); err != nil {
			return err
		}
	}
	return os.Remove(x.store.path(s.Name, sealingExt))
}
