package sim

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/reconstruct"
)

// A window that is read from a checkpoint shows what the whole shows there.
func TestWindows(t *testing.T) {
	for _, c := range []Config{
		{Program: "halo", Ranks: 27, Steps: 200, Seed: 1},
		{Program: "farm", Ranks: 9, Steps: 300, Seed: 2},
		{Program: "mesh", Ranks: 27, Steps: 100, Seed: 3},
		{Program: "random", Ranks: 4, Steps: 1000, Seed: 4},
	} {
		t.Run(c.Program, func(t *testing.T) {
			for _, rank := range []int{0, c.Ranks / 2} {
				p, err := c.Process(rank)
				if err != nil {
					t.Fatal(err)
				}
				if err := p.Streams[0].AddCheckpoints(p.Defs, 50); err != nil || p.Streams[0].Checkpoints == nil {
					t.Fatal("no marks", err)
				}
				compareWindows(t, p)
			}
		})
	}
}

func compareWindows(t *testing.T, p *efg.Process) {
	r := reconstruct.NewProcess(p, reconstruct.NewNames(p.Defs, nil))
	read := func(opt reconstruct.Options) (out []string) {
		for e, err := range r.Events(0, opt) {
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, fmt.Sprintf("%s%s", e.AppendJSON(nil), e.AppendMTF(nil)))
		}
		return out
	}
	rng := rand.New(rand.NewPCG(1, 2))
	all := read(reconstruct.Options{Issues: true})
	for range 30 {
		from := rng.IntN(len(all))
		to := min(len(all), from+1+rng.IntN(30))
		got := read(reconstruct.Options{From: uint64(from), To: uint64(to), Issues: true})
		if !slices.Equal(got, all[from:to]) {
			t.Fatalf("rank %d, events %d to %d:\n%s\nwant\n%s", p.Rank, from, to, got, all[from:to])
		}
	}
}
