package efg

import "slices"

// foldHead is the head of a loop, where repeats are looked for. While the walk stays in
// the loop, it remembers how the walk stood at some visits, and later ones are compared
// with these. A mark is exchanged for a newer one after so many visits as foldAges says:
// a repeat of n visits is found by the first mark that lasts that long.
type foldHead struct {
	loop          int
	visits, found uint64 // found: the visit where a repeat was found last
	marks         [len(foldAges)]foldMark
}

var foldAges = [...]uint64{2, 16, 128, 1024, 8192, 65536}

// foldPatience is for how many visits without a repeat, in terms of a mark's age,
// the mark is kept up: where nothing repeats, marks must not cost much.
const foldPatience = 512

// foldMark is how a walk stood.
type foldMark struct {
	known bool
	next  uint64 // visit after which there will be a newer one
	at    int    // number of steps
	seq   uint64
	from  int // number of entries of the journal
	// differs is the entry whose node made the comparison fail last time, if it is one
	// behind from.
	differs int
}

// foldJournal remembers how nodes stood when marks were set: before a node changes for the
// first time after the newest mark, an entry notes how it stands. So what a mark needs
// is what has changed since, and many marks share it.
type foldJournal struct {
	entries []foldEntry
	latest  []int // entry of nodes, -1: none
	newest  int   // from of the newest mark, perhaps one that is not known any more; -1: none
	limit   int   // number of entries from which on those that no mark needs are dropped
	room    int   // in words
}

type foldEntry struct {
	node int
	last int // the node's entry before, -1: none
	nodeState
}

const (
	fewEntries = 64
	// A journal has room for foldRoom words and for the states of all nodes foldStates times.
	foldRoom   = 1 << 20
	foldStates = 6
)

func newFoldJournal(nodes []walkNode) foldJournal {
	j := foldJournal{latest: fill(len(nodes), -1), newest: -1, limit: fewEntries, room: foldRoom}
	for i := range nodes {
		n := &nodes[i]
		s := nodeState{attrs: make([]attrState, len(n.attrs))}
		if !n.single {
			s.branch = &branchState{edges: make([]edgeState, len(n.edges))}
		}
		j.room += foldStates * s.size()
	}
	return j
}

// note is called before a node changes.
func (f *FoldedWalk) note(k int) {
	j := &f.journal
	if j.latest[k] >= j.newest {
		return
	}
	if len(j.entries) >= j.limit {
		f.tidy()
		if j.latest[k] >= j.newest {
			return
		}
	}
	j.entries = append(j.entries, foldEntry{k, j.latest[k], stateOf(&f.walk.nodes[k])})
	j.latest[k] = len(j.entries) - 1
}

// since calls each for the entries that tell how the nodes stood at a mark that have
// changed since.
func (j *foldJournal) since(m *foldMark, each func(i int, e *foldEntry) bool) {
	for i := m.from; i < len(j.entries); i++ {
		if e := &j.entries[i]; e.last < m.from && !each(i, e) {
			return
		}
	}
}

// keep drops the entries that no mark needs and returns the size of the others. It
// gives the marks their new places.
func (j *foldJournal) keep(marks []*foldMark) (size int) {
	slices.SortFunc(marks, func(a, b *foldMark) int { return a.from - b.from })
	old, before := j.entries, -1 // before: from of the last mark that is passed
	j.entries, j.newest = nil, -1
	for i := range old {
		for len(marks) > 0 && marks[0].from == i {
			before = i
			j.place(marks[0])
			marks = marks[1:]
		}
		e := &old[i]
		k := e.node
		if e.last < 0 {
			j.latest[k] = -1
		}
		if e.last < before {
			j.entries = append(j.entries, foldEntry{k, j.latest[k], e.nodeState})
			j.latest[k] = len(j.entries) - 1
			size += e.size()
		}
	}
	for _, m := range marks {
		j.place(m)
	}
	return size
}

// cut drops the entries that only marks newer than the one with this from need.
func (j *foldJournal) cut(from int) {
	kept := j.entries[:from]
	for i := from; i < len(j.entries); i++ {
		if e := j.entries[i]; e.last < from {
			j.latest[e.node] = len(kept)
			kept = append(kept, e)
		}
	}
	clear(j.entries[len(kept):])
	j.entries, j.newest = kept, from
}

func (j *foldJournal) place(m *foldMark) {
	m.from, m.differs = len(j.entries), -1
	j.newest = m.from
}

// tidy drops what no mark needs. If much is left, marks of inner loops are given up.
func (f *FoldedWalk) tidy() {
	marks := f.known()
	for f.journal.keep(marks) > f.journal.room && len(f.active) > 0 {
		f.leave(len(f.active) / 2)
		marks = f.known()
	}
	f.journal.limit = 2*len(f.journal.entries) + fewEntries
}

// known lists the marks that are known.
func (f *FoldedWalk) known() []*foldMark {
	var list []*foldMark
	for _, h := range f.active {
		for i := range h.marks {
			if h.marks[i].known {
				list = append(list, &h.marks[i])
			}
		}
	}
	return list
}

// enter notes that the walk has come to a node: it may have left loops, and have come
// to the head of one.
func (f *FoldedWalk) enter(k int) {
	stay := len(f.active)
	for stay > 0 && !f.nest.contains(f.active[stay-1].loop, k) {
		stay--
	}
	if stay < len(f.active) {
		f.leave(stay)
	}
	h := f.heads[k]
	if h == nil {
		return
	}
	if stay == 0 || f.active[stay-1] != h {
		f.active = append(f.active, h)
	}
	f.pass(h)
}

// leave leaves all loops but the outermost so many.
func (f *FoldedWalk) leave(stay int) {
	for _, h := range f.active[stay:] {
		for i := range h.marks {
			h.marks[i].known = false
		}
	}
	f.active = f.active[:stay]
}

// pass looks for a repeat that begins at a visit that h remembers.
func (f *FoldedWalk) pass(h *foldHead) {
	h.visits++
	failed := f.walk.seq
	for i := range h.marks {
		if m := &h.marks[i]; m.known && m.seq != failed {
			if k := f.again(m); k > 0 {
				f.jump(m, k)
				h.found = h.visits
				return
			}
			failed = m.seq
		}
	}
	for i, age := range foldAges {
		if m := &h.marks[i]; (!m.known || h.visits >= m.next) && age*foldPatience >= h.visits-h.found {
			*m = foldMark{known: true, next: h.visits + age, at: len(f.steps), seq: f.walk.seq, from: len(f.journal.entries), differs: -1}
			f.journal.newest = m.from
		}
	}
}

// again is how often the events since a mark come again.
func (f *FoldedWalk) again(m *foldMark) uint64 {
	period := f.walk.seq - m.seq
	nodes, entries := f.walk.nodes, f.journal.entries
	if i := m.differs; i >= 0 && entries[i].again(&nodes[entries[i].node]) == 0 {
		return 0
	}
	times := (f.walk.stream.Events - f.walk.seq) / period
	f.journal.since(m, func(i int, e *foldEntry) bool {
		times = min(times, e.again(&nodes[e.node]))
		if times == 0 {
			m.differs = i
		}
		return times > 0
	})
	return times
}

// jump passes what comes k times again, and folds the steps since the mark.
func (f *FoldedWalk) jump(m *foldMark, k uint64) {
	period := f.walk.seq - m.seq
	f.journal.since(m, func(_ int, e *foldEntry) bool {
		e.skip(&f.walk.nodes[e.node], k)
		return true
	})
	f.walk.seq += k * period
	body := slices.Clone(f.steps[m.at:])
	f.steps = append(f.steps[:m.at], Step{Times: k + 1, Body: body})
	f.forget(m.from)
}

// forget drops the marks that are newer than the one with this from.
func (f *FoldedWalk) forget(from int) {
	for _, h := range f.active {
		for i := range h.marks {
			m := &h.marks[i]
			m.known = m.known && m.from <= from
			if m.differs >= from {
				m.differs = -1
			}
		}
	}
	f.journal.cut(from)
}
