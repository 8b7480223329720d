package analysis

import (
	"fmt"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/signature"
)

// Node holds the facts of one node: what is known from the graph about all its events together.
type Node struct {
	Number int
	Proc   *signature.Proc // nil if this version's table does not have it
	Op     string          // C name of the procedure
	Class  string          // first class in the MPI Trace Format
	Site   uint64          // word of the callsite, without its call path
	Comm   uint64          // word of the communicator, window or file; see Varies
	Error  uint16          // class, 0 for success
	Visits uint64          // events, or polls that are only counted
	Volume Volume
	Sizes  []SizeBin // of what Volume is the sum of; shared, not to be modified
	Depth  int       // number of calls that the calls were made inside of
	// Stats are the times of the events, nil if there are none. The sum of the calls' times is without
	// those of the calls inside them, which are in their minimum, maximum and histogram. The time before calls inside others is 0.
	Stats *efg.Stats
	// Inclusive is the sum of the times of the calls with those inside them, ns.
	Inclusive uint64
}

// Setup reports whether the node's calls begin or end MPI.
func (n *Node) Setup() bool { return n.Proc != nil && n.Proc.Setup() }

// Calls is the number of the node's calls of MPI: of annotations there are none.
func (n *Node) Calls() uint64 {
	if n.Annotates() {
		return 0
	}
	return n.Visits
}

// Annotates reports whether the events are not calls of MPI, but what the program says about itself.
func (n *Node) Annotates() bool { return n.Proc.Annotates() }

// Elapsed is the time of the node's calls and of what precedes them since the previous calls, ns;
// without the calls that begin and end MPI, and what precedes those that begin it.
func (n *Node) Elapsed() uint64 {
	switch {
	case n.Stats == nil || n.Proc != nil && n.Proc.Begins:
		return 0
	case n.Setup():
		return n.Stats.Gap.Sum
	}
	return n.Stats.Dur.Sum + n.Stats.Gap.Sum
}

// Nodes computes the facts of the nodes of Data.Streams[i].
func (p *Process) Nodes(i int) ([]Node, error) {
	if p.class != nil {
		return p.class.describe(p, i)
	}
	s := p.streams[i]
	list := make([]Node, len(s.Nodes))
	for k := range list {
		if err := s.describe(k, &list[k]); err != nil {
			return nil, err
		}
	}
	return list, s.addTimes(list)
}

// addTimes adds the times of the nodes' calls to their facts.
func (s *stream) addTimes(list []Node) error {
	own, err := s.ownTimes()
	for k := range list {
		n := &list[k]
		if n.Stats = s.Nodes[k].Stats; n.Stats != nil {
			n.Inclusive = n.Stats.Dur.Sum
		}
		if own != nil {
			n.Stats = own[k]
		}
	}
	return err
}

func (s *stream) describe(k int, n *Node) error {
	from := &s.Nodes[k]
	header := signature.Header(from.Words[0])
	*n = Node{
		Number: k, Proc: procOf(from), Class: signature.OtherOps,
		Site: s.process.Callsite(from.Words[1]), Comm: from.Words[signature.ObjectWord], Error: header.ErrorClass(), Visits: s.visits[k],
		Depth: header.Depth(),
	}
	if n.Proc != nil {
		n.Op, n.Class = n.Proc.Name, n.Proc.MTF[0]
	} else {
		n.Op = fmt.Sprintf("procedure %d", header.Proc())
	}
	return s.effects(k, func(c *instance) error {
		var t transfer
		c.transfer(&t)
		n.Volume.Add(&t.Volume, c.times)
		n.Sizes = countSize(n.Sizes, &t.Volume, c.times)
		return nil
	})
}

// effects calls f for everything that the events of a node move.
func (s *stream) effects(node int, f func(*instance) error) error {
	n := &s.Nodes[node]
	proc := procOf(n)
	plan := planOf(proc)
	switch {
	case plan.kind == movesNothing || n.Counted > 0 || signature.Header(n.Words[0]).ErrorClass() != 0:
		return nil
	case plan.kind == starting:
		return s.started(node, f)
	case proc.Persistent:
		return nil
	}
	return s.instances(node, plan.mask, f)
}

// FlowKind says how data moves.
type FlowKind uint8

const (
	PointToPoint FlowKind = iota
	OneSided
	Collective
)

// Flow is data that moves between two processes, or, of a collective, from one
// to many.
type Flow struct {
	Kind FlowKind
	// From and To are ranks in the run, -1 for a process of another world. The
	// process itself is one of them.
	From, To int
	// Many, if not nil, replaces To: all of these members, or only those after From if Higher
	// is set, but never From.
	Many   *Members
	Higher bool
	Bytes  uint64 // to each
	Times  uint64
}

// Members are ranks in the run, in the order of a communicator.
type Members struct {
	group *group
	first int
	key   uint64
}

// Size returns the number of members.
func (m *Members) Size() int { return m.group.size }

// At returns member i, -1 if it is a process of another world.
func (m *Members) At(i int) int { return inRun(m.first, m.group.at(i)) }

func inRun(first, world int) int {
	if world == outside {
		return outside
	}
	return first + world
}

// Flows calls f for all data that the calls of Data.Streams[i] move between
// processes. A message counts at its sender, an access at its origin, a
// collective at each process for what it contributes.
func (p *Process) Flows(i int, f func(*Flow)) error {
	s := p.streams[i]
	for k := range s.Nodes {
		err := s.effects(k, func(c *instance) error {
			if c.plan != nil && (c.plan.kind == pointToPoint || c.plan.kind == oneSided || c.plan.kind == collective) {
				c.flows(f)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

var flowKinds = map[kind]FlowKind{pointToPoint: PointToPoint, oneSided: OneSided, collective: Collective}

func (c *instance) flows(f func(*Flow)) {
	p := c.process
	me := p.Data.Rank
	t := transfer{}
	flow := Flow{Kind: flowKinds[c.plan.kind], Times: c.times}
	t.leg = func(to int, bytes uint64, get bool) {
		flow.From, flow.To, flow.Bytes = me, outside, bytes
		if t.comm != nil {
			flow.To = inRun(p.first, t.comm.peers().at(to))
		}
		if get {
			flow.From, flow.To = flow.To, flow.From
		}
		if flow.Kind == Collective && (flow.To == me || bytes == 0) {
			return
		}
		f(&flow)
	}
	t.all = func(bytes uint64, higher bool) {
		all := flow
		all.From, all.Bytes, all.Higher, all.Many = me, bytes, higher, p.members(t.comm)
		if all.Bytes > 0 {
			f(&all)
		}
	}
	c.transfer(&t)
}

func (p *Process) members(c *comm) *Members {
	g := c.peers()
	if c.many == nil {
		c.many = newMembers(g, p.first)
	}
	return c.many
}
