package waitfor

import (
	"math/bits"
	"slices"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/seq"
	"github.com/efg-tools/efg/signature"
)

// MPI_Init and MPI_Finalize are called once by each rank of a world. They count as collectives
// on objects of their own.
const startObject = 1 << 61

// order identifies the order in which a group of ranks calls collectives: on a communicator,
// window or file.
type order struct {
	object uint64
	first  int // of the world
}

// turn is a place in an order, from 1.
type turn struct {
	order
	k uint64
}

// objectOf is the object that the members of a collective share.
func objectOf(words []uint64, a *signature.Proc) uint64 {
	if a.Scope != signature.ScopeWorld {
		return words[signature.ObjectWord]
	}
	if a.Ends {
		return startObject | 1
	}
	return startObject
}

// collectiveProgress is what a rank has done in an order, including its call in progress.
type collectiveProgress struct {
	calls   uint64
	streams map[int]bool // streams that made the calls
	current []uint64     // the call in progress
}

// made returns what a rank has done in an order.
func (n *needs) made(r *Rank, o order) *collectiveProgress {
	c := n.counts[r]
	if c == nil {
		c = countCollectives(r)
		n.counts[r] = c
	}
	if m := c[o]; m != nil {
		return m
	}
	return &collectiveProgress{}
}

// ordered reports whether one thread made all calls: calls of several threads have no order.
func (m *collectiveProgress) ordered() bool { return len(m.streams) == 1 }

func countCollectives(r *Rank) map[order]*collectiveProgress {
	c := map[order]*collectiveProgress{}
	for i := range r.Process.Streams {
		s := &r.Process.Streams[i]
		visits := Visits(s)
		for k := range s.Nodes {
			addCollectives(c, &s.Nodes[k], visits[k], r.First, i)
		}
		if i < len(r.Threads) && r.Threads[i].InCall && !r.Threads[i].Moved {
			words := r.Threads[i].Words
			if p, a := lookUp(words); p != nil && counted(a) {
				addCalls(c, order{objectOf(words, a), r.First}, 1, i).current = words
			}
		}
	}
	return c
}

// addCalls counts calls of a stream.
func addCalls(c map[order]*collectiveProgress, o order, times uint64, stream int) *collectiveProgress {
	m := c[o]
	if m == nil {
		m = &collectiveProgress{streams: map[int]bool{}}
		c[o] = m
	}
	m.calls += times
	m.streams[stream] = true
	return m
}

// Visits returns the number of events of each node of a stream.
func Visits(s *efg.Stream) []uint64 {
	v := make([]uint64, len(s.Nodes))
	if i := s.Start(); i >= 0 {
		v[i] = 1
	}
	for i := range s.Nodes {
		for _, e := range s.Nodes[i].Edges {
			v[e.To] += e.Weight
		}
	}
	return v
}

// addCollectives counts the events of a node by their objects.
func addCollectives(c map[order]*collectiveProgress, node *efg.Node, visits uint64, first, stream int) {
	p, a := lookUp(node.Words)
	if p == nil || !counted(a) || visits == 0 {
		return
	}
	if node.Mask>>2&1 == 0 || len(node.Attrs) == 0 {
		addCalls(c, order{objectOf(node.Words, a), first}, visits, stream)
		return
	}
	// The object is the lowest word that can be demoted.
	z := seq.JoinRuns(node.Attrs[bits.OnesCount64(node.Mask&3)].Values)
	left := int(budget)
	for v, times, ok := z.Next(); ok && left > 0; v, times, ok = z.Next() {
		left--
		addCalls(c, order{v[0], first}, times, stream)
	}
}

// collective adds the need for those members that have not made the call that matches
// the rank's call number k on the object.
func (n *needs) collective(w *waiting, r *Rank, words []uint64, k uint64) {
	_, a := lookUp(words)
	at := turn{order{objectOf(words, a), r.First}, k}
	members := n.members(r, at.object)
	if members == nil {
		w.unclear = true
		return
	}
	missing := n.missing(at, n.kindOf(r, words), members)
	n.note(at, r, words, members)
	if len(missing.ranks) == 0 && !missing.unknown {
		return
	}
	w.unclear = w.unclear || missing.unknown
	root, isRoot := n.rootOf(r, words, a)
	switch a.Sync {
	case signature.SyncRoot, signature.SyncAtRoot:
		switch {
		case isRoot && a.Sync == signature.SyncAtRoot:
			w.all(missing)
		case !isRoot && slices.Contains(missing.ranks, root):
			w.any(&set{ranks: []int{root}})
		default:
			w.any(missing)
		}
	case signature.SyncLower:
		lower := &set{}
		for _, m := range missing.ranks {
			if m < r.Number {
				lower.ranks = append(lower.ranks, m)
			}
		}
		if len(lower.ranks) > 0 {
			w.all(lower)
		} else {
			w.any(missing)
		}
	case signature.SyncSome, signature.SyncNeighbours:
		w.any(missing)
	default:
		w.all(missing)
	}
}

func (w *waiting) all(s *set) { w.needs = append(w.needs, need{set: s, all: true}) }
func (w *waiting) any(s *set) { w.needs = append(w.needs, need{set: s}) }

// rootOf returns the root of a collective, as a rank in the job, and whether it is r.
func (n *needs) rootOf(r *Rank, words []uint64, a *signature.Proc) (root int, isRoot bool) {
	if a.Roles.Root == 0 {
		return -1, false
	}
	if words[a.Roles.Root] == signature.RootHere {
		return r.Number, true
	}
	p := n.process(r)
	if p == nil || signature.IsConst(words[a.Roles.Root]) {
		return -1, false
	}
	own, other := p.Members(words[signature.ObjectWord])
	if other != nil {
		own = other
	}
	if own == nil || words[a.Roles.Root] >= uint64(own.Size()) {
		return -1, false
	}
	root = own.At(int(words[a.Roles.Root]))
	return root, root == r.Number
}

// members are all ranks that call collectives on an object; nil if they are unknown.
func (n *needs) members(r *Rank, object uint64) *set {
	if object&^1 == startObject {
		return n.world(r)
	}
	p := n.process(r)
	if p == nil {
		return nil
	}
	own, other := p.Members(object)
	if own == nil {
		own, other = p.Members(fileComm(r.Process, object))
	}
	if own == nil {
		return nil
	}
	key := group{own.Key(), r.First}
	if other != nil {
		if other.Key() < own.Key() { // the same for both groups
			own, other = other, own
		}
		key.members = own.Key() ^ bits.RotateLeft64(other.Key(), 1)
	}
	s := n.all[key]
	if s == nil {
		s = membersOf(own, other)
		n.all[key] = s
	}
	return s
}

// world is all ranks of a rank's MPI_COMM_WORLD.
func (n *needs) world(r *Rank) *set {
	key := group{startObject, r.First}
	s := n.all[key]
	if s == nil {
		s = &set{}
		for i := range min(r.Process.Size, maxListed) {
			s.ranks = append(s.ranks, r.First+i)
		}
		n.all[key] = s
	}
	return s
}

// matching identifies the calls of some members that match each other.
type matching struct {
	turn
	kind    kind
	members *set
}

// missing are the members that have not made a call of a kind in a turn.
func (n *needs) missing(at turn, of kind, members *set) *set {
	key := matching{at, of, members}
	s := n.groups[key]
	if s != nil {
		return s
	}
	s = &set{unknown: members.unknown}
	for _, m := range members.ranks {
		if r := n.byRank[m]; r == nil || n.made(r, at.order).calls < at.k || !n.agrees(r, at, of) {
			s.ranks = append(s.ranks, m)
		}
	}
	n.groups[key] = s
	return s
}
