package daemon

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/segment"
	"github.com/efg-tools/efg/internal/testing/sim"
)

var feeder string // writes segments; see sim.BuildFeeder

// daemonVar makes the test binary a daemon; it holds the store, the spool and the node.
const daemonVar = "EFG_TEST_DAEMON"

// backVar is what that daemon tells the hook about back ends.
const backVar = "EFG_TEST_BACK"

func TestMain(m *testing.M) {
	if v := os.Getenv(daemonVar); v != "" {
		v := strings.Split(v, ":")
		opt := testOptions(v[0], v[1])
		opt.Node = v[2]
		opt.Settings = func() ([][2]string, error) { return [][2]string{{"EFG_BACK", os.Getenv(backVar)}}, nil }
		if err := Run(context.Background(), opt); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if dir := os.Getenv(otherVar); dir != "" && len(os.Args) > 1 && os.Args[1] == "merge" {
		if err := otherEFG(dir, os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	dir, err := os.MkdirTemp("", "efg-daemon-test-")
	if err != nil {
		panic(err)
	}
	feeder = filepath.Join(dir, "feeder")
	if err := sim.BuildFeeder("../..", feeder); err != nil {
		panic(err)
	}
	status := m.Run()
	os.RemoveAll(dir)
	os.Exit(status)
}

func testOptions(store, spool string) Options {
	return Options{
		Store: store, Spool: spool, Quiet: 20 * time.Millisecond, Merge: 1 << 30, poll: 2 * time.Millisecond,
		Settings: func() ([][2]string, error) { return nil, nil }, Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
	}
}

// startDaemon starts a daemon as a process.
func startDaemon(t *testing.T, store, spool string) *exec.Cmd {
	t.Helper()
	return startNode(t, store, spool, "")
}

// startNode is startDaemon for a machine with this name.
func startNode(t *testing.T, store, spool, node string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), daemonVar+"="+store+":"+spool+":"+node)
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd
}

// identity distinguishes processes.
type identity struct {
	pid    int
	start  int64
	events uint64
	hash   uint64
}

// simulated makes segments in a directory and returns their identities.
func simulated(t *testing.T, dir string, ranks int, seed uint64) map[identity]string {
	t.Helper()
	c := sim.Config{Program: []string{"halo", "farm", "random"}[seed%3], Ranks: ranks, Steps: 4, Seed: seed, Stats: true}
	if err := c.WriteSegments(feeder, dir, 2); err != nil {
		t.Fatal(err)
	}
	return identities(t, dir)
}

func identities(t *testing.T, dir string) map[identity]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.seg"))
	if err != nil {
		t.Fatal(err)
	}
	found := map[identity]string{}
	for _, f := range files {
		p, err := segment.Read(f)
		if err != nil {
			t.Fatal(err)
		}
		found[identityOf(p)] = f
	}
	return found
}

func identityOf(p *efg.Process) identity {
	x := identity{pid: p.PID, start: p.Start}
	for i := range p.Streams {
		x.events += p.Streams[i].Events
		x.hash ^= p.Streams[i].Hash
	}
	return x
}

// stored returns the processes of all runs of a store, with how often each is stored.
func stored(t *testing.T, dir string) map[identity]int {
	t.Helper()
	found := map[identity]int{}
	store := &Store{dir}
	list, err := store.List()
	if err != nil {
		t.Fatal(err)
	}
	for i := range list {
		files := []string{store.RunFile(list[i].Name)}
		if list[i].Unmerged {
			if files, err = store.Parts(list[i].Name); err != nil {
				t.Fatal(err)
			}
		}
		events, ranks := uint64(0), 0
		for _, file := range files {
			run, err := runfile.OpenRun(file)
			if err != nil {
				t.Fatal(err)
			}
			ranks += len(run.Procs)
			for k := range run.Procs {
				p, err := run.Process(k)
				if err != nil {
					t.Fatal(err)
				}
				x := identityOf(p)
				found[x]++
				events += x.events
			}
			run.Close()
		}
		if events != list[i].Events || ranks != list[i].Ranks {
			t.Errorf("%+v", list[i])
		}
	}
	return found
}

// rounds is the number of daemons that are killed; make soak raises it.
func rounds(normal int) int {
	if n, err := strconv.Atoi(os.Getenv("EFG_SOAK_ROUNDS")); err == nil && n > 0 {
		return n
	}
	return normal
}

// A daemon that is killed at any moment, and restarted, loses nothing and stores nothing twice.
func TestDaemonKilled(t *testing.T) {
	store, spool := t.TempDir(), t.TempDir()
	if err := os.Chmod(spool, 0o700); err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(5, 6))
	all := map[identity]bool{}
	interrupted, n := 0, rounds(30)
	for round := range n {
		if round%3 == 0 { // a job ends
			made := t.TempDir()
			for x, file := range simulated(t, made, 2+rng.IntN(12), uint64(round)) {
				all[x] = true
				if err := os.Rename(file, filepath.Join(spool, filepath.Base(file))); err != nil {
					t.Fatal(err)
				}
			}
		}
		before := names(t, store, "*"+sealingExt)
		d := startDaemon(t, store, spool)
		after := 40 * time.Millisecond
		if round%2 == 1 { // when it begins or ends sealing, however slow the machine is
			waitFor(t, func() bool {
				return !slices.Equal(names(t, store, "*"+sealingExt), before) || len(names(t, spool, "*.seg")) == 0
			})
			after = 2 * time.Millisecond
		}
		time.Sleep(time.Duration(rng.ExpFloat64() * float64(after)))
		d.Process.Kill()
		d.Wait()
		if left, _ := filepath.Glob(filepath.Join(store, "*"+sealingExt)); len(left) > 0 {
			interrupted++
		}
		for x, k := range stored(t, store) {
			if k != 1 || !all[x] {
				t.Fatalf("round %d: a process is stored %d times", round, k)
			}
		}
	}
	d := startDaemon(t, store, spool)
	defer func() { d.Process.Kill(); d.Wait() }()
	for left := 1; left > 0; { // there may be hundreds of jobs
		was := left
		waitFor(t, func() bool {
			left = len(names(t, spool, "*.seg")) + len(names(t, store, "*"+sealingExt))
			return left == 0 || left != was
		})
	}
	found := stored(t, store)
	if len(found) != len(all) {
		t.Errorf("%d processes are stored, of %d", len(found), len(all))
	}
	waitFor(t, func() bool { return len(names(t, store, ".*.tmp")) == 0 }) // no temporary files are left
	t.Logf("%d daemons killed, %d while they sealed; %d processes", n, interrupted, len(all))
	if interrupted == 0 {
		t.Error("none was killed while it sealed")
	}
}

func names(t *testing.T, dir, pattern string) []string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func waitFor(t *testing.T, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(3 * time.Minute); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it does not come to this")
		}
	}
}
