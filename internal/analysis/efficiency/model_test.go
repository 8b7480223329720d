package efficiency

import (
	"math"
	"testing"

	"github.com/efg-tools/efg/internal/testing/sim"
	"github.com/efg-tools/efg/internal/testing/testrun"
)

// Models of functions that they can have are these functions, and predict.
func TestModels(t *testing.T) {
	runs := []*Run{{Ranks: 4}, {Ranks: 8}, {Ranks: 16}, {Ranks: 32}, {Ranks: 64}}
	functions := map[Site]func(p float64) float64{
		{}:                     func(p float64) float64 { return 1e9 / p },
		{"MPI_Barrier", "a"}:   func(p float64) float64 { return 5e5 },
		{"MPI_Allreduce", "a"}: func(p float64) float64 { return 1e4 + 3e4*math.Log2(p) },
		{"MPI_Alltoall", "a"}:  func(p float64) float64 { return 2e4 * p },
		{"MPI_Bcast", "a"}:     func(p float64) float64 { return 1e3 + 50*p*math.Log2(p) },
	}
	growth := map[string]string{"": "p^-1", "MPI_Barrier": "", "MPI_Allreduce": "log p", "MPI_Alltoall": "p", "MPI_Bcast": "p log p"}
	var times []map[Site]float64
	for i, r := range runs {
		at := map[Site]float64{{"MPI_Send", "not everywhere"}: 1}
		if i == 2 {
			clear(at)
		}
		for site, f := range functions {
			at[site] = f(float64(r.Ranks)) * (1 + 1e-4*float64(i%2))
		}
		times = append(times, at)
	}
	list := Models(runs, times)
	if len(list) != len(functions) || list[0].Ahead < list[1].Ahead {
		t.Fatalf("%+v", list)
	}
	for i := range list {
		m := &list[i]
		want := functions[m.Site](256)
		if m.Growth() != growth[m.Op] || math.Abs(m.Ahead/want-1) > 0.02 || m.Error > 0.01 {
			t.Errorf("%+v: %q, %g for 256 ranks, want %q, %g", m.Site, m.Growth(), m.Ahead, growth[m.Op], want)
		}
	}
	if m := Models(runs[:2], times[:2]); m != nil {
		t.Errorf("two runs: %+v", m)
	}
}

// The times of a run at its callsites are those of its report, without what is apart.
func TestSiteTimes(t *testing.T) {
	run := testrun.Simulated(t, sim.Config{Program: "halo", Ranks: 8, Steps: 20, Stats: true})
	r, err := New(run, Parts{})
	if err != nil {
		t.Fatal(err)
	}
	times, err := SiteTimes(run, r)
	if err != nil {
		t.Fatal(err)
	}
	sum := 0.0
	for site, v := range times {
		if site.Op == "MPI_Init" || site.Op == "MPI_Finalize" {
			t.Errorf("%v", site)
		}
		sum += v
	}
	if len(times) < 6 || sum > float64(r.Time)*1.001 || sum < float64(r.Time)/2 {
		t.Errorf("%g of %d ns: %v", sum, r.Time, times)
	}
}
