package findings

import (
	"fmt"
	"slices"

	"github.com/efg-tools/efg/efg/runfile"
)

// crowded tells on which host most ranks share a processor, if there are hosts with more ranks than processors: then what
// looks like computation or waiting is in part the time until a rank gets one. It is nil if there are none, or
// the processors of the hosts are not known.
func crowded(run *runfile.Run) *Finding {
	ranks := map[string][]int{}
	for i := range run.Procs {
		if p := &run.Procs[i]; p.Rank >= 0 {
			ranks[p.Host] = append(ranks[p.Host], p.Rank)
		}
	}
	var worst runfile.Processors
	hosts := 0
	for _, p := range run.Meta.ProcessorsOf() {
		n := len(ranks[p.Host])
		if n <= p.Count {
			continue
		}
		hosts++
		if worst.Count == 0 || n*worst.Count > len(ranks[worst.Host])*p.Count {
			worst = p
		}
	}
	if hosts == 0 {
		return nil
	}
	processors := fmt.Sprintf("%d processors", worst.Count)
	if worst.Count == 1 {
		processors = "a processor"
	}
	f := &Finding{Kind: Processors, Ranks: slices.Clone(ranks[worst.Host])}
	f.Text = fmt.Sprintf("%d ranks share %s of %s", len(f.Ranks), processors, worst.Host)
	if hosts > 1 {
		f.Text += fmt.Sprintf(", and so on %d hosts in all", hosts)
	}
	f.Text += ": computation and waiting may in part be waiting for a processor."
	slices.Sort(f.Ranks)
	f.Ranks = slices.Compact(f.Ranks)
	return f
}
