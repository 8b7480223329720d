package live

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/hook"
	"github.com/efg-tools/efg/internal/analysis/check"
	"github.com/efg-tools/efg/internal/segment"
	"github.com/efg-tools/efg/internal/symbolize"
	"github.com/efg-tools/efg/internal/testing/groundtruth"
)

var built *hook.Hook

func TestMain(m *testing.M) {
	var err error
	if built, err = hook.Ensure(context.Background(), hook.Options{}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// job is a program that runs under the hook.
type job struct {
	dir  string
	cmd  *exec.Cmd
	done chan struct{}
}

func compile(t *testing.T, m groundtruth.MPI, source string) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), strings.TrimSuffix(filepath.Base(source), ".c"))
	out, err := exec.Command(m.CC, "-g", "-Wall", "-Wextra", "-Werror", "-Wno-stringop-overflow", "-Wno-stringop-overread", "-Wno-deprecated-declarations", "-DOMPI_OMIT_MPI1_COMPAT_DECLS=0", "-pthread", "-o", program, "../../testdata/c/"+source, "-lm").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return program
}

// compileFortran compiles a Fortran program with the compiler of an MPI.
func compileFortran(t *testing.T, m groundtruth.MPI, source string) string {
	t.Helper()
	dir := t.TempDir()
	program := filepath.Join(dir, strings.TrimSuffix(filepath.Base(source), ".f90"))
	out, err := exec.Command(m.FC, "-g", "-J", dir, "-fallow-argument-mismatch", "-o", program, "../../testdata/fortran/"+source).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return program
}

// launch starts a program; it is killed at the end of the test.
func launch(t *testing.T, m groundtruth.MPI, n int, args ...string) *job {
	t.Helper()
	j := &job{dir: t.TempDir(), done: make(chan struct{})}
	line := append(append([]string{"600"}, m.Launch...), fmt.Sprint(n))
	j.cmd = exec.Command("timeout", append(line, args...)...)
	j.cmd.Env = append(append(os.Environ(), m.Env...), "LD_PRELOAD="+built.Front, "EFG_BACK="+built.BackVar(), "EFG_DIR="+j.dir,
		"OMPI_MCA_btl_vader_backing_directory="+t.TempDir()) // killed ranks leave files there
	j.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := j.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { j.cmd.Wait(); close(j.done) }()
	t.Cleanup(j.kill)
	return j
}

// kill kills the ranks, and then the processes that started them.
func (j *job) kill() {
	paths, _ := Segments(j.dir)
	for _, p := range paths {
		if _, pid, ok := segment.ProcessIn(filepath.Base(p)); ok && segment.Running(p) {
			syscall.Kill(pid, syscall.SIGKILL)
		}
	}
	syscall.Kill(-j.cmd.Process.Pid, syscall.SIGTERM)
	select {
	case <-j.done:
	case <-time.After(5 * time.Second):
		syscall.Kill(-j.cmd.Process.Pid, syscall.SIGKILL)
		<-j.done
	}
}

func (j *job) jobState(t *testing.T) *JobState {
	t.Helper()
	paths, err := Segments(j.dir)
	if errors.Is(err, ErrNoSegments) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	read, err := Read(paths, 100*time.Millisecond)
	if err != nil {
		return nil // none of the segments has begun
	}
	return NewJobState(read)
}

// until polls the job until its state is as expected.
func (j *job) until(t *testing.T, ok func(*JobState) bool) *JobState {
	t.Helper()
	var c *JobState
	for end := time.Now().Add(5 * time.Minute); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if c = j.jobState(t); c != nil && ok(c) {
			return c
		}
	}
	t.Fatalf("it does not come to this; at last:\n%s", describe(c))
	return nil
}

func describe(c *JobState) string {
	if c == nil {
		return "nothing"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "running %v, deadlocks %v, in vain %v, behind %v, missing %v, mismatches %+v\n", c.Running, c.Deadlocks, c.InVain, c.Behind, c.Missing, c.Mismatches)
	for _, x := range c.Threads {
		fmt.Fprintf(&b, "%+v\n", x)
	}
	return b.String()
}

func numbers(from, to int) (list []int) {
	for i := from; i < to; i++ {
		list = append(list, i)
	}
	return list
}

// Jobs that can never continue are reported, with the ranks that wait for each other, while
// they hang and after they were killed.
func TestDeadlocks(t *testing.T) {
	for _, m := range groundtruth.Installed() {
		program := compile(t, m, "stuck.c")
		for _, c := range []struct {
			how            string
			ranks          int
			members        []int
			inVain, behind []int
			op             string
			awaits         map[int][]int
		}{
			{how: "recv", ranks: 2, members: []int{0, 1}, op: "MPI_Recv", awaits: map[int][]int{0: {1}, 1: {0}}},
			{how: "recv", ranks: 5, members: numbers(0, 5), op: "MPI_Recv", awaits: map[int][]int{0: {4}, 3: {2}}},
			{how: "ssend", ranks: 3, members: numbers(0, 3), op: "MPI_Ssend", awaits: map[int][]int{0: {1}, 2: {0}}},
			{how: "pair", ranks: 4, members: []int{0, 1}, behind: []int{2, 3}, op: "MPI_Recv", awaits: map[int][]int{3: {0, 1}}},
			{how: "wait", ranks: 3, members: numbers(0, 3), op: "MPI_Waitall", awaits: map[int][]int{0: {2}, 1: {0}}},
			{how: "barrier", ranks: 4, members: []int{0, 3}, behind: []int{1, 2}, op: "MPI_Barrier", awaits: map[int][]int{0: {3}, 1: {3}, 3: {0}}},
			{how: "any", ranks: 3, members: numbers(0, 3), op: "MPI_Recv", awaits: map[int][]int{1: {0, 1, 2}}},
		} {
			t.Run(fmt.Sprintf("%s/%s/%d", m.Name, c.how, c.ranks), func(t *testing.T) {
				j := launch(t, m, c.ranks, program, c.how)
				check := func(r *JobState) {
					t.Helper()
					if len(r.Deadlocks) != 1 || !slices.Equal(r.Deadlocks[0].Ranks, c.members) || !slices.Equal(r.Behind, c.behind) || len(r.InVain) > 0 || len(r.Missing) > 0 {
						t.Errorf("not as wanted:\n%s", describe(r))
					}
					cycle := r.Deadlocks[0].Cycle
					for i, rank := range cycle {
						if next := cycle[(i+1)%len(cycle)]; !slices.Contains(r.Threads[rank].Awaits, next) {
							t.Errorf("cycle %v: %d does not wait for %d", cycle, rank, next)
						}
					}
					if r.Threads[0].Op != c.op || r.Threads[0].State != InCall || !strings.Contains(r.Threads[0].Site, " stuck.c:") {
						t.Errorf("%+v", r.Threads[0])
					}
					for rank, want := range c.awaits {
						if got := r.Threads[rank].Awaits; !slices.Equal(got, want) {
							t.Errorf("rank %d waits for %v, want %v", rank, got, want)
						}
					}
				}
				arriving := func(x Thread) bool { return x.State == Moving || x.State == Computing }
				check(j.until(t, func(r *JobState) bool {
					return len(r.Deadlocks) > 0 && r.Size == len(r.Threads) && !slices.ContainsFunc(r.Threads, arriving)
				}))
				j.kill()
				c := j.until(t, func(r *JobState) bool { return !r.Running })
				check(c)
				stored := j.stored(t)
				check(stored)
				for i := range c.Threads {
					got, want := &stored.Threads[i], &c.Threads[i]
					if !slices.Equal(got.Args, want.Args) || got.Site != want.Site || got.Event != want.Event || got.Since == nil || !got.Since.Equal(*want.Since) {
						t.Errorf("the run file has %+v, the segments %+v", got, want)
					}
				}
			})
		}
	}
}

// The innermost call in progress is named, with the one that it is inside of.
func TestCallInsideCall(t *testing.T) {
	for _, m := range groundtruth.Installed() {
		t.Run(m.Name, func(t *testing.T) {
			j := launch(t, m, 2, compile(t, m, "inside.c"))
			c := j.until(t, func(r *JobState) bool {
				return len(r.Threads) == 2 && !slices.ContainsFunc(r.Threads, func(x Thread) bool { return x.Inner == nil })
			})
			for _, x := range c.Threads {
				if x.Op != "MPI_Reduce_local" || x.State != InCall || x.Inner.Op != "MPI_Recv" || !strings.Contains(x.Inner.Site, "inside.c:") || !slices.Contains(x.Inner.Args, "tag=7") {
					t.Errorf("%+v, inside it %+v", x, x.Inner)
				}
			}
			if len(c.Groups) != 1 || c.Groups[0].Inner == nil || c.Groups[0].Inner.Op != "MPI_Recv" {
				t.Errorf("groups %+v", c.Groups)
			}
			j.kill()
			j.until(t, func(r *JobState) bool { return !r.Running })
			stored := j.stored(t)
			for i := range c.Threads {
				got, want := &stored.Threads[i], &c.Threads[i]
				if got.Op != want.Op || got.Inner == nil || !reflect.DeepEqual(got.Inner, want.Inner) {
					t.Errorf("the run file has %+v inside %+v, the segments %+v", got.Inner, got, want.Inner)
				}
			}
		})
	}
}

// stored is the job state according to the job's run file.
func (j *job) stored(t *testing.T) *JobState {
	t.Helper()
	job, err := OfRun(j.run(t))
	if err != nil {
		t.Fatal(err)
	}
	return NewJobState(job)
}

// run makes a run file of the job; nil if nothing can be read.
func (j *job) run(t *testing.T) *runfile.Run {
	t.Helper()
	paths, err := Segments(j.dir)
	if err != nil {
		return nil
	}
	var procs []*efg.Process
	for _, path := range paths {
		p, err := segment.Read(path)
		if err != nil {
			return nil
		}
		procs = append(procs, p)
	}
	file := filepath.Join(t.TempDir(), "x.efg")
	if err := runfile.WriteRun(file, procs, runfile.Meta{Time: "stats", Sites: symbolize.Sites(procs)}); err != nil {
		t.Fatal(err)
	}
	run, err := runfile.OpenRun(file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { run.Close() })
	if err := runfile.Validate(run); err != nil {
		t.Fatal(err)
	}
	return run
}

// checkNoHang demands that a check does not report a run as hung.
func checkNoHang(t *testing.T, run *runfile.Run) {
	t.Helper()
	r, err := check.New(run)
	if err != nil {
		t.Fatal(err)
	}
	if r.Hangs() {
		for i := range r.Findings {
			f := &r.Findings[i]
			t.Errorf("taken for a hang: %s: %s", f.Kind, f.Text)
		}
	}
}

// A rank that waits for a process that has ended waits forever; the others are not stuck.
func TestWaitInVain(t *testing.T) {
	m := groundtruth.Installed()[1] // Open MPI's launcher would end the job
	program := compile(t, m, "stuck.c")
	m.Launch = []string{"mpiexec.mpich", "-disable-auto-cleanup", "-n"}
	j := launch(t, m, 4, program, "exit")
	c := j.until(t, func(r *JobState) bool { return len(r.InVain) == 3 })
	if !slices.Equal(c.InVain, []int{0, 1, 2}) || len(c.Deadlocks) > 0 || c.Threads[3].State != Killed && c.Threads[3].State != Exited {
		t.Errorf("%s", describe(c))
	}
}

// A job in which a rank computes for a long time is not stuck, and the ranks that the others
// wait for are reported.
func TestSlow(t *testing.T) {
	for _, m := range groundtruth.Installed() {
		program := compile(t, m, "stuck.c")
		for _, c := range []struct {
			how    string
			rank   int
			awaits []int
			any    bool
		}{
			{"slow", 0, []int{3}, false},
			{"chain", 1, []int{2}, false},
			{"master", 0, []int{0, 1, 2, 3}, true},
		} {
			t.Run(m.Name+"/"+c.how, func(t *testing.T) {
				j := launch(t, m, 4, program, c.how, "1")
				seen := false
				for running := true; running; {
					select {
					case <-j.done:
						running = false
					default:
					}
					r := j.jobState(t)
					if r == nil {
						continue
					}
					if r.Hangs() {
						t.Fatalf("taken for stuck:\n%s", describe(r))
					}
					x := slices.IndexFunc(r.Threads, func(x Thread) bool { return x.Rank == c.rank })
					if x >= 0 && slices.Equal(r.Threads[x].Awaits, c.awaits) && r.Threads[x].Any == c.any {
						seen = true
					}
				}
				if !seen {
					t.Errorf("rank %d was never seen waiting for %v", c.rank, c.awaits)
				}
			})
		}
	}
}

// A busy program is never reported as stuck, whenever it is examined or killed.
func TestBusy(t *testing.T) {
	for _, m := range groundtruth.Installed() {
		for _, source := range []string{"jacobi.c", "farm.c"} {
			t.Run(m.Name+"/"+source, func(t *testing.T) {
				program := compile(t, m, source)
				for range 3 {
					j := launch(t, m, 4, program, "2000000")
					for n := 0; n < 3; {
						if c := j.jobState(t); c != nil {
							n++
							if c.Hangs() {
								t.Fatalf("taken for stuck:\n%s", describe(c))
							}
						}
					}
					j.kill()
					if c := j.until(t, func(r *JobState) bool { return !r.Running }); c.Hangs() {
						t.Fatalf("taken for stuck after it was killed:\n%s", describe(c))
					}
				}
			})
		}
	}
}

// healthy are programs that use many parts of MPI, and never hang.
var healthy = []struct {
	source string
	args   []string
}{
	{"coll.c", nil}, {"icoll.c", nil}, {"pcoll.c", nil}, {"intercoll.c", nil}, {"neigh.c", nil}, {"persistent.c", nil},
	{"comms.c", nil}, {"inter.c", nil}, {"probes.c", nil}, {"rma.c", nil}, {"io.c", []string{"2", "DIR"}}, {"threads.c", nil},
	{"lists.c", nil}, {"polling.c", nil}, {"posted.c", nil}, {"eager.c", nil}, {"amr.c", nil}, {"halo3d.c", nil},
	{"sessions.c", nil}, {"attrs.c", nil}, {"errors.c", nil}, {"spawn.c", nil},
}

// A healthy program is not stuck, whenever it is examined or killed.
func TestHealthyPrograms(t *testing.T) {
	looks := 0
	for i, m := range groundtruth.Installed() {
		for k, p := range healthy {
			t.Run(m.Name+"/"+p.source, func(t *testing.T) {
				program := compile(t, m, p.source)
				args := []string{program}
				for _, a := range p.args {
					args = append(args, strings.ReplaceAll(a, "DIR", t.TempDir()))
				}
				j := launch(t, m, 4, args...)
				limit := time.Now().Add(time.Duration(150+37*(k*7%12)) * time.Millisecond)
				for running := true; running && (k%2 == i || time.Now().Before(limit)); {
					select {
					case <-j.done:
						running = false
					case <-time.After(2 * time.Millisecond):
					}
					looks += j.checkHealthy(t)
				}
				j.kill()
				looks += j.checkHealthy(t)
				if run := j.run(t); run != nil {
					checkNoHang(t, run)
				}
			})
		}
	}
	if looks < 100 {
		t.Errorf("looked only %d times", looks)
	}
}

// checkHealthy examines the job once, if there is anything to see.
func (j *job) checkHealthy(t *testing.T) int {
	t.Helper()
	paths, err := Segments(j.dir)
	if err != nil {
		return 0
	}
	read, err := Read(paths, 5*time.Millisecond)
	if err != nil {
		return 0
	}
	if c := NewJobState(read); c.Hangs() {
		t.Fatalf("taken for stuck:\n%s", describe(c))
	}
	return 1
}
