package merge

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/segment"
)

// kind is the kind of an input.
type kind uint8

const (
	segmentFile kind = iota
	runFile
)

// kindOf determines the kind of a file from its name.
func kindOf(name string) (kind, bool) {
	switch filepath.Ext(name) {
	case ".seg":
		return segmentFile, true
	case ".efg":
		return runFile, true
	}
	return 0, false
}

// input is a file that is to be merged.
type input struct {
	path    string // as specified by the user
	abs     string
	kind    kind
	size    int64
	changed int64
}

// findInputs lists the files that the arguments stand for, sorted, without duplicates.
// Directories are searched; the output is excluded if it already exists.
func findInputs(args []string, output string) ([]input, error) {
	f := finder{output: output, seen: map[string]bool{}}
	for _, arg := range args {
		if err := f.argument(arg); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(f.inputs, func(a, b input) int { return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.abs, b.abs)) })
	return f.inputs, nil
}

type finder struct {
	output string
	seen   map[string]bool // absolute paths
	found  int             // number of files, including duplicates
	inputs []input
}

func (f *finder) argument(arg string) error {
	st, err := os.Stat(arg)
	if err != nil {
		return argumentError(arg, err)
	}
	if st.IsDir() {
		before := f.found
		if err := f.dir(arg); err != nil {
			return err
		}
		if f.found == before {
			return argumentError(arg, errors.New("no run files (.efg) and no segments (.seg) in it"))
		}
		return nil
	}
	if f.isOutput(arg, st) {
		return argumentError(arg, errors.New("is the output file"))
	}
	if !st.Mode().IsRegular() {
		return argumentError(arg, errNotRegular)
	}
	k, ok := kindOf(arg)
	if !ok {
		if k, err = sniff(arg); err != nil {
			return argumentError(arg, err)
		}
	}
	return f.add(arg, k, st)
}

var errNotRegular = errors.New("not a regular file")

// sniff determines the kind of a file from its first bytes.
func sniff(path string) (kind, error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	var head [8]byte
	if _, err := io.ReadFull(f, head[:]); err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return 0, err
	}
	switch {
	case binary.LittleEndian.Uint64(head[:]) == segment.Magic:
		return segmentFile, nil
	case runfile.IsRunFile(head[:]):
		return runFile, nil
	}
	return 0, errors.New("neither a run file nor a segment")
}

// dir adds the files in a directory and its subdirectories.
func (f *finder) dir(dir string) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return argumentError(path, err)
		}
		if d.IsDir() {
			if path != dir && strings.HasPrefix(d.Name(), workPrefix) {
				return fs.SkipDir
			}
			return nil
		}
		k, ok := kindOf(path)
		if !ok || strings.HasPrefix(d.Name(), ".") {
			return nil
		}
		st, err := os.Stat(path)
		if err != nil {
			return argumentError(path, err)
		}
		if st.IsDir() || f.isOutput(path, st) {
			return nil
		}
		return f.add(path, k, st)
	})
}

func (f *finder) add(path string, k kind, st fs.FileInfo) error {
	abs, err := filepath.Abs(path)
	if err != nil {
		return argumentError(path, err)
	}
	f.found++
	if !f.seen[abs] {
		f.seen[abs] = true
		f.inputs = append(f.inputs, input{path, abs, k, st.Size(), st.ModTime().UnixNano()})
	}
	return nil
}

func (f *finder) isOutput(path string, st fs.FileInfo) bool {
	out, err := os.Stat(f.output)
	return err == nil && os.SameFile(st, out)
}

// ArgumentError is a usage error.
type ArgumentError struct{ Cause error }

func (e *ArgumentError) Error() string { return e.Cause.Error() }

func (e *ArgumentError) Unwrap() error { return e.Cause }

// argumentError wraps an error with the argument that is wrong; the path is named once.
func argumentError(path string, err error) error {
	return &ArgumentError{fmt.Errorf("%s: %w", path, withoutPath(err))}
}

func withoutPath(err error) error {
	var p *os.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}
