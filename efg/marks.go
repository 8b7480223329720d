package efg

import (
	"fmt"

	"github.com/efg-tools/efg/efg/seq"
)

// Marks are places in a long stream from which a walk can begin. They lie where
// the stream comes by one node, the head of a loop: in a regular program each
// mark is as far from the last one as that was from the one before, so that
// marks fold away.
type Marks struct {
	// Events is for each mark the number of events before it.
	Events *seq.Seq
	// Last is the node of the event before the mark.
	Last  *seq.Seq
	Nodes []NodeMarks
}

// NodeMarks tell for each mark how far the sequences of a node were used.
type NodeMarks struct {
	// Visits is the number of events at the node.
	Visits *seq.Seq
	// Left is what the current branch run had left; nil if the node has no
	// branches.
	Left *seq.Seq
	// Runs is the number of branch runs begun, of each edge if their lengths
	// vary, else of all of them together.
	Runs []*seq.Seq
	// Elems is the number of elements used, of each attribute stream of vectors.
	Elems []*seq.Seq
}

// markDistance is how many events there are between marks, about. There is a
// mark after eight times as many in any case.
const markDistance = 1 << 20

// Mark gives a stream marks, about distance events apart, in place of those that
// it has. A run file's writer marks long streams by itself.
func (s *Stream) Mark(defs []Def, distance uint64) error {
	m, err := marksOf(s, defs, max(distance, 1))
	if err == nil {
		s.Marks = m
	}
	return err
}

// marksOf walks through a stream and marks it. Streams that are soon walked
// through have no marks, nor those that cannot be walked through: nil.
func marksOf(s *Stream, defs []Def, distance uint64) (*Marks, error) {
	if s.Events < 2*distance || s.Events > mostSteps {
		return nil, nil
	}
	m := newMarker(s)
	w := s.Walk(defs)
	head, every := headOf(s, distance)
	passed, last := uint64(0), uint64(0)
	for w.Next() {
		if w.cur == head {
			passed++
		}
		if (w.cur == head && passed >= every && w.seq-last >= distance/2) || w.seq-last >= 8*distance {
			m.mark(w)
			passed, last = 0, w.seq
		}
	}
	if w.err != nil {
		return nil, w.err
	}
	return m.marks(), nil
}

// headOf chooses the node that is visited the least, but often enough, and says
// after how many visits to mark.
func headOf(s *Stream, distance uint64) (head int, every uint64) {
	visits := visitsOf(s.Nodes)
	want := s.Events / distance
	head = -1
	for i, v := range visits {
		if v >= want && (head < 0 || v < visits[head]) {
			head = i
		}
	}
	if head < 0 {
		return -1, 0
	}
	return head, visits[head] / want
}

// marker collects marks.
type marker struct {
	events, last *seq.Writer
	nodes        []nodeMarker
}

type nodeMarker struct {
	visits, left *seq.Writer
	runs, elems  []*seq.Writer
}

func newMarker(s *Stream) *marker {
	m := &marker{events: seq.NewWindowWriter(true, seq.PackWindow), last: seq.NewWindowWriter(true, seq.PackWindow), nodes: make([]nodeMarker, len(s.Nodes))}
	for i := range s.Nodes {
		n, to := &s.Nodes[i], &m.nodes[i]
		to.visits = seq.NewWindowWriter(true, seq.PackWindow)
		if len(n.Edges) > 1 {
			to.left = seq.NewWindowWriter(true, seq.PackWindow)
		}
		to.runs = folders(runMarks(n))
		to.elems = folders(elemMarks(n))
	}
	return m
}

func folders(n int) []*seq.Writer {
	list := make([]*seq.Writer, n)
	for i := range list {
		list[i] = seq.NewWindowWriter(true, seq.PackWindow)
	}
	return list
}

// runMarks is how many sequences of numbers of branch runs a node's marks have.
func runMarks(n *Node) int {
	switch {
	case len(n.Edges) < 2:
		return 0
	case n.Counts == nil:
		return 1
	}
	return len(n.Edges)
}

// elemMarks is how many attribute streams have elements.
func elemMarks(n *Node) int {
	count := 0
	for i := range n.Attrs {
		if n.Attrs[i].Elems != nil {
			count++
		}
	}
	return count
}

// mark notes where the walk is.
func (m *marker) mark(w *Walker) {
	m.events.Push(w.seq)
	m.last.Push(uint64(w.cur))
	visits := w.visits()
	for i := range w.nodes {
		n, to := &w.nodes[i], &m.nodes[i]
		to.visits.Push(visits[i])
		if to.left != nil {
			to.left.Push(n.left)
		}
		if len(to.runs) == 1 {
			to.runs[0].Push(w.stream.Nodes[i].Runs.Len() - n.runs.Left())
		} else if len(to.runs) > 1 {
			for k := range to.runs {
				to.runs[k].Push(n.edges[k].begun)
			}
		}
		k := 0
		for j := range n.attrs {
			if e := w.stream.Nodes[i].Attrs[j].Elems; e != nil {
				to.elems[k].Push(e.Len() - n.attrs[j].elems.Left())
				k++
			}
		}
	}
}

func (m *marker) marks() *Marks {
	if m.events.Len() == 0 {
		return nil
	}
	seqs := func(w []*seq.Writer) []*seq.Seq {
		var out []*seq.Seq
		for _, x := range w {
			out = append(out, x.Seq())
		}
		return out
	}
	out := &Marks{Events: m.events.Seq(), Last: m.last.Seq(), Nodes: make([]NodeMarks, len(m.nodes))}
	for i := range m.nodes {
		n := &m.nodes[i]
		out.Nodes[i] = NodeMarks{Visits: n.visits.Seq(), Runs: seqs(n.runs), Elems: seqs(n.elems)}
		if n.left != nil {
			out.Nodes[i].Left = n.left.Seq()
		}
	}
	return out
}

// markCheck makes the marks of a stream anew, where it has some.
type markCheck struct {
	marker *marker
	events seq.Iter
	next   uint64 // number of events before the next mark
}

func newMarkCheck(s *Stream) *markCheck {
	c := &markCheck{}
	if s.Marks != nil && !s.Marks.isNone() {
		c.marker, c.events = newMarker(s), s.Marks.Events.Iter()
		c.next, _ = c.events.Next()
	}
	return c
}

func (c *markCheck) pass(w *Walker) {
	c.marker.mark(w)
	c.next, _ = c.events.Next()
}

// compare compares the marks with the stream's.
func (c *markCheck) compare(s *Stream) error {
	if c.marker == nil {
		return nil
	}
	got, want := c.marker.marks(), s.Marks
	if got == nil || len(got.Nodes) != len(want.Nodes) {
		return fmt.Errorf("%w: marks of another graph", ErrWalk)
	}
	a, b := got.seqs(), want.seqs()
	ok := len(a) == len(b)
	for i := 0; ok && i < len(a); i++ {
		ok = a[i].EqualValues(b[i])
	}
	if !ok {
		return fmt.Errorf("%w: thread %d: marks that are not where they say", ErrWalk, s.Thread)
	}
	return nil
}

// seqs are all sequences of the marks.
func (m *Marks) seqs() []*seq.Seq {
	out := []*seq.Seq{m.Events, m.Last}
	for i := range m.Nodes {
		n := &m.Nodes[i]
		out = append(append(append(out, n.Visits, n.Left), n.Runs...), n.Elems...)
	}
	return out
}

// find returns the number of the last mark with at most n events before it; ok
// is false if there is none.
func (m *Marks) find(n uint64) (mark, events uint64, ok bool) {
	if m == nil {
		return 0, 0, false
	}
	it := m.Events.Iter()
	for k := uint64(0); ; k++ {
		e, more := it.Next()
		if !more || e > n {
			return mark, events, ok
		}
		mark, events, ok = k, e, true
	}
}

// valueAt returns value i of a sequence.
func valueAt(s *seq.Seq, i uint64) (uint64, bool) {
	it := s.Iter()
	it.Skip(i)
	return it.Next()
}

// WalkFrom starts a walk at the last mark with at most n events before it, or
// at the start: its Next goes to an event whose number is at most n. Time and
// memory are those of the graph.
func (s *Stream) WalkFrom(defs []Def, n uint64) *Walker {
	w := s.Walk(defs)
	mark, events, ok := s.Marks.find(n)
	if !ok {
		return w
	}
	if len(s.Marks.Nodes) != len(w.nodes) {
		w.fail("marks of another graph")
		return w
	}
	last, ok := valueAt(s.Marks.Last, mark)
	if !ok || last >= uint64(len(w.nodes)) || events == 0 {
		w.fail("marks end early")
		return w
	}
	w.cur, w.seq = int(last), events
	for i := range w.nodes {
		if !w.nodes[i].resume(&s.Nodes[i], &s.Marks.Nodes[i], mark, i == w.cur) {
			w.fail("marks that do not fit the graph")
			return w
		}
	}
	return w
}

// resume puts a node's sequences where they were at a mark. last tells that the
// event before the mark was at the node, which has not been left since.
func (n *walkNode) resume(from *Node, m *NodeMarks, mark uint64, last bool) bool {
	visits, ok := valueAt(m.Visits, mark)
	if !ok {
		return false
	}
	if n.single {
		steps := visits
		if last {
			steps--
		}
		if visits == 0 && last || steps > n.left {
			return false
		}
		n.left -= steps
	} else if len(n.edges) > 1 && !n.resumeRuns(m, mark) {
		return false
	}
	k := 0
	for i := range n.attrs {
		a := &n.attrs[i]
		a.values.Skip(visits)
		if from.Attrs[i].Elems == nil {
			continue
		}
		if k >= len(m.Elems) {
			return false
		}
		used, ok := valueAt(m.Elems[k], mark)
		if !ok {
			return false
		}
		a.elems.Skip(used)
		k++
	}
	return true
}

// resumeRuns goes into the branch run that was begun last.
func (n *walkNode) resumeRuns(m *NodeMarks, mark uint64) bool {
	left, ok := valueAt(m.Left, mark)
	if !ok || len(m.Runs) != 1 && len(m.Runs) != len(n.edges) {
		return false
	}
	total, counted := uint64(0), uint64(0)
	for k, s := range m.Runs {
		begun, ok := valueAt(s, mark)
		if !ok {
			return false
		}
		total += begun
		if len(m.Runs) == 1 {
			break
		}
		e := &n.edges[k]
		fixed := min(begun, e.fixed)
		e.begun = begun
		e.fixed -= fixed
		counted += begun - fixed
	}
	if len(m.Runs) > 1 {
		n.counts.Skip(counted)
	}
	if total == 0 {
		return left == 0
	}
	n.runs.Skip(total - 1)
	edge, ok := n.runs.Next()
	if !ok || edge >= uint64(len(n.edges)) {
		return false
	}
	n.to, n.left = n.edges[edge].to, left
	return true
}

// marksOfNode tells how many sequences the marks of a node have, by its value in
// the shape of marks.
func marksOfNode(v uint64) (runs, elems uint64) { return v >> 6, v & (1<<6 - 1) }

// flattenMarks makes a unit of a stream's marks.
func flattenMarks(m *Marks, stream int) *unit {
	f := &flatten{unit{kind: unitMarks, shape: []uint64{uint64(len(m.Nodes))}, stream: stream}}
	n := m.Events.Len()
	f.number(n)
	add := func(s *seq.Seq) { f.seq(s, n, roleMarks, nil, false) }
	add(m.Events)
	add(m.Last)
	for i := range m.Nodes {
		node := &m.Nodes[i]
		f.shape = append(f.shape, uint64(len(node.Runs))<<6|uint64(len(node.Elems)))
		add(node.Visits)
		if node.Left != nil {
			add(node.Left)
		}
		for _, s := range node.Runs {
			add(s)
		}
		for _, s := range node.Elems {
			add(s)
		}
	}
	f.key = keyOf(f.kind, f.shape)
	return &f.unit
}

// marks rebuilds the marks of a member.
func (p *readPiece) marks(member uint64) (*Marks, error) {
	vals, err := p.memberCells(nil, member)
	if err != nil {
		return nil, err
	}
	u := &unflatten{piece: p, vals: vals}
	n := u.number()
	next := func() *seq.Seq {
		s := u.seq(nil)
		u.expect(s, n)
		return s
	}
	m := &Marks{Events: next(), Last: next(), Nodes: make([]NodeMarks, p.shape[0])}
	for i := range m.Nodes {
		to := &m.Nodes[i]
		runs, elems := marksOfNode(p.shape[1+i])
		to.Visits = next()
		if runs > 0 {
			to.Left = next()
		}
		for range runs {
			to.Runs = append(to.Runs, next())
		}
		for range elems {
			to.Elems = append(to.Elems, next())
		}
	}
	return m, u.err
}
