package efficiency

import (
	"github.com/efg-tools/efg/internal/analysis/match"
	"github.com/efg-tools/efg/signature"
)

// network follows the dependencies of a run on an ideal network: calls take no time, and wait for
// what they depend on.
type network struct {
	threads []simulated
	posted  []int64 // by operation: when, on the ideal network
	latest  map[*match.Collective]int64
}

// simulated is where a thread stands.
type simulated struct {
	now   int64 // on the ideal network
	last  int64 // when its last call was left, as recorded
	began bool
	ended bool
}

func newNetwork(t *match.Trace) *network {
	return &network{threads: make([]simulated, len(t.Threads)), latest: map[*match.Collective]int64{}}
}

// Enter implements match.Visitor: the computation before a call takes its time, unless the program
// polled.
func (x *network) Enter(c *match.Call) {
	s := &x.threads[c.Thread.Index]
	switch {
	case !s.began:
		s.now = x.processTime(c.Thread.Process)
		s.began = true
	case c.Began == c.Enter && !s.ended:
		s.now += max(c.Enter-s.last, 0)
	}
	s.ended = s.ended || c.Proc != nil && c.Proc.Ends
	for _, o := range c.Posted {
		for o.ID >= len(x.posted) {
			x.posted = append(x.posted, 0)
		}
		x.posted[o.ID] = s.now
		if n := o.Collective; n != nil && (n.Entered == 1 || s.now > x.latest[n]) {
			x.latest[n] = s.now
		}
	}
}

// processTime is how far the threads of a process have come.
func (x *network) processTime(p *match.Process) int64 {
	now := int64(0)
	for _, t := range p.Threads {
		now = max(now, x.threads[t.Index].now)
	}
	return now
}

// Exit implements match.Visitor.
func (x *network) Exit(c *match.Call) {
	s := &x.threads[c.Thread.Index]
	s.last = c.Exit
	if c.Proc != nil && c.Proc.Begins {
		s.now = 0 // the run begins here
		return
	}
	if s.ended {
		return
	}
	for _, o := range c.Done {
		s.now = max(s.now, x.needs(c, o))
	}
}

// needs is when what an operation depends on is there, on the ideal network.
func (x *network) needs(c *match.Call, o *match.Operation) int64 {
	w := o.WaitsFor()
	if w == nil {
		if o.Collective != nil && o.Collective.Last == o {
			return x.members(o) // others may be later there
		}
		return 0
	}
	switch o.Kind {
	case match.ReceiveMessage, match.ProbeMessage, match.StartAccess, match.WaitExposure:
		return x.posted[w.ID]
	case match.SendMessage:
		if w.Enter > c.Began && w.Enter <= c.Exit { // it waited: it is synchronous
			return x.posted[w.ID]
		}
	case match.TakePart:
		return x.members(o)
	}
	return 0
}

// members is when those have entered a collective that one of them needs.
func (x *network) members(o *match.Operation) int64 {
	n := o.Collective
	switch n.Proc.Sync {
	case signature.SyncAll, signature.SyncAtRoot:
		if n.Proc.Sync == signature.SyncAll || o.WaitsFor() != nil {
			return x.latest[n]
		}
		return 0
	case signature.SyncSome:
		return 0 // it need not wait
	}
	if w := o.WaitsFor(); w != nil {
		return x.posted[w.ID]
	}
	return 0
}

// time is that of the run on the ideal network.
func (x *network) time() int64 {
	longest := int64(0)
	for i := range x.threads {
		longest = max(longest, x.threads[i].now)
	}
	return longest
}
