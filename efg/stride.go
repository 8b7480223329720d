package efg

import (
	"fmt"

	"github.com/efg-tools/efg/efg/seq"
)

// StrideEdge stands for branch runs of one edge, all of length Count, whose sequence numbers
// form an arithmetic progression. Sequence numbers count the branch runs of the node from 1.
type StrideEdge struct {
	To                  uint32
	First, Last, Stride uint64 // Stride is 0 if there is one run
	Count               uint64
}

// String is the label of the published figures: "seq,count" for one run and
// "first,last,stride,count" for more.
func (e StrideEdge) String() string {
	if e.First == e.Last {
		return fmt.Sprintf("%d,%d", e.First, e.Count)
	}
	return fmt.Sprintf("%d,%d,%d,%d", e.First, e.Last, e.Stride, e.Count)
}

// StrideEdges returns the stride-compressed edges of a branch node, by first sequence number.
// It takes time linear in the number of branch runs. It returns nil for other nodes, whose
// single edge has only a weight.
func StrideEdges(n *Node) []StrideEdge {
	if len(n.Edges) < 2 || n.Runs == nil {
		return nil
	}
	type progression struct {
		edge  uint64
		count uint64
	}
	var out []StrideEdge
	open := map[progression]int{}
	lengths := newRunLengths(n)
	runs := n.Runs.Iter()
	for seq := uint64(1); ; seq++ {
		edge, ok := runs.Next()
		if !ok || edge >= uint64(len(n.Edges)) {
			return out
		}
		key := progression{edge, lengths.next(edge)}
		if i, ok := open[key]; ok && out[i].extend(seq) {
			continue
		}
		open[key] = len(out)
		out = append(out, StrideEdge{To: n.Edges[edge].To, First: seq, Last: seq, Count: key.count})
	}
}

// extend adds the run with number seq if it continues the progression.
func (e *StrideEdge) extend(seq uint64) bool {
	switch {
	case e.First == e.Last:
		e.Stride = seq - e.Last
	case seq-e.Last != e.Stride:
		return false
	}
	e.Last = seq
	return true
}

// runLengths iterates over the lengths of a node's branch runs.
type runLengths struct {
	n      *Node
	used   []uint64 // per edge: runs so far
	counts seq.Iter
}

func newRunLengths(n *Node) *runLengths {
	return &runLengths{n: n, used: make([]uint64, len(n.Edges)), counts: n.Counts.Iter()}
}

// next returns the length of the next branch run, which belongs to the edge; 0 if there is
// none.
func (l *runLengths) next(edge uint64) uint64 {
	if l.used[edge] < l.n.Edges[edge].Fixed {
		l.used[edge]++
		return l.n.Edges[edge].Count
	}
	v, _ := l.counts.Next()
	return v
}
