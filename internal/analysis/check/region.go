package check

import (
	"fmt"

	"github.com/efg-tools/efg/internal/analysis"
	"github.com/efg-tools/efg/internal/analysis/regions"
)

// unbalancedRegions finds the regions of a process whose begins and ends do not fit. Those that are
// open when a recording ends early are not among them.
func unbalancedRegions(p *analysis.Process) ([]candidateFault, error) {
	threads, err := regions.FollowAll(p)
	if err != nil {
		return nil, err
	}
	var list []candidateFault
	for i, t := range threads {
		if t == nil {
			continue
		}
		for k := range t.Faults {
			f := &t.Faults[k]
			s := &p.Data.Streams[i]
			list = append(list, candidateFault{
				kind: UnbalancedRegion, at: place{s.Thread, int32(f.Node)}, op: procOf(&s.Nodes[f.Node]).Name, site: s.Nodes[f.Node].Words[1],
				count: f.Count, event: f.Seq, text: t.FaultText(f) + elsewhere(p, threads, i, f),
			})
		}
	}
	return list, nil
}

// elsewhere says that an end may be meant for a region of another thread.
func elsewhere(p *analysis.Process, threads []*regions.Thread, thread int, f *regions.Fault) string {
	if f.Kind == regions.NeverEnded || f.Name == "" {
		return ""
	}
	for i, t := range threads {
		if t == nil || i == thread {
			continue
		}
		for k := range t.Faults {
			if o := &t.Faults[k]; o.Kind == regions.NeverEnded && t.Name(o.Frame) == f.Name {
				return fmt.Sprintf("; thread %d began a region of that name and did not end it: regions belong to their threads", p.Data.Streams[i].Thread)
			}
		}
	}
	return ""
}
