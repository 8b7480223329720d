package check

import (
	"maps"
	"slices"
	"sync"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/internal/analysis"
	"github.com/efg-tools/efg/signature"
)

// Messages of one channel do not overtake each other: the first one sent is received by the
// first receive posted. Where their datatypes vary, the two sequences must be equal.

// typeOrder compares the sequences of datatypes of channels.
type typeOrder struct {
	b       *builder
	mu      sync.Mutex
	out, in map[channel]sequence // of the compared ones
}

// varied lists the channels on which datatypes are known and vary, and everything sent was
// received.
func (b *builder) varied() []channel {
	var list []channel
	for c, f := range b.flows {
		if b.allReceived(c, f) && (f.out.varies() || f.in.varies()) {
			list = append(list, c)
		}
	}
	return list
}

// allReceived reports whether everything sent on a channel was received.
func (b *builder) allReceived(c channel, f *flow) bool {
	_, from := b.number[int(c.from)]
	_, to := b.number[int(c.to)]
	quiet := f.pending == 0 && f.cancelled == 0 && b.waiting[wildcardSite{c.to, c.comm}] == 0
	return from && to && quiet && f.sent == f.received && !b.short[int(c.from)] && !b.short[int(c.to)]
}

// typeOrders compares the order of datatypes on channels where they vary.
func (b *builder) typeOrders() error {
	x := &typeOrder{b: b, out: map[channel]sequence{}, in: map[channel]sequence{}}
	procs := map[int]bool{}
	for _, c := range b.varied() {
		if f := b.flows[c]; !f.out.open && !f.in.open {
			x.out[c], x.in[c] = sequence{}, sequence{}
			procs[b.number[int(c.from)]], procs[b.number[int(c.to)]] = true, true
		}
	}
	if len(procs) == 0 {
		return nil
	}
	wanted := slices.Collect(maps.Keys(x.out))
	if err := analysis.EachUntimed(b.run, slices.Sorted(maps.Keys(procs)), x.process); err != nil {
		return err
	}
	for _, c := range wanted {
		out, sent := x.out[c]
		in, received := x.in[c]
		if !sent || !received || out.length != in.length || out.hash == in.hash {
			continue
		}
		if err := b.otherOrder(c); err != nil {
			return err
		}
	}
	return nil
}

// process adds the sequences of a process. If its graph does not determine the order of its
// messages, its channels are not compared.
func (x *typeOrder) process(p *analysis.Process) error {
	m := messagesOf(p)
	own := [2]map[channel]sequence{{}, {}}
	if m != nil {
		err := m.fold.Each(func(steps []efg.Step) error {
			m.add(steps, own)
			return nil
		})
		if err != nil {
			return err
		}
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	for side, sums := range []map[channel]sequence{x.out, x.in} {
		for c := range sums {
			if me := []int32{c.from, c.to}[side]; int(me) != p.Data.Rank {
				continue
			}
			if s, ok := own[side][c]; ok && m != nil {
				sums[c] = s
			} else {
				delete(sums, c)
			}
		}
	}
	return nil
}

// messages iterates over the messages of a process in order.
type messages struct {
	t      *tally
	stream int // number of the stream
	fold   *efg.FoldedWalk
	roles  []*roles
	known  map[[2]int][]transfer
}

// transfer is a message of a call, out or in.
type transfer struct {
	side     int // 0 out, 1 in
	channel  channel
	unit     *typeSignature
	elements uint64 // basic datatypes, if it is sent
}

// messagesOf returns nil if the order does not follow from the graph: with several threads that
// send or receive, persistent requests, receives of matched messages, wildcards whose message
// another call returns, and calls that failed.
func messagesOf(p *analysis.Process) *messages {
	var found *messages
	for i := range p.Data.Streams {
		s := &p.Data.Streams[i]
		m := &messages{t: newTally(p), stream: i, roles: make([]*roles, len(s.Nodes)), known: map[[2]int][]transfer{}}
		masks := make([]uint64, len(s.Nodes))
		compared := false
		for k := range s.Nodes {
			n := &s.Nodes[k]
			proc := procOf(n)
			if proc == nil || n.Counted > 0 {
				continue
			}
			r := &allRoles()[proc.ID]
			if !r.sends && !r.receives && !r.starts {
				continue
			}
			if failed(n) || r.starts || proc.Persistent || r.message != 0 || r.receives && r.posts && mayBeWild(n, r) {
				return nil
			}
			m.roles[k], compared = r, true
			masks[k] = mask(signature.ObjectWord, r.dest, r.sendTag, r.sendType, r.sendCount, r.source, r.recvTag, r.recvType, r.statusSource, r.statusTag)
		}
		switch {
		case compared && found != nil:
			return nil
		case compared:
			m.fold = efg.NewFoldedWalk(s, p.Data.Defs, masks)
			found = m
		}
	}
	return found
}

func mayBeWild(n *efg.Node, r *roles) bool {
	return n.Mask&mask(r.source, r.recvTag) != 0 || hasWildcard(r, n.Words[r.source], n.Words[r.recvTag])
}

// of returns the messages of a step.
func (m *messages) of(s *efg.Step) []transfer {
	r := m.roles[s.Node]
	if r == nil {
		return nil
	}
	key := [2]int{s.Node, s.Value}
	list, ok := m.known[key]
	if !ok {
		list = m.transfers(r, m.fold.Words(s))
		m.known[key] = list
	}
	return list
}

func (m *messages) transfers(r *roles, w []uint64) (list []transfer) {
	t := m.t
	if r.sends {
		if to := t.p.PeerOf(w[signature.ObjectWord], w[r.dest]); to != analysis.NoRank {
			unit := t.types.of(w[r.sendType])
			list = append(list, transfer{0, channel{t.rank, int32(to), t.name(w[signature.ObjectWord]), w[r.sendTag]}, unit, unit.elements(w[r.sendCount])})
		}
	}
	if !r.receives || procNull(r, w[r.source], 0) {
		return list
	}
	source, tag := w[r.source], w[r.recvTag]
	if hasWildcard(r, source, tag) {
		source, tag = w[r.statusSource], w[r.statusTag]
	}
	if from := t.p.PeerOf(w[signature.ObjectWord], source); from != analysis.NoRank {
		list = append(list, transfer{1, channel{int32(from), t.rank, t.name(w[signature.ObjectWord]), tag}, t.types.of(w[r.recvType]), 0})
	}
	return list
}

// add adds steps to the sequences of channels, of messages sent and received.
func (m *messages) add(steps []efg.Step, to [2]map[channel]sequence) {
	for i := range steps {
		s := &steps[i]
		if s.Times == 0 {
			for _, x := range m.of(s) {
				to[x.side][x.channel] = to[x.side][x.channel].then(single(signature.Hash(x.unit.key)))
			}
			continue
		}
		body := [2]map[channel]sequence{{}, {}}
		m.add(s.Body, body)
		for side := range body {
			for c, b := range body[side] {
				to[side][c] = to[side][c].then(b.times(s.Times))
			}
		}
	}
}

// maxOrdered limits the search of a channel for the first message that differs.
const maxOrdered = 1 << 22

// otherOrder adds a suspect for the first message that is received with other datatypes, if
// there is one: a message may match only the beginning of its receive.
func (b *builder) otherOrder(c channel) error {
	var list [2][]transfer
	for side, rank := range []int32{c.from, c.to} {
		i := b.number[int(rank)]
		data, err := b.run.Process(i)
		if err != nil {
			return err
		}
		p, err := analysis.NewProcess(data, b.first[i])
		if err != nil {
			return err
		}
		m := messagesOf(p)
		if err := m.fold.Each(func(steps []efg.Step) error {
			m.each(steps, func(x transfer) bool {
				if x.side == side && x.channel == c {
					list[side] = append(list[side], x)
				}
				return len(list[side]) < maxOrdered
			})
			return nil
		}); err != nil {
			return err
		}
	}
	n, most := 0, min(len(list[0]), len(list[1]))
	for n < most && list[0][n].unit.agrees(list[1][n].unit, list[0][n].elements) {
		n++
	}
	if n == most {
		return nil
	}
	at := b.callers[c]
	b.group(candidateFault{kind: OtherTypes, at: at.at, op: at.op, site: at.site, channel: c, count: 1, before: uint64(n), rank: int(c.from)})
	return nil
}

// each calls f for the messages of steps in order, until f returns false.
func (m *messages) each(steps []efg.Step, f func(transfer) bool) bool {
	for i := range steps {
		s := &steps[i]
		if s.Times == 0 {
			for _, x := range m.of(s) {
				if !f(x) {
					return false
				}
			}
		}
		for range s.Times {
			if !m.each(s.Body, f) {
				return false
			}
		}
	}
	return true
}
