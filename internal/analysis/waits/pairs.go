package waits

import "github.com/efg-tools/efg/internal/analysis/match"

// MostBlocks bounds the blocks of ranks of which Pairs has times.
const MostBlocks = 64

// Pairs says which ranks wait how long for which, by blocks of Width ranks: from a multiple of Width
// on. Waits for the completion of collectives, which are for nobody, are not among them, nor those of
// MPI_Init and MPI_Finalize.
type Pairs struct {
	Width int
	Cells []PairTime // that are not 0, by Waiting and Culprit
}

// PairTime is the waiting of the ranks of a block for those of another, ns. Both are the first ranks
// of their blocks.
type PairTime struct {
	Waiting, Culprit int
	Time             int64
}

type pairTimes struct {
	width, blocks int
	times         []int64 // of waiting blocks, for each block
}

func newPairs(t *match.Trace) pairTimes {
	ranks := 1
	for _, p := range t.Processes {
		ranks = max(ranks, p.Rank+1)
	}
	p := pairTimes{width: (ranks + MostBlocks - 1) / MostBlocks}
	p.blocks = (ranks + p.width - 1) / p.width
	p.times = make([]int64, p.blocks*p.blocks)
	return p
}

func (p *pairTimes) add(waiting, culprit int, time int64) {
	if waiting >= 0 && culprit >= 0 { // a process without a rank
		p.times[waiting/p.width*p.blocks+culprit/p.width] += time
	}
}

func (p *pairTimes) finish() Pairs {
	out := Pairs{Width: p.width}
	for i, t := range p.times {
		if t > 0 {
			out.Cells = append(out.Cells, PairTime{i / p.blocks * p.width, i % p.blocks * p.width, t})
		}
	}
	return out
}
