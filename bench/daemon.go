package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// liveRanks are the sizes of the jobs that the daemon is measured with.
var liveRanks = []int{128, 512}

// lookingFor is how long a job is watched, ten times a second.
const lookingFor = 10 * time.Second

// daemonPart measures the cost of efg daemon and of watching a job with very many real
// processes, which sleep in a call.
func daemonPart(b *bench) error {
	j, err := b.sleepingJob()
	if err != nil {
		return err
	}
	fmt.Printf("\n## The daemon\n\n%s, processes of bench/mpi/sleepers.c under one launcher, each a world of its own. For %v each: no one looks; "+
		"`efg top --interval 100ms`; a page does, over HTTP, ten times a second. Then they are killed. Aims: daemon and who looks 15 %% of a core, "+
		"the daemon 150 MiB, sealing 2 s.\n\n", j.mpi.name, lookingFor)
	fmt.Print(jobHead)
	for _, n := range liveRanks {
		if err := b.daemonRow(j, n); err != nil {
			return err
		}
	}
	return nil
}

const jobHead = "| ranks | daemon alone, % of a core | with efg top | efg top | | daemon with a page | | daemon, MiB | | where, s | sealed, s | | where of the run, s | file, bytes |\n" +
	"|---:|---:|---:|---:|---|---:|---|---:|---|---:|---:|---|---:|---:|\n"

// sleepingJob says how to start processes that sleep in a call.
type sleepingJob struct {
	mpi       mpi
	hook, exe string
}

func (b *bench) sleepingJob() (*sleepingJob, error) {
	j := &sleepingJob{mpi: b.mpis[len(b.mpis)-1]}
	var err error
	if j.exe, err = b.build(j.mpi, "bench/mpi/sleepers.c"); err != nil {
		return nil, err
	}
	j.hook, err = b.output(b.efg, "hook", "path")
	j.hook = strings.TrimSpace(j.hook)
	return j, err
}

// served is a daemon with its directories.
type served struct {
	*bench
	store, spool string
	daemon       *exec.Cmd
	end          func()
}

// serve starts a daemon with a given store or, if there is none, with its own.
func (b *bench) serve(store string) (*served, error) {
	s := &served{bench: b, store: store}
	var err error
	if store == "" {
		if s.store, err = os.MkdirTemp(b.dir, "store-"); err != nil {
			return nil, err
		}
	}
	if s.spool, err = os.MkdirTemp("/dev/shm", "efg-bench-"); err != nil {
		return nil, err
	}
	s.daemon = s.command(b.efg, "daemon")
	s.end = b.atEnd(func() {
		if s.daemon.Process != nil {
			s.daemon.Process.Signal(syscall.SIGTERM)
			s.daemon.Wait()
		}
		os.RemoveAll(s.spool)
	})
	if err := s.daemon.Start(); err != nil {
		s.end()
		return nil, err
	}
	return s, nil
}

// command makes a command that uses the daemon.
func (s *served) command(args ...string) *exec.Cmd {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = append(os.Environ(), "EFG_STORE="+s.store, "EFG_SPOOL="+s.spool, "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1")
	return cmd
}

// runList is the part of the output of efg runs --json that is needed here.
type runList struct {
	Daemon bool
	Jobs   []struct {
		Name    string
		Running int
	}
	Runs []struct {
		Name  string
		Bytes int64
	}
}

// until waits until the list is as expected.
func (s *served) until(ok func(*runList) bool) error {
	for end := time.Now().Add(5 * time.Minute); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		out, err := s.command(s.efg, "runs", "--json").Output()
		if err != nil {
			return err
		}
		var l runList
		if err := json.Unmarshal(out, &l); err != nil {
			return err
		}
		if ok(&l) {
			return nil
		}
	}
	return errors.New("it does not come to this in five minutes")
}

// daemonRow measures a new daemon.
func (b *bench) daemonRow(j *sleepingJob, ranks int) error {
	s, err := b.serve("")
	if err != nil {
		return err
	}
	defer s.end()
	if err := s.until(func(l *runList) bool { return l.Daemon }); err != nil {
		return err
	}
	return s.jobRow(j, ranks, 0)
}

// jobRow measures a daemon while a job runs, and while the job is stored beside other runs.
func (s *served) jobRow(j *sleepingJob, ranks, runs int) error {
	stop, err := s.sleepers(j, ranks)
	if err != nil {
		return err
	}
	defer stop()
	c, err := s.costs()
	if err != nil {
		return err
	}
	where, err := s.timed("where", "last", "--json")
	if err != nil {
		return err
	}
	memory, err := peakOf(s.daemon.Process.Pid)
	if err != nil {
		return err
	}
	stop()
	start := time.Now()
	size, err := s.sealed(runs)
	if err != nil {
		return err
	}
	sealing := time.Since(start).Seconds()
	if late, err := peakOf(s.daemon.Process.Pid); err == nil {
		memory = max(memory, late)
	}
	stored, err := s.timed("where", "last", "--json")
	fmt.Printf("| %d | %.1f | %.1f | %.1f | %s | %.1f | %s | %d | %s | %.2f | %.1f | %s | %.2f | %d |\n", ranks, 100*c.alone, 100*c.watched, 100*c.top, met(c.watched+c.top <= 0.15),
		100*c.page, met(c.page <= 0.15), memory>>20, met(memory <= 150<<20), where, sealing, met(sealing <= 2), stored, size)
	return err
}

// sleepers starts processes that sleep, and waits until all are recorded; stop ends them.
func (s *served) sleepers(j *sleepingJob, ranks int) (stop func(), err error) {
	args := append(append([]string{j.mpi.run}, j.mpi.flags...), "-n", "1", "env", "LD_PRELOAD="+j.hook, j.exe, "200", fmt.Sprint(ranks))
	job := s.command(args...)
	if err := job.Start(); err != nil {
		return nil, err
	}
	stop = s.atEnd(func() {
		job.Process.Signal(syscall.SIGTERM)
		job.Wait()
	})
	if err := s.until(func(l *runList) bool { return len(l.Jobs) == 1 && l.Jobs[0].Running == ranks }); err != nil {
		stop()
		return nil, err
	}
	time.Sleep(5 * time.Second) // the last ones return from MPI_Init
	return stop, nil
}

// costs are fractions of a core.
type costs struct{ alone, watched, top, page float64 }

func (s *served) costs() (c costs, err error) {
	if c.alone, err = s.during(func() error { time.Sleep(lookingFor); return nil }); err != nil {
		return c, err
	}
	if c.watched, err = s.during(func() (err error) { c.top, err = s.watch(); return err }); err != nil {
		return c, err
	}
	c.page, err = s.during(s.page)
	return c, err
}

// during returns the fraction of a core that the daemon uses while something is done.
func (s *served) during(do func() error) (float64, error) {
	before, err := processorTime(s.daemon.Process.Pid)
	if err != nil {
		return 0, err
	}
	start := time.Now()
	if err := do(); err != nil {
		return 0, err
	}
	wall := time.Since(start).Seconds()
	after, err := processorTime(s.daemon.Process.Pid)
	return (after - before).Seconds() / wall, err
}

// watch watches the job with efg top, and returns the fraction of a core that this uses.
func (s *served) watch() (float64, error) {
	start := time.Now()
	top := s.command(s.efg, "top", "last", "--json", "--interval", "100ms", "--count", fmt.Sprint(int(lookingFor/(100*time.Millisecond))))
	top.Stdout, top.Stderr = io.Discard, os.Stderr
	if err := top.Run(); err != nil {
		return 0, err
	}
	used := top.ProcessState.UserTime() + top.ProcessState.SystemTime()
	return used.Seconds() / time.Since(start).Seconds(), nil
}

// page watches the job as a web page does.
func (s *served) page() error {
	ctx, cancel := context.WithTimeout(context.Background(), lookingFor)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, "GET", "http://localhost/v1/runs/last/live?interval=100", nil)
	if err != nil {
		return err
	}
	r.Header.Set("Accept", "text/event-stream")
	answer, err := s.client().Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if n, err := io.Copy(io.Discard, answer.Body); ctx.Err() == nil || n == 0 {
		return fmt.Errorf("the stream has ended after %d bytes: %v", n, err)
	}
	return nil
}

// client sends requests to the daemon at its socket.
func (s *served) client() *http.Client {
	return &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", filepath.Join(s.spool, "http"))
	}}}
}

// sealed waits until the run is in the store beside the others and the spool is empty, and
// returns the run's size.
func (s *served) sealed(others int) (size int64, err error) {
	for end := time.Now().Add(5 * time.Minute); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		left, err := filepath.Glob(filepath.Join(s.spool, "*.seg"))
		if err != nil {
			return 0, err
		}
		if len(left) == 0 {
			err := s.until(func(l *runList) bool {
				last := "" // names begin with times
				for _, r := range l.Runs {
					if r.Name > last {
						last, size = r.Name, r.Bytes
					}
				}
				return len(l.Runs) == others+1
			})
			return size, err
		}
	}
	return 0, errors.New("it is not sealed")
}

// timed returns how many seconds a command of efg takes.
func (s *served) timed(args ...string) (float64, error) {
	cmd := s.command(append([]string{s.efg}, args...)...)
	cmd.Stderr = os.Stderr
	start := time.Now()
	err := cmd.Run()
	return time.Since(start).Seconds(), err
}

// processorTime is the processor time that a process has used so far.
func processorTime(pid int) (time.Duration, error) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(data), ") ")
	fields := strings.Fields(rest)
	const user, tick = 11, time.Second / 100 // USER_HZ
	if len(fields) < user+2 {
		return 0, fmt.Errorf("/proc/%d/stat: %q", pid, data)
	}
	var u, k time.Duration
	if _, err := fmt.Sscan(fields[user]+" "+fields[user+1], &u, &k); err != nil {
		return 0, err
	}
	return (u + k) * tick, nil
}
