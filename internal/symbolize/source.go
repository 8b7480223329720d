package symbolize

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/efg-tools/efg/efg"
)

// MostSource bounds the files that ReadSource reads, in bytes.
const MostSource = 4 << 20

// sourceEndings are those of files that ReadSource reads: a run file, and debug information that a
// run file names, may come from someone else, and must not make other files visible.
var sourceEndings = []string{
	".c", ".cc", ".cpp", ".cxx", ".c++", ".cu", ".h", ".hh", ".hpp", ".hxx", ".inc", ".inl", ".tpp",
	".f", ".for", ".ftn", ".f77", ".f90", ".f95", ".f03", ".f08", ".rs", ".go", ".jl", ".py", ".pyx", ".hip", ".d", ".m",
}

// ErrNoSource is wrapped by errors that say why the source of a callsite cannot be shown, ErrNoSite by
// those that say that it is not defined.
var (
	ErrNoSource = errors.New("no source")
	ErrNoSite   = fmt.Errorf("%w: the callsite is not known", ErrNoSource)
)

// Source is the file of a callsite.
type Source struct {
	Path string // as the debug information has it
	Line int    // of the call
	Text []byte // valid UTF-8
	// Newer: the file was changed after the program was built from it, so that lines may have moved.
	Newer bool
}

// FindSource finds and reads the file of a callsite, whose word is that of its events, with the
// definitions of a process that comes to it. The module that contains it must be the one that was recorded, by its build-id. The error wraps
// ErrNoSource.
func FindSource(defs []efg.Def, word uint64) (*Source, error) {
	for _, d := range defs {
		if d.Kind != efg.DefSite || len(d.Words) < 2 || d.Word != word {
			continue
		}
		m, ok := modulesOf(defs)[d.Words[0]]
		if !ok || m.path == "" {
			return nil, fmt.Errorf("%w: the program of the callsite is not known", ErrNoSource)
		}
		places, err := Resolve(m.path, m.buildID, []uint64{d.Words[1]})
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrNoSource, err)
		}
		return places[0].read(m.path)
	}
	return nil, ErrNoSite
}

func (p *Place) read(module string) (*Source, error) {
	if p.Path == "" || p.Line == 0 {
		return nil, fmt.Errorf("%w: %s has no line numbers there; compile with -g", ErrNoSource, module)
	}
	text, changed, err := readSource(p.Path)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoSource, err)
	}
	s := &Source{Path: p.Path, Line: p.Line, Text: text}
	if fi, err := os.Stat(module); err == nil {
		s.Newer = changed.After(fi.ModTime())
	}
	return s, nil
}

// readSource reads a file if it is one of source text: by its name and content, a regular file of
// bounded size.
func readSource(path string) (text []byte, changed time.Time, err error) {
	if !filepath.IsAbs(path) {
		return nil, changed, fmt.Errorf("%s: the debug information has no directory", path)
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, changed, err
	}
	if !slices.Contains(sourceEndings, strings.ToLower(filepath.Ext(path))) || !slices.Contains(sourceEndings, strings.ToLower(filepath.Ext(real))) {
		return nil, changed, fmt.Errorf("%s: not the name of a source file", path)
	}
	f, err := os.OpenFile(real, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0) // a pipe must not block
	if err != nil {
		return nil, changed, err
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil {
		return nil, changed, err
	}
	if !fi.Mode().IsRegular() {
		return nil, changed, &fs.PathError{Op: "read", Path: path, Err: errors.New("not a regular file")}
	}
	text, err = io.ReadAll(io.LimitReader(f, MostSource+1))
	switch {
	case err != nil:
		return nil, changed, err
	case len(text) > MostSource:
		return nil, changed, fmt.Errorf("%s: larger than %d MiB", path, MostSource>>20)
	case bytes.IndexByte(text, 0) >= 0:
		return nil, changed, fmt.Errorf("%s: not text", path)
	}
	if !utf8.Valid(text) {
		text = bytes.ToValidUTF8(text, []byte("\uFFFD"))
	}
	return text, fi.ModTime(), nil
}
