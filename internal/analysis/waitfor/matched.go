package waitfor

import (
	"errors"

	"github.com/efg-tools/efg/internal/analysis"
	"github.com/efg-tools/efg/signature"
)

// traffic counts a rank's messages: those that it sent, and those that it has posted
// receives for.
type traffic struct {
	sent, taken map[channel]uint64
	wild        map[channel]uint64 // receives whose sender is unknown: peer is NoRank
}

type channel struct {
	peer int // in the job
	comm uint64
	tag  uint64 // signature.AnyTag if unknown
}

// matched reports whether the other side of a message has already been called, according to the
// graphs of both ranks: then the message is in transit, or being received, and no rank needs to
// do anything for it.
func (n *needs) matched(r *Rank, x *need) bool {
	for i := range x.of {
		if n.matched(r, &x.of[i]) {
			return true
		}
	}
	m := x.message
	if m == nil {
		return false
	}
	own := n.trafficOf(r)
	if own == nil {
		return true // nothing is known, so nothing is claimed
	}
	if m.send {
		peer := n.trafficOf(n.byRank[x.ranks[0]])
		return peer == nil || fitting(peer.taken, r.Number, m)+fitting(peer.wild, analysis.NoRank, m) >= within(own.sent, x.ranks[0], m)
	}
	taken := uint64(0)
	if !m.consumes {
		taken++
	}
	if m.peer == signature.AnySource {
		taken += within(own.wild, analysis.NoRank, m)
	}
	var sent uint64
	for _, from := range x.ranks {
		taken += within(own.taken, from, m)
		peer := n.trafficOf(n.byRank[from])
		if peer == nil {
			return true
		}
		sent += within(peer.sent, r.Number, m)
	}
	return sent >= taken
}

// within counts the messages that m would certainly match, too: one of them is missing if there
// are fewer on the other side.
func within(in map[channel]uint64, peer int, m *message) uint64 {
	if m.tag != signature.AnyTag {
		return in[channel{peer, m.comm, m.tag}]
	}
	return all(in, peer, m.comm)
}

// fitting counts the messages that could match m, including those whose tag is unknown.
func fitting(in map[channel]uint64, peer int, m *message) uint64 {
	return in[channel{peer, m.comm, m.tag}] + in[channel{peer, m.comm, signature.AnyTag}]
}

func all(in map[channel]uint64, peer int, comm uint64) (sum uint64) {
	for c, k := range in {
		if c.peer == peer && c.comm == comm {
			sum += k
		}
	}
	return sum
}

// trafficOf counts the messages of a rank, once; nil if they cannot be counted.
func (n *needs) trafficOf(r *Rank) *traffic {
	if r == nil {
		return nil
	}
	t, ok := n.messages[r]
	if !ok {
		if p := n.process(r); p != nil {
			t = newTraffic(r, p)
		}
		if t != nil && t.guesses() {
			if h := n.history(r); h != nil {
				t = h.traffic
			}
		}
		n.messages[r] = t
	}
	return t
}

// budget is the number of different calls of a rank that are examined. A broken segment can
// have any number.
const budget = 5e6

var errTooMany = errors.New("too many different calls")

func emptyTraffic() *traffic {
	return &traffic{map[channel]uint64{}, map[channel]uint64{}, map[channel]uint64{}}
}

// trafficFields are the fields of operations that traffic needs.
const trafficFields = analysis.CommField | analysis.BytesField | analysis.TagField

func newTraffic(r *Rank, p *analysis.Process) *traffic {
	t := emptyTraffic()
	left := int(budget)
	for i := range r.Process.Streams {
		for k := range r.Process.Streams[i].Nodes {
			err := p.Calls(i, k, trafficFields, func(c *analysis.Call) error {
				if left--; left < 0 {
					return errTooMany
				}
				for o := range c.Operations {
					t.operation(&c.Operations[o], c.Times)
				}
				return nil
			})
			if err != nil {
				return nil
			}
		}
	}
	t.inFlightOf(r, p)
	return t
}

// guesses reports whether senders or tags of some receives are unknown.
func (t *traffic) guesses() bool {
	for c := range t.taken {
		if c.tag == signature.AnyTag {
			return true
		}
	}
	return len(t.wild) > 0
}

// inFlightOf counts the messages of the calls that a rank is in.
func (t *traffic) inFlightOf(r *Rank, p *analysis.Process) {
	for i := range r.Threads {
		if a := &r.Threads[i]; a.InCall && !a.Moved {
			t.inFlight(p, a.Words)
		}
	}
}

func (t *traffic) operation(o *analysis.Operation, times uint64) {
	if !o.Moves {
		return
	}
	t.add(o.Kind == analysis.SendOperation, o.Kind == analysis.ReceiveOperation, channel{o.Peer, o.Comm, o.Tag}, times)
}

func (t *traffic) add(send, receive bool, c channel, times uint64) {
	if signature.IsConst(c.tag) {
		c.tag = signature.AnyTag
	}
	switch {
	case send:
		t.sent[c] += times
	case receive && c.peer == analysis.NoRank:
		t.wild[c] += times
	case receive:
		t.taken[c] += times
	}
}

// inFlight also counts the messages of the call in progress.
func (t *traffic) inFlight(p *analysis.Process, words []uint64) {
	if q, a := lookUp(words); q == nil || !waits(a) || q.Completes != "" {
		return
	}
	for _, m := range messagesOf(words, true) {
		own, other := p.Members(m.comm)
		if other != nil {
			own = other
		}
		peer := analysis.NoRank
		if own != nil && !signature.IsConst(m.peer) && m.peer < uint64(own.Size()) {
			peer = own.At(int(m.peer))
		}
		t.add(m.send, !m.send && m.consumes, channel{peer, m.comm, m.tag}, 1)
	}
}
