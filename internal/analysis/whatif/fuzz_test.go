package whatif

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/internal/analysis/match"
	"github.com/efg-tools/efg/internal/rankset"
	"github.com/efg-tools/efg/internal/testing/sim"
	"github.com/efg-tools/efg/internal/testing/testrun"
)

// FuzzPredictions: of any program, with any times, even contradictory ones, a scenario in which nothing
// changes is the recorded run, longer computations never make a run shorter, and a network that takes
// less, or nothing, never makes it longer.
func FuzzPredictions(f *testing.F) {
	for seed := range uint64(3) {
		f.Add(seed, uint8(seed), uint8(40), uint16(300*seed), uint16(200), uint16(10*seed))
	}
	programs := sim.Programs()
	f.Fuzz(func(t *testing.T, seed uint64, program, steps uint8, latency, overhead, perByte uint16) {
		c := sim.Config{Program: programs[int(program)%len(programs)], Ranks: 2 + int(seed%15), Steps: 1 + int(steps), Seed: seed}
		random := rand.New(rand.NewPCG(seed, 1))
		run, err := c.Run(func(p *efg.Process) error {
			return sim.GiveTimes(p, func() uint64 { return random.Uint64N(1000) }, func() uint64 {
				return random.Uint64N(1 << (4 + random.Uint64N(16))) // times of all orders of magnitude
			})
		})
		if err != nil {
			t.Fatal(err)
		}
		trace, err := match.Open(run)
		if err != nil {
			t.Fatal(err)
		}
		own := Network{Latency: float64(latency), Overhead: float64(overhead), PerByte: float64(perByte) / 64}
		less := Network{Latency: own.Latency / 2, Overhead: own.Overhead, PerByte: own.PerByte / 3}
		all := func(factor float64) Scenario { return Scenario{Rules: []Rule{{Factor: factor}}} }
		x := NewSimulation(trace, own, []Scenario{{}, {Network: &own}, all(0), all(0.5), all(1.5), all(3), {Network: &Network{}}, {Network: &less}})
		p, err := placesOf(trace, func(s *match.Sites) ([]match.Place, error) { return s.Places(run) })
		if err != nil {
			t.Fatal(err)
		}
		x.useRules(p)
		if _, err := trace.Walk(t.Context(), x, nil); err != nil {
			t.Fatal(err)
		}
		list := x.Predictions()
		const exact = 1 // ns
		recorded := x.Recorded()
		for k := range 2 {
			if d := list[k].Time - recorded; d > exact || d < -exact {
				t.Errorf("%+v: scenario %d takes %.1f ns, recorded %.1f", c, k, list[k].Time, recorded)
			}
		}
		order := []Prediction{list[2], list[3], list[0], list[4], list[5]}
		for k, factor := range []float64{0, 0.5, 1, 1.5, 3} {
			if k > 0 && order[k].Time < order[k-1].Time-exact {
				t.Errorf("%+v: computation takes %g times as long, and the run %.1f ns, before %.1f", c, factor, order[k].Time, order[k-1].Time)
			}
		}
		if list[6].Time > list[7].Time+exact || list[7].Time > recorded+exact {
			t.Errorf("%+v: %.1f ns on no network, %.1f on half of it, %.1f recorded", c, list[6].Time, list[7].Time, recorded)
		}
	})
}

// FuzzPrograms compares predictions with what a program does under other conditions: a random one is
// executed on another network, with other computations, by a simulation of its own.
func FuzzPrograms(f *testing.F) {
	for seed := range uint64(6) {
		f.Add(seed, 0.3+float64(seed)/3, uint16(500*seed), uint16(60*seed), uint16(40*seed))
	}
	f.Fuzz(func(t *testing.T, seed uint64, factor float64, latency, overhead, perByte uint16) {
		if !(factor >= 0 && factor <= 100) {
			return
		}
		as := conditions{network: Network{Latency: 200e3, Overhead: 20e3, PerByte: 2}, factor: 1}
		other := as
		other.network = Network{Latency: float64(latency) * 1e3, Overhead: float64(overhead) * 1e3, PerByte: float64(perByte) / 10}
		other.rank, other.factor = int(seed%4), factor
		run, took := program(t, seed, as)
		want := []float64{took, 0, 0, 0}
		asked := []Question{
			{Own: &as.network, Changes: []Change{{Factor: 1}}}, {Own: &as.network, Network: &other.network},
			{Own: &as.network, Changes: []Change{{Ranks: rankset.Set{{other.rank, other.rank}}, Factor: factor}}},
			{Own: &as.network, Network: &other.network, Changes: []Change{{Ranks: rankset.Set{{other.rank, other.rank}}, Factor: factor}}},
		}
		_, want[1] = program(t, seed, conditions{network: other.network, factor: 1})
		_, want[2] = program(t, seed, conditions{network: as.network, factor: factor, rank: other.rank})
		_, want[3] = program(t, seed, other)
		for k := range asked {
			r, err := New(run.Run(), &asked[k])
			if err != nil {
				t.Fatal(err)
			}
			// Times of a script are in µs, and those of runs within 2.
			if d := math.Abs(r.Asked.Time - want[k]); d > 0.01*want[k]+rounding {
				t.Errorf("program %d, question %d: %.0f µs, want %.0f", seed, k, r.Asked.Time/1e3, want[k]/1e3)
			}
			run, _ = program(t, seed, as)
		}
	})
}

// rounding is what times of a program may be off, ns: 2 µs in each of its calls.
const rounding = 200e3

// conditions are those that a program runs under: one rank computes factor times as long.
type conditions struct {
	network Network
	rank    int
	factor  float64
}

// program executes a random program of four ranks: in each step they compute, and then some send to
// others, all meet at a barrier or add up numbers. It returns the recording, and how long it took from
// MPI_Init to MPI_Finalize, ns.
func program(t *testing.T, seed uint64, c conditions) (*testrun.Script, float64) {
	const ranks, steps, begin = 4, 25, 1e6
	random := rand.New(rand.NewPCG(seed, 7))
	s, n := testrun.NewScript(t, ranks), &c.network
	now := make([]float64, ranks)
	call := func(rank int, until float64, op string, a args) {
		s.Rank(rank).Call(int64(now[rank]/1e3), int64(until/1e3), op, a)
		now[rank] = until
	}
	for rank := range ranks {
		call(rank, begin, "MPI_Init", nil)
	}
	for range steps {
		for rank := range ranks {
			gap := 2e6 * random.Float64()
			if rank == c.rank {
				gap *= c.factor
			}
			now[rank] += gap
		}
		bytes := uint64(1) << random.IntN(17)
		switch kind := random.IntN(4); kind {
		case 0, 1: // each, or some, send to the rank after the next ones
			shift, only := 1+random.IntN(ranks-1), random.IntN(ranks)
			there := make([]float64, ranks)
			for rank := range ranks {
				if to := (rank + shift) % ranks; kind == 0 || rank == only {
					there[to] = now[rank] + n.transfer(bytes)
					call(rank, now[rank]+n.Overhead+n.PerByte*payload(bytes), "MPI_Send", message("dest", to, int(bytes)))
				}
			}
			for rank := range ranks {
				if from := (rank + ranks - shift) % ranks; there[rank] > 0 {
					call(rank, max(now[rank], there[rank])+n.Overhead, "MPI_Recv", message("source", from, int(bytes)))
				}
			}
		default:
			op, took, a := "MPI_Barrier", 2*n.transfer(0), args{"comm": "MPI_COMM_WORLD"}
			if kind == 3 {
				op, took, a = "MPI_Allreduce", 2*n.transfer(8*bytes), args{"comm": "MPI_COMM_WORLD", "count": int(bytes), "datatype": "MPI_DOUBLE", "op": "MPI_SUM"}
			}
			last := 0.0
			for rank := range ranks {
				last = max(last, now[rank])
			}
			for rank := range ranks {
				call(rank, last+took+n.Overhead, op, a)
			}
		}
	}
	last := 0.0
	for rank := range ranks {
		now[rank] += 1e4
		last = max(last, now[rank])
		call(rank, now[rank]+1e6, "MPI_Finalize", nil)
	}
	return s, last - begin
}
