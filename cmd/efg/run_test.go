package main

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// efgRun runs a command line as main does.
func efgRun(t *testing.T, in io.Reader, args ...string) (out, errOut string, status int) {
	t.Helper()
	var o, e bytes.Buffer
	status = execute(args, in, &o, &e)
	return o.String(), e.String(), status
}

// withoutBuilds removes what the first run prints about building the hook, and what any run
// prints about builds that were killed on this machine.
func withoutBuilds(errOut string) string {
	var b strings.Builder
	for line := range strings.Lines(errOut) {
		if !strings.HasPrefix(line, "efg: building the hook's ") && !strings.Contains(line, ": efg merge --recover writes the run file, with --discard ") {
			b.WriteString(line)
		}
	}
	return b.String()
}

// Programs that do not call MPI: their results are unchanged, and nothing is written.
func TestRunWithoutMPI(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x.efg")
	nothing := "efg: nothing was recorded, " + file + " was not written: no process called MPI through a shared library that efg recognizes\n"
	for _, c := range []struct {
		name     string
		in       string
		args     []string
		out, err string
		status   int
	}{
		{"true", "", []string{"/bin/true"}, "", "", 0},
		{"status", "", []string{"sh", "-c", "exit 7"}, "", "", 7},
		{"signal", "", []string{"sh", "-c", "kill -TERM $$"}, "", "", 143},
		{"streams", "in\n", []string{"sh", "-c", "cat; echo err >&2"}, "in\n", "err\n", 0},
		{"children", "", []string{"sh", "-c", "(echo a; exec true) | sort; sh -c 'exit 3'"}, "a\n", "", 3},
		{"flags of the command", "", []string{"sh", "-c", "echo $@", "--", "--time", "x"}, "--time x\n", "", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			args := append([]string{"run", "-o", file, "--"}, c.args...)
			out, errOut, status := efgRun(t, strings.NewReader(c.in), args...)
			if out != c.out || withoutBuilds(errOut) != c.err+nothing || status != c.status {
				t.Errorf("status %d, output %q, errors %q", status, out, errOut)
			}
			if _, err := os.Stat(file); err == nil {
				t.Error("wrote a file")
			}
		})
	}
}

func TestRunMistakes(t *testing.T) {
	dir := t.TempDir()
	plain := filepath.Join(dir, "plain")
	if err := os.WriteFile(plain, []byte("text"), 0o644); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "x.efg")
	for _, c := range []struct {
		args []string
		err  string
	}{
		{[]string{"run"}, "efg: efg run: requires at least 1 arg(s), only received 0\n"},
		{[]string{"run", "--nonsense", "true"}, "efg: unknown flag: --nonsense\n"},
		{[]string{"run", "--time", "late", "true"}, "efg: --time late: want off, stats, auto[=BUDGET] or trace[=ERROR]\n"},
		{[]string{"run", "--polls", "none", "true"}, "efg: --polls none: want exact or totals\n"},
		{[]string{"run", "-o", file, "no-such-program"}, "efg: no-such-program: executable file not found in $PATH\n"},
		{[]string{"run", "-o", file, dir + "/absent"}, "efg: " + dir + "/absent: no such file or directory\n"},
		{[]string{"run", "-o", file, plain}, "efg: " + plain + ": permission denied\n"},
		{[]string{"run", "-o", dir, "true"}, "efg: " + dir + ": is a directory\n"},
		{[]string{"run", "-o", dir + "/no/x.efg", "true"}, "efg: cannot write " + dir + "/no/x.efg: no such file or directory\n"},
		{[]string{"fly"}, "efg: unknown command \"fly\"; see efg --help\n"},
		{[]string{"hook", "fly"}, "efg: unknown command \"fly\"; see efg hook --help\n"},
		{[]string{"reprot"}, "efg: unknown command \"reprot\"; did you mean \"report\"?\n"},
		{[]string{"hook", "biuld"}, "efg: unknown command \"biuld\"; did you mean \"build\"?\n"},
		{[]string{"help", "inof"}, "efg: unknown command \"inof\"; did you mean \"info\"?\n"},
		{[]string{"wrk"}, "efg: unknown command \"wrk\"; see efg --help\n"}, // work is hidden
		{[]string{"run", "--tiem", "stats", "true"}, "efg: unknown flag: --tiem; did you mean --time?\n"},
		{[]string{"run", "-z", "true"}, "efg: unknown shorthand flag: 'z' in -z\n"},
		{[]string{"hook", "path", "x"}, "efg: efg hook path: unknown command \"x\" for \"efg hook path\"\n"},
	} {
		out, errOut, status := efgRun(t, nil, c.args...)
		if out != "" || errOut != c.err || status != 2 {
			t.Errorf("%q: status %d, output %q, errors %q", c.args, status, out, errOut)
		}
	}
}

// Without compilers efg run says what to install, and runs the program.
func TestRunWithoutCompilers(t *testing.T) {
	bin := t.TempDir()
	t.Setenv("PATH", bin)
	t.Setenv("CC", "")
	t.Setenv("MPICC", "")
	file := filepath.Join(bin, "x.efg")
	check := func(what string) {
		t.Helper()
		for required, want := range map[string]int{"--require=false": 0, "--require": 2} {
			writeFile(t, file, "of an earlier run")
			_, errOut, status := efgRun(t, nil, "run", required, "-o", file, "/bin/true")
			if _, err := os.Stat(file); (err == nil) != (want > 0) {
				t.Errorf("%s: the file of an earlier run: %v", required, err)
			}
			if status != want || !strings.HasPrefix(errOut, "efg: "+what+": ") || strings.Count(errOut, "\n") != 1 {
				t.Errorf("%s: status %d, errors %q", required, status, errOut)
			}
		}
	}
	check("no C compiler")
	if err := os.Symlink("/bin/true", filepath.Join(bin, "cc")); err != nil {
		t.Fatal(err)
	}
	check("no MPI compiler")
}

// What the program sees: the hook last in LD_PRELOAD, and a private directory that is removed
// afterwards unless kept.
func TestRunEnvironment(t *testing.T) {
	t.Setenv("LD_PRELOAD", "libm.so.6")
	t.Setenv("EFG_TIME", "nonsense")
	show := `echo "$LD_PRELOAD"; stat -c %a "$EFG_DIR"; echo "$EFG_DIR $EFG_TIME $EFG_QUERIES $EFG_BUFFERS"; echo "$EFG_BACK"`
	for _, keep := range []bool{false, true} {
		args := []string{"run", "-o", filepath.Join(t.TempDir(), "x.efg"), "--time", "off", "--queries"}
		if keep {
			args = append(args, "--keep", "--buffers")
		}
		out, errOut, status := efgRun(t, nil, append(args, "sh", "-c", show)...)
		l := strings.Split(out, "\n")
		if status != 0 || len(l) != 5 {
			t.Fatalf("status %d, output %q, errors %q", status, out, errOut)
		}
		f := strings.Fields(l[2])
		if !strings.HasPrefix(l[0], "libm.so.6:/") || !strings.HasSuffix(l[0], "/libefg.so") || l[1] != "700" {
			t.Errorf("output %q", out)
		}
		if want := map[bool]string{false: "off 1 0", true: "off 1 1"}[keep]; strings.Join(f[1:], " ") != want {
			t.Errorf("options %q, want %q", f[1:], want)
		}
		for _, entry := range strings.Split(l[3], ":") {
			if soname, back, ok := strings.Cut(entry, "="); !ok || !strings.HasPrefix(soname, "libmpi") || !filepath.IsAbs(back) {
				t.Errorf("EFG_BACK has %q", entry)
			}
		}
		if _, err := os.Stat(f[0]); (err == nil) != keep {
			t.Errorf("keep %v: %s: %v", keep, f[0], err)
		}
		if keep && !strings.Contains(errOut, "segments are in "+f[0]+"\n") {
			t.Errorf("errors %q", errOut)
		}
		os.RemoveAll(f[0])
	}
}

// A signal to efg is forwarded to the program.
func TestRunForwardsSignals(t *testing.T) {
	r, w := io.Pipe()
	go func() {
		line, _ := bufio.NewReader(r).ReadString('\n')
		if line == "ready\n" {
			syscall.Kill(syscall.Getpid(), syscall.SIGUSR1)
		}
		io.Copy(io.Discard, r)
	}()
	var errOut bytes.Buffer
	status := execute([]string{"run", "-o", filepath.Join(t.TempDir(), "x.efg"), "--", "sh", "-c",
		"trap 'exit 9' USR1; echo ready; i=0; while [ $i -lt 200 ]; do sleep 0.05; i=$((i+1)); done"}, nil, w, &errOut)
	w.Close()
	if status != 9 {
		t.Errorf("status %d, errors %q", status, errOut.String())
	}
}
