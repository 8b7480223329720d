package hook

import (
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/efg-tools/efg/hook/internal/slots"
	"github.com/efg-tools/efg/internal/testing/mpilib"
)

// testFront is a front with fakes for everything around it.
type testFront struct {
	dir   string
	front string
}

func newTestFront(t *testing.T) *testFront {
	t.Helper()
	cc, err := cCompiler()
	if err != nil {
		t.Fatal(err)
	}
	s := &testFront{dir: t.TempDir()}
	b := &builder{cache: cache(s.dir), opt: Options{Log: os.Stderr}}
	if s.front, err = b.front(t.Context(), cc); err != nil {
		t.Fatal(err)
	}
	shim := s.path("shim")
	if err := extract(shim); err != nil {
		t.Fatal(err)
	}
	src, err := filepath.Abs("testdata/front")
	if err != nil {
		t.Fatal(err)
	}
	shared := []string{"-shared", "-fPIC", "-Wall", "-Wextra", "-Werror"}
	for _, args := range [][]string{
		append(shared, "-Wl,-soname,libmpi.so.40", "-o", "libmpi.so.40", src+"/mpi.c"),
		append(shared, "-I"+shim, "-o", "back.so", src+"/back.c", "-ldl"),
		{"-o", "program", "-pthread", src + "/main.c", src + "/calls.c", "libmpi.so.40", "-Wl,-rpath,$ORIGIN"},
		append(shared, "-o", "plugin.so", src+"/calls.c", "libmpi.so.40", "-pthread", "-Wl,-rpath,$ORIGIN"),
		{"-o", "host", "-DPLUGIN_ONLY", src + "/main.c", "-ldl"},
		{"-o", "static", "-pthread", src + "/main.c", src + "/calls.c", src + "/mpi.c"},
	} {
		if err := cc.run(t.Context(), s.dir, args...); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func (s *testFront) path(name string) string { return filepath.Join(s.dir, name) }

// run runs a program with the front; it returns its output and errors.
func (s *testFront) run(t *testing.T, env []string, args ...string) (out, errOut string, status int) {
	t.Helper()
	var o, e strings.Builder
	cmd := exec.Command(s.path(args[0]), args[1:]...)
	cmd.Env = append(os.Environ(), "LD_PRELOAD="+s.front)
	cmd.Env = append(cmd.Env, env...)
	cmd.Stdout, cmd.Stderr = &o, &e
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return o.String(), e.String(), cmd.ProcessState.ExitCode()
}

const passed = "barrier 42\nbarrier 42\npcontrol 204\nsendrecv 650\nfortran 62 62 62 82\n"

// wrapped is what the calls print if the back end exists.
func wrapped(caller string) string {
	w := func(name string) string { return "wrapper " + name + " from " + caller + "\n" }
	return "open 1 libmpi.so.40\n" + strings.Repeat(w("MPI_Barrier")+"barrier 42\n", 2) + "pcontrol 204\n" +
		w("MPI_Sendrecv") + "sendrecv 650\n" + strings.Repeat(w("mpi_barrier"), 3) + "fortran 62 62 62 82\n"
}

// service creates the directory of a service for all users, which puts spools into a directory
// of its own.
func (s *testFront) service(t *testing.T, name string, mode, file os.FileMode) string {
	t.Helper()
	dir, spools := s.path(name), filepath.Dir(s.spool(name))
	settings := "EFG_SPOOLS=" + spools + "\nEFG_BACK=libmpi.so.40=" + s.path("back.so") // without a line break
	err := errors.Join(os.Mkdir(dir, 0o755), os.Mkdir(spools, 0o755), os.WriteFile(dir+"/hook", []byte(settings), 0o644))
	if err := errors.Join(err, os.Chmod(dir+"/hook", file), os.Chmod(dir, mode)); err != nil {
		t.Fatal(err)
	}
	return "EFG_SERVICE=" + dir
}

// spool is the path of this user's spool in that service.
func (s *testFront) spool(service string) string {
	return filepath.Join(s.path(service+"-spools"), fmt.Sprintf("efg-%d", os.Geteuid()))
}

func TestFront(t *testing.T) {
	s := newTestFront(t)
	back := "EFG_BACK=other.so.1=/nowhere:libmpi.so.40=" + s.path("back.so")
	sorted := func(text string) string {
		l := strings.Split(text, "\n")
		slices.Sort(l)
		return strings.Join(l, "\n")
	}
	barrier := "wrapper MPI_Barrier from program\n"
	settings := []byte("EFG_TIME=off\n" + back + "\n")
	spool := func(name string, mode, file os.FileMode) string {
		dir := s.path(name)
		if err := errors.Join(os.Mkdir(dir, 0o700), os.WriteFile(dir+"/hook", settings, 0o600), os.Chmod(dir+"/hook", file), os.Chmod(dir, mode)); err != nil {
			t.Fatal(err)
		}
		return "EFG_SPOOL=" + dir
	}
	daemon, open, writable := spool("spool", 0o700, 0o600), spool("open", 0o750, 0o600), spool("writable", 0o700, 0o620)
	service, others, changed, squatted, twice := s.service(t, "service", 0o755, 0o644), s.service(t, "others", 0o777, 0o644), s.service(t, "changed", 0o755, 0o666), s.service(t, "squatted", 0o755, 0o644), s.service(t, "twice", 0o755, 0o644)
	if err := os.WriteFile(s.spool("squatted"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name     string
		env      []string
		args     []string
		out, err string
		status   int
	}{
		{"a daemon", []string{daemon}, []string{"program", "all"}, wrapped("program"), "", 5},
		{"a daemon's directory that others may read", []string{open}, []string{"program", "all"}, passed, "", 5},
		{"a daemon's file that others may write", []string{writable}, []string{"program", "all"}, passed, "", 5},
		{"a service for all users", []string{service}, []string{"program", "all"}, wrapped("program"), "", 5},
		{"a service again", []string{service}, []string{"program", "all"}, wrapped("program"), "", 5},
		{"a service's directory that others may write to", []string{others}, []string{"program", "all"}, passed, "", 5},
		{"a service's file that others may write", []string{changed}, []string{"program", "all"}, passed, "", 5},
		{"a file in the place of the spool, and no one to put it away", []string{squatted}, []string{"program", "all"}, passed, "", 5},
		{"a daemon before a service", []string{twice, daemon}, []string{"program", "all"}, wrapped("program"), "", 5},
		{"no daemon where one is named, and a service", []string{twice, "EFG_SPOOL=/nowhere"}, []string{"program", "all"}, passed, "", 5},
		{"efg run before a daemon", []string{daemon, "EFG_DIR=x", "EFG_BACK=libmpi.so.40=/nowhere.so"}, []string{"program", "all"}, passed, "efg: /nowhere.so: cannot open shared object file: No such file or directory: the program runs unrecorded\n", 5},
		{"wrapped", []string{back}, []string{"program", "all"}, wrapped("program"), "", 5},
		{"MPI loaded locally", []string{back}, []string{"host", "all", s.path("plugin.so")}, wrapped("plugin.so"), "", 5},
		{"nobody records", []string{"EFG_SPOOL=/nowhere"}, []string{"program", "all"}, passed, "", 5},
		{"MPI loaded locally, no back end", []string{"EFG_DIR=x"}, []string{"host", "all", s.path("plugin.so")}, passed, "efg: no back end for this MPI (libmpi.so.40, " + s.path("libmpi.so.40") + "): the program runs unrecorded\n", 5},
		{"no back end", []string{"EFG_DIR=x"}, []string{"program", "all"}, passed, "efg: no back end for this MPI (libmpi.so.40, " + s.path("libmpi.so.40") + "): the program runs unrecorded\n", 5},
		{"back end not there", []string{"EFG_BACK=libmpi.so.40=/nowhere.so"}, []string{"program", "all"}, passed, "efg: /nowhere.so: cannot open shared object file: No such file or directory: the program runs unrecorded\n", 5},
		{"back end refuses", []string{back, "FAKE_BACK_REFUSES=1"}, []string{"program", "all"}, "open 1 libmpi.so.40\n" + passed, "", 5},
		{"static MPI", []string{back}, []string{"static", "threads"}, "sum 328\n", "", 5},
		{"fork", []string{back}, []string{"program", "fork"}, "open 1 libmpi.so.40\n" + barrier + "child 41 43\n" + barrier + "parent 42\n", "", 5},
		{"threads", []string{back}, []string{"program", "threads"}, "open 1 libmpi.so.40\n" + strings.Repeat(barrier, 8) + "sum 328\n", "", 5},
		{"PMPI names", []string{back}, []string{"program", "pmpi"}, "open 1 libmpi.so.40\n" + barrier + "barrier 52\nwrapper MPI_Init from program\ninit 54\nrank 53 7\n" + barrier + barrier + "barrier 42 53\nwrapper mpi_barrier from program\nfortran 72\n", "", 5},
		{"PMPI names, no one records", []string{"EFG_SPOOL=/nowhere"}, []string{"program", "pmpi"}, "barrier 52\ninit 54\nrank 53 7\nbarrier 42 53\nfortran 72\n", "", 5},
		{"no such function", []string{back}, []string{"program", "missing"}, "open 1 libmpi.so.40\n", "efg: the program calls MPI_Send, which its MPI library does not have\n", -1},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, errOut, status := s.run(t, c.env, c.args...)
			if c.name == "threads" {
				out, c.out = sorted(out), sorted(c.out)
			}
			if out != c.out || errOut != c.err || status != c.status {
				t.Errorf("status %d, want %d\n--- output\n%s--- want\n%s--- errors\n%s--- want\n%s", status, c.status, out, c.out, errOut, c.err)
			}
		})
	}
	for name, made := range map[string]bool{"service": true, "others": false, "changed": false, "twice": false} {
		fi, err := os.Lstat(s.spool(name))
		if made != (err == nil) || made && fi.Mode() != os.ModeDir|0o700 {
			t.Errorf("%s: a spool: %v, %v", name, fi, err)
		}
	}
}

// The front runs in every process that inherits it: it may depend only on what exists anyway.
func TestFrontNeedsOnlyLibc(t *testing.T) {
	s := newTestFront(t)
	f, err := elf.Open(s.front)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	libs, err := f.ImportedLibraries()
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range libs {
		if !slices.Contains([]string{"libc.so.6", "libdl.so.2", "libpthread.so.0"}, l) {
			t.Errorf("needs %s", l)
		}
	}
	for _, program := range []string{"true", "sh"} {
		cmd := exec.Command(program, "-c", "echo ok | cat")
		cmd.Env = append(os.Environ(), "LD_PRELOAD="+s.front)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v: %s", program, err, out)
		}
	}
}

// nvtxEntry is what NVTX calls in the library that NVTX_INJECTION64_PATH names.
const nvtxEntry = "InitializeInjectionNvtx2"

// The front exports exactly the symbols of the slots, and the entry for NVTX.
func TestFrontExports(t *testing.T) {
	got, err := mpilib.Functions(newTestFront(t).front)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]bool{nvtxEntry: true}
	if !got[nvtxEntry] {
		t.Errorf("does not export %s", nvtxEntry)
	}
	for _, s := range slots.All() {
		for _, name := range slices.Concat(s.Symbols, s.PMPI) {
			want[name] = true
			if !got[name] {
				t.Errorf("does not export %s", name)
			}
		}
	}
	for name := range got {
		if !want[name] {
			t.Errorf("exports %s", name)
		}
	}
}

// A program with privileges that its user does not have (the front is in /etc/ld.so.preload)
// loads no back end named by the environment, and contacts no daemon.
func TestPrivileged(t *testing.T) {
	if os.Geteuid() != 0 {
		return // another user's privileges cannot be obtained
	}
	s := newTestFront(t)
	cc, err := cCompiler()
	if err != nil {
		t.Fatal(err)
	}
	src, err := filepath.Abs("testdata/front")
	if err != nil {
		t.Fatal(err)
	}
	// Such a program does not search for libraries in directories relative to itself.
	if err := cc.run(t.Context(), s.dir, "-o", "privileged", "-pthread", src+"/main.c", src+"/calls.c", "libmpi.so.40", "-Wl,-rpath,"+s.dir); err != nil {
		t.Fatal(err)
	}
	etc := s.path("etc")
	if err := errors.Join(os.Mkdir(etc, 0o755), os.WriteFile(etc+"/ld.so.preload", []byte(s.front+"\n"), 0o644)); err != nil {
		t.Fatal(err)
	}
	for dir := s.dir; dir != os.TempDir() && dir != "/"; dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	service := s.service(t, "service", 0o755, 0o644)
	back := "EFG_BACK=libmpi.so.40=" + s.path("back.so")
	for _, c := range []struct {
		name string
		mode os.FileMode
		env  string
		out  string
	}{
		{"plain", 0o755, back, wrapped("privileged")},
		{"set-uid", 0o755 | os.ModeSetuid, back, passed},
		{"set-gid", 0o755 | os.ModeSetgid, back, passed},
		{"set-uid and a service", 0o755 | os.ModeSetuid, service, passed},
	} {
		t.Run(c.name, func(t *testing.T) {
			if err := os.Chmod(s.path("privileged"), c.mode); err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command("unshare", "--mount", "sh", "-ec", `mount --bind "$1" /etc
				exec setpriv --reuid 65534 --regid 65534 --clear-groups env EFG_DIR=/nowhere "$2" "$3" all`, "sh", etc, c.env, s.path("privileged"))
			if c.env == service {
				cmd.Args[4] = strings.Replace(cmd.Args[4], "EFG_DIR=/nowhere", "", 1)
			}
			out, err := cmd.CombinedOutput()
			if string(out) != c.out || cmd.ProcessState.ExitCode() != 5 {
				t.Errorf("%v\n--- output\n%s--- want\n%s", err, out, c.out)
			}
		})
	}
	if _, err := os.Lstat(s.spool("service")); err == nil {
		t.Error("a spool was made for the program")
	}
}
