package efg

import (
	"fmt"

	"github.com/efg-tools/efg/efg/seq"
)

// Checkpoints are positions in a long stream from which a walk can begin. They are where the
// stream visits one particular node, the head of a loop: in a regular program the distances
// between checkpoints are equal, so the checkpoints can be folded. The event before a checkpoint
// is an outermost one: none is inside a call.
type Checkpoints struct {
	// Events is for each checkpoint the number of events before it.
	Events *seq.Seq
	// Last is the node of the event before the checkpoint.
	Last  *seq.Seq
	Nodes []NodeCheckpoints
}

// NodeCheckpoints says for each checkpoint how much of a node's sequences was used.
type NodeCheckpoints struct {
	// Visits is the number of events at the node.
	Visits *seq.Seq
	// Left is the rest of the current branch run; nil if the node has no branches.
	Left *seq.Seq
	// Runs is the number of branch runs begun: of each edge if their lengths vary, otherwise of
	// all edges together.
	Runs []*seq.Seq
	// Elems is the number of elements used, of each attribute stream of arrays.
	Elems []*seq.Seq
}

// checkpointDistance is the approximate number of events between checkpoints. There is a
// checkpoint after eight times as many in any case. A reader that follows many streams side by side
// keeps the times from one checkpoint to the next of each: where there are any, the distance is
// timedDistance.
const (
	checkpointDistance = 1 << 20
	timedDistance      = 1 << 16
)

// CheckpointDistance is the approximate number of events between the checkpoints that the stream
// gets in a run file.
func (s *Stream) CheckpointDistance() uint64 {
	if s.Trace != nil {
		return timedDistance
	}
	return checkpointDistance
}

// AddCheckpoints replaces a stream's checkpoints by new ones, approximately distance events
// apart. The run file's writer adds checkpoints to long streams by itself.
func (s *Stream) AddCheckpoints(defs []Def, distance uint64) error {
	m, err := MakeCheckpoints(s, defs, max(distance, 1))
	if err == nil {
		s.Checkpoints = m
	}
	return err
}

// MakeCheckpoints walks a stream and adds checkpoints to it. The result is nil for streams that
// are short, or that cannot be walked.
func MakeCheckpoints(s *Stream, defs []Def, distance uint64) (*Checkpoints, error) {
	if s.Events < 2*distance || s.Events > maxSteps {
		return nil, nil
	}
	m := newCheckpointMaker(s)
	w := s.Walk(defs)
	depths := depthsOf(s.Nodes)
	head, every := headOf(s, distance, depths)
	passed, last := uint64(0), uint64(0)
	for w.Next() {
		if w.cur == head {
			passed++
		}
		due := w.cur == head && passed >= every && w.seq-last >= distance/2 || w.seq-last >= 8*distance
		if due && depthAt(depths, w.cur) == 0 {
			m.add(w)
			passed, last = 0, w.seq
		}
	}
	if w.err != nil {
		return nil, w.err
	}
	return m.checkpoints(), nil
}

// headOf chooses the node of outermost calls that is visited least, but often enough, and returns the
// number of visits between checkpoints.
func headOf(s *Stream, distance uint64, depths []uint8) (head int, every uint64) {
	visits := s.Visits()
	want := s.Events / distance
	head = -1
	for i, v := range visits {
		if v >= want && (head < 0 || v < visits[head]) && depthAt(depths, i) == 0 {
			head = i
		}
	}
	if head < 0 {
		return -1, 0
	}
	return head, visits[head] / want
}

// checkpointMaker collects checkpoints.
type checkpointMaker struct {
	events, last *seq.Writer
	nodes        []nodeCheckpointMaker
}

type nodeCheckpointMaker struct {
	visits, left *seq.Writer
	runs, elems  []*seq.Writer
}

func newCheckpointMaker(s *Stream) *checkpointMaker {
	m := &checkpointMaker{events: seq.NewWindowWriter(true, seq.PackWindow), last: seq.NewWindowWriter(true, seq.PackWindow), nodes: make([]nodeCheckpointMaker, len(s.Nodes))}
	for i := range s.Nodes {
		n, to := &s.Nodes[i], &m.nodes[i]
		to.visits = seq.NewWindowWriter(true, seq.PackWindow)
		if len(n.Edges) > 1 {
			to.left = seq.NewWindowWriter(true, seq.PackWindow)
		}
		to.runs = newWriters(runCheckpoints(n))
		to.elems = newWriters(elemCheckpoints(n))
	}
	return m
}

func newWriters(n int) []*seq.Writer {
	list := make([]*seq.Writer, n)
	for i := range list {
		list[i] = seq.NewWindowWriter(true, seq.PackWindow)
	}
	return list
}

// runCheckpoints is the number of sequences of branch run numbers in a node's checkpoints.
func runCheckpoints(n *Node) int {
	switch {
	case len(n.Edges) < 2:
		return 0
	case n.Counts == nil:
		return 1
	}
	return len(n.Edges)
}

// elemCheckpoints is the number of attribute streams with elements.
func elemCheckpoints(n *Node) int {
	count := 0
	for i := range n.Attrs {
		if n.Attrs[i].Elems != nil {
			count++
		}
	}
	return count
}

// add records the position of the walk.
func (m *checkpointMaker) add(w *Walker) {
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

func (m *checkpointMaker) checkpoints() *Checkpoints {
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
	out := &Checkpoints{Events: m.events.Seq(), Last: m.last.Seq(), Nodes: make([]NodeCheckpoints, len(m.nodes))}
	for i := range m.nodes {
		n := &m.nodes[i]
		out.Nodes[i] = NodeCheckpoints{Visits: n.visits.Seq(), Runs: seqs(n.runs), Elems: seqs(n.elems)}
		if n.left != nil {
			out.Nodes[i].Left = n.left.Seq()
		}
	}
	return out
}

// checkpointCheck recomputes the checkpoints of a stream, if it has any.
type checkpointCheck struct {
	maker  *checkpointMaker
	events seq.Iter
	next   uint64 // number of events before the next checkpoint
}

func newCheckpointCheck(s *Stream) *checkpointCheck {
	c := &checkpointCheck{}
	if s.Checkpoints != nil && !s.Checkpoints.IsNone() {
		c.maker, c.events = newCheckpointMaker(s), s.Checkpoints.Events.Iter()
		c.next, _ = c.events.Next()
	}
	return c
}

func (c *checkpointCheck) pass(w *Walker) {
	c.maker.add(w)
	c.next, _ = c.events.Next()
}

// compare compares the checkpoints with the stream's.
func (c *checkpointCheck) compare(s *Stream) error {
	if c.maker == nil {
		return nil
	}
	got, want := c.maker.checkpoints(), s.Checkpoints
	if got == nil || len(got.Nodes) != len(want.Nodes) {
		return fmt.Errorf("%w: checkpoints of another graph", ErrWalk)
	}
	a, b := got.seqs(), want.seqs()
	ok := len(a) == len(b)
	for i := 0; ok && i < len(a); i++ {
		ok = a[i].EqualValues(b[i])
	}
	if !ok {
		return fmt.Errorf("%w: thread %d: checkpoints that are not where they say", ErrWalk, s.Thread)
	}
	return nil
}

// seqs lists all sequences of the checkpoints.
func (m *Checkpoints) seqs() []*seq.Seq {
	out := []*seq.Seq{m.Events, m.Last}
	for i := range m.Nodes {
		n := &m.Nodes[i]
		out = append(append(append(out, n.Visits, n.Left), n.Runs...), n.Elems...)
	}
	return out
}

// find returns the number of the last checkpoint with at most n events before it; ok
// is false if there is none.
func (m *Checkpoints) find(n uint64) (checkpoint, events uint64, ok bool) {
	if m == nil {
		return 0, 0, false
	}
	it := m.Events.Iter()
	for k := uint64(0); ; k++ {
		e, more := it.Next()
		if !more || e > n {
			return checkpoint, events, ok
		}
		checkpoint, events, ok = k, e, true
	}
}

// WalkFrom starts a walk at the last checkpoint with at most n events before it, or at the
// start: its Next goes to an event whose number is at most n. This takes time and memory in
// proportion to the graph.
func (s *Stream) WalkFrom(defs []Def, n uint64) *Walker {
	w := s.Walk(defs)
	checkpoint, events, ok := s.Checkpoints.find(n)
	if !ok {
		return w
	}
	if len(s.Checkpoints.Nodes) != len(w.nodes) {
		w.fail("checkpoints of another graph")
		return w
	}
	last, ok := s.Checkpoints.Last.At(checkpoint)
	if !ok || last >= uint64(len(w.nodes)) || events == 0 {
		w.fail("checkpoints end early")
		return w
	}
	w.cur, w.seq = int(last), events
	for i := range w.nodes {
		if !w.nodes[i].resume(&s.Nodes[i], &s.Checkpoints.Nodes[i], checkpoint, i == w.cur) {
			w.fail("checkpoints that do not fit the graph")
			return w
		}
	}
	return w
}

// resume restores the positions of a node's sequences at a checkpoint. last says that the event
// before the checkpoint was at the node, which has not been left since.
func (n *walkNode) resume(from *Node, m *NodeCheckpoints, checkpoint uint64, last bool) bool {
	visits, ok := m.Visits.At(checkpoint)
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
	} else if len(n.edges) > 1 && !n.resumeRuns(m, checkpoint) {
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
		used, ok := m.Elems[k].At(checkpoint)
		if !ok {
			return false
		}
		a.elems.Skip(used)
		k++
	}
	return true
}

// resumeRuns moves into the branch run that was begun last.
func (n *walkNode) resumeRuns(m *NodeCheckpoints, checkpoint uint64) bool {
	left, ok := m.Left.At(checkpoint)
	if !ok || len(m.Runs) != 1 && len(m.Runs) != len(n.edges) {
		return false
	}
	total, counted := uint64(0), uint64(0)
	for k, s := range m.Runs {
		begun, ok := s.At(checkpoint)
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
