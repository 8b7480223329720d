package hook

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// program makes a program, or a library, that links libraries.
func (w *fakeCompilers) program(name string, args ...string) string {
	w.t.Helper()
	path := filepath.Join(w.bin, name)
	src := path + ".c"
	w.must(os.WriteFile(src, []byte("int main(void) { return 0; }\n"), 0o644))
	args = append([]string{"-Wl,--no-as-needed", "-o", path, src}, args...)
	if out, err := exec.Command("cc", args...).CombinedOutput(); err != nil {
		w.t.Fatalf("%v: %s", err, out)
	}
	return path
}

// sonames are the libraries for which back ends are built.
func sonames(h *Hook) []string {
	var l []string
	for _, b := range h.Backs {
		l = append(l, b.Soname)
	}
	return l
}

// Exactly what a command is known to need is built: what its programs link, also through
// another library, or what its launcher names.
func TestBuildFor(t *testing.T) {
	const open, mpich = "libmpi.so.40", "libmpich.so.12"
	for _, c := range []struct {
		name    string
		command func(w *fakeCompilers) []string
		want    []string
	}{
		{"a program", func(w *fakeCompilers) []string { return []string{w.program("app", w.bin+"/mpicc.library")} }, []string{open}},
		{"a launcher and a program", func(w *fakeCompilers) []string {
			w.program("mpiexec")
			return []string{"mpiexec", "-n", "4", w.program("app", w.bin+"/mpicc.mpich.library"), "400"}
		}, []string{mpich}},
		{"by another library", func(w *fakeCompilers) []string {
			lib := w.program("libsolver.so", "-shared", "-Wl,-soname,libsolver.so", w.bin+"/mpicc.mpich.library")
			return []string{w.program("app", lib, "-Wl,-rpath,$ORIGIN", "-Wl,--allow-shlib-undefined")}
		}, []string{mpich}},
		{"two programs", func(w *fakeCompilers) []string {
			return []string{"sh", w.program("one", w.bin+"/mpicc.library"), ":", w.program("two", w.bin+"/mpicc.mpich.library")}
		}, []string{open, mpich}},
		{"a launcher by its name", func(w *fakeCompilers) []string { w.program("mpiexec.mpich"); return []string{"mpiexec.mpich", "x.py"} }, []string{mpich}},
		{"a link to a launcher", func(w *fakeCompilers) []string {
			w.program("orterun")
			w.must(os.Symlink("orterun", w.bin+"/mpirun"))
			return []string{w.bin + "/mpirun", "x.py"}
		}, []string{open}},
		{"a script", func(*fakeCompilers) []string { return []string{"sh", "-c", "mpiexec.mpich x"} }, nil},
		{"another MPI", func(w *fakeCompilers) []string {
			w.add("mpicc.other", "libmpi.so.12") // not searched for
			return []string{w.program("app", w.bin+"/mpicc.other.library")}
		}, nil},
		{"nothing that exists", func(*fakeCompilers) []string { return []string{"nothing"} }, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newFakeCompilers(t)
			w.add("mpicc", open)
			w.header("mpicc", "#define OPEN_MPI 1\n")
			w.add("mpicc.mpich", mpich)
			w.header("mpicc.mpich", "#define MPICH_VERSION \"4\"\n")
			h, err := Find(t.Context(), Options{})
			w.must(err)
			if err := h.BuildFor(t.Context(), c.command(w)); err != nil || !slices.Equal(sonames(h), c.want) {
				t.Errorf("%v, %v; want %v", sonames(h), err, c.want)
			}
			if h.Missing() != (len(c.want) < 2) {
				t.Errorf("missing: %v", h.Missing())
			}
			again, err := Find(t.Context(), Options{})
			if err != nil || !slices.Equal(sonames(again), c.want) || again.Front != "" {
				t.Errorf("found: %+v, %v", again, err)
			}
			w.must(h.BuildBacks(t.Context(), mpich))
			if l := sonames(h); !slices.Contains(l, mpich) || slices.Contains(l, open) != slices.Contains(c.want, open) {
				t.Errorf("with one more: %v", l)
			}
		})
	}
}

// Once it is built what a command needs, only the first MPI compiler is asked what it is; the others are
// when a process asks for their libraries, and if what is needed is not that of the first.
func TestFindFor(t *testing.T) {
	const open, mpich = "libmpi.so.40", "libmpich.so.12"
	w := newFakeCompilers(t)
	w.add("mpicc", open)
	w.add("mpicc.openmpi", open)
	w.add("mpicc.mpich", mpich)
	all, _ := w.ensure(false)
	asked := func() (names []string) {
		for _, name := range []string{"mpicc", "mpicc.openmpi", "mpicc.mpich"} {
			if os.Remove(filepath.Join(w.bin, name+".asked")) == nil {
				names = append(names, name)
			}
		}
		return names
	}
	asked()
	app, other := w.program("app", w.bin+"/mpicc.library"), w.program("other", w.bin+"/mpicc.mpich.library")
	h, err := FindFor(t.Context(), Options{}, []string{app})
	w.must(err)
	w.must(h.BuildFor(t.Context(), []string{app}))
	if got := asked(); !slices.Equal(got, []string{"mpicc"}) || !slices.Equal(sonames(h), []string{open}) || h.Backs[0] != all.Backs[0] || h.Front != all.Front {
		t.Errorf("asked %v: %+v, want of %+v", got, h.Backs, all.Backs)
	}
	if !h.Incomplete() || !h.Missing() {
		t.Error("nothing is missing")
	}
	w.must(h.BuildBacks(t.Context(), mpich))
	if got := asked(); len(got) != 2 || h.BackVar() != all.BackVar() || h.Incomplete() {
		t.Errorf("asked %v: %s, want %s", got, h.BackVar(), all.BackVar())
	}
	for _, command := range [][]string{{other}, {app, other}, {"sh"}} {
		h, err := FindFor(t.Context(), Options{}, command)
		w.must(err)
		if got := asked(); len(got) != 3 || h.BackVar() != all.BackVar() {
			t.Errorf("%v: asked %v: %s, want %s", command, got, h.BackVar(), all.BackVar())
		}
	}
}

// A failure is reported only for an MPI that is needed.
func TestBuildForBroken(t *testing.T) {
	w := newFakeCompilers(t)
	w.add("mpicc", "libmpi.so.40")
	w.add("mpicc.mpich", "libmpich.so.12")
	app := []string{w.program("app", w.bin+"/mpicc.library")}
	broken := []string{w.program("other", w.bin+"/mpicc.mpich.library")}
	w.header("mpicc.mpich", "broken")
	w.must(os.WriteFile(filepath.Join(w.bin, "mpicc.mpich.failing"), []byte("error: no such constant"), 0o644))
	var log strings.Builder
	h, err := Find(t.Context(), Options{Log: &log})
	w.must(err)
	w.must(h.BuildFor(t.Context(), app))
	if strings.Contains(log.String(), "constant") || !slices.Equal(sonames(h), []string{"libmpi.so.40"}) {
		t.Errorf("%v, %s", sonames(h), &log)
	}
	for range 2 {
		var failed *BuildError
		if err := h.BuildFor(t.Context(), broken); !errors.As(err, &failed) || !strings.Contains(failed.Brief(), "error: no such constant") {
			t.Errorf("%v", err)
		}
		if !slices.Equal(sonames(h), []string{"libmpi.so.40"}) || h.Missing() {
			t.Errorf("%v", sonames(h))
		}
		h, err = Find(t.Context(), Options{})
		w.must(err)
	}
}

// The progress of a build is reported file by file.
func TestProgress(t *testing.T) {
	w := newFakeCompilers(t)
	w.add("mpicc", "libmpi.so.40")
	p, err := backProduct()
	w.must(err)
	var seen []int
	h, err := Find(t.Context(), Options{Progress: func(done, total int) {
		if total == len(p.files) {
			seen = append(seen, done)
		}
	}})
	w.must(err)
	w.must(h.BuildBacks(t.Context()))
	if len(seen) != len(p.files) || !slices.IsSorted(seen) || seen[len(seen)-1] != len(p.files) {
		t.Errorf("%v of %d", seen, len(p.files))
	}
}
