package recording

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"testing"
)

// inPrivate creates directories in one of the test's own.
func inPrivate(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	was := memory
	memory = dir
	t.Cleanup(func() { memory = was })
	t.Setenv("TMPDIR", dir)
}

func create(t *testing.T, started int64) *Directory {
	t.Helper()
	d, err := Create(Info{Output: "run.efg", Tool: "efg", Command: []string{"mpiexec", "app"}, Started: started, Time: "stats", Queries: true})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// A locked directory is in use; an unlocked one that was not given to the user is abandoned.
func TestAbandoned(t *testing.T) {
	inPrivate(t)
	inUse, later, first, kept := create(t, 1), create(t, 9), create(t, 5), create(t, 3)
	defer inUse.Close()
	for _, err := range []error{later.Close(), first.Close(), kept.Keep()} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(memory, prefix+"other"), 0o700); err != nil {
		t.Fatal(err)
	}
	if fi, err := os.Stat(first.Path); err != nil || fi.Mode().Perm() != 0o700 || filepath.Dir(first.Path) != memory {
		t.Errorf("%s: %v, %v", first.Path, fi.Mode(), err)
	}
	found := Abandoned()
	if len(found) != 2 || found[0].Path != first.Path || found[1].Path != later.Path {
		t.Fatalf("%d left", len(found))
	}
	wd, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	want := first.Info
	want.Output = filepath.Join(wd, "run.efg")
	if !reflect.DeepEqual(found[0].Info, want) {
		t.Errorf("%+v, want %+v", found[0].Info, want)
	}
	if again := Abandoned(); len(again) != 0 {
		t.Errorf("%d are left that someone finishes", len(again))
	}
	if err := found[0].Remove(); err != nil {
		t.Fatal(err)
	}
	found[1].Close()
	if again := Abandoned(); len(again) != 1 || again[0].Path != later.Path {
		t.Errorf("%d left, want one", len(again))
	}
}

// Directories that are not recordings of this user are rejected.
func TestOpenRefuses(t *testing.T) {
	inPrivate(t)
	d := create(t, 1)
	if _, err := Open(d.Path); !errors.Is(err, ErrInUse) {
		t.Errorf("in use: %v", err)
	}
	d.Close()
	if err := os.Chmod(d.Path, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(d.Path); !errors.Is(err, ErrNone) {
		t.Errorf("open to others: %v", err)
	}
	if err := os.Chmod(d.Path, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(d.Path, filepath.Join(memory, prefix+"link")); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(filepath.Join(memory, prefix+"link")); !errors.Is(err, ErrNone) {
		t.Errorf("behind a link: %v", err)
	}
	info := filepath.Join(d.Path, infoFile)
	for _, text := range []string{"", "{", "{}", "[]"} {
		if err := os.WriteFile(info, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(d.Path); !errors.Is(err, ErrNone) {
			t.Errorf("%q: %v", text, err)
		}
	}
	if err := errors.Join(os.Remove(info), os.Symlink("/etc/hostname", info)); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(d.Path); err == nil {
		t.Error("an info file behind a link")
	}
	if _, err := Open(filepath.Join(memory, "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("none: %v", err)
	}
	// Only files that were never begun: nothing was recorded.
	d = create(t, 2)
	for name, data := range map[string][]byte{"h.1.1.seg": nil, "h.2.1.seg": make([]byte, 8192)} {
		if err := os.WriteFile(filepath.Join(d.Path, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if r, err := d.Recover(filepath.Join(memory, "x.efg")); r != nil || err != nil {
		t.Errorf("%+v, %v", r, err)
	}
}
