package diff

import (
	"cmp"
	"maps"
	"slices"

	"github.com/efg-tools/efg/signature"
)

// callGraph are the calls of a process and the steps between them.
type callGraph struct {
	calls []call
	steps [][2]call
}

// add adds the calls and steps of a stream.
func (g *callGraph) add(t *stream) {
	for i := range t.nodes {
		g.calls = append(g.calls, t.nodes[i].call)
		for _, e := range t.Nodes[i].Edges {
			g.steps = append(g.steps, [2]call{t.nodes[i].call, t.nodes[e.To].call})
		}
	}
}

func (c call) compare(o call) int {
	return cmp.Or(cmp.Compare(c.site, o.site), cmp.Compare(c.op, o.op))
}

// sort removes duplicates, and returns a hash.
func (g *callGraph) sort() hash {
	slices.SortFunc(g.calls, call.compare)
	g.calls = slices.Compact(g.calls)
	slices.SortFunc(g.steps, func(x, y [2]call) int { return cmp.Or(x[0].compare(y[0]), x[1].compare(y[1])) })
	g.steps = slices.Compact(g.steps)
	h := hashOf(uint64(len(g.calls)))
	add := func(c call) { h = h.add(c.site, signature.HashString(c.op)) }
	for _, c := range g.calls {
		add(c)
	}
	for _, s := range g.steps {
		add(s[0])
		add(s[1])
	}
	return h
}

// numbered returns the graph with the numbers of its calls.
func (g *callGraph) numbered(numbers map[call]int) *stepSet {
	s := &stepSet{make([]int32, len(g.calls)), make([]step, len(g.steps))}
	for i, c := range g.calls {
		s.calls[i] = int32(numbers[c])
	}
	for i, t := range g.steps {
		s.steps[i] = step{int32(numbers[t[0]]), int32(numbers[t[1]])}
	}
	slices.Sort(s.calls)
	slices.SortFunc(s.steps, step.compare)
	return s
}

// stepSet is a callGraph with numbers of calls, as a survey keeps it: both lists are ascending.
type stepSet struct {
	calls []int32
	steps []step
}

// step leads from one call to another.
type step struct{ from, to int32 }

func (s step) compare(o step) int {
	return cmp.Or(cmp.Compare(s.from, o.from), cmp.Compare(s.to, o.to))
}

// union is all calls and steps of a survey.
func (v *survey) union() *stepSet {
	calls, steps := map[int32]bool{}, map[step]bool{}
	for _, s := range v.steps {
		for _, c := range s.calls {
			calls[c] = true
		}
		for _, t := range s.steps {
			steps[t] = true
		}
	}
	return &stepSet{slices.Sorted(maps.Keys(calls)), slices.SortedFunc(maps.Keys(steps), step.compare)}
}

// numbersIn returns the number that each call of a survey has in another one; none if it has none.
func (v *survey) numbersIn(other *survey) []int32 {
	list := make([]int32, len(v.list))
	for i, c := range v.list {
		list[i] = none
		if n, ok := other.numbers[c]; ok {
			list[i] = int32(n)
		}
	}
	return list
}

// without calls f for the calls (with none as the second one) and for the steps that another set, in which
// calls have the numbers in, does not have.
func (s *stepSet) without(o *stepSet, in []int32, f func(from, to int32)) {
	for _, c := range s.calls {
		if _, ok := slices.BinarySearch(o.calls, in[c]); !ok {
			f(c, none)
		}
	}
	for _, t := range s.steps {
		if _, ok := slices.BinarySearchFunc(o.steps, step{in[t.from], in[t.to]}, step.compare); !ok {
			f(t.from, t.to)
		}
	}
}
