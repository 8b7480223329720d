package merge

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/efg-tools/efg/internal/testing/sim"
)

// breakages make a file unusable in different ways.
var breakages = []struct {
	name string
	file string // segment or run file
	do   func(path string) error
	want string
}{
	{"empty segment", "seg", func(p string) error { return os.WriteFile(p, nil, 0o644) }, "not an efg segment"},
	{"segment that was never begun", "seg", func(p string) error { return os.WriteFile(p, make([]byte, 8192), 0o644) }, "not an efg segment"},
	{"cut segment", "seg", func(p string) error { return os.Truncate(p, 5000) }, "corrupt segment"},
	{"other version", "seg", func(p string) error { return patch(p, 16, 0x77) }, "segment of another version"},
	{"text for a segment", "seg", func(p string) error { return os.WriteFile(p, []byte(strings.Repeat("text\n", 2000)), 0o644) }, "not an efg segment"},
	{"empty run file", "efg", func(p string) error { return os.WriteFile(p, nil, 0o644) }, "not an efg run file"},
	{"cut run file", "efg", func(p string) error { return os.Truncate(p, 500) }, "truncated run file"},
	{"newer run file", "efg", func(p string) error { return patch(p, 8, 99) }, "written by a newer version"},
	{"flipped bit in the first block", "efg", func(p string) error { return patch(p, 40, 0x5a) }, "checksum differs"},
	{"segment as a run file", "efg", func(p string) error { return os.WriteFile(p, []byte("EFG\x00SEG\n"), 0o644) }, "not an efg run file"},
}

func patch(path string, at int64, b byte) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.WriteAt([]byte{b}, at)
	return err
}

// A broken part is named, and nothing is written; with SkipBroken it is named, and the others
// are merged.
func TestMergeBroken(t *testing.T) {
	source := simulate(t, sim.Config{Program: "halo", Ranks: 24, Steps: 3, Seed: 8, Stats: true})
	all := segmentsIn(t, source)
	for _, b := range breakages {
		t.Run(b.name, func(t *testing.T) {
			dir := t.TempDir()
			parts, good := brokenParts(t, dir, all, b.file)
			broken := parts[len(parts)-1]
			if err := b.do(broken); err != nil {
				t.Fatal(err)
			}
			for _, workers := range []int{1, 2} {
				out := filepath.Join(t.TempDir(), "run.efg")
				o := Options{Output: out, Workers: workers}
				_, err := Run(parts, quick(o))
				if err == nil || !strings.HasPrefix(err.Error(), broken+": ") || !strings.Contains(err.Error(), b.want) || strings.Contains(err.Error(), "\n") {
					t.Fatalf("error %v, want one of %s that says %s", err, broken, b.want)
				}
				if entries, err := os.ReadDir(filepath.Dir(out)); err != nil || len(entries) > 0 {
					t.Errorf("%v is left, %v", entries, err)
				}
				o.SkipBroken = true
				r := mustMerge(t, parts, o)
				if len(r.LeftOut) != 1 || !strings.HasPrefix(r.LeftOut[0], broken+": ") || r.Files != len(parts)-1 {
					t.Errorf("%+v", r)
				}
				mustEqual(t, out, whole(t, good))
				mustBeClean(t, dir, filepath.Dir(out))
			}
		})
	}
}

// brokenParts copies segments, and makes run files of some. The last part is to be broken; good
// are the segments of the others.
func brokenParts(t *testing.T, dir string, all []string, kind string) (parts, good []string) {
	t.Helper()
	node := func(name string, files []string) string {
		path := filepath.Join(dir, name)
		mustMerge(t, files, Options{Output: path})
		return path
	}
	parts = append(parts, node("a.efg", all[:5]), node("b.efg", all[5:10]))
	for _, f := range all[10:20] {
		parts = append(parts, copyFile(t, f, dir))
	}
	if kind == "seg" {
		return append(parts, copyFile(t, all[20], dir)), all[:20]
	}
	return append(parts, node("c.efg", all[20:])), all[:20]
}

func copyFile(t *testing.T, file, dir string) string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, filepath.Base(file))
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// Usage errors are distinguished from broken files.
func TestMergeMistakes(t *testing.T) {
	stats := simulate(t, sim.Config{Program: "farm", Ranks: 4, Steps: 3, Seed: 1, Stats: true})
	off := simulate(t, sim.Config{Program: "farm", Ranks: 4, Steps: 3, Seed: 1})
	empty, text := t.TempDir(), filepath.Join(t.TempDir(), "notes")
	if err := os.WriteFile(text, []byte("no recording"), 0o644); err != nil {
		t.Fatal(err)
	}
	pipe := filepath.Join(t.TempDir(), "pipe.efg")
	if err := syscall.Mkfifo(pipe, 0o644); err != nil {
		t.Fatal(err)
	}
	again := t.TempDir()
	copyFile(t, segmentsIn(t, off)[0], again)
	node := filepath.Join(t.TempDir(), "node.efg")
	mustMerge(t, []string{off}, Options{Output: node})
	for _, c := range []struct {
		name string
		args []string
		out  string
		want string
	}{
		{"no such file", []string{"/no/such"}, "", "/no/such: no such file or directory"},
		{"empty directory", []string{empty}, "", empty + ": no run files (.efg) and no segments (.seg) in it"},
		{"other kind", []string{text}, "", text + ": neither a run file nor a segment"},
		{"pipe", []string{pipe}, "", pipe + ": not a regular file"},
		{"output is a directory", []string{off}, empty, empty + ": not a regular file"},
		{"output cannot be", []string{off}, "/no/such/run.efg", "/no/such/run.efg: no such file or directory"},
		{"different options", []string{off, stats}, "", " was recorded with --time "},
		{"segment twice", []string{off, again}, "", "the same process, rank "},
		{"segment and run file", []string{off, node}, "", "the same process, rank "},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			if c.out == "" {
				c.out = filepath.Join(dir, "run.efg")
			}
			_, err := Run(c.args, quick(Options{Output: c.out, SkipBroken: true}))
			var argument *ArgumentError
			if !errors.As(err, &argument) || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%v, want %s", err, c.want)
			}
			if _, err := os.Stat(c.out); c.out != empty && !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s is there: %v", c.out, err)
			}
			mustBeClean(t, dir)
		})
	}
}

// If nothing can be read, nothing is written.
func TestMergeAllBroken(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a.seg", "b.seg", "c.efg", "d.efg"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	out := filepath.Join(t.TempDir(), "run.efg")
	_, err := Run([]string{dir}, quick(Options{Output: out, SkipBroken: true}))
	if err == nil || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), "a.seg") || !strings.Contains(err.Error(), "d.efg") {
		t.Errorf("%v", err)
	}
	mustBeClean(t, filepath.Dir(out))
}

// A chunk has the same files in whatever order they are named.
func TestDivide(t *testing.T) {
	var inputs []input
	for i := range 10 {
		inputs = append(inputs, input{abs: string(rune('a' + i)), kind: kind(i / 6), size: 10})
	}
	var sizes []int
	for _, c := range divide(inputs, limits{45, 5, 3}) {
		sizes = append(sizes, len(c.inputs))
	}
	if want := []int{4, 2, 3, 1}; !slices.Equal(sizes, want) {
		t.Errorf("%v, want %v", sizes, want)
	}
}
