package efg

import (
	"errors"
	"testing"

	"github.com/efg-tools/efg/efg/seq"
)

// fewSteps lowers the bound on iterations.
func fewSteps(t *testing.T) {
	t.Helper()
	was := maxSteps
	maxSteps = 1 << 12
	t.Cleanup(func() { maxSteps = was })
}

const huge = 1 << 50

// endlessly is a sequence that repeats the given values.
func endlessly(t *testing.T, values ...uint64) *seq.Seq {
	t.Helper()
	var symbols []seq.Symbol
	for _, v := range values {
		symbols = append(symbols, seq.Symbol{Value: v})
	}
	s, err := seq.Make(huge, 0, append(symbols, seq.Symbol{Level: 0, Distance: uint64(len(values)), Length: seq.Endless}))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A few bytes of a recording can stand for more steps than can be iterated. What would iterate
// them gives up, and what does not need to works.
func TestEndlessStreams(t *testing.T) {
	fewSteps(t)
	node := func(words ...uint64) OpenNode {
		return OpenNode{Words: append([]uint64{uint64(len(words)+1)<<24 | 1}, words...), Cur: -1}
	}
	loop := node(1, 2)
	loop.Edges, loop.Cur, loop.Run = []OpenEdge{{To: 0}}, 0, huge-1
	o := &OpenStream{Events: huge, Nodes: []OpenNode{loop}}
	s, err := o.Close()
	if err != nil {
		t.Fatal(err)
	}
	if s.Events != huge {
		t.Errorf("%d events", s.Events)
	}

	o = &OpenStream{Events: huge, Ahead: true, Nodes: []OpenNode{loop}}
	if _, err := o.Close(); !errors.Is(err, ErrGraph) {
		t.Errorf("followed: %v", err)
	}

	fork := node(1, 2)
	fork.Edges, fork.Cur, fork.Run = []OpenEdge{{To: 0, Runs: huge / 2, Total: huge / 2, Count: 1, Fixed: huge / 2}, {To: 1, Runs: huge / 2, Total: huge / 2, Count: 1, Fixed: huge / 2}}, 0, 1
	fork.Runs = endlessly(t, 0, 1)
	other := node(1, 3)
	other.Edges, other.Cur, other.Run = []OpenEdge{{To: 0, Runs: 1, Total: huge / 2, Count: huge / 2, Fixed: 1}}, 0, 1
	o = &OpenStream{Events: huge + 3, Nodes: []OpenNode{fork, other}}
	if _, err := o.Close(); !errors.Is(err, ErrGraph) {
		t.Errorf("branch runs: %v", err)
	}

	vec := Attr{Values: endlessly(t, 0), Elems: endlessly(t, 7)}
	if err := vec.trim(huge - 1); err != nil || vec.Values.Len() != huge-1 {
		t.Errorf("vectors: %d, %v", vec.Values.Len(), err)
	}
}
