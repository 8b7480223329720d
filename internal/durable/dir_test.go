package durable

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// holds returns a content of one file.
func holds(text string) func(string) error {
	return func(dir string) error {
		return os.WriteFile(filepath.Join(dir, "mark"), []byte(text), 0o644)
	}
}

func marked(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "mark"))
	return err == nil
}

// checkDir compares the content of a directory, which must be alone.
func checkDir(t *testing.T, dir, want string) {
	t.Helper()
	if got, err := os.ReadFile(filepath.Join(dir, "mark")); err != nil || string(got) != want {
		t.Errorf("%q, %v, want %q", got, err, want)
	}
	if entries, _ := os.ReadDir(filepath.Dir(dir)); len(entries) != 1 {
		t.Errorf("beside it: %v", entries)
	}
}

// A directory exists completely or not at all, and replaces only what WriteDir made.
func TestWriteDir(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "x")
	broken := errors.New("broken")
	fails := func(dir string) error { return errors.Join(holds("half")(dir), broken) }
	if err := WriteDir(dir, marked, fails); !errors.Is(err, broken) {
		t.Fatal(err)
	}
	if entries, _ := os.ReadDir(filepath.Dir(dir)); len(entries) != 0 {
		t.Errorf("%v is left", entries)
	}
	for _, text := range []string{"one", "two"} {
		if err := WriteDir(dir+"/", marked, holds(text)); err != nil {
			t.Fatal(err)
		}
		checkDir(t, dir, text)
	}
	if err := WriteDir(dir, marked, fails); !errors.Is(err, broken) {
		t.Fatal(err)
	}
	checkDir(t, dir, "two")
	for _, other := range []func() error{
		func() error { return os.Rename(filepath.Join(dir, "mark"), filepath.Join(dir, "other")) },
		func() error { return errors.Join(os.RemoveAll(dir), os.WriteFile(dir, nil, 0o644)) },
	} {
		if err := other(); err != nil {
			t.Fatal(err)
		}
		if err := WriteDir(dir, marked, holds("three")); !errors.Is(err, ErrForeign) {
			t.Errorf("%v", err)
		}
	}
}

// What a killed process left is removed by the next; two at a time do not mix.
func TestWriteDirAgain(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "x")
	tmp, lock, err := beginDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(tmp, "left"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := WriteDir(dir, marked, holds("one")); !errors.Is(err, ErrBusy) {
		t.Errorf("%v", err)
	}
	lock.Close()
	if err := WriteDir(dir, marked, holds("one")); err != nil {
		t.Fatal(err)
	}
	checkDir(t, dir, "one")
	if _, err := os.Stat(filepath.Join(dir, "left")); !errors.Is(err, fs.ErrNotExist) {
		t.Error("what was left is in the directory")
	}
}
