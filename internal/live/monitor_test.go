package live

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/segment"
	"github.com/efg-tools/efg/internal/testing/groundtruth"
	"github.com/efg-tools/efg/internal/testing/sim"
)

// events determines the number of a job's events so far in another way.
func (j *job) events(t *testing.T) (sum uint64) {
	t.Helper()
	paths, err := Segments(j.dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range paths {
		_, list, err := segment.Activities(p)
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range list {
			sum += a.Events
		}
	}
	return sum
}

// Rates equal those computed from the number of events before and after.
func TestMonitorRates(t *testing.T) {
	for _, m := range groundtruth.Installed() {
		t.Run(m.Name, func(t *testing.T) {
			j := launch(t, m, 4, compile(t, m, "jacobi.c"), "2000000")
			j.until(t, func(c *JobState) bool { return len(c.Threads) == 4 && c.Threads[0].Event > 1000 })
			paths, err := Segments(j.dir)
			if err != nil {
				t.Fatal(err)
			}
			mon := NewMonitor()
			defer mon.Close()
			low1 := j.events(t)
			f, err := mon.Look(paths)
			if err != nil || len(f.Calls) > 0 || f.Rate != 0 {
				t.Fatalf("first look: %+v, %v", f, err)
			}
			high1 := j.events(t)
			time.Sleep(300 * time.Millisecond)
			low2 := j.events(t)
			if f, err = mon.Look(paths); err != nil {
				t.Fatal(err)
			}
			high2 := j.events(t)
			if n := f.Rate * f.Seconds; n < float64(low2-high1)*0.9 || n > float64(high2-low1)*1.1 {
				t.Errorf("%.0f events, want %d to %d", n, low2-high1, high2-low1)
			}
			if len(f.Ranks) != 4 || f.InMPI <= 0 || f.InMPI > 1 || !f.Timed || f.Command[1] != "2000000" {
				t.Errorf("%+v", f)
			}
			var calls, inMPI float64
			for _, c := range f.Calls {
				calls += c.Rate
				inMPI += c.InMPI
			}
			if math.Abs(calls/f.Rate-1) > 0.05 || math.Abs(inMPI/f.InMPI-1) > 0.05 {
				t.Errorf("callsites have %.0f calls a second, %.3f of the time; the job %.0f, %.3f", calls, inMPI, f.Rate, f.InMPI)
			}
			if !slices.ContainsFunc(f.Calls, func(c CallRate) bool {
				return c.Op == "MPI_Waitall" && c.Site == "exchange jacobi.c:43" && c.Ranks == 4
			}) {
				t.Errorf("%+v", f.Calls)
			}
		})
	}
}

// A rank that computes is not in MPI; the ranks that wait for it are in MPI all the time,
// though no call returns.
func TestMonitorShares(t *testing.T) {
	m := groundtruth.Installed()[1]
	hold := filepath.Join(t.TempDir(), "hold")
	if err := os.WriteFile(hold, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	j := launch(t, m, 4, compile(t, m, "stuck.c"), "hold", hold)
	j.until(t, func(c *JobState) bool { // before that, three may be in an earlier barrier, which the fourth has left late
		return len(c.Groups) == 2 && c.Groups[0].Number == 3 && strings.HasPrefix(c.Groups[0].Site, "hold ") && c.Groups[1].State != InCall
	})
	paths, err := Segments(j.dir)
	if err != nil {
		t.Fatal(err)
	}
	mon := NewMonitor()
	defer mon.Close()
	if _, err := mon.Look(paths); err != nil {
		t.Fatal(err)
	}
	time.Sleep(200 * time.Millisecond)
	f, err := mon.Look(paths)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []float64{1, 1, 1, 0} {
		r := f.Ranks[i]
		if math.Abs(r.InMPI-want) > 0.02 || (r.Op == "MPI_Barrier") != (want == 1) || !r.Running {
			t.Errorf("%+v", r)
		}
	}
	if math.Abs(f.InMPI-0.75) > 0.02 || len(f.Calls) != 1 || f.Calls[0].Rate != 0 || math.Abs(f.Calls[0].InMPI-0.75) > 0.02 {
		t.Errorf("%+v", f)
	}
}

// simulated makes the segments of many ranks.
func simulated(t testing.TB, ranks int) []string {
	t.Helper()
	feeder, dir := filepath.Join(t.TempDir(), "feeder"), t.TempDir()
	if err := sim.BuildFeeder("../..", feeder); err != nil {
		t.Fatal(err)
	}
	c := sim.Config{Program: "halo", Ranks: ranks, Steps: 5, Seed: 1, Stats: true}
	if err := c.WriteSegments(feeder, dir, 2); err != nil {
		t.Fatal(err)
	}
	paths, err := Segments(dir)
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

// 512 ranks are sampled repeatedly, and all are found; the benchmark shows how long that takes.
func TestMonitorOfMany(t *testing.T) {
	paths := simulated(t, 512)
	mon := NewMonitor()
	defer mon.Close()
	best := time.Hour
	for range 10 {
		began := time.Now()
		f, err := mon.Look(paths)
		if err != nil || len(f.Ranks) != 512 {
			t.Fatal(err)
		}
		best = min(best, time.Since(began))
	}
	t.Logf("a look at 512 ranks takes %v", best)
	began := time.Now()
	j, err := Read(paths, 0)
	if err != nil {
		t.Fatal(err)
	}
	c := NewJobState(j)
	t.Logf("the job state of %d ranks takes %v", len(c.Threads), time.Since(began))
}

func BenchmarkMonitor(b *testing.B) {
	paths := simulated(b, 512)
	mon := NewMonitor()
	defer mon.Close()
	for b.Loop() {
		if _, err := mon.Look(paths); err != nil {
			b.Fatal(err)
		}
	}
}

// Call paths that end at one callsite are one row, with its place.
func TestPathsOfOneCallsite(t *testing.T) {
	m := NewMonitor()
	defer m.Close()
	for path, site := range map[uint64]uint64{11: 1, 12: 1, 2: 2} {
		place := runfile.Site{Func: "inner", Place: "deep.c:3"}
		m.callsites[path], m.sites[path], m.sites[site] = site, place, place
	}
	w := &watched{}
	first, second, other := m.key(w, callKey{5, 11}), m.key(w, callKey{5, 12}), m.key(w, callKey{5, 2})
	if first != second || first == other || m.keys[first].place != "inner deep.c:3" {
		t.Errorf("numbers %d, %d and %d; %+v", first, second, other, m.keys)
	}
}
