package check

import (
	"sync"

	"github.com/efg-tools/efg/internal/analysis"
)

// The processes of a rank class do the same, but with other peers. What concerns one process
// alone is determined once for all of them; so are their messages, with symbols for the peers.
// For most channels that is sufficient: the receiver's class receives as many messages from
// that distance as the sender's class sends there. Only the other channels are examined one by
// one.

// self stands for the process's own rank in channels of a class.
const self = analysis.Self

// classTally is what the processes of a class have in common.
type classTally struct {
	once     sync.Once
	err      error
	ok       bool // it is as complete as a tally of a process
	symbolic *analysis.Symbolic
	*findings
	flows []*classFlow
	// by what both sides know about a channel
	out, in map[named][]*classFlow
	// plain: the channels with a name are distinct in each process
	plainOut, plainIn map[named]bool
}

// named identifies a channel by what both sides know.
type named struct{ comm, tag uint64 }

// classFlow is a channel of each process of a class.
type classFlow struct {
	channel
	*flow
}

// peer is the other side.
func (f *classFlow) peer() int {
	if f.from == self {
		return int(f.to)
	}
	return int(f.from)
}

// findings are the findings in a single process.
type findings struct {
	t        *tally
	suspects []candidateFault
	ends     []candidateFault // see builder.ends
	used     map[scopeKey]*usage
}

// maxTallies limits the number of classes whose tallies are kept, and maxSeen that of known
// classes.
const (
	maxTallies = 1 << 12
	maxSeen    = 1 << 20
)

// classOf returns the tally of a process's class, from its second process on; nil if there is
// none.
func (b *builder) classOf(p *analysis.Process) *classTally {
	key, ok := p.Class()
	if !ok || b.alone || b.run.Meta.Traced() { // times are compared per channel
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	c, seen := b.tallies[key]
	switch {
	case !seen && len(b.tallies) < maxSeen:
		b.tallies[key] = nil
	case seen && c == nil && b.classes < maxTallies:
		c = &classTally{}
		b.tallies[key] = c
		b.classes++
	}
	return c
}

// fill determines what the processes of a class have in common.
func (c *classTally) fill(p *analysis.Process) error {
	if c.symbolic = p.Symbolic(); c.symbolic == nil {
		return nil
	}
	t := newTally(c.symbolic.Process)
	t.rank = self
	if c.err = t.count(); c.err != nil || t.doubt || ranksInCollectives(c.symbolic.Process) {
		return c.err
	}
	c.findings, c.err = t.find()
	if c.err != nil {
		return c.err
	}
	c.out, c.in = map[named][]*classFlow{}, map[named][]*classFlow{}
	for k, f := range t.flows {
		x, at := &classFlow{k, f}, named{k.comm, k.tag}
		c.flows = append(c.flows, x)
		if k.from == self {
			c.out[at] = append(c.out[at], x)
		} else {
			c.in[at] = append(c.in[at], x)
		}
	}
	c.plainOut, c.plainIn = c.plain(c.out), c.plain(c.in)
	c.ok = true
	return nil
}

// ranksInCollectives reports whether the collective calls of a process that stands for a class
// differ between its members: they have roots at a distance, or other data for each member.
func ranksInCollectives(p *analysis.Process) bool {
	for i := range p.Data.Streams {
		for k := range p.Data.Streams[i].Nodes {
			n := &p.Data.Streams[i].Nodes[k]
			c := collectiveOf(rolesOf(n))
			if c == nil {
				continue
			}
			if c.pairwise(false) || c.root != 0 && (n.Mask&mask(c.root) != 0 || analysis.IsSymbol(n.Words[c.root])) {
				return true
			}
		}
	}
	return false
}

// plain finds the names whose channels are distinct in each process: there is only one, or all
// are at different distances in one communicator.
func (c *classTally) plain(flows map[named][]*classFlow) map[named]bool {
	plain := map[named]bool{}
	for at, list := range flows {
		comms, ranks := map[int]bool{}, map[int]bool{}
		for _, f := range list {
			if f.peer() < analysis.FirstSymbol {
				comms[-1], comms[-2] = true, true // not at a distance: not plain together with others
				continue
			}
			comm, _ := c.symbolic.Relative(f.peer())
			comms[comm] = true
			ranks[c.symbolic.RankFor(f.peer(), c.symbolic.Number())] = true
		}
		plain[at] = len(list) == 1 || len(comms) == 1 && len(ranks) == len(list)
	}
	return plain
}

// addClass adds a process of a class. The caller holds the lock.
func (b *builder) addClass(p *analysis.Process, c *classTally) {
	b.addFindings(p, c.findings)
	for a, n := range c.t.waiting {
		a.to = int32(p.Data.Rank)
		b.waiting[a] += n
	}
	b.members[p.Number()] = c
}

// matchClasses adds the channels of processes of classes to those of the others, except those
// on which everything sent was certainly received.
func (b *builder) matchClasses() {
	for i, c := range b.members {
		if c == nil {
			continue
		}
		rank := int32(b.run.Procs[i].Rank)
		rest := map[channel]*flow{}
		for _, f := range c.flows {
			peer := c.symbolic.RankFor(f.peer(), i)
			k := channel{rank, int32(peer), f.comm, f.tag}
			if f.from != self {
				k.from, k.to = k.to, k.from
			}
			if !b.matches(i, c, f, peer) {
				join(rest, k, f.flow)
			}
		}
		for k, f := range rest {
			b.addFlow(rank, k, f, c.t)
		}
	}
}

// join adds a channel to those of a process.
func join(all map[channel]*flow, k channel, f *flow) {
	sum := all[k]
	if sum == nil {
		all[k] = &flow{}
		*all[k] = *f
		return
	}
	if f.sendOrder > sum.sendOrder {
		sum.sender, sum.sendOrder = f.sender, f.sendOrder
	}
	if f.receiveOrder > sum.receiveOrder {
		sum.receiver, sum.receiveOrder = f.receiver, f.receiveOrder
	}
	sum.sent += f.sent
	sum.received += f.received
	sum.pending += f.pending
	sum.cancelled += f.cancelled
	sum.out.join(f.out)
	sum.in.join(f.in)
}

// matches reports whether process i of class c and its peer agree on a channel: each of them
// has it once, one sends as many messages as the other receives, and all their datatypes are
// alike.
func (b *builder) matches(i int, c *classTally, f *classFlow, peer int) bool {
	if f.from == f.to {
		return f.fits(&flow{})
	}
	q, there := b.number[peer]
	if !there || b.members[q] == nil {
		return false
	}
	o, at := b.members[q], named{f.comm, f.tag}
	others, plain := o.in[at], c.plainOut[at] && o.plainIn[at]
	if f.from != self {
		others, plain = o.out[at], c.plainIn[at] && o.plainOut[at]
	}
	if !plain {
		return false
	}
	rank := b.run.Procs[i].Rank
	for _, g := range others {
		if o.symbolic.RankFor(g.peer(), q) == rank {
			return f.fits(g.flow)
		}
	}
	return false
}

// fits reports whether one side of a channel receives what the other one sends.
func (f *flow) fits(g *flow) bool {
	out, in := f.out, f.in
	if g.sent > 0 {
		out = g.out
	}
	if g.received > 0 {
		in = g.in
	}
	return f.sent+g.sent == f.received+g.received && f.pending+g.pending+f.cancelled+g.cancelled == 0 &&
		!out.mixed && !in.mixed && !out.differs(&in)
}
