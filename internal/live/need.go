package live

import (
	"slices"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/internal/analysis"
)

// set is a set of ranks. Calls that need the same share it.
type set struct {
	ranks []int
	// unknown: processes outside of the job belong to it, too, or not all are known.
	unknown bool
}

// need is something that a call waits for: any rank of a set, or all.
type need struct {
	*set
	all     bool
	message *message // that is to come or to be taken; nil for a collective
	// of are the needs of which one is enough, if this is one of several.
	of []need
}

// waiting is what a thread's call in progress needs. All of its needs must be met;
// without any, it can go on.
type waiting struct {
	needs []need
	// unclear: it also needs something that is not known.
	unclear bool
}

// needs computes what calls need.
type needs struct {
	job      *Job
	byRank   map[int]*Rank
	facts    map[*Rank]*analysis.Process
	counts   map[*Rank]map[collective]uint64
	messages map[*Rank]*traffic
	groups   map[collective]map[uint64]*set // missing members, by number of the call
	all      map[group]*set                 // members, by group
}

// collective names the order in which a group of ranks makes collectives: on a
// communicator, window or file.
type collective struct {
	object uint64
	first  int // of the world
}

// group names a group of ranks.
type group struct {
	members uint64 // analysis.Members.Key
	first   int
}

func newNeeds(j *Job) *needs {
	n := &needs{
		job: j, byRank: map[int]*Rank{}, facts: map[*Rank]*analysis.Process{}, counts: map[*Rank]map[collective]uint64{},
		messages: map[*Rank]*traffic{}, groups: map[collective]map[uint64]*set{}, all: map[group]*set{},
	}
	for _, r := range j.Ranks {
		if r.Number >= 0 {
			n.byRank[r.Number] = r
		}
	}
	return n
}

// of returns what a thread needs to go on. Who moves needs nothing.
func (n *needs) of(r *Rank, thread int) waiting {
	var w waiting
	words := r.Activities[thread].Words
	if !r.Activities[thread].InCall || r.Moved[thread] {
		return w
	}
	p, a := lookUp(words)
	switch {
	case p == nil || !a.waits:
		w.unclear = p == nil
	case a.shape != notCollective:
		n.collective(&w, r, words, n.count(r, objectOf(words, a)))
	case p.Completes != "":
		n.requests(&w, r, thread, words)
	default:
		for _, m := range messagesOf(words, true) {
			n.message(&w, r, m)
		}
	}
	return w
}

// process gives the facts of a rank's graphs; nil if they are broken.
func (n *needs) process(r *Rank) *analysis.Process {
	p, ok := n.facts[r]
	if !ok {
		p, _ = analysis.NewProcess(&r.Process, r.First)
		n.facts[r] = p
	}
	return p
}

// message adds the need for the other side of a message.
func (n *needs) message(w *waiting, r *Rank, m message) {
	p := n.process(r)
	if p == nil {
		w.unclear = true
		return
	}
	own, other := p.Members(m.comm)
	if other != nil {
		own = other
	}
	if own == nil {
		w.unclear = true
		return
	}
	if m.peer == wordAnySource {
		w.needs = append(w.needs, need{set: n.anyMember(r, own), message: &m})
		return
	}
	peer := analysis.NoRank
	if !isConst(m.peer) && m.peer < uint64(own.Size()) {
		peer = own.At(int(m.peer))
	}
	if peer == analysis.NoRank {
		w.unclear = true
		return
	}
	w.needs = append(w.needs, need{set: &set{ranks: []int{peer}}, message: &m})
}

// anyMember is the set of all members: who waits itself does not help itself.
func (n *needs) anyMember(r *Rank, m *analysis.Members) *set {
	key := group{m.Key(), r.First}
	s := n.all[key]
	if s == nil {
		s = membersOf(m)
		n.all[key] = s
	}
	return s
}

func membersOf(groups ...*analysis.Members) *set {
	s := &set{}
	for _, m := range groups {
		for i := 0; m != nil && i < min(m.Size(), maxListed); i++ {
			if rank := m.At(i); rank >= 0 {
				s.ranks = append(s.ranks, rank)
			} else {
				s.unknown = true
			}
		}
	}
	return s
}

// requests adds what the requests need that a call waits for.
func (n *needs) requests(w *waiting, r *Rank, thread int, words []uint64) {
	p, _ := lookUp(words)
	list, ok := requestsOf(r, thread, words)
	if !ok {
		w.unclear = true
		return
	}
	var all waiting
	pending := map[uint64]uint64{} // collectives of an object that are waited for
	for _, request := range slices.Backward(list) {
		if request>>62 != 1 {
			continue
		}
		issue, ok := issuedBy(&r.Process, request)
		if !ok {
			all.unclear = true
			continue
		}
		q, a := lookUp(issue)
		switch {
		case q.Persistent && a.shape != notCollective || q.Issues != "coll" && a.dest == 0 && a.source == 0:
			all.unclear = true
		case q.Issues == "coll" || a.shape != notCollective:
			// The newest of the calls that are waited for is taken for the newest
			// collective of all.
			made := n.count(r, objectOf(issue, a))
			n.collective(&all, r, issue, made-min(made, pending[issue[2]]))
			pending[issue[2]]++
		default:
			for _, m := range messagesOf(issue, false) {
				n.message(&all, r, m)
			}
		}
	}
	if p.Completes == "any" || p.Completes == "some" {
		all = anyOf(all)
	}
	*w = all
}

// anyOf makes one need of many: it is enough that one is met.
func anyOf(all waiting) waiting {
	if len(all.needs) == 0 || len(all.needs) == 1 && !all.unclear {
		return all
	}
	one := need{set: &set{unknown: all.unclear}, of: all.needs}
	for _, x := range all.needs {
		one.ranks = append(one.ranks, x.ranks...)
		one.unknown = one.unknown || x.unknown
	}
	slices.Sort(one.ranks)
	one.ranks = slices.Compact(one.ranks)
	return waiting{needs: []need{one}}
}

// fileComm is the communicator that a file was opened with.
func fileComm(p *efg.Process, word uint64) uint64 {
	const sequence = 1<<24 - 1
	for i := range p.Defs {
		if d := &p.Defs[i]; d.Kind == efg.DefFile && d.Word == word&^sequence && len(d.Words) > 0 {
			return d.Words[0]
		}
	}
	return word
}
