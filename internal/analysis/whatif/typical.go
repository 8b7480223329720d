package whatif

import (
	"math/bits"

	"github.com/efg-tools/efg/internal/analysis/match"
)

// typical has what calls usually take, by their kind: distributions that stand for the recorded times of
// each of them. A call that finds everything there when its thread is there takes what such calls took; one
// that has to wait ends some time after the last thing that it depends on was posted, as those did that waited.
// Both times are drawn: a mean would not do, because of several ranks the latest counts. What delays a member
// of a collective, or the sender of a message, delays the others, too: they draw alike.
type typical struct {
	kinds map[callKind]*usual
	// drawn is what the members of open collective calls draw.
	drawn map[*match.Collective]uint64
	// sent is what those draw that complete the sending of messages, by operation; 0 as long as they do not.
	sent []uint64
}

// callKind is what calls have in common that take about as long: the procedure, and the powers of two
// of the bytes and of the operations that they complete, and of the members of a collective.
type callKind struct {
	proc                    int
	bytes, members, several uint8
}

// usual has the times of a kind of calls, in ns: of those that found everything there, since they were
// entered, and of those that waited, since the last thing that they waited for was posted.
type usual struct {
	free, waited distribution
	drawn        uint64 // how often
}

// distribution counts times, and negative ones, by powers of two.
type distribution struct {
	count uint64
	bins  [2 * 64]struct {
		count uint64
		sum   float64
	}
}

func (d *distribution) add(ns float64) {
	i := 64 + bits.Len64(uint64(min(ns, 1<<60)))
	if ns < 0 {
		i = 63 - bits.Len64(uint64(min(-ns, 1<<60)))
	}
	d.count++
	d.bins[i].count++
	d.bins[i].sum += ns
}

// golden is the golden ratio: its multiples are spread evenly over 2^64.
const golden = 0x9e3779b97f4a7c15

// draw returns a time: that which a part of all, in 2^-64, do not exceed.
func (d *distribution) draw(part uint64) float64 {
	left, _ := bits.Mul64(part, d.count)
	for i := range d.bins {
		if b := &d.bins[i]; left < b.count {
			return b.sum / float64(b.count)
		} else {
			left -= b.count
		}
	}
	return 0
}

func newTypical() *typical {
	return &typical{kinds: map[callKind]*usual{}, drawn: map[*match.Collective]uint64{}}
}

func kindOf(c *match.Call) (k callKind) {
	if c.Proc != nil {
		k.proc = c.Proc.ID
	}
	size := uint64(0)
	for _, o := range c.Done {
		size = max(size, o.Bytes)
		switch {
		case o.Collective != nil:
			k.members = max(k.members, uint8(bits.Len(uint(o.Collective.Members))))
		case o.Kind == match.ReceiveMessage && o.Partner != nil:
			size = max(size, o.Partner.Bytes)
		}
	}
	k.bytes, k.several = uint8(bits.Len64(size)), uint8(bits.Len(uint(len(c.Done))))
	return k
}

// learn takes a call into account. posted is when the last thing that it depends on was posted.
func (t *typical) learn(c *match.Call, posted int64) {
	k := kindOf(c)
	u := t.kinds[k]
	if u == nil {
		u = &usual{}
		t.kinds[k] = u
	}
	if posted > c.Began {
		u.waited.add(float64(c.Exit - posted))
	} else {
		u.free.add(float64(c.Exit - c.Began))
	}
}

// times are those of a call like one: if it finds everything there, and if it waits. Where no call waited, it
// waits for what the network carries.
func (t *typical) times(c *match.Call, carries float64) (free, waited float64) {
	u := t.kinds[kindOf(c)]
	if u == nil {
		return 0, carries
	}
	part := t.part(c, u)
	free, waited = u.free.draw(part), u.waited.draw(part)
	if u.waited.count == 0 {
		waited = max(carries, free)
	}
	return free, waited
}

// part is what a call of a kind draws: evenly spread, and the same for all members of a collective, and for
// the sender and the receiver of a message.
func (t *typical) part(c *match.Call, u *usual) (part uint64) {
	for _, o := range c.Done {
		if o.Collective == nil {
			if p := o.Partner; part == 0 && o.Kind == match.ReceiveMessage && p != nil && p.ID < len(t.sent) {
				part = t.sent[p.ID]
			}
			continue
		}
		p, known := t.drawn[o.Collective]
		if !known {
			p = u.next()
			t.drawn[o.Collective] = p
		}
		if o.Collective.Left == o.Collective.Members-1 {
			delete(t.drawn, o.Collective)
		}
		return p
	}
	if part == 0 {
		part = u.next()
	}
	for _, o := range c.Done {
		if o.Kind != match.SendMessage {
			continue
		}
		for o.ID >= len(t.sent) {
			t.sent = append(t.sent, 0)
		}
		t.sent[o.ID] = part
	}
	return part
}

// posted forgets what was drawn with an operation of the same number.
func (t *typical) posted(o *match.Operation) {
	if o.ID < len(t.sent) {
		t.sent[o.ID] = 0
	}
}

func (u *usual) next() uint64 {
	u.drawn++
	return u.drawn * golden
}

// model finds out when a call ends in the scenarios in which calls take what is typical. It is asked
// before now changes.
func (x *Simulation) model(c *match.Call, now []float64) {
	clear(x.posting)
	own := 0.0 // what the recorded network takes, and others instead
	clear(x.instead)
	depends := false
	for _, o := range c.Done {
		_, times := x.dependency(c, o)
		if times == nil {
			continue
		}
		carries := x.carries(&x.own, o)
		own = max(own, carries)
		for k := range x.scenarios {
			s := &x.scenarios[k]
			if !s.Modelled {
				continue
			}
			if !depends || times[k] > x.posting[k] {
				x.posting[k] = times[k]
			}
			if s.Network != nil {
				x.instead[k] = max(x.instead[k], x.carries(s.Network, o))
			}
		}
		depends = true
	}
	calls := x.calls(&x.own, c)
	free, waited := x.typical.times(c, own)
	for k := range x.scenarios {
		s := &x.scenarios[k]
		if !s.Modelled {
			continue
		}
		f, w, there := free, waited, own
		if s.Network != nil {
			handing := x.calls(s.Network, c) - calls
			f, w, there = max(f+handing, 0), max(w+handing+x.instead[k]-own, 0), x.instead[k]
		}
		factor := x.callFactor(c, k)
		end := now[k] + f*factor
		switch {
		case depends && x.posting[k] > now[k]:
			end = x.posting[k] + w*factor
		case depends: // it may be on its way
			end = max(end, x.posting[k]+min(there, w)*factor)
		}
		x.ends[k] = max(end, now[k])
	}
}
