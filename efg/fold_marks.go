package efg

import "slices"

// foldHead is the head of a loop, where repeats are looked for. While the walk stays in the
// loop, the state at some visits is remembered, and later ones are compared with it. A mark is
// replaced by a newer one after the number of visits in foldAges: a repeat of n visits is found
// by the first mark that lasts that long.
type foldHead struct {
	loop          int
	visits, found uint64 // found: the visit where a repeat was last found
	marks         [len(foldAges)]foldMark
}

var foldAges = [...]uint64{2, 16, 128, 1024, 8192, 65536}

// foldPatience is the number of visits without a repeat, in multiples of a mark's age, after
// which the mark is dropped: where nothing repeats, marks must cost little.
const foldPatience = 512

// foldMark is the state of a walk.
type foldMark struct {
	known bool
	next  uint64 // visit after which a newer one replaces it
	at    int    // number of steps
	seq   uint64
	from  int // number of entries of the journal
	// differs is the entry whose node made the comparison fail last time, if it is after from.
	differs int
}

// foldJournal records states of nodes at the times of marks: before a node changes for the
// first time after the newest mark, an entry stores its state. A mark needs only what has
// changed since, and many marks share it.
type foldJournal struct {
	entries []foldEntry
	latest  []int // last entry, by node; -1 if there is none
	newest  int   // from of the newest mark, even if that was dropped; -1 if there is none
	limit   int   // number of entries at which those that no mark needs are dropped
	room    int   // in words
}

type foldEntry struct {
	node int
	last int // the node's previous entry, -1 if there is none
	nodeState
}

const (
	fewEntries = 64
	// A journal has room for foldRoom words and for foldStates states of each node.
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

// since calls each with the entries that hold the state, at a mark, of the nodes that have
// changed since.
func (j *foldJournal) since(m *foldMark, each func(i int, e *foldEntry) bool) {
	for i := m.from; i < len(j.entries); i++ {
		if e := &j.entries[i]; e.last < m.from && !each(i, e) {
			return
		}
	}
}

// keep drops the entries that no mark needs and returns the size of the rest. It updates the
// positions in the marks.
func (j *foldJournal) keep(marks []*foldMark) (size int) {
	slices.SortFunc(marks, func(a, b *foldMark) int { return a.from - b.from })
	old, before := j.entries, -1 // before: from of the last mark that was passed
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

// tidy drops what no mark needs. If much is left, it drops marks of inner loops.
func (f *FoldedWalk) tidy() {
	marks := f.known()
	for f.journal.keep(marks) > f.journal.room && len(f.active) > 0 {
		f.leave(len(f.active) / 2)
		marks = f.known()
	}
	f.journal.limit = 2*len(f.journal.entries) + fewEntries
}

// known lists the existing marks.
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

// enter records that the walk has reached a node: it may have left loops, and have reached the
// head of one.
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

// leave leaves all loops except the outermost stay ones.
func (f *FoldedWalk) leave(stay int) {
	for _, h := range f.active[stay:] {
		for i := range h.marks {
			h.marks[i].known = false
		}
	}
	f.active = f.active[:stay]
}

// pass looks for a repeat that began at a remembered visit of h.
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

// again is the number of times that the events since a mark recur.
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

// jump skips k repetitions, and folds the steps since the mark.
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
