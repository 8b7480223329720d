package analysis

import (
	"encoding/binary"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/runfile"
)

// FoldedNodes is how many nodes a run has in all if those of a stream that differ only in their call
// paths count as one: approximately what it would have if paths had not been recorded.
func FoldedNodes(run *runfile.Run) (n uint64, err error) {
	known := map[runfile.ClassKey]uint64{}
	for i := range run.Procs {
		var key runfile.ClassKey
		alike := false
		if !run.Unlike(i) {
			if key, alike, err = run.RankClass(i); err != nil {
				return 0, err
			}
		}
		count, ok := known[key]
		if !alike || !ok {
			data, err := run.Untimed(i)
			if err != nil {
				return 0, err
			}
			if count = foldedNodes(data); alike {
				known[key] = count
			}
		}
		n += count
	}
	return n, nil
}

func foldedNodes(p *efg.Process) (n uint64) {
	paths, _ := efg.FoldPaths(p.Defs, 1)
	for i := range p.Streams {
		nodes := p.Streams[i].Nodes
		different := make(map[string]bool, len(nodes))
		var key []byte
		for k := range nodes {
			key = binary.LittleEndian.AppendUint64(key[:0], nodes[k].Mask)
			for w, word := range nodes[k].Words {
				if site, ok := paths[word]; ok && w == 1 {
					word = site
				}
				if nodes[k].Mask>>w&1 == 0 {
					key = binary.LittleEndian.AppendUint64(key, word)
				}
			}
			different[string(key)] = true
		}
		n += uint64(len(different))
	}
	return n
}
