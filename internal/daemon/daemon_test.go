package daemon

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/hook"
	"github.com/efg-tools/efg/internal/testing/groundtruth"
	"github.com/efg-tools/efg/internal/testing/scramble"
	"github.com/efg-tools/efg/internal/testing/sim"
)

// serve runs a daemon in this process until the test ends or stop is called.
func serve(t *testing.T, opt Options) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- Run(ctx, opt) }()
	stopped := false
	stop = func() {
		if cancel(); !stopped {
			stopped = true
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
	}
	t.Cleanup(stop)
	waitFor(t, func() bool { return (&Spool{opt.Spool}).Published() })
	return stop
}

func privateDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

// put moves segments into a spool.
func put(t *testing.T, spool string, segments map[identity]string) {
	t.Helper()
	for _, file := range segments {
		if err := os.Rename(file, filepath.Join(spool, filepath.Base(file))); err != nil {
			t.Fatal(err)
		}
	}
}

// list waits until a store has n runs and the spool no segments, and returns them.
func list(t *testing.T, opt Options, n int) []Summary {
	t.Helper()
	var runs []Summary
	waitFor(t, func() bool {
		runs, _ = (&Store{opt.Store}).List()
		return len(runs) >= n && len(names(t, opt.Spool, "*.seg")) == 0
	})
	if len(runs) != n {
		t.Fatalf("%d runs, want %d: %+v", len(runs), n, runs)
	}
	return runs
}

// Programs that are started only with the hook preloaded become runs: one job each, with both
// MPIs, including those that fail; without a daemon they run unrecorded.
func TestRecorded(t *testing.T) {
	h, err := hook.Ensure(t.Context(), hook.Options{})
	if err != nil {
		t.Fatal(err)
	}
	opt := testOptions(t.TempDir(), filepath.Join(t.TempDir(), "spool"))
	opt.Quiet = 10 * time.Second
	opt.Settings = func() ([][2]string, error) {
		return [][2]string{{"EFG_BACK", h.BackVar()}, {"EFG_TIME", "stats"}}, nil
	}
	stop := serve(t, opt)
	total := 0
	for _, m := range groundtruth.Installed() {
		m.Env = append(m.Env, "OMPI_MCA_btl_vader_backing_directory="+t.TempDir())
		env := []string{"LD_PRELOAD=" + h.Front, "EFG_SPOOL=" + opt.Spool}
		run := func(n int, args ...string) groundtruth.Result {
			r, err := groundtruth.Run(t.Context(), m, nil, env, n, args...)
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
		jacobi, fail := compile(t, m, "jacobi.c"), compile(t, m, "fail.c")
		for _, c := range []struct {
			args     []string
			ranks    int
			complete bool
		}{
			{[]string{jacobi, "20"}, 4, true}, {[]string{fail, "kill"}, 2, false}, {[]string{fail, "abort"}, 2, false},
			{[]string{"sh", "-c", jacobi + " 5; true"}, 2, true}, {[]string{"env", "EFG_TIME=off", jacobi, "5"}, 2, true},
		} {
			r := run(c.ranks, c.args...)
			total++
			runs := list(t, opt, total)
			x := runs[total-1]
			if x.Ranks != c.ranks || x.Complete != c.complete || x.Events == 0 || x.Bytes == 0 || x.Started.IsZero() || x.Ended.Before(x.Started) {
				t.Errorf("%s %v: %+v\n%s", m.Name, c.args, x, r.Stderr)
			}
			verify(t, (&Store{opt.Store}).RunFile(x.Name))
			checkExit(t, &opt, &x, m, r.Status, c.args)
			want := "stats"
			if c.args[0] == "env" { // a job's environment takes precedence over the daemon
				want = "off"
			}
			if times := timesOf(t, (&Store{opt.Store}).RunFile(x.Name)); times != want {
				t.Errorf("%s %v: times %q, want %q", m.Name, c.args, times, want)
			}
		}
	}
	stop()
	m := groundtruth.Installed()[1]
	program := compile(t, m, "jacobi.c")
	r, err := groundtruth.Run(t.Context(), m, nil, []string{"LD_PRELOAD=" + h.Front, "EFG_SPOOL=" + opt.Spool}, 2, program, "5")
	if err != nil || r.Status != 0 || r.Stderr != "" {
		t.Errorf("without a daemon: %v, %+v", err, r)
	}
	list(t, opt, total)
}

// timesOf describes which times a run has recorded.
func timesOf(t *testing.T, file string) string {
	t.Helper()
	run, err := runfile.OpenRun(file)
	if err != nil {
		t.Fatal(err)
	}
	defer run.Close()
	return run.Meta.Time
}

func compile(t *testing.T, m groundtruth.MPI, source string) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), strings.TrimSuffix(source, ".c"))
	out, err := exec.Command(m.CC, "-g", "-w", "-o", program, "../../testdata/c/"+source, "-lm").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return program
}

func verify(t *testing.T, file string) {
	t.Helper()
	run, err := runfile.OpenRun(file)
	if err != nil {
		t.Fatal(err)
	}
	defer run.Close()
	for i := range run.Procs {
		p, err := run.Process(i)
		if err != nil {
			t.Fatal(err)
		}
		for k := range p.Streams {
			if err := p.Streams[k].Verify(p.Defs); err != nil {
				t.Errorf("%s, process %d: %v", file, i, err)
			}
		}
	}
}

// Files that are not segments, broken segments, and those of other users do not keep the daemon
// from its work; broken ones are set aside.
func TestHostileSegments(t *testing.T) {
	opt := testOptions(t.TempDir(), privateDir(t))
	rng := rand.New(rand.NewPCG(1, 9))
	good := simulated(t, t.TempDir(), 5, 7)
	broken := 0
	for _, file := range simulated(t, t.TempDir(), 40, 8) {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for range 1 + rng.IntN(20) {
			data[24+rng.IntN(6000)] ^= byte(1 + rng.IntN(255))
		}
		write(t, filepath.Join(opt.Spool, filepath.Base(file)), data)
	}
	write(t, opt.Spool+"/text.seg", []byte("text"))
	write(t, opt.Spool+"/x.1.2.seg", make([]byte, 65536))
	foreign := opt.Spool + "/other.1.2.seg"
	write(t, foreign, make([]byte, 65536))
	if err := os.Chown(foreign, 12345, -1); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/etc/passwd", opt.Spool+"/link.1.2.seg"); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(opt.Spool+"/pipe.1.2.seg", 0o600); err != nil {
		t.Fatal(err)
	}
	serve(t, opt)
	put(t, opt.Spool, good)
	waitFor(t, func() bool {
		return len(names(t, opt.Spool, "*.seg")) == 3 && len(names(t, opt.Store, "*"+sealingExt)) == 0
	})
	found := stored(t, opt.Store)
	for x := range good {
		if found[x] != 1 {
			t.Errorf("a good process is stored %d times", found[x])
		}
	}
	if broken = len(names(t, opt.Store, brokenDir+"/*.seg")); broken < 2 {
		t.Errorf("%d segments were put aside", broken)
	}
	if state, err := (&Store{opt.Store}).State(); err != nil || state.Foreign != 3 {
		t.Errorf("%+v, %v", state, err)
	}
}

// Segments that are modified all the time, also while they are being sealed, become runs or are
// set aside, each of them; the daemon continues with others.
func TestChangingSegments(t *testing.T) {
	opt := testOptions(t.TempDir(), privateDir(t))
	aside := 0
	opt.LeftOut = func(n int) { aside += n }
	var paths []string
	changing := simulated(t, t.TempDir(), 12, 3)
	for _, file := range changing {
		paths = append(paths, file)
	}
	const magic = 24 // and the fields that identify the layout
	files, err := scramble.Start(paths, magic)
	if err != nil {
		t.Fatal(err)
	}
	stop := serve(t, opt)
	put(t, opt.Spool, changing)
	good := simulated(t, t.TempDir(), 5, 7)
	put(t, opt.Spool, good)
	waitFor(t, func() bool {
		return len(names(t, opt.Spool, "*.seg")) == 0 && len(names(t, opt.Store, "*"+sealingExt)) == 0
	})
	if n := files.Stop(); n < 1000 {
		t.Errorf("%d changes", n)
	}
	found := stored(t, opt.Store)
	for x := range good {
		if found[x] != 1 {
			t.Errorf("a good process is stored %d times", found[x])
		}
	}
	stop()
	if n := len(names(t, opt.Store, brokenDir+"/*.seg")); n != aside {
		t.Errorf("%d segments were put aside, it says %d", n, aside)
	}
	if left := append(names(t, opt.Store, nodesDir+"/*.copies"), names(t, opt.Spool, ".efg-merge-*")...); len(left) > 0 {
		t.Errorf("%v are left", left)
	}
}

// Segments that fit together with the first one but not with each other: one of two that claim
// the same rank is set aside and reported.
func TestSameRankTwice(t *testing.T) {
	opt := testOptions(t.TempDir(), privateDir(t))
	made := t.TempDir()
	simulated(t, made, 6, 3)
	for i, file := range names(t, made, "*.seg") {
		to := filepath.Join(opt.Spool, filepath.Base(file))
		if err := os.Rename(file, to); err != nil {
			t.Fatal(err)
		}
		if i == 3 { // once more, as if from another process
			data, err := os.ReadFile(to)
			if err != nil {
				t.Fatal(err)
			}
			write(t, to+".1.1"+segmentExt, data)
		}
	}
	serve(t, opt)
	x := list(t, opt, 1)[0]
	if x.Ranks != 6 || len(x.LeftOut) != 1 || x.Complete || len(names(t, opt.Store, brokenDir+"/*.seg")) != 1 {
		t.Errorf("%+v", x)
	}
	verify(t, (&Store{opt.Store}).RunFile(x.Name))
}

func write(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// Old runs are removed, and the oldest ones if there are too many bytes; jobs that are not
// sealed are never removed.
func TestRetention(t *testing.T) {
	s := &Store{t.TempDir()}
	now := time.Now()
	for i := range 10 {
		x := Summary{Version: 1, Started: now.Add(-time.Duration(20-i) * time.Hour), Ended: now.Add(-time.Duration(19-i) * time.Hour), Bytes: 1000}
		name := fmt.Sprintf("run%d", i)
		write(t, s.RunFile(name), make([]byte, 1000))
		if err := writeJSON(s.path(name, summaryExt), x); err != nil {
			t.Fatal(err)
		}
	}
	write(t, s.path("unsealed", sealingExt), nil)
	if err := makeDir(filepath.Join(s.Dir, brokenDir)); err != nil {
		t.Fatal(err)
	}
	for i := range 4 {
		path := filepath.Join(s.Dir, brokenDir, fmt.Sprintf("run%d.a.1.2.seg", i))
		write(t, path, make([]byte, 500))
		if at := now.Add(-time.Duration(18-i) * time.Hour); os.Chtimes(path, at, at) != nil {
			t.Fatal(path)
		}
	}
	for _, c := range []struct {
		keep  time.Duration
		most  int64
		left  []string
		aside int
	}{
		{0, 0, []string{"run0", "run1", "run2", "run3", "run4", "run5", "run6", "run7", "run8", "run9"}, 4},
		{16*time.Hour + time.Minute, 0, []string{"run3", "run4", "run5", "run6", "run7", "run8", "run9"}, 2},
		{0, 7700, []string{"run3", "run4", "run5", "run6", "run7", "run8", "run9"}, 1},
		{0, 4500, []string{"run6", "run7", "run8", "run9"}, 0},
		{0, 999, nil, 0},
	} {
		list, err := s.List()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.retain(list, now, c.keep, c.most); err != nil {
			t.Fatal(err)
		}
		left, _, err := s.contents()
		if err != nil || !slices.Equal(left, c.left) {
			t.Errorf("%v are left, %v; want %v", left, err, c.left)
		}
		if n := len(names(t, s.Dir, brokenDir+"/*")); n != c.aside {
			t.Errorf("%d of the segments that were put aside are left, want %d", n, c.aside)
		}
	}
	if files := names(t, s.Dir, "*.*"); len(files) != 1 {
		t.Errorf("%v are left", files)
	}
}

// Two daemons cannot use one store; a spool that other users could write to is rejected.
func TestRefuses(t *testing.T) {
	opt := testOptions(t.TempDir(), privateDir(t))
	serve(t, opt)
	if err := Run(t.Context(), opt); err == nil || !strings.Contains(err.Error(), "works with this store") {
		t.Errorf("%v", err)
	}
	if !(&Store{opt.Store}).Served() || (&Store{t.TempDir()}).Served() {
		t.Error("it is unknown whether a daemon works")
	}
	open := t.TempDir()
	if err := os.Chmod(open, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := Run(t.Context(), testOptions(t.TempDir(), open)); err == nil || !strings.HasSuffix(err.Error(), "(mode 0755), programs would not record there: chmod 700 "+open) {
		t.Errorf("%v", err)
	}
}

// Ten thousand runs are listed; the log shows how long that takes.
func TestManyRuns(t *testing.T) {
	s := &Store{t.TempDir()}
	for i := range 10000 {
		name := fmt.Sprintf("20260101-%06d-a", i)
		write(t, s.RunFile(name), nil)
		write(t, s.path(name, summaryExt), fmt.Appendf(nil, `{"version":1,"name":%q,"command":["a","b"],"mpi":"Open MPI v4.1.4","host":"h","ranks":4,"events":%d,"bytes":1}`, name, i))
	}
	if err := makeDir(filepath.Join(s.Dir, nodesDir)); err != nil {
		t.Fatal(err)
	}
	list, err := s.List()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.writeIndex("n", list); err != nil {
		t.Fatal(err)
	}
	best := time.Hour
	for range 3 {
		began := time.Now()
		list, err := s.List()
		if err != nil || len(list) != 10000 || list[77].Events != 77 {
			t.Fatalf("%d runs, %v", len(list), err)
		}
		best = min(best, time.Since(began))
	}
	t.Logf("listed in %v", best)
}

// A job of many ranks is sealed as one run, with little memory.
func TestSealMany(t *testing.T) {
	const ranks = 512
	opt := testOptions(t.TempDir(), privateDir(t))
	made := t.TempDir()
	c := sim.Config{Program: "halo", Ranks: ranks, Steps: 50, Seed: 2, Stats: true}
	if err := c.WriteSegments(feeder, made, 2); err != nil {
		t.Fatal(err)
	}
	for _, file := range names(t, made, "*.seg") {
		if err := os.Rename(file, filepath.Join(opt.Spool, filepath.Base(file))); err != nil {
			t.Fatal(err)
		}
	}
	began := time.Now()
	d := startDaemon(t, opt.Store, opt.Spool)
	defer func() { d.Process.Kill(); d.Wait() }()
	x := list(t, opt, 1)[0]
	took := time.Since(began)
	memory := peakMemory(t, d.Process.Pid)
	t.Logf("%d segments are sealed in %v, with %d MiB", ranks, took, memory>>20)
	if memory > 300<<20 {
		t.Errorf("takes %d bytes", memory)
	}
	if x.Ranks != ranks || !x.Complete {
		t.Errorf("%+v", x)
	}
}

// peakMemory is the peak memory of a process in bytes.
func peakMemory(t *testing.T, pid int) (n int) {
	t.Helper()
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(data), "VmHWM:")
	if _, err := fmt.Sscanf(rest, "%d kB", &n); err != nil {
		t.Fatal(err)
	}
	return n << 10
}

// A daemon that is killed while jobs run, and restarted while they still run or after they have
// ended, seals each job as one run.
func TestRestartedMeanwhile(t *testing.T) {
	h, err := hook.Ensure(t.Context(), hook.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv(backVar, h.BackVar())
	for _, m := range groundtruth.Installed() {
		for _, sooner := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s/%v", m.Name, sooner), func(t *testing.T) {
				opt := testOptions(t.TempDir(), filepath.Join(t.TempDir(), "spool"))
				program := compile(t, m, "stuck.c")
				first := startDaemon(t, opt.Store, opt.Spool)
				waitFor(t, func() bool { return (&Spool{opt.Spool}).Published() })
				jobs := make(chan error, 2)
				for range 2 {
					// Two of Open MPI's launchers in one directory can interfere with each
					// other.
					session := "OMPI_MCA_orte_tmpdir_base=" + t.TempDir()
					go func() {
						env := []string{"LD_PRELOAD=" + h.Front, "EFG_SPOOL=" + opt.Spool, session}
						r, err := groundtruth.Run(t.Context(), m, nil, env, 3, program, "slow", "2")
						if err == nil && (r.Status != 0 || strings.Contains(r.Stderr, "efg:")) {
							err = fmt.Errorf("%+v", r)
						}
						jobs <- err
					}()
				}
				waitFor(t, func() bool { return len(names(t, opt.Spool, "*"+jobExt)) == 6 })
				first.Process.Kill()
				first.Wait()
				wait := func() {
					for range 2 {
						if err := <-jobs; err != nil {
							t.Error(err)
						}
					}
				}
				if !sooner {
					wait()
				}
				second := startDaemon(t, opt.Store, opt.Spool)
				defer func() { second.Process.Kill(); second.Wait() }()
				if sooner {
					wait()
				}
				for _, x := range list(t, opt, 2) {
					if x.Ranks != 3 || !x.Complete {
						t.Errorf("%+v", x)
					}
					verify(t, (&Store{opt.Store}).RunFile(x.Name))
				}
			})
		}
	}
}

// After a daemon was killed, programs are recorded for a while, and the next daemon handles
// them; when it has been gone for long they run unrecorded. An existing daemon counts, however
// old its last sign of life.
func TestGoneForLong(t *testing.T) {
	h, err := hook.Ensure(t.Context(), hook.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv(backVar, h.BackVar())
	m := groundtruth.Installed()[1]
	opt := testOptions(t.TempDir(), filepath.Join(t.TempDir(), "spool"))
	spool := &Spool{opt.Spool}
	program := compile(t, m, "jacobi.c")
	run := func() {
		r, err := groundtruth.Run(t.Context(), m, nil, []string{"LD_PRELOAD=" + h.Front, "EFG_SPOOL=" + opt.Spool}, 1, program, "5")
		if err != nil || r.Status != 0 || r.Stderr != "" {
			t.Fatalf("%+v, %v", r, err)
		}
	}
	age := func(by time.Duration) {
		if err := spool.Refresh(time.Now().Add(-by)); err != nil {
			t.Fatal(err)
		}
	}
	first := startDaemon(t, opt.Store, opt.Spool)
	waitFor(t, spool.Published)
	first.Process.Kill()
	first.Wait()
	for i, c := range []struct {
		gone     time.Duration
		segments int
	}{{0, 1}, {9 * time.Minute, 2}, {11 * time.Minute, 2}} {
		age(c.gone)
		run()
		if n := len(names(t, opt.Spool, "*.seg")); n != c.segments {
			t.Errorf("%d: %d segments, gone for %v", i, n, c.gone)
		}
	}
	second := startDaemon(t, opt.Store, opt.Spool)
	defer func() { second.Process.Kill(); second.Wait() }()
	list(t, opt, 2)
	age(time.Hour)
	run()
	list(t, opt, 3)
}
