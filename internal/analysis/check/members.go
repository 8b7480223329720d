package check

import "github.com/efg-tools/efg/internal/analysis"

// memberList holds the members of a communicator; for an intercommunicator both groups, in the
// same order on both sides. They are nil if unknown, or if there is no remote group.
type memberList [2]*analysis.Members

// memberListOf returns the members of a communicator or window of a process.
func memberListOf(p *analysis.Process, word uint64) memberList {
	own, other := p.Members(word)
	r := memberList{own, other}
	if r.swapped() {
		r[0], r[1] = r[1], r[0]
	}
	return r
}

// swapped reports whether the second group comes first.
func (r *memberList) swapped() bool { return r[1] != nil && r[1].At(0) < r[0].At(0) }

// inter reports whether there are two groups.
func (r *memberList) inter() bool { return r[1] != nil }

// size is the number of members.
func (r *memberList) size() int {
	n := 0
	for _, m := range r {
		if m != nil {
			n += m.Size()
		}
	}
	return n
}

// at returns member i as a rank of the run.
func (r *memberList) at(i int) int {
	if n := r[0].Size(); i >= n {
		return r[1].At(i - n)
	}
	return r[0].At(i)
}

// index is the position of a rank of the run, -1 if it is not a member.
func (r *memberList) index(rank int) int {
	if r[0] == nil {
		return -1
	}
	i := r[0].Index(rank)
	if i < 0 && r[1] != nil {
		if i = r[1].Index(rank); i >= 0 {
			i += r[0].Size()
		}
	}
	return i
}
