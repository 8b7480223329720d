package live

import (
	"math/bits"
	"slices"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/signature"
)

// MPI_Init and MPI_Finalize are made once by each rank of a world. They are counted
// as collectives on objects of their own.
const startObject = 1 << 61

// objectOf is what the members of a collective have in common.
func objectOf(words []uint64, a *procWords) uint64 {
	if a.shape != start {
		return words[2]
	}
	proc := signature.ProcByID(signature.Header(words[0]).Proc())
	if proc.Name == "MPI_Finalize" {
		return startObject | 1
	}
	return startObject
}

// count is how many collective calls a rank has begun on an object, the ones in
// progress included.
func (n *needs) count(r *Rank, object uint64) uint64 {
	c := n.counts[r]
	if c == nil {
		c = countCollectives(r)
		n.counts[r] = c
	}
	return c[collective{object, r.First}]
}

func countCollectives(r *Rank) map[collective]uint64 {
	c := map[collective]uint64{}
	for i := range r.Process.Streams {
		s := &r.Process.Streams[i]
		visits := visitsOf(s)
		for k := range s.Nodes {
			addCollectives(c, &s.Nodes[k], visits[k], r.First)
		}
		if i < len(r.Activities) && r.Activities[i].InCall && !r.Moved[i] {
			words := r.Activities[i].Words
			if p, a := lookUp(words); p != nil && a.shape != notCollective {
				c[collective{objectOf(words, a), r.First}]++
			}
		}
	}
	return c
}

// visitsOf is how many events each node of a stream has.
func visitsOf(s *efg.Stream) []uint64 {
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
func addCollectives(c map[collective]uint64, node *efg.Node, visits uint64, first int) {
	p, a := lookUp(node.Words)
	if p == nil || a.shape == notCollective {
		return
	}
	if node.Mask>>2&1 == 0 || len(node.Attrs) == 0 {
		c[collective{objectOf(node.Words, a), first}] += visits
		return
	}
	// The object is the lowest word that can be demoted.
	z := efg.NewZip(node.Attrs[bits.OnesCount64(node.Mask&3)].Values)
	left := int(budget)
	for v, times, ok := z.Next(); ok && left > 0; v, times, ok = z.Next() {
		left--
		c[collective{v[0], first}] += times
	}
}

// collective adds the need for those members that have not begun call number k on
// the object yet.
func (n *needs) collective(w *waiting, r *Rank, words []uint64, k uint64) {
	_, a := lookUp(words)
	object := objectOf(words, a)
	members := n.members(r, object)
	if members == nil {
		w.unclear = true
		return
	}
	missing := n.missing(collective{object, r.First}, k, members)
	if len(missing.ranks) == 0 && !missing.unknown {
		return
	}
	w.unclear = w.unclear || missing.unknown
	root, isRoot := n.rootOf(r, words, a)
	switch a.shape {
	case oneToAll, allToOne:
		switch {
		case isRoot && a.shape == allToOne:
			w.all(missing)
		case !isRoot && slices.Contains(missing.ranks, root):
			w.any(&set{ranks: []int{root}})
		default:
			w.any(missing)
		}
	case prefix:
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
	case partial:
		w.any(missing)
	default:
		w.all(missing)
	}
}

func (w *waiting) all(s *set) { w.needs = append(w.needs, need{set: s, all: true}) }
func (w *waiting) any(s *set) { w.needs = append(w.needs, need{set: s}) }

// rootOf returns the root of a collective, as a rank in the job, and whether it is r.
func (n *needs) rootOf(r *Rank, words []uint64, a *procWords) (root int, isRoot bool) {
	if a.root == 0 {
		return -1, false
	}
	if words[a.root] == wordRoot {
		return r.Number, true
	}
	p := n.process(r)
	if p == nil || isConst(words[a.root]) {
		return -1, false
	}
	own, other := p.Members(words[2])
	if other != nil {
		own = other
	}
	if own == nil || words[a.root] >= uint64(own.Size()) {
		return -1, false
	}
	root = own.At(int(words[a.root]))
	return root, root == r.Number
}

// members are all ranks that make collectives on an object; nil if they are not known.
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
		own, other = p.Members(fileComm(&r.Process, object))
	}
	if own == nil {
		return nil
	}
	key := group{own.Key(), r.First}
	if other != nil {
		key.members ^= bits.RotateLeft64(other.Key(), 1)
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
	s := &set{}
	for i := range min(r.Process.Size, maxListed) {
		s.ranks = append(s.ranks, r.First+i)
	}
	return s
}

// missing are the members that have begun fewer than k collectives on an object.
func (n *needs) missing(c collective, k uint64, members *set) *set {
	s := n.groups[c][k]
	if s != nil {
		return s
	}
	s = &set{unknown: members.unknown}
	for _, m := range members.ranks {
		if r := n.byRank[m]; r == nil || n.count(r, c.object) < k {
			s.ranks = append(s.ranks, m)
		}
	}
	if n.groups[c] == nil {
		n.groups[c] = map[uint64]*set{}
	}
	n.groups[c][k] = s
	return s
}
