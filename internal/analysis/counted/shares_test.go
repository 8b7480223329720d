package counted

import (
	"testing"

	"github.com/efg-tools/efg/efg"
)

// Calls whose values are recorded have these; the others share what is left of their node's sums, to the last one.
func TestSharesOfTheRest(t *testing.T) {
	node := efg.Node{Counters: []efg.NodeCounter{
		{Count: 10, Before: efg.Tally{Sum: 1003}, Call: efg.Tally{Sum: 57}},
		{},
		{Count: 3, Before: efg.Tally{Sum: 12}, Call: efg.Tally{Sum: 6}}, // it could not be read later on
	}}
	for own := range 11 {
		p := &efg.Process{Counters: []efg.Counter{{State: efg.CounterRead}, {State: efg.CounterFailed}, {State: efg.CounterRead}}}
		trace := &efg.Trace{Counters: 3, Untimed: uint64(10 - own)}
		p.Streams = []efg.Stream{{Nodes: []efg.Node{node}, Trace: trace}}
		s := NewShares(p, 0)
		if s.Each != (own == 10) {
			t.Errorf("%d calls with values: each has its own: %v", own, s.Each)
		}
		last := []uint64{0, 0}
		for call := range uint64(10) {
			var values []efg.CounterValue
			if int(call) < own {
				values = []efg.CounterValue{{Before: 100 - call, Call: call, Counted: true}, {}, {Before: 4, Call: 2, Counted: call < 3}}
			}
			before := append([]uint64{}, s.Enter(0, values)...)
			after := append([]uint64{}, s.Leave(0, values)...)
			if values != nil && (before[0]-last[0] != 100-call || after[0]-before[0] != call) {
				t.Errorf("%d calls with values: call %d: %v, %v, %v", own, call, last, before, after)
			}
			last = after
		}
		if own < 10 && last[0] != 1060 || last[1] != 18 {
			t.Errorf("%d calls with values: %v in all", own, last)
		}
	}
}
