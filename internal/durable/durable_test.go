package durable

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

func text(s string) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, s)
		return err
	}
}

func check(t *testing.T, path, want string) {
	t.Helper()
	if got, err := os.ReadFile(path); err != nil || string(got) != want {
		t.Errorf("%q, %v, want %q", got, err, want)
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(entries) != 1 {
		t.Errorf("in the directory: %v, %v", entries, err)
	}
}

// A file that cannot be completed leaves the previous one.
func TestWrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	if err := Write(path, text("one")); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("broken")
	if err := Write(path, func(w io.Writer) error { return errors.Join(text("half")(w), broken) }); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
	check(t, path, "one")
	if err := Write(path, text("two")); err != nil {
		t.Fatal(err)
	}
	check(t, path, "two")
}

// A process that is killed while writing leaves nothing behind.
func TestNoName(t *testing.T) {
	dir := t.TempDir()
	f, err := Create(filepath.Join(dir, "x"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Discard()
	err = f.Write(func(w io.Writer) error {
		err := text("x")(w)
		if entries, _ := os.ReadDir(dir); len(entries) != 0 {
			t.Errorf("while it is written: %v", entries)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	check(t, filepath.Join(dir, "x"), "x")
}

// A file that cannot be given a name is copied.
func TestCopyNamed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	f, err := Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Discard()
	if err := text("whole")(f.tmp); err != nil {
		t.Fatal(err)
	}
	if err := f.copyNamed(); err != nil {
		t.Fatal(err)
	}
	check(t, f.name, "whole")
}

// There is one writer at a time; what a killed one has left is taken over.
func TestBegin(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	if err := os.WriteFile(filepath.Join(filepath.Dir(path), ".x.tmp"), []byte("left by a killed writer"), 0o644); err != nil {
		t.Fatal(err)
	}
	f, err := Begin(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Begin(path); !errors.Is(err, ErrBusy) {
		t.Errorf("a second writer: %v", err)
	}
	broken := errors.New("broken")
	if err := f.Write(func(w io.Writer) error { return errors.Join(text("a long half")(w), broken) }); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
	if err := f.Write(text("whole")); err != nil {
		t.Fatal(err)
	}
	next, err := Begin(path) // in place of the renamed file, whose lock still exists
	if err != nil {
		t.Fatal(err)
	}
	f.Discard()
	next.Discard()
	check(t, path, "whole")
}

// If two processes make a file, that of the first one stays, even if it was killed before it
// had removed its other name.
func TestWriteNew(t *testing.T) {
	tmp := filepath.Join(t.TempDir(), "tmp")
	path, other := tmp+".first", tmp+".second"
	if err := WriteNew(tmp, path, []byte("first")); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(path, tmp); err != nil {
		t.Fatal(err)
	}
	if err := WriteNew(tmp, other, []byte("second")); err != nil {
		t.Fatal(err)
	}
	if err := WriteNew(tmp, path, []byte("third")); !errors.Is(err, fs.ErrExist) {
		t.Errorf("%v", err)
	}
	for file, want := range map[string]string{path: "first", other: "second"} {
		if data, err := os.ReadFile(file); err != nil || string(data) != want {
			t.Errorf("%s holds %q, %v", file, data, err)
		}
	}
	if _, err := os.Lstat(tmp); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v", err)
	}
}

// Content that a check rejects does not replace the file; the check sees all of the content.
func TestChecked(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	if err := Write(path, text("one")); err != nil {
		t.Fatal(err)
	}
	f, err := Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Discard()
	refused := errors.New("refused")
	refuse := func(file io.ReaderAt, size int64) error {
		got := make([]byte, size)
		if _, err := file.ReadAt(got, 0); err != nil || string(got) != "two" {
			t.Errorf("%q, %v", got, err)
		}
		return refused
	}
	if err := f.Write(text("two"), refuse); !errors.Is(err, refused) {
		t.Errorf("%v", err)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != "one" {
		t.Errorf("%q, %v, want one", got, err)
	}
	if err := f.Write(text("three"), func(io.ReaderAt, int64) error { return nil }); err != nil {
		t.Fatal(err)
	}
	check(t, path, "three")
}

// A copy has the same content and holes, and at most the permitted amount of data.
func TestCopySparse(t *testing.T) {
	dir := t.TempDir()
	from, err := os.Create(filepath.Join(dir, "from"))
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	const size, far = 1 << 40, 1 << 39
	data := bytes.Repeat([]byte("data"), 1<<19) // more than is copied at a time
	for _, at := range []int64{0, far} {
		if _, err := from.WriteAt(data, at); err != nil {
			t.Fatal(err)
		}
	}
	if err := from.Truncate(size); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		most, size int64 // size of the copy
	}{{math.MaxInt64, size}, {int64(len(data)) + 4096, far + 4096}} {
		to, err := os.Create(filepath.Join(dir, "to"))
		if err != nil {
			t.Fatal(err)
		}
		defer to.Close()
		if err := CopySparse(to, from, size, c.most, nil); err != nil {
			t.Fatal(err)
		}
		st, err := to.Stat()
		if err != nil || st.Size() != c.size || st.Sys().(*syscall.Stat_t).Blocks > 1<<14 {
			t.Errorf("%+v, %v", st.Sys(), err)
		}
		for _, at := range []int64{0, far} {
			got := make([]byte, min(int64(len(data)), c.size-at))
			if _, err := to.ReadAt(got, at); err != nil || !bytes.Equal(got, data[:len(got)]) {
				t.Errorf("at %d: %v", at, err)
			}
		}
	}
	stop := make(chan struct{})
	close(stop)
	if err := CopySparse(from, from, size, size, stop); !errors.Is(err, ErrStopped) {
		t.Errorf("%v", err)
	}
}
