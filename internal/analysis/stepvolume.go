package analysis

import "github.com/efg-tools/efg/efg"

// StepVolumes returns a function that says what an event of a folded walk of Data.Streams[i] moves, if
// its node is in varied; nil for other nodes. The walk must have the words that decide it.
func (p *Process) StepVolumes(i int, f *efg.FoldedWalk, varied []bool) func(*efg.Step) *Volume {
	known := map[[2]int]*Volume{}
	return func(at *efg.Step) *Volume {
		if !varied[at.Node] {
			return nil
		}
		key := [2]int{at.Node, at.Value}
		v := known[key]
		if v == nil {
			v = &Volume{}
			*v, _ = p.VolumeOf(i, at.Node, f.Words(at), func(w int) []uint64 { return f.Vec(at, w) })
			known[key] = v
		}
		return v
	}
}
