package httpapi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/efg-tools/efg/efg/runfile"
)

// source is a run file, or a snapshot of a running job.
type source struct {
	name string // as documents call it
	tag  string // identifies its current content
	open func() (*os.File, error)
	// at is the time of a snapshot, and spent is called with the duration of requests about it;
	// for a run file they are zero and nil.
	at    time.Time
	spent func(time.Duration)
}

// snapshotHeader says when the snapshot was taken from which a request about a running job is
// answered.
const snapshotHeader = "Efg-Snapshot"

// stamp sets it.
func (x *source) stamp(w http.ResponseWriter) {
	if !x.at.IsZero() {
		w.Header().Set(snapshotHeader, x.at.UTC().Format(time.RFC3339Nano))
	}
}

// count begins to measure the time that a request about a snapshot takes; the returned function
// ends that.
func (x *source) count() func() {
	if x.spent == nil {
		return func() {}
	}
	began := time.Now()
	return func() { x.spent(time.Since(began)) }
}

// source returns the source with a name.
func (s *Server) source(ctx context.Context, id string) (*source, error) {
	e, err := s.find(id)
	if err != nil {
		return nil, err
	}
	if e.File == "" {
		return s.shots.source(ctx, e)
	}
	fi, err := os.Stat(e.File)
	if err != nil {
		return nil, gone(e.Name, err)
	}
	x := &source{name: e.Name, tag: fmt.Sprintf("%s\x00%s\x00%d\x00%d", e.Name, e.File, fi.Size(), fi.ModTime().UnixNano())}
	x.open = func() (*os.File, error) {
		f, err := os.Open(e.File)
		return f, gone(e.Name, err)
	}
	return x, nil
}

// gone maps the error for a run that was removed since it was found.
func gone(name string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return notFound("no run or job %q", name)
	}
	return err
}

// sources finds the runs that a request is about: one or, if there is a second name, two.
func (s *Server) sources(ctx context.Context, id, other string) (list []*source, tag string, err error) {
	for _, id := range []string{id, other} {
		if id == "" {
			continue
		}
		x, err := s.source(ctx, id)
		if err != nil {
			return nil, "", err
		}
		list, tag = append(list, x), tag+x.tag+"\x00"
	}
	return list, tag, nil
}

// openSources opens the files of sources.
func openSources(list []*source) (files []*os.File, closeAll func(), err error) {
	closeAll = func() {
		for _, f := range files {
			f.Close()
		}
	}
	for _, x := range list {
		f, err := x.open()
		if err != nil {
			closeAll()
			return nil, nil, err
		}
		files = append(files, f)
	}
	return files, closeAll, nil
}

// inputs reads the runs in files: one and, if there are two, the one that it is compared with.
// corrections are those of the runs; nil if none is known.
func inputs(ctx context.Context, names []string, files []*os.File, corrections [][]byte) (*input, error) {
	var list []*input
	for i, f := range files {
		run, err := runOf(names[i], f)
		if err != nil {
			return nil, err
		}
		in := &input{Context: ctx, run: run, name: names[i]}
		if corrections != nil {
			in.correction = corrections[i]
		}
		list = append(list, in)
	}
	if len(list) > 1 {
		list[0].other = list[1]
	}
	return list[0], nil
}

// answer answers a request about sources, here or in a worker. The answer is the same, and so it is
// whether corrections are known or not.
func (s *Server) answer(ctx context.Context, path string, q *query, sources []*source, corrections [][]byte, w io.Writer) (contentType string, err error) {
	answer, err := taskOf(path, q)
	if err != nil {
		return "", err
	}
	files, closeAll, err := openSources(sources)
	if err != nil {
		return "", err
	}
	defer closeAll()
	var names []string
	for _, x := range sources {
		names = append(names, x.name)
		defer x.count()()
	}
	if k := s.opt.Workers; k.large(files) {
		defer s.answers.aside()()
		return k.answer(ctx, task{Path: path, Query: q.values.Encode(), Names: names, Corrections: corrections}, files, w)
	}
	in, err := inputs(ctx, names, files, corrections)
	if err != nil {
		return "", err
	}
	return answer(in, w)
}

// runOf reads the run in a file.
func runOf(name string, f *os.File) (*runfile.Run, error) {
	fi, err := f.Stat()
	if err != nil {
		return nil, err
	}
	run, err := runfile.NewRun(f, fi.Size())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return run, nil
}

// file sends the run file itself, or a range of its bytes.
func (s *Server) file(w http.ResponseWriter, r *http.Request, _ *query) error {
	x, err := s.source(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	f, err := x.open()
	if err != nil {
		return err
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil {
		return err
	}
	h := w.Header()
	h.Set("ETag", strings.TrimPrefix(tagOf(x.tag, "file"), "W/"))
	h.Set("Cache-Control", "private, no-cache")
	h.Set("Content-Type", "application/octet-stream")
	h.Set("Content-Disposition", fmt.Sprintf("attachment; filename=%q", plainName(runName(x.name))+".efg"))
	http.ServeContent(w, r, "", fi.ModTime(), f)
	return nil
}

// runName is the name of a run file without its directory and extension.
func runName(path string) string { return strings.TrimSuffix(filepath.Base(path), ".efg") }

// plainName keeps only letters, digits and some punctuation of a name.
func plainName(name string) string {
	return strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || r == '.' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '_'
	}, name)
}
