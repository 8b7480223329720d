package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/signature"
)

// mpi is an MPI to test with.
type mpi struct {
	name     string
	launcher []string // for two processes
}

var mpis = []mpi{
	{"openmpi", []string{"timeout", "600", "mpiexec.openmpi", "--oversubscribe", "-n", "2"}},
	{"mpich", []string{"timeout", "600", "mpiexec.mpich", "-n", "2"}},
}

// compileMPI builds a test program.
func compileMPI(t testing.TB, m mpi, source string) string {
	t.Helper()
	t.Setenv("OMPI_ALLOW_RUN_AS_ROOT", "1")
	t.Setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
	program := filepath.Join(t.TempDir(), strings.TrimSuffix(filepath.Base(source), ".c"))
	// gcc reports that MPICH's MPI_STATUSES_IGNORE overflows.
	out, err := exec.Command("mpicc."+m.name, "-g", "-Wall", "-Wextra", "-Werror", "-Wno-stringop-overflow", "-pthread",
		"-o", program, filepath.Join("testdata", source), "-lm").CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return program
}

// record runs a command under efg run.
func record(t *testing.T, args ...string) (procs []*efg.Process, out, errOut string, status int) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "run.efg")
	out, errOut, status = efgRun(t, nil, append([]string{"run", "-o", file, "--"}, args...)...)
	run, err := runfile.OpenRun(file)
	if err != nil {
		t.Fatalf("%v\nstatus %d, output %q, errors %q", err, status, out, errOut)
	}
	defer run.Close()
	throughText(t, file)
	for i := range run.Procs {
		p, err := run.Process(i)
		if err != nil {
			t.Fatal(err)
		}
		procs = append(procs, p)
	}
	return procs, out, withoutBuilds(errOut), status
}

// calls are the procedures that a process called, in order.
func calls(t *testing.T, p *efg.Process) []string {
	t.Helper()
	var l []string
	for i := range p.Streams {
		w := p.Streams[i].Walk(p.Defs)
		for w.Next() {
			l = append(l, signature.ProcByID(signature.Header(w.Words()[0]).Proc()).Name)
		}
		if err := w.Err(); err != nil {
			t.Fatal(err)
		}
	}
	return l
}

// plain runs a command without efg.
func plain(t *testing.T, args ...string) (out string, status int) {
	t.Helper()
	cmd := exec.Command(args[0], args[1:]...)
	b, err := cmd.Output()
	if cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return string(b), cmd.ProcessState.ExitCode()
}

// Programs that fork, exec, call system() and fail: same output and status as without efg, and
// everything before the end is recorded.
func TestRunPrograms(t *testing.T) {
	whole := []string{"MPI_Init", "MPI_Barrier", "MPI_Barrier", "MPI_Barrier", "MPI_Finalize"}
	for _, m := range mpis {
		program := compileMPI(t, m, "children.c")
		for _, c := range []struct {
			end      string
			launcher []string
			ends     efg.End
			calls    []string
		}{
			{"well", m.launcher, efg.EndFinalized, whole},
			{"fail", m.launcher, efg.EndFinalized, whole},
			{"exit", []string{"env"}, efg.EndExit, whole[:3]},
			// Rank 0 waits in the barrier for a process that no longer exists.
			{"kill", m.launcher, efg.EndOpen, whole[:3]},
		} {
			t.Run(m.name+"/"+c.end, func(t *testing.T) {
				args := append(slices.Clone(c.launcher), program, c.end)
				n := 2
				if len(c.launcher) == 1 {
					n = 1
				}
				wantOut, wantStatus := plain(t, args...)
				procs, out, errOut, status := record(t, args...)
				if withoutPIDs(out) != withoutPIDs(wantOut) || status != wantStatus {
					t.Errorf("status %d, output %q; without efg %d, %q; errors %q", status, out, wantStatus, wantOut, errOut)
				}
				if len(procs) != n {
					t.Fatalf("%d processes", len(procs))
				}
				for i, p := range procs {
					if p.Rank != i || p.Size != n || len(p.Streams) != 1 {
						t.Fatalf("process %d: rank %d of %d, %d streams", i, p.Rank, p.Size, len(p.Streams))
					}
					if got := calls(t, p); !slices.Equal(got, c.calls) {
						t.Errorf("rank %d: %q, want %q", i, got, c.calls)
					}
					if end := p.Streams[0].End; end != c.ends {
						t.Errorf("rank %d: ended as %d, want %d", i, end, c.ends)
					}
				}
			})
		}
	}
}

// efg info names the processes whose forked children call MPI, and no others.
func TestForkedChildren(t *testing.T) {
	for _, m := range mpis {
		program := compileMPI(t, m, "children.c")
		for end, want := range map[string]int{"well": 1, "exit": 0} {
			t.Run(m.name+"/"+end, func(t *testing.T) {
				out := filepath.Join(t.TempDir(), "run.efg")
				launcher := m.launcher
				if end == "exit" {
					launcher = []string{"env"}
				}
				efgRun(t, nil, append([]string{"run", "-o", out, "--"}, append(slices.Clone(launcher), program, end)...)...)
				run, err := runfile.OpenRun(out)
				if err != nil {
					t.Fatal(err)
				}
				defer run.Close()
				forks := run.Meta.ForksOf()
				if len(forks) != want {
					t.Fatalf("forks %+v, want %d", forks, want)
				}
				if want == 0 {
					return
				}
				f := forks[0]
				if f.Rank != 1 || f.Children != 3 || f.PID == 0 || f.PID == f.Parent || f.Call != "MPI_Comm_size" {
					t.Errorf("%+v", f)
				}
				text, _, _ := efgRun(t, nil, "info", out)
				line := fmt.Sprintf("3 children of rank 1 (process %d) called MPI, the first (process %d) MPI_Comm_size; their calls are not recorded", f.Parent, f.PID)
				if !strings.Contains(text, line) {
					t.Errorf("efg info: %s\nwant %q", text, line)
				}
			})
		}
	}
}

// withoutPIDs removes the line in which Hydra prints a process number.
func withoutPIDs(out string) string {
	var b strings.Builder
	for line := range strings.Lines(out) {
		if !strings.HasPrefix(line, "=   PID ") {
			b.WriteString(line)
		}
	}
	return b.String()
}

// preloadTool preloads a tool that wraps MPI_Barrier before the hook.
func preloadTool(t *testing.T) {
	t.Helper()
	tool := filepath.Join(t.TempDir(), "tool.so")
	out, err := exec.Command("cc", "-shared", "-fPIC", "-o", tool, "testdata/tool.c", "-ldl").CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	t.Setenv("LD_PRELOAD", tool)
}

// A script that starts two programs, with a tool preloaded before the hook.
func TestRunScriptWithTool(t *testing.T) {
	for _, m := range mpis {
		t.Run(m.name, func(t *testing.T) {
			program := compileMPI(t, m, "children.c")
			preloadTool(t)
			launch := strings.Join(m.launcher, " ") + " " + program
			procs, text, errOut, status := record(t, "sh", "-c", fmt.Sprintf("%s | cat; %s fail", launch, launch))
			if text != "children 3 4 6\nchildren 3 4 6\n" || status != 7 {
				t.Errorf("status %d, output %q", status, text)
			}
			if n := strings.Count(errOut, "tool\n"); n != 12 {
				t.Errorf("the tool saw %d barriers, not 12", n)
			}
			if len(procs) != 4 || procs[0].World == procs[1].World && procs[0].Rank == procs[1].Rank {
				t.Errorf("%d processes", len(procs))
			}
			for _, p := range procs {
				if got := calls(t, p); len(got) != 5 {
					t.Errorf("rank %d: %q", p.Rank, got)
				}
			}
		})
	}
}

// Python opens its MPI module privately; the MPI is that of mpi4py's build.
func TestRunPython(t *testing.T) { runPython(t, 0) }

// A tool preloaded before the hook calls what it finds after itself; with a private MPI that
// must not be its own wrapper.
func TestRunPythonWithTool(t *testing.T) {
	preloadTool(t)
	runPython(t, 2)
}

func runPython(t *testing.T, barriers int) {
	t.Helper()
	t.Setenv("OMPI_ALLOW_RUN_AS_ROOT", "1")
	t.Setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
	script := filepath.Join(t.TempDir(), "p.py")
	text := "from mpi4py import MPI\nc = MPI.COMM_WORLD\nc.Barrier()\nprint(c.allreduce(20 + c.rank))\n"
	if err := os.WriteFile(script, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	procs, out, errOut, status := record(t, append(slices.Clone(mpis[0].launcher), "/usr/bin/python3", script)...)
	if strings.ReplaceAll(out, "\n", "") != "4141" || status != 0 || len(procs) != 2 { // mpiexec may mix the lines
		t.Fatalf("status %d, output %q, errors %q, %d processes", status, out, errOut, len(procs))
	}
	if n := strings.Count(errOut, "tool\n"); n != barriers {
		t.Errorf("the tool saw %d barriers, not %d", n, barriers)
	}
	for _, p := range procs {
		l := calls(t, p)
		if l[0] != "MPI_Init_thread" || !slices.Contains(l, "MPI_Barrier") || l[len(l)-1] != "MPI_Finalize" {
			t.Errorf("rank %d: %q", p.Rank, l)
		}
	}
}

// With --polls totals the file says so, and reconstruct leaves the polls out.
func TestRunPollTotals(t *testing.T) {
	for _, m := range mpis {
		program := compileMPI(t, m, filepath.Join("..", "..", "..", "testdata", "c", "polling.c"))
		file := filepath.Join(t.TempDir(), "run.efg")
		args := append([]string{"run", "--polls", "totals", "-o", file, "--"}, m.launcher...)
		if _, errOut, status := efgRun(t, nil, append(args, program)...); status != 0 {
			t.Fatalf("%s: status %d: %s", m.name, status, errOut)
		}
		const left = "efg: unsuccessful polls are left out: the run was recorded with --polls totals, which only counts them\n"
		out, errOut, status := efgRun(t, nil, "reconstruct", file, "--rank", "0")
		if errOut != left || status != 0 || !strings.Contains(out, `"flag":1`) || strings.Contains(out, `"flag":0`) || strings.Contains(out, `"outcount":0`) {
			t.Errorf("%s: status %d, errors %q, output\n%s", m.name, status, errOut, out)
		}
		if out, _, _ := efgRun(t, nil, "info", file); !strings.Contains(out, ", up to 32MiB in each process; unsuccessful polls: totals\n") {
			t.Errorf("info of %s:\n%s", m.name, out)
		}
		if out, _, _ := efgRun(t, nil, "graph", file); !strings.Contains(out, " polls, not in the sequence") {
			t.Errorf("graph of %s:\n%s", m.name, out)
		}
	}
}
