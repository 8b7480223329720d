package whatif

import (
	"math/bits"

	"github.com/efg-tools/efg/internal/analysis/match"
)

// typical has what calls usually take, by their kind: parameters that stand for the recorded times of
// each of them. A call ends
//
//	max(when the thread is there + free, when the last thing that it depends on was posted + waited)
type typical struct{ kinds map[callKind]*usual }

// callKind is what calls have in common that take about as long: the procedure, and the powers of two
// of the bytes and of the operations that they complete, and of the members of a collective.
type callKind struct {
	proc                    int
	bytes, members, several uint8
}

// usual has the mean times of a kind of calls, in ns: of those that found everything there, since they were
// entered, and of those that waited, since the last thing that they waited for was posted.
type usual struct{ free, waited mean }

type mean struct {
	count uint64
	sum   float64
}

func (m *mean) add(v float64) { m.count, m.sum = m.count+1, m.sum+v }

func (m *mean) value() (v float64, known bool) { return m.sum / float64(max(m.count, 1)), m.count > 0 }

func newTypical() *typical { return &typical{map[callKind]*usual{}} }

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
		u.waited.add(max(float64(c.Exit-posted), 0))
	} else {
		u.free.add(float64(c.Exit - c.Began))
	}
}

// times are the mean times of calls like one. Where none of them waited, or all did, the parameters of the
// network tell.
func (t *typical) times(c *match.Call, carries, calls float64) (free, waited float64) {
	u := t.kinds[kindOf(c)]
	if u == nil {
		return calls, carries + calls
	}
	var known bool
	if free, known = u.free.value(); !known {
		free = calls
	}
	if waited, known = u.waited.value(); !known {
		waited = min(carries+calls, carries+free)
	}
	return free, waited
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
	free, waited := x.typical.times(c, own, calls)
	for k := range x.scenarios {
		s := &x.scenarios[k]
		if !s.Modelled {
			continue
		}
		f, w := free, waited
		if s.Network != nil {
			handing := x.calls(s.Network, c) - calls
			f, w = max(f+handing, 0), max(w+handing+x.instead[k]-own, 0)
		}
		factor := x.callFactor(c, k)
		x.ends[k] = now[k] + f*factor
		if depends {
			x.ends[k] = max(x.ends[k], x.posting[k]+w*factor)
		}
	}
}
