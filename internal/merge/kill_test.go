package merge

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/efg-tools/efg/internal/testing/sim"
)

var feeder string // writes segments; see sim.BuildFeeder

// workerVar makes the test binary a worker.
const workerVar = "EFG_TEST_MERGE_WORKER"

func TestMain(m *testing.M) {
	if v := os.Getenv(workerVar); v != "" {
		os.Exit(workerMain(v))
	}
	dir, err := os.MkdirTemp("", "efg-merge-test-")
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

func workerMain(v string) int {
	var opt Options
	if _, err := fmt.Sscanf(v, "%d/%d", &opt.Worker, &opt.Workers); err != nil {
		panic(err)
	}
	opt.Output = os.Args[1]
	if _, err := Run(os.Args[2:], quick(opt)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// startWorkers starts the workers of a merge, each as a process.
func startWorkers(t *testing.T, args []string, opt Options) []*exec.Cmd {
	t.Helper()
	var workers []*exec.Cmd
	for w := range opt.Workers {
		cmd := exec.Command(os.Args[0], append([]string{opt.Output}, args...)...)
		cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d/%d", workerVar, w, opt.Workers))
		cmd.Stderr = os.Stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		workers = append(workers, cmd)
	}
	return workers
}

// Killed at any moment and started again, with the same or another number of workers, a merge
// ends with the same file; until then there is none, or the previous one.
func TestMergeKilled(t *testing.T) {
	c := sim.Config{Program: "random", Ranks: 100, Steps: 40, Seed: 5, Trace: true}
	dir := simulate(t, c)
	want := whole(t, segmentsIn(t, dir))
	out := filepath.Join(t.TempDir(), "run.efg")
	rng := rand.New(rand.NewPCG(1, 2))
	reused := 0
	for round := range 12 {
		os.Remove(out)
		for attempt := range 4 {
			workers := startWorkers(t, []string{dir}, Options{Output: out, Workers: 1 + rng.IntN(3)})
			last := attempt == 3
			if last {
				awaitPart(dir, out)
			} else {
				time.Sleep(time.Duration(rng.ExpFloat64() * float64(60*time.Millisecond)))
			}
			for _, cmd := range workers {
				if last || attempt%2 == 0 || rng.IntN(2) == 0 {
					cmd.Process.Kill()
				}
			}
			for _, cmd := range workers {
				cmd.Wait()
			}
			if _, err := os.Stat(out); err == nil {
				mustEqual(t, out, want)
			}
		}
		done, err := filepath.Glob(filepath.Join(dir, workPrefix+"*", "*.done"))
		if err != nil {
			t.Fatal(err)
		}
		reused += len(done)
		for _, cmd := range startWorkers(t, []string{dir}, Options{Output: out, Workers: 1 + round%3}) {
			if err := cmd.Wait(); err != nil {
				t.Fatal(err)
			}
		}
		mustEqual(t, out, want)
		mustBeClean(t, dir, filepath.Dir(out))
	}
	if reused == 0 {
		t.Error("no finished part was there to be used again: the test kills too early")
	}
}

// awaitPart waits for a finished part; none exists any more once the output exists.
func awaitPart(dir, out string) {
	for {
		done, _ := filepath.Glob(filepath.Join(dir, workPrefix+"*", "*.done"))
		if _, err := os.Stat(out); err == nil || len(done) > 0 {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

// Finished parts are reused as they are.
func TestMergeGoesOn(t *testing.T) {
	dir := simulate(t, sim.Config{Program: "farm", Ranks: 40, Steps: 3, Seed: 6})
	want := whole(t, segmentsIn(t, dir))
	out := filepath.Join(t.TempDir(), "run.efg")
	o := quick(Options{Output: out, Workers: 1})
	inputs, err := findInputs([]string{dir}, out)
	if err != nil {
		t.Fatal(err)
	}
	p, err := newPlan(inputs, &o)
	if err != nil {
		t.Fatal(err)
	}
	m := &merger{opt: o, plan: p, places: newPlaces()}
	if err := m.makeWorkDir(); err != nil {
		t.Fatal(err)
	}
	for i := range p.chunks {
		if err := m.ensure(&p.chunks[i]); err != nil {
			t.Fatal(err)
		}
	}
	// As if the machine had lost the last writes.
	if err := os.Truncate(m.partFile(&p.chunks[1]), 100); err != nil {
		t.Fatal(err)
	}
	before, err := os.Stat(m.partFile(&p.chunks[0]))
	if err != nil {
		t.Fatal(err)
	}
	if err := m.leadChunks(); err != nil {
		t.Fatal(err)
	}
	if after, err := os.Stat(m.partFile(&p.chunks[0])); err != nil || !os.SameFile(before, after) {
		t.Errorf("a finished part was made again: %v", err)
	}
	mustMerge(t, []string{dir}, Options{Output: out})
	mustEqual(t, out, want)
	mustBeClean(t, dir, filepath.Dir(out))
}
