package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// liveRanks are the sizes of the jobs that the daemon is measured with.
var liveRanks = []int{128, 256, 512}

// lookingFor is how long a job is looked at, ten times a second.
const lookingFor = 10 * time.Second

// daemonPart measures what efg daemon and somebody who looks on cost with a real job of
// very many ranks, which sleep in a call.
func daemonPart(b *bench) error {
	m := b.mpis[len(b.mpis)-1]
	exe, err := b.build(m, "bench/mpi/sleepers.c")
	if err != nil {
		return err
	}
	hook, err := b.output(b.efg, "hook", "path")
	if err != nil {
		return err
	}
	fmt.Printf("\n## The daemon\n\nA job of %s (bench/mpi/sleepers.c), with `efg top --interval 100ms` for %v; then it is killed. Aims: daemon and watcher 15 %% of a core, "+
		"the daemon 150 MiB, sealing 2 s.\n\n", m.name, lookingFor)
	fmt.Println("| ranks | daemon, % of a core | efg top, % | | daemon, MiB | | where, s | sealed, s | | where of the run, s | file, bytes |\n|---:|---:|---:|---|---:|---|---:|---:|---|---:|---:|")
	for _, n := range liveRanks {
		if err := b.daemonRow(m, n, strings.TrimSpace(hook), exe); err != nil {
			return err
		}
	}
	return nil
}

// served is a daemon with its folders.
type served struct {
	*bench
	store, spool string
	daemon       *exec.Cmd
}

func (b *bench) serve() (*served, error) {
	s := &served{bench: b}
	var err error
	if s.store, err = os.MkdirTemp(b.dir, "store-"); err != nil {
		return nil, err
	}
	if s.spool, err = os.MkdirTemp("/dev/shm", "efg-bench-"); err != nil {
		return nil, err
	}
	s.daemon = s.command(b.efg, "daemon")
	return s, s.daemon.Start()
}

// command makes a command that knows the daemon.
func (s *served) command(args ...string) *exec.Cmd {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = append(os.Environ(), "EFG_STORE="+s.store, "EFG_SPOOL="+s.spool, "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1")
	return cmd
}

func (s *served) close() error {
	s.daemon.Process.Signal(syscall.SIGTERM)
	return errors.Join(s.daemon.Wait(), os.RemoveAll(s.spool))
}

// list is what efg runs --json tells, as far as it is needed here.
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

// until waits until the list is as wanted.
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

func (b *bench) daemonRow(m mpi, ranks int, hook, exe string) (err error) {
	s, err := b.serve()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	if err := s.until(func(l *runList) bool { return l.Daemon }); err != nil {
		return err
	}
	args := append(append([]string{m.run}, m.flags...), "-n", fmt.Sprint(ranks), "env", "LD_PRELOAD="+hook, exe, "200")
	job := s.command(args...)
	if err := job.Start(); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- job.Wait() }()
	defer job.Process.Signal(syscall.SIGTERM) // or it has ended
	if err := s.until(func(l *runList) bool { return len(l.Jobs) == 1 && l.Jobs[0].Running == ranks }); err != nil {
		return err
	}
	time.Sleep(2 * time.Second) // the last ones come out of MPI_Init
	daemon, watcher, err := s.looked()
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
	job.Process.Signal(syscall.SIGTERM)
	<-ended
	start := time.Now()
	var size int64
	if err := s.sealed(&size); err != nil {
		return err
	}
	sealing := time.Since(start).Seconds()
	if late, err := peakOf(s.daemon.Process.Pid); err == nil {
		memory = max(memory, late)
	}
	stored, err := s.timed("where", "last", "--json")
	fmt.Printf("| %d | %.1f | %.1f | %s | %d | %s | %.2f | %.1f | %s | %.2f | %d |\n", ranks, 100*daemon, 100*watcher, met(daemon+watcher <= 0.15),
		memory>>20, met(memory <= 150<<20), where, sealing, met(sealing <= 2), stored, size)
	return err
}

// looked returns which part of a core the daemon and efg top take while a job is looked
// at.
func (s *served) looked() (daemon, watcher float64, err error) {
	before, err := processorTime(s.daemon.Process.Pid)
	if err != nil {
		return 0, 0, err
	}
	start := time.Now()
	top := s.command(s.efg, "top", "last", "--json", "--interval", "100ms", "--count", fmt.Sprint(int(lookingFor/(100*time.Millisecond))))
	top.Stdout, top.Stderr = io.Discard, os.Stderr
	if err := top.Run(); err != nil {
		return 0, 0, err
	}
	wall := time.Since(start).Seconds()
	after, err := processorTime(s.daemon.Process.Pid)
	own := top.ProcessState.UserTime() + top.ProcessState.SystemTime()
	return (after - before).Seconds() / wall, own.Seconds() / wall, err
}

// sealed waits until the run is in the store and the spool is empty.
func (s *served) sealed(size *int64) error {
	for end := time.Now().Add(5 * time.Minute); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		left, err := filepath.Glob(filepath.Join(s.spool, "*.seg"))
		if err != nil {
			return err
		}
		if len(left) == 0 {
			return s.until(func(l *runList) bool {
				if len(l.Runs) == 1 {
					*size = l.Runs[0].Bytes
				}
				return len(l.Runs) == 1
			})
		}
	}
	return errors.New("it is not sealed")
}

// timed returns how many seconds a command of efg takes.
func (s *served) timed(args ...string) (float64, error) {
	cmd := s.command(append([]string{s.efg}, args...)...)
	cmd.Stderr = os.Stderr
	start := time.Now()
	err := cmd.Run()
	return time.Since(start).Seconds(), err
}

// processorTime is what a process has used of processors so far.
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
