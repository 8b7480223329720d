package match

import (
	"github.com/efg-tools/efg/signature"
)

// EachNeeded calls f with each operation of another process without whose beginning o cannot be
// complete, whatever the library does: the send of a message that is received, the members whose
// data a collective call delivers to o. Collectives without data, unless they are barriers, and
// those with an array of counts, are not included: a member may get nothing there. Operations
// that had not begun when o was complete are in a Walk that released it.
func (o *Operation) EachNeeded(f func(*Operation)) {
	if o.Collective != nil {
		o.Collective.eachNeeded(o, f)
		return
	}
	switch o.Kind {
	case ReceiveMessage, ProbeMessage, WaitExposure:
		if o.Partner != nil && !o.cancelled {
			f(o.Partner)
		}
	}
}

// NeedsAll reports whether EachNeeded passes all members of the collective call, the same for
// each member.
func (c *Collective) NeedsAll(o *Operation) bool {
	return c.Proc.Sync == signature.SyncAll && c.scope.group.second == 0 && c.delivers(o)
}

// delivers reports whether the call surely gives o something to wait for.
func (c *Collective) delivers(o *Operation) bool {
	switch {
	case o.excluded || c.scope.broken:
		return false
	case c.Proc.Barrier():
		return true
	}
	return c.Proc.Shape != signature.NoData && o.Bytes > 0
}

func (c *Collective) eachNeeded(o *Operation, f func(*Operation)) {
	if !c.delivers(o) {
		return
	}
	if other, _ := c.across(o); other != nil {
		from, to := 0, c.scope.group.second
		if o.Member < to {
			from, to = to, len(c.parts)
		}
		c.eachPart(from, to, o, f)
		return
	}
	switch c.Proc.Sync {
	case signature.SyncAll:
		c.eachPart(0, len(c.parts), o, f)
	case signature.SyncRoot:
		if !o.root && c.root != nil {
			f(c.root)
		}
	case signature.SyncAtRoot:
		if o.root {
			c.eachPart(0, len(c.parts), o, f)
		}
	case signature.SyncLower:
		c.eachPart(0, o.Member, o, f)
	case signature.SyncNeighbours:
		for _, i := range o.Thread.Process.neighbours(c.scope) {
			c.eachPart(int(i), int(i)+1, o, f)
		}
	}
}

// eachPart calls f with the members of a range that have entered and take part, without o.
func (c *Collective) eachPart(from, to int, o *Operation, f func(*Operation)) {
	for _, p := range c.parts[from:to] {
		if p != nil && p != o && !p.excluded {
			f(p)
		}
	}
}

// received is the size of what the caller of a collective receives; 0 if it is unknown, or
// differs from member to member.
func (n *node) received(t *Thread) uint64 {
	d := &n.roles.Recv
	if n.proc.Vector(d.Count) || n.proc.Vector(d.Type) {
		return 0
	}
	return n.size(t, d)
}
