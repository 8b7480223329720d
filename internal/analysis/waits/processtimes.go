package waits

import "github.com/efg-tools/efg/internal/analysis/match"

// processTimes are times above 0 by process.
type processTimes struct {
	blocks [][]int64 // of processesOfBlock each; nil: all are 0
}

const processesOfBlock = 64

func (p *processTimes) add(process int, ns int64) {
	i := process / processesOfBlock
	for i >= len(p.blocks) {
		p.blocks = append(p.blocks, nil)
	}
	if p.blocks[i] == nil {
		p.blocks[i] = make([]int64, processesOfBlock)
	}
	p.blocks[i][process%processesOfBlock] += ns
}

// byRank are those of the ranks of a trace, the longest first.
func (p *processTimes) byRank(t *match.Trace) []RankTime {
	times := map[int]int64{}
	for i, block := range p.blocks {
		for k, ns := range block {
			if ns > 0 {
				times[t.Processes[i*processesOfBlock+k].Rank] += ns
			}
		}
	}
	return sortedTimes(times)
}
