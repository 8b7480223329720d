package hook

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// fakeCompilers is a PATH with a C compiler and fake MPI compilers, and an empty cache.
type fakeCompilers struct {
	t   *testing.T
	bin string
}

func newFakeCompilers(t *testing.T) *fakeCompilers {
	t.Helper()
	w := &fakeCompilers{t, t.TempDir()}
	for _, tool := range []string{"cc", "as", "ld", "cat", "sleep"} {
		path, err := exec.LookPath(tool)
		if err != nil {
			t.Fatal(err)
		}
		w.must(os.Symlink(path, filepath.Join(w.bin, tool)))
	}
	t.Setenv("PATH", w.bin)
	t.Setenv("CC", "")
	t.Setenv("MPICC", "")
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	return w
}

func (w *fakeCompilers) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// add adds an MPI compiler whose library has a soname.
func (w *fakeCompilers) add(name, soname string) {
	w.t.Helper()
	script, err := os.ReadFile("testdata/mpicc.sh")
	w.must(err)
	path := filepath.Join(w.bin, name)
	w.must(os.WriteFile(path, script, 0o755))
	w.header(name, "1")
	out, err := exec.Command("cc", "-shared", "-Wl,-soname,"+soname, "-o", path+".library", "-x", "c", "/dev/null").CombinedOutput()
	if err != nil {
		w.t.Fatalf("%v: %s", err, out)
	}
}

// header sets the content of a compiler's mpi.h.
func (w *fakeCompilers) header(name, text string) {
	dir := filepath.Join(w.bin, name+".include")
	w.must(os.MkdirAll(dir, 0o755))
	w.must(os.WriteFile(filepath.Join(dir, "mpi.h"), []byte(text), 0o644))
}

// compiled reports whether the compiler compiled since the last call.
func (w *fakeCompilers) compiled(name string) bool {
	return os.Remove(filepath.Join(w.bin, name+".log")) == nil
}

func (w *fakeCompilers) ensure(rebuild bool) (h *Hook, log string) {
	w.t.Helper()
	var b strings.Builder
	h, err := Ensure(w.t.Context(), Options{Log: &b, Rebuild: rebuild})
	w.must(err)
	return h, b.String()
}

func TestBuildOnce(t *testing.T) {
	w := newFakeCompilers(t)
	w.add("mpicc", "libmpi.so.40")
	w.add("mpicc.mpich", "libmpich.so.12")
	first, log := w.ensure(false)
	if len(first.Backs) != 2 || first.Backs[0].Soname != "libmpi.so.40" || first.Backs[1].Soname != "libmpich.so.12" {
		t.Fatalf("back ends %+v", first.Backs)
	}
	if strings.Count(log, "building") != 3 || !w.compiled("mpicc") || !w.compiled("mpicc.mpich") {
		t.Errorf("log %q", log)
	}
	want := "libmpi.so.40=" + first.Backs[0].File + ":libmpich.so.12=" + first.Backs[1].File
	if got := first.BackVar(); got != want {
		t.Errorf("EFG_BACK %q, want %q", got, want)
	}
	again, log := w.ensure(false)
	if log != "" || w.compiled("mpicc") || again.BackVar() != want || again.Front != first.Front {
		t.Errorf("built again: log %q", log)
	}
	w.header("mpicc", "2")
	other, _ := w.ensure(false)
	if !w.compiled("mpicc") || w.compiled("mpicc.mpich") || other.Backs[0].File == first.Backs[0].File {
		t.Error("another mpi.h: not built again, or in the same place")
	}
	_, log = w.ensure(true)
	if strings.Count(log, "building") != 3 || !w.compiled("mpicc.mpich") {
		t.Errorf("asked to build again: log %q", log)
	}
	w.tidy()
}

// tidy checks that the cache holds whole builds and nothing else.
func (w *fakeCompilers) tidy() {
	w.t.Helper()
	dir := filepath.Join(os.Getenv("XDG_CACHE_HOME"), "efg")
	entries, err := os.ReadDir(dir)
	w.must(err)
	for _, e := range entries {
		files, err := os.ReadDir(filepath.Join(dir, e.Name()))
		w.must(err)
		if e.Name()[0] == '.' || len(files) != 1 {
			w.t.Errorf("cache has %s with %d files", e.Name(), len(files))
		}
	}
}

func TestBuildsAtTheSameTime(t *testing.T) {
	w := newFakeCompilers(t)
	w.add("mpicc", "libmpi.so.40")
	var wg sync.WaitGroup
	hooks := make([]*Hook, 4)
	for i := range hooks {
		wg.Go(func() {
			h, err := Ensure(t.Context(), Options{})
			if err != nil {
				t.Error(err)
			}
			hooks[i] = h
		})
	}
	wg.Wait()
	for _, h := range hooks {
		if h == nil || h.Front != hooks[0].Front || h.BackVar() != hooks[0].BackVar() {
			t.Fatalf("hooks differ: %+v, %+v", h, hooks[0])
		}
		if _, err := os.Stat(h.Backs[0].File); err != nil {
			t.Error(err)
		}
	}
	p, err := backProduct()
	w.must(err)
	log, err := os.ReadFile(filepath.Join(w.bin, "mpicc.log"))
	w.must(err)
	if n := strings.Count(string(log), "compile"); n != len(p.files)+1 { // and of what mpi.h has
		t.Errorf("%d files were compiled, the back end has %d", n, len(p.files))
	}
	w.tidy()
}

// ensureVar makes a test binary build the hook and end.
const ensureVar = "EFG_TEST_ENSURE"

func TestMain(m *testing.M) {
	if os.Getenv(ensureVar) != "" {
		Ensure(context.Background(), Options{})
		return
	}
	os.Exit(m.Run())
}

// The next process that uses the cache removes the remains of a killed build, but not a build
// in progress.
func TestKilledBuild(t *testing.T) {
	w := newFakeCompilers(t)
	w.add("mpicc", "libmpi.so.40")
	w.must(os.WriteFile(filepath.Join(w.bin, "mpicc.hangs"), nil, 0o644))
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), ensureVar+"=1")
	w.must(cmd.Start())
	for !w.compiled("mpicc") {
		time.Sleep(10 * time.Millisecond)
	}
	begun := func() []string {
		left, err := filepath.Glob(filepath.Join(os.Getenv("XDG_CACHE_HOME"), "efg", ".back-*"))
		w.must(err)
		return left
	}
	_, err := Find(t.Context(), Options{})
	w.must(err)
	if len(begun()) == 0 {
		t.Error("a build that goes on is gone")
	}
	w.must(cmd.Process.Kill())
	cmd.Wait()
	w.must(os.Remove(filepath.Join(w.bin, "mpicc.hangs")))
	_, err = Find(t.Context(), Options{})
	w.must(err)
	if left := begun(); len(left) > 0 {
		t.Errorf("%v are left", left)
	}
	w.ensure(false)
	w.tidy()
}

// An MPI that cannot be built is reported and left out, and not tried again until requested.
func TestBrokenMPI(t *testing.T) {
	w := newFakeCompilers(t)
	w.add("mpicc", "libmpi.so.40")
	w.add("mpicc.mpich", "libmpich.so.12")
	broken := filepath.Join(w.bin, "mpicc.broken")
	w.must(os.WriteFile(broken, []byte("mpi.h: No such file or directory"), 0o644))
	for i := range 2 {
		h, log := w.ensure(false)
		if len(h.Backs) != 1 || h.Backs[0].Soname != "libmpich.so.12" {
			t.Fatalf("back ends %+v", h.Backs)
		}
		if !strings.Contains(log, "mpi.h: No such file or directory") || w.compiled("mpicc") != (i == 0) {
			t.Errorf("time %d: log %q", i, log)
		}
	}
	w.must(os.Remove(broken))
	if h, _ := w.ensure(true); len(h.Backs) != 2 {
		t.Errorf("mended: back ends %+v", h.Backs)
	}
	w.tidy()
}

func TestOnlyBrokenMPI(t *testing.T) {
	w := newFakeCompilers(t)
	w.add("mpicc", "libmpi.so.40")
	w.must(os.WriteFile(filepath.Join(w.bin, "mpicc.broken"), []byte("mpi.h: No such file or directory"), 0o644))
	_, err := Ensure(t.Context(), Options{})
	var failed *BuildError
	if !errors.As(err, &failed) || !strings.Contains(failed.Output, "mpi.h") {
		t.Errorf("error %v", err)
	}
	w = newFakeCompilers(t)
	w.add("mpicc", "libmpi.so.40")
	w.must(os.WriteFile(filepath.Join(w.bin, "mpicc.broken"), []byte(unsupported), 0o644))
	var not *UnsupportedError
	if _, err := Ensure(t.Context(), Options{}); !errors.As(err, &not) {
		t.Errorf("error %v", err)
	}
	if text, err := os.ReadFile("shim/back.h"); err != nil || !strings.Contains(string(text), `#error "`+unsupported+`"`) {
		t.Errorf("back.h does not say %q", unsupported)
	}
	w = newFakeCompilers(t)
	w.add("mpicc", "libother.so.1")
	if _, err := Ensure(t.Context(), Options{}); err == nil || !strings.Contains(err.Error(), "links no shared MPI library") {
		t.Errorf("error %v", err)
	}
}

// A build that is stopped ends, and leaves no incomplete library behind.
func TestStopped(t *testing.T) {
	w := newFakeCompilers(t)
	w.add("mpicc", "libmpi.so.40")
	ctx, cancel := context.WithCancel(t.Context())
	log := &stopAt{text: "building the hook's back", stop: cancel}
	if _, err := Ensure(ctx, Options{Log: log}); err == nil {
		t.Error("it was built")
	}
	if builds, err := filepath.Glob(filepath.Join(os.Getenv("XDG_CACHE_HOME"), "efg", "*back-*")); err != nil || len(builds) > 0 {
		t.Errorf("%v are left, %v", builds, err)
	}
	if _, err := Ensure(t.Context(), Options{}); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

// stopAt stops something when a text is written to it.
type stopAt struct {
	text string
	stop func()
}

func (s *stopAt) Write(p []byte) (int, error) {
	if strings.Contains(string(p), s.text) {
		s.stop()
	}
	return len(p), nil
}

func TestNoCompilers(t *testing.T) {
	w := newFakeCompilers(t)
	var missing *MissingError
	if _, err := Ensure(t.Context(), Options{}); !errors.As(err, &missing) || missing.What != "no MPI compiler" {
		t.Errorf("error %v", err)
	}
	w.must(os.Remove(filepath.Join(w.bin, "cc")))
	if _, err := Ensure(t.Context(), Options{}); !errors.As(err, &missing) || missing.What != "no C compiler" {
		t.Errorf("error %v", err)
	}
}

// The cache's name becomes part of LD_PRELOAD.
func TestCacheNames(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", filepath.Join(t.TempDir(), "a b"))
	if _, err := openCache(); err == nil {
		t.Error("a blank in the name is no error")
	}
	t.Setenv("XDG_CACHE_HOME", "")
	t.Setenv("HOME", "")
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	dir, err := openCache()
	if err != nil || !strings.HasPrefix(string(dir), tmp+"/efg-cache-") {
		t.Errorf("without a home: %q, %v", dir, err)
	}
	if err := os.Chmod(filepath.Dir(string(dir)), 0o777); err != nil {
		t.Fatal(err)
	}
	if _, err := openCache(); err == nil {
		t.Error("a cache that others can write to is no error")
	}
}

// Nothing is read from or written to a cache, or a file in it, that belongs to another user.
func TestOthersCache(t *testing.T) {
	const stranger = 61071
	w := newFakeCompilers(t)
	w.add("mpicc", "libmpi.so.40")
	h, _ := w.ensure(false)
	refused := func(what string) {
		t.Helper()
		for _, rebuild := range []bool{false, true} {
			h, err := Ensure(t.Context(), Options{Rebuild: rebuild})
			if err == nil || !strings.Contains(err.Error(), "belongs to user 61071") {
				t.Errorf("%s: %+v, %v", what, h, err)
			}
		}
	}
	home := os.Getenv("XDG_CACHE_HOME")
	w.must(os.Chown(home, stranger, -1))
	refused("a cache in another's directory")
	if err := KeepReader(7, "/bin/true"); err == nil {
		t.Error("a program was put there")
	}
	w.must(os.Chown(home, 0, -1))
	w.must(os.Chown(h.Front, stranger, -1))
	if h, err := Ensure(t.Context(), Options{}); err == nil {
		t.Errorf("another's front: %+v", h)
	}
	w.must(os.Chown(h.Front, 0, -1))
	w.must(os.Chmod(h.Backs[0].File, 0o666))
	if h, err := Ensure(t.Context(), Options{}); err == nil {
		t.Errorf("a back end that all can write: %+v", h)
	}
	w.must(os.Chmod(h.Backs[0].File, 0o755))
	if again, log := w.ensure(false); log != "" || again.BackVar() != h.BackVar() {
		t.Errorf("mended: %s", log)
	}
}
