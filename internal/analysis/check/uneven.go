package check

import (
	"fmt"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/signature"
)

// All members of a collective receive the same amount from each other, and from themselves. The
// symbols ensure that the amounts received are equal; whether a member sends as much as it
// receives is visible in its own call.

// findUneven adds the calls of steps that send another amount than they receive, by node. event
// is the number of the first event, times the number of repetitions of the steps. It returns
// the number of their events.
func (r *reader) findUneven(steps []efg.Step, event, times uint64, found map[place]*candidateFault) uint64 {
	first := event
	for i := range steps {
		s := &steps[i]
		if s.Times > 0 {
			event += s.Times * r.findUneven(s.Body, event, times*s.Times, found)
			continue
		}
		if c, ok := r.call(s); ok && c.symbol.unequalAmounts() {
			at := place{r.t.p.Data.Streams[r.i].Thread, int32(s.Node)}
			if found[at] == nil {
				found[at] = r.uneven(at, event, &c)
			}
			found[at].count += times
		}
		event++
	}
	return event - first
}

// uneven is the suspect for a call.
func (r *reader) uneven(at place, event uint64, c *call) *candidateFault {
	f := &candidateFault{kind: CollectiveData, at: at, event: event, object: object{signature.Comm, c.word}}
	f.op, f.site = r.t.caller(at)
	what, gives, takes := "each member", c.symbol.own.bytes, c.symbol.amount.bytes
	switch r.roles[at.node].proc.Shape {
	case signature.AllToOne:
		what = "itself"
	case signature.OneToAll:
		what, gives, takes = "itself", takes, gives
	}
	f.local = fmt.Sprintf("gives %s %d bytes and takes %d", what, gives, takes)
	if c.symbol.own.bytes == c.symbol.amount.bytes {
		f.local = fmt.Sprintf("gives %s data of other datatypes than it takes", what)
	}
	return f
}
