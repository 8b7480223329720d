package clocks

import (
	"math"

	"github.com/efg-tools/efg/internal/analysis/match"
)

// observer collects what the calls of a run say about the clocks of its machines. The zero observer
// only counts contradictions.
type observer struct {
	machine  []int // of each process; nil: only count
	passages map[[2]int]*passages
	open     map[*match.Collective]*meeting
	// contradictions are calls that were over before something began that they needed.
	contradictions uint64
	worst          int64 // ns
}

// meeting has, for each machine with members of a collective call that none leaves before all
// have entered, when the first of them left it. Errors of times are allowed for.
type meeting struct{ left map[int]int64 }

func newObserver(machine []int) *observer {
	return &observer{machine: machine, passages: map[[2]int]*passages{}, open: map[*match.Collective]*meeting{}}
}

func (x *observer) machineOf(t *match.Thread) int { return x.machine[t.Process.Number] }

// Enter implements match.Visitor.
func (*observer) Enter(*match.Call) {}

// Exit implements match.Visitor.
func (x *observer) Exit(c *match.Call) {
	last := int64(math.MinInt64)
	for _, o := range c.Done {
		if n := o.Collective; n != nil && n.NeedsAll(o) {
			last = max(last, n.Last.Enter)
			if x.machine != nil {
				x.meet(n, c)
			}
			continue
		}
		o.EachNeeded(func(w *match.Operation) {
			last = max(last, w.Enter)
			if x.machine != nil {
				x.pass(x.machineOf(w.Thread), x.machineOf(c.Thread), passage{w.Enter - w.Thread.Bound, c.Exit + c.Thread.Bound})
			}
		})
	}
	if last > c.Exit {
		x.contradictions++
		x.worst = max(x.worst, last-c.Exit)
	}
}

func (x *observer) pass(from, to int, p passage) {
	if from == to {
		return
	}
	key := [2]int{from, to}
	list := x.passages[key]
	if list == nil {
		list = &passages{}
		x.passages[key] = list
	}
	list.add(p)
}

// meet notes that a member has left a collective call.
func (x *observer) meet(n *match.Collective, c *match.Call) {
	m := x.open[n]
	if m == nil {
		m = &meeting{left: map[int]int64{}}
		x.open[n] = m
	}
	machine, exit := x.machineOf(c.Thread), c.Exit+c.Thread.Bound
	if first, ok := m.left[machine]; !ok || exit < first {
		m.left[machine] = exit
	}
	if n.Left+1 == n.Members {
		delete(x.open, n)
		x.close(n, m)
	}
}

// mostPairs is how many machines of a collective call are compared with each other. Of more, each is
// compared with the first one only.
const mostPairs = 32

func (x *observer) close(n *match.Collective, m *meeting) {
	if len(m.left) < 2 {
		return
	}
	entered := map[int]int64{}
	hub := math.MaxInt
	for i := range n.Members {
		o := n.Part(i)
		machine, enter := x.machineOf(o.Thread), o.Enter-o.Thread.Bound
		if last, ok := entered[machine]; !ok || enter > last {
			entered[machine] = enter
		}
		hub = min(hub, machine)
	}
	if len(m.left) > mostPairs {
		for other, exit := range m.left {
			x.pass(hub, other, passage{entered[hub], exit})
			x.pass(other, hub, passage{entered[other], m.left[hub]})
		}
		return
	}
	for from, enter := range entered {
		for to, exit := range m.left {
			x.pass(from, to, passage{enter, exit})
		}
	}
}
