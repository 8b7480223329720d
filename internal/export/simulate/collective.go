package simulate

import (
	"fmt"
	"slices"

	"github.com/efg-tools/efg/internal/analysis"
	"github.com/efg-tools/efg/reconstruct"
	"github.com/efg-tools/efg/signature"
)

// collective is a process's part in a collective call.
type collective struct {
	plan *plan
	// rounds are the messages: those of a round are under way at once, when those of the round before
	// are transferred.
	rounds [][]message
	// whole: the members are the ranks of the run, in their order. bytes is then the size of what each
	// member contributes, and root the root.
	whole bool
	bytes uint64
	root  int
	// action stands for the rounds, "" if the writer has none.
	action string
}

// join writes a collective call.
func (p *process) join(t *thread, e *reconstruct.Event, x *plan) {
	on := p.comm(e.Word(signature.ObjectWord))
	c, bad := &collective{plan: x}, ofUnknownMembers
	if on.known {
		c, bad = p.collective(on, e, x)
		on.joined++
	}
	if bad != "" {
		p.missing[x.name+bad]++
		c.rounds = nil
	}
	w, issued := made(e, x.roles.Request)
	switch {
	case x.proc.Variant == signature.Persistent && issued:
		p.requests[w] = &request{kept: true, prepares: c}
	case x.proc.Variant == signature.Nonblocking && issued:
		r := &request{}
		p.requests[w] = r
		p.run(t, c, r)
	case x.proc.Variant == signature.Plain:
		p.run(t, c, nil)
	}
}

// run writes a collective call that begins.
func (p *process) run(t *thread, c *collective, r *request) {
	if len(c.rounds) == 0 {
		return
	}
	for _, round := range c.rounds {
		for i := range round {
			p.balance(&round[i])
		}
	}
	p.out.join(t, c, r)
}

// call is a collective call from which messages are made.
type call struct {
	p    *process
	on   *comm
	e    *reconstruct.Event
	x    *plan
	tag  int64
	me   int    // position among own members
	bad  string // why it cannot be simulated, "" if it can
	list *collective
}

// Why calls cannot be simulated, as it follows their names.
const (
	ofUnknownMembers = " of unknown members"
	ofUnknownSize    = " of unknown size"
	ofUnknownTo      = " of unknown neighbours"
	ofAnotherWorld   = " with another world"
)

// collective returns what a process does in a collective call, and why that is unknown, if it is.
func (p *process) collective(on *comm, e *reconstruct.Event, x *plan) (did *collective, bad string) {
	c := &call{
		p: p, on: on, e: e, x: x, me: on.own.Index(p.rank), list: &collective{plan: x, whole: p.whole(on)},
		tag: firstJoinedTag + (on.number*joinedTags+int64(on.joined%joinedTags))%mostJoinedTags,
	}
	switch {
	case on.other != nil:
		c.between()
	case x.proc.Shape == signature.Neighbours:
		c.neighbours()
	case on.own.Size() > 1:
		c.within()
		c.name()
	}
	return c.list, c.bad
}

// name finds the action of a blocking call of all ranks.
func (c *call) name() {
	if c.p.action == nil || !c.list.whole || c.x.proc.Variant != signature.Plain || c.bad != "" {
		return
	}
	action, known := c.p.action(c)
	if !known {
		c.bad = ofUnknownSize
	}
	if c.list.action = action; action != "" {
		c.p.named[c.p.rank]++
	}
}

// tooLarge says of messages that they are larger than what the format has numbers for.
func (x *exporter) tooLarge() string {
	return fmt.Sprintf(" of %d GiB or more", (x.mostBytes+1<<30-1)>>30)
}

// whole reports whether the members of a communicator are the ranks of the run, in their order.
func (p *process) whole(c *comm) bool { return c.other == nil && c.own.AreFirst(p.ranks) }

// size is the size of the first payload that is significant.
func (c *call) size(of ...*signature.Payload) uint64 {
	for _, d := range of {
		if c.x.proc.Vector(d.Count) || !c.significant(d) {
			continue
		}
		if n, ok := c.p.facts.PayloadBytes(c.e, d); ok {
			return n
		}
	}
	c.bad = ofUnknownSize
	return 0
}

// significant reports whether a payload is there, and not that of MPI_IN_PLACE.
func (c *call) significant(d *signature.Payload) bool {
	return d.Type != 0 && c.e.Word(d.Type) != signature.Absent
}

// block is the size of block i of the first payload that is significant.
func (c *call) block(i int, of ...*signature.Payload) uint64 {
	for _, d := range of {
		switch {
		case !c.significant(d):
			continue
		case !c.x.proc.Vector(d.Count):
			if n, ok := c.p.facts.PayloadBytes(c.e, d); ok {
				return n
			}
			continue
		}
		counts, _ := c.e.Vec(d.Count)
		typ := c.e.Word(d.Type)
		if c.x.proc.Vector(d.Type) {
			types, _ := c.e.Vec(d.Type)
			if i >= len(types) {
				continue
			}
			typ = types[i]
		}
		if i >= len(counts) {
			continue
		}
		if size, ok := c.p.facts.TypeBytes(typ); ok || counts[i] == 0 {
			return analysis.Product(counts[i], size)
		}
	}
	c.bad = ofUnknownSize
	return 0
}

// round adds a round of messages, if there are any.
func (c *call) round(list ...message) {
	if list = slices.DeleteFunc(list, func(m message) bool { return m.peer < 0 }); len(list) > 0 {
		c.list.rounds = append(c.list.rounds, list)
	}
}

// to and from are messages to and from a rank of the run.
func (c *call) to(peer int, bytes uint64) message   { return c.message(true, peer, bytes) }
func (c *call) from(peer int, bytes uint64) message { return c.message(false, peer, bytes) }

func (c *call) message(sends bool, peer int, bytes uint64) message {
	switch {
	case peer < 0 || peer >= c.p.ranks:
		c.bad = ofAnotherWorld
	case bytes > c.p.mostBytes:
		c.bad = c.p.tooLarge()
	}
	return message{sends, peer, c.tag, bytes}
}

// rooted is the position of the root among the members.
func (c *call) rooted() int {
	w := c.e.Word(c.x.roles.Root)
	if signature.IsConst(w) || w >= uint64(c.on.own.Size()) {
		c.bad = ofUnknownMembers
		return 0
	}
	c.list.root = int(w)
	return int(w)
}

// within is a call on one group.
func (c *call) within() {
	r, n := c.x.roles, c.on.own.Size()
	all := members{c.on.own.At, n, c.me}
	own := func(bytes uint64) uint64 {
		c.list.bytes = bytes
		return bytes
	}
	switch c.x.proc.Shape {
	case signature.NoData:
		c.disseminate(all, barrierBytes)
	case signature.OneToAll:
		if root := c.rooted(); r.Send.Blocks {
			c.scatter(root)
		} else {
			c.broadcast(all, root, own(c.size(&r.Send, &r.Recv)))
		}
	case signature.AllToOne:
		if root := c.rooted(); r.Recv.Blocks {
			c.gather(root)
		} else {
			c.reduce(all, root, own(c.size(&r.Send, &r.Recv)))
		}
	case signature.Prefix:
		c.scan(all, c.size(&r.Recv, &r.Send))
	case signature.AllToAll:
		switch {
		case c.x.proc.Reduces() && r.Send.Blocks:
			mine := c.block(c.me, &r.Recv, &r.Send)
			c.exchange(func(i int) uint64 { return c.block(i, &r.Recv, &r.Send) }, func(int) uint64 { return mine })
		case c.x.proc.Reduces():
			c.disseminate(all, own(c.size(&r.Recv, &r.Send)))
		case r.Send.Blocks:
			own(c.block(c.me, &r.Recv))
			c.exchange(func(i int) uint64 { return c.block(i, &r.Send, &r.Recv) }, func(i int) uint64 { return c.block(i, &r.Recv) })
		default:
			own(c.block(c.me, &r.Recv))
			c.collect(all, func(i int) uint64 { return c.block(i, &r.Recv) })
		}
	}
}

// neighbours is a neighbourhood collective.
func (c *call) neighbours() {
	r := c.x.roles
	in, out, ok := c.p.facts.Neighbours(c.e.Word(signature.ObjectWord))
	if !ok {
		c.bad = ofUnknownTo
		return
	}
	var list []message
	for i, rank := range out {
		if rank != analysis.NoRank {
			list = append(list, c.to(c.on.own.At(rank), c.block(i, &r.Send)))
		}
	}
	for i, rank := range in {
		if rank != analysis.NoRank {
			list = append(list, c.from(c.on.own.At(rank), c.block(i, &r.Recv)))
		}
	}
	c.round(list...)
}

// between is a call on two groups.
func (c *call) between() {
	r, own, other := c.x.roles, c.on.own, c.on.other
	switch c.x.proc.Shape {
	case signature.NoData:
		c.disseminate(c.union(), barrierBytes)
	case signature.OneToAll, signature.AllToOne:
		c.rootedBetween()
	case signature.AllToAll:
		switch {
		case c.x.proc.Reduces() && r.Send.Blocks && !c.x.proc.Vector(r.Recv.Count):
			c.disseminate(c.union(), c.size(&r.Recv, &r.Send)*uint64(own.Size()))
		case c.x.proc.Reduces() && r.Send.Blocks:
			total := uint64(0)
			for i := range own.Size() {
				total += c.block(i, &r.Recv)
			}
			c.disseminate(c.union(), total)
		case c.x.proc.Reduces():
			c.disseminate(c.union(), c.size(&r.Recv, &r.Send))
		default:
			var list []message
			for i := range other.Size() {
				list = append(list, c.to(other.At(i), c.block(i, &r.Send)), c.from(other.At(i), c.block(i, &r.Recv)))
			}
			c.round(list...)
		}
	default:
		c.bad = ofUnknownMembers
	}
}

// rootedBetween is a call of which the root is in one group, the others are in the other.
func (c *call) rootedBetween() {
	r, own, other := c.x.roles, c.on.own, c.on.other
	root := c.e.Word(r.Root)
	here := root == signature.RootHere
	if root == signature.ProcNull {
		return
	}
	if !here && (signature.IsConst(root) || root >= uint64(other.Size())) {
		c.bad = ofUnknownMembers
		return
	}
	toAll := c.x.proc.Shape == signature.OneToAll
	// The root is member 0, those of the other group follow.
	leaves, first, me := own, c.p.rank, 0
	if here {
		leaves = other
	} else {
		first, me = other.At(int(root)), c.me+1
	}
	all := members{func(i int) int {
		if i == 0 {
			return first
		}
		return leaves.At(i - 1)
	}, leaves.Size() + 1, me}
	switch {
	case toAll && !r.Send.Blocks:
		c.broadcast(all, 0, c.size(&r.Send, &r.Recv))
	case !toAll && !r.Recv.Blocks:
		c.reduce(all, 0, c.size(&r.Send, &r.Recv))
	case !here && toAll:
		c.round(c.from(first, c.size(&r.Recv)))
	case !here:
		c.round(c.to(first, c.size(&r.Send)))
	default:
		var list []message
		for i := range other.Size() {
			if toAll {
				list = append(list, c.to(other.At(i), c.block(i, &r.Send)))
			} else {
				list = append(list, c.from(other.At(i), c.block(i, &r.Recv)))
			}
		}
		c.round(list...)
	}
}

// union are the members of both groups, in an order on which they agree.
func (c *call) union() members {
	a, b, me := c.on.own, c.on.other, c.me
	if b.At(0) < a.At(0) {
		a, b, me = b, a, me+b.Size()
	}
	return members{func(i int) int {
		if i < a.Size() {
			return a.At(i)
		}
		return b.At(i - a.Size())
	}, a.Size() + b.Size(), me}
}
