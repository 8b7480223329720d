package efg

import (
	"slices"

	"github.com/efg-tools/efg/signature"
)

// Step is a part of a folded walk: an event, or a part of the stream that occurs several times
// in succession.
type Step struct {
	Node  int    // of an event
	Value int    // of an event: number of its words, see FoldedWalk; 0 means those of its node
	Times uint64 // number of repetitions of Body; 0 for an event
	Body  []Step
}

// FoldedWalk iterates over the events of a stream in order, like a Walker, but iterates a
// repeat only a few times instead of each time: its cost grows with the graph and the code of
// its sequences. A repeat is found when the walk visits the head of a loop and everything that
// decides the continuation is in the same state as at an earlier visit: branch runs, their
// lengths and the attribute streams that matter are in repeats of their own that have advanced
// by whole periods. Then the events since that visit recur as often as the shortest of these
// repeats lasts. Nothing is guessed. Nodes that were not touched since are in the same state:
// only the nodes passed in between are recorded and compared.
type FoldedWalk struct {
	walk    *Walker
	matters []bool // by node: it has values that matter
	nest    *nest
	heads   []*foldHead // by node: its loop, if it is a head
	active  []*foldHead // the loops that the walk is in and whose head it has passed, outer ones first
	journal foldJournal
	steps   []Step
	words   [][]uint64 // by value
	vecs    []map[int][]uint64
	index   map[uint64]int
	emit    func([]Step) error
}

// foldSteps is the number of steps that are kept for folding.
const foldSteps = 1 << 16

// NewFoldedWalk prepares a folded walk. masks says, for each node, which words matter if they
// are demoted: events that differ only in others are equal.
func NewFoldedWalk(s *Stream, defs []Def, masks []uint64) *FoldedWalk {
	f := &FoldedWalk{walk: s.WalkWords(defs, masks), matters: make([]bool, len(s.Nodes)), words: [][]uint64{nil}, vecs: []map[int][]uint64{nil}, index: map[uint64]int{}}
	for i := range f.walk.nodes {
		f.matters[i] = f.walk.nodes[i].hasAttr
	}
	f.nest, f.heads = nestOf(s), make([]*foldHead, len(s.Nodes))
	for k, loop := range f.nest.headed {
		if loop >= 0 {
			f.heads[k] = &foldHead{loop: loop}
		}
	}
	f.journal = newFoldJournal(f.walk.nodes)
	return f
}

// Words returns the words of an event: those that matter are filled in, arrays as the hash of
// their elements; other demoted words are 0.
func (f *FoldedWalk) Words(s *Step) []uint64 {
	if s.Value == 0 {
		return f.walk.nodes[s.Node].words
	}
	return f.words[s.Value]
}

// Vec returns the content of array word i of an event if it matters and is demoted, otherwise
// nil.
func (f *FoldedWalk) Vec(s *Step, i int) []uint64 { return f.vecs[s.Value][i] }

// Each calls emit for the steps of the stream, in order, several at a time. They remain valid.
func (f *FoldedWalk) Each(emit func([]Step) error) error {
	f.emit = emit
	for f.next() {
		k := f.walk.cur
		step := Step{Node: k}
		if f.matters[k] {
			step.Value = f.value()
		}
		if f.walk.err != nil {
			break
		}
		f.steps = append(f.steps, step)
		f.enter(k)
		if len(f.steps) >= foldSteps {
			if err := f.flush(); err != nil {
				return err
			}
		}
	}
	if f.walk.err != nil {
		return f.walk.err
	}
	return f.flush()
}

func (f *FoldedWalk) flush() error {
	steps := f.steps
	f.steps = nil
	f.leave(0)
	if len(steps) == 0 {
		return nil
	}
	return f.emit(steps)
}

// next moves to the next event, like Walker.Next; the states of nodes that change are recorded
// first.
func (f *FoldedWalk) next() bool {
	w := f.walk
	if w.cur >= 0 {
		f.note(w.cur)
	}
	if !w.step() {
		return false
	}
	n := &w.nodes[w.cur]
	if !n.hasAttr {
		return true
	}
	f.note(w.cur)
	return w.nextAttrs(n)
}

// value interns the words of the current event.
func (f *FoldedWalk) value() int {
	w := f.walk.Words()
	if w == nil {
		return 0
	}
	h := HashWords(w)
	if v, ok := f.index[h]; ok && slices.Equal(f.words[v], w) {
		return v
	}
	f.words = append(f.words, slices.Clone(w))
	var vecs map[int][]uint64
	for _, a := range f.walk.nodes[f.walk.cur].attrs {
		if a.form == signature.VecForm && a.raw&1 == 0 {
			if vecs == nil {
				vecs = map[int][]uint64{}
			}
			vecs[a.word] = slices.Clone(a.vec)
		}
	}
	f.vecs = append(f.vecs, vecs)
	f.index[h] = len(f.words) - 1
	return len(f.words) - 1
}
