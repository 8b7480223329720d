package waitfor

import (
	"slices"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/internal/analysis"
	"github.com/efg-tools/efg/signature"
)

// set is a set of ranks. Calls that need the same set share it.
type set struct {
	ranks []int
	// unknown: it has members outside the job, or not all members are known.
	unknown bool
}

// need is something that a call waits for: any rank of a set, or all.
type need struct {
	*set
	all     bool
	message *message // that is to be sent or received; nil for a collective
	// of are the needs of which any is sufficient, if this is one of several.
	of []need
}

// waiting is what a thread's call in progress needs. All of its needs must be met; without any,
// it can continue.
type waiting struct {
	needs []need
	// unclear: it also needs something that is unknown.
	unclear bool
}

// needs computes what calls need.
type needs struct {
	byRank    map[int]*Rank
	facts     map[*Rank]*analysis.Process
	counts    map[*Rank]map[order]*collectiveProgress
	messages  map[*Rank]*traffic
	histories map[*Rank]*history
	groups    map[matching]*set               // missing members
	all       map[group]*set                  // members, by group
	waited    map[matching]map[*Rank][]uint64 // calls that some rank waits in, by turn
	past      map[rankTurn][]uint64           // calls that have returned
	objects   map[*efg.Stream][]uint64        // of the collectives of nodes
	// steps is how many events may still be iterated to find calls that have returned.
	steps int
}

// stepLimit bounds needs.steps: about two seconds.
const stepLimit = 2e7

// group identifies a group of ranks.
type group struct {
	members uint64 // analysis.Members.Key
	first   int
}

func newNeeds(ranks []*Rank) *needs {
	n := &needs{
		byRank: map[int]*Rank{}, facts: map[*Rank]*analysis.Process{}, counts: map[*Rank]map[order]*collectiveProgress{},
		messages: map[*Rank]*traffic{}, histories: map[*Rank]*history{}, groups: map[matching]*set{}, all: map[group]*set{},
		waited: map[matching]map[*Rank][]uint64{}, past: map[rankTurn][]uint64{}, objects: map[*efg.Stream][]uint64{}, steps: stepLimit,
	}
	for _, r := range ranks {
		if r.Number >= 0 {
			n.byRank[r.Number] = r
		}
		if slices.ContainsFunc(r.Threads, func(t Thread) bool { return t.Moved }) {
			n.steps = 0 // the job continues: nobody wants to wait for an answer
		}
	}
	return n
}

// of returns what a thread needs to continue. A thread that moves needs nothing.
func (n *needs) of(r *Rank, thread int) waiting {
	var w waiting
	t := &r.Threads[thread]
	words := t.Words
	if !t.InCall || t.Moved {
		return w
	}
	if r.dropped() {
		w.unclear = true
		return w
	}
	p, a := lookUp(words)
	switch {
	case p == nil || !waits(a):
		w.unclear = p == nil
	case counted(a):
		n.collective(&w, r, words, n.made(r, order{objectOf(words, a), r.First}).calls)
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
		p, _ = analysis.NewProcess(r.Process, r.First)
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
	if m.peer == signature.AnySource {
		w.needs = append(w.needs, need{set: n.anyMember(r, own), message: &m})
		return
	}
	peer := analysis.NoRank
	if !signature.IsConst(m.peer) && m.peer < uint64(own.Size()) {
		peer = own.At(int(m.peer))
	}
	if peer == analysis.NoRank {
		w.unclear = true
		return
	}
	w.needs = append(w.needs, need{set: &set{ranks: []int{peer}}, message: &m})
}

// anyMember is the set of all members. It includes the rank itself, which does not release
// itself while it waits.
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

// requests adds the needs of the requests that a call waits for.
func (n *needs) requests(w *waiting, r *Rank, thread int, words []uint64) {
	p, _ := lookUp(words)
	list, ok := requestsOf(r, thread, words)
	if !ok {
		w.unclear = true
		return
	}
	var all waiting
	for _, request := range list {
		if !signature.IsID(request) {
			continue
		}
		words, ok := issue(r.Process, request)
		if !ok {
			all.unclear = true
			continue
		}
		_, a := lookUp(words)
		switch {
		case a.Persistent && a.Collective() || a.Issues != "coll" && a.Roles.Dest == 0 && a.Roles.Source == 0:
			all.unclear = true
		case a.Issues == "coll" || counted(a):
			n.issued(&all, r, request, words)
		default:
			for _, m := range messagesOf(words, false) {
				n.message(&all, r, m)
			}
		}
	}
	if p.Completes == signature.CompletesAny || p.Completes == signature.CompletesSome {
		all = anyOf(all)
	}
	*w = all
}

// issued adds the need of a collective that was issued by a call with these words.
func (n *needs) issued(w *waiting, r *Rank, request uint64, words []uint64) {
	_, a := lookUp(words)
	h := n.history(r)
	if h == nil || !n.made(r, order{objectOf(words, a), r.First}).ordered() {
		w.unclear = true
		return
	}
	at, ok := h.turns[request]
	if !ok {
		w.unclear = true
		return
	}
	n.collective(w, r, words, at.k)
}

// anyOf combines needs into one of which any is sufficient.
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
	for i := range p.Defs {
		if d := &p.Defs[i]; d.Kind == efg.DefFile && d.Word == signature.Family(word) && len(d.Words) > 0 {
			return d.Words[0]
		}
	}
	return word
}
