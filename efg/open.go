package efg

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/efg-tools/efg/efg/seq"
)

// OpenStream is a stream as a recorder keeps it: the current branch run of each node is not
// closed yet, and an event may be half recorded. The segment reader and the builder both
// produce one; Close makes a Stream from it.
type OpenStream struct {
	Thread  uint32
	Events  uint64
	Hash    uint64
	Dropped uint64
	End     End
	Trace   *Trace
	Last    uint32 // node of event Events-1
	// Ahead: the recorder continued while this was read, so each node may include steps after
	// event Events-1, up to different moments.
	Ahead bool
	Nodes []OpenNode
	// Times are those of the stream's first events, in their order: of all of them without
	// Trace.Untimed. Nil without Trace.
	Times *Times
}

// OpenNode is a node of an OpenStream.
type OpenNode struct {
	Words []uint64
	Mask  uint64
	Edges []OpenEdge
	Cur   int      // edge of the current run, -1 if none
	Run   uint64   // its length so far; for a node of counted polls, their number
	Runs  *seq.Seq // edge numbers of all runs, the current one included; nil with one edge
	// Counts are the lengths of the closed runs whose edges do not fix them.
	Counts *seq.Seq
	Attrs  []Attr
	Stats  *Stats
	// Counters are what was counted at the node; nil: nothing.
	Counters []NodeCounter
}

// OpenEdge is an edge of an OpenNode. It covers closed runs only: their number, the number of
// their steps, and that the first Fixed of them have length Count. Edges must have been read
// after Counts: a run whose length is in Counts is closed or being closed.
type OpenEdge struct {
	To                        uint32
	Runs, Total, Count, Fixed uint64
}

// ErrGraph is wrapped by all errors about impossible graphs.
var ErrGraph = errors.New("impossible graph")

// maxSteps bounds iterations step by step: a few bytes can stand for any number of steps. A
// recorder that takes 100 ns for each needs half an hour for this many at one node. Tests
// change it.
var maxSteps uint64 = 1 << 34

// Close returns the stream of exactly o.Events events. What an unfinished event left behind is
// cut off: a step from the last node, a value at the node it led to, an edge or node that was
// never used. If the recorder was ahead, the events are walked to find the state of each node.
func (o *OpenStream) Close() (*Stream, error) {
	s := &Stream{Thread: o.Thread, Events: o.Events, Hash: o.Hash, Dropped: o.Dropped, End: o.End, Trace: o.Trace}
	if err := o.cut(); err != nil {
		return nil, err
	}
	visits := o.visits()
	o.Nodes = o.Nodes[:o.used(visits)]
	if len(o.Nodes) == 0 {
		return s, nil
	}
	s.Nodes = make([]Node, len(o.Nodes))
	for i := range o.Nodes {
		if err := o.Nodes[i].close(&s.Nodes[i], visits[i]); err != nil {
			return nil, fmt.Errorf("node %d: %w", i, err)
		}
	}
	return s, s.takeTimes(o.Times)
}

// cut cuts off what belongs to events after the last one.
func (o *OpenStream) cut() error {
	if o.Events == 0 {
		return o.cutEvery()
	}
	if err := o.check(); err != nil {
		return err
	}
	if o.Ahead {
		return o.cutAll()
	}
	return o.cutLast()
}

// cutEvery cuts off every step of a stream that has no events yet, but perhaps polls that are only
// counted. Only a recorder that continued while it was read can have taken any.
func (o *OpenStream) cutEvery() error {
	for i := range o.Nodes {
		n := &o.Nodes[i]
		if len(n.Edges) == 0 {
			continue
		}
		if !o.Ahead || isCounted(n.Words) {
			return fmt.Errorf("%w: node %d: steps, but no events", ErrGraph, i)
		}
		n.Edges, n.Cur, n.Runs, n.Counts = nil, -1, nil, nil
	}
	return nil
}

// used is the number of nodes without those of later events. A node of counted polls has no
// events; it is included if the nodes before it are.
func (o *OpenStream) used(visits []uint64) int {
	n := len(o.Nodes)
	for i := n - 1; i >= 0; i-- {
		if isCounted(o.Nodes[i].Words) {
			if visits[i] == 0 && i == n-1 {
				n = i
			}
			continue
		}
		if visits[i] > 0 {
			break
		}
		n = i
	}
	return n
}

// first is the node of the first event, -1 if there is none.
func (o *OpenStream) first() int {
	return slices.IndexFunc(o.Nodes, func(n OpenNode) bool { return !isCounted(n.Words) })
}

func (o *OpenStream) check() error {
	if uint64(o.Last) >= uint64(len(o.Nodes)) || isCounted(o.Nodes[o.Last].Words) {
		return fmt.Errorf("%w: last node %d of %d", ErrGraph, o.Last, len(o.Nodes))
	}
	for i := range o.Nodes {
		n := &o.Nodes[i]
		ahead := o.Ahead || uint32(i) == o.Last
		if n.Cur >= len(n.Edges) || (n.Cur < 0 && len(n.Edges) > 0 && !ahead) {
			return fmt.Errorf("%w: node %d: current edge %d of %d", ErrGraph, i, n.Cur, len(n.Edges))
		}
		for _, e := range n.Edges {
			if uint64(e.To) >= uint64(len(o.Nodes)) || isCounted(n.Words) || isCounted(o.Nodes[e.To].Words) {
				return fmt.Errorf("%w: node %d: edge to node %d of %d", ErrGraph, i, e.To, len(o.Nodes))
			}
		}
	}
	return nil
}

// steps is how many steps were taken from n.
func (n *OpenNode) steps() uint64 {
	var total uint64
	for i := range n.Edges {
		total += n.Edges[i].Total
	}
	if n.Cur >= 0 {
		total += n.Run
	}
	return total
}

// cutLast makes the last node's steps consistent: those of all nodes together are one less than
// there are events. Its own totals may have been read between two stores of an unfinished
// event; they are recounted.
func (o *OpenStream) cutLast() error {
	left := o.Events - 1
	for i := range o.Nodes {
		if uint32(i) == o.Last {
			continue
		}
		k := o.Nodes[i].steps()
		if k > left {
			return fmt.Errorf("%w: %d events, but more steps", ErrGraph, o.Events)
		}
		left -= k
	}
	return o.Nodes[o.Last].cut(left)
}

// cutAll reduces the steps of every node to those of the first Events events.
func (o *OpenStream) cutAll() error {
	if o.Events > maxSteps {
		return fmt.Errorf("%w: more than %d events to follow", ErrGraph, maxSteps)
	}
	readers := make([]*runReader, len(o.Nodes))
	steps := make([]uint64, len(o.Nodes))
	at := uint32(o.first())
	for left := o.Events - 1; left > 0; {
		r := readers[at]
		if r == nil {
			r = o.Nodes[at].runReader()
			readers[at] = r
		}
		if r.left == 0 {
			if err := r.next(); err != nil {
				return fmt.Errorf("node %d: %d events missing: %w", at, left, err)
			}
		}
		to, k := o.Nodes[at].Edges[r.cur].To, uint64(1)
		if to == at {
			k = min(r.left, left)
		}
		r.left -= k
		steps[at] += k
		left -= k
		at = to
	}
	if at != o.Last {
		return fmt.Errorf("%w: event %d is at node %d, not at %d", ErrGraph, o.Events-1, at, o.Last)
	}
	for i := range o.Nodes {
		if err := o.Nodes[i].cut(steps[i]); err != nil {
			return fmt.Errorf("node %d: %w", i, err)
		}
	}
	return nil
}

// runReader iterates over the branch runs of a node.
type runReader struct {
	node         *OpenNode
	runs, counts seq.Iter
	done         []OpenEdge // Runs and Total of the runs before the current one
	nruns        uint64     // including the current one
	cur          int        // its edge
	left         uint64     // its length; what remains if it is not closed
}

func (n *OpenNode) runReader() *runReader {
	return &runReader{node: n, runs: n.Runs.Iter(), counts: n.Counts.Iter(), done: make([]OpenEdge, len(n.Edges)), cur: -1}
}

// next moves to the next branch run.
func (r *runReader) next() error {
	i, ok := r.runs.Next()
	if r.node.Runs == nil {
		i, ok = 0, r.nruns == 0
	}
	if !ok || i >= uint64(len(r.node.Edges)) {
		return fmt.Errorf("%w: no branch run %d (%v)", ErrGraph, r.nruns, r.runs.Err())
	}
	r.nruns++
	r.cur, r.left = int(i), math.MaxUint64
	if e := &r.node.Edges[i]; r.done[i].Runs < e.Fixed {
		r.left = e.Count
	} else if c, ok := r.counts.Next(); ok {
		r.left = c
	}
	if r.left == 0 {
		return fmt.Errorf("%w: empty branch run", ErrGraph)
	}
	r.done[i].Runs++
	return nil
}

// cut reduces n to its first steps steps, by iterating over n's branch runs.
func (n *OpenNode) cut(steps uint64) error {
	r := n.runReader()
	run := uint64(0)
	for steps > 0 {
		if err := r.next(); err != nil {
			return fmt.Errorf("%d steps missing: %w", steps, err)
		}
		if r.nruns > maxSteps {
			return fmt.Errorf("%w: more than %d branch runs to go through", ErrGraph, maxSteps)
		}
		run = min(steps, r.left)
		steps -= run
		r.done[r.cur].Total += run
	}
	if r.cur >= 0 {
		r.done[r.cur].Runs--
		r.done[r.cur].Total -= run
	}
	return n.keep(r.done, r.nruns, r.cur, run)
}

// keep stores the result of cut.
func (n *OpenNode) keep(done []OpenEdge, nruns uint64, cur int, run uint64) error {
	used, varying := 0, uint64(0)
	for i := range done {
		e := &n.Edges[i]
		e.Runs, e.Total = done[i].Runs, done[i].Total
		e.Fixed = min(e.Fixed, e.Runs)
		varying += e.Runs - e.Fixed
		if e.Runs > 0 || i == cur {
			used = i + 1
		}
	}
	n.Edges, n.Cur, n.Run = n.Edges[:used], cur, run
	if n.Runs != nil {
		n.Runs = n.Runs.Prefix(nruns)
	}
	if used < 2 {
		n.Runs = nil
	}
	var err error
	if varying == 0 {
		n.Counts = nil
	} else if varying > maxSteps {
		return fmt.Errorf("%w: more than %d lengths of branch runs to go through", ErrGraph, maxSteps)
	} else if n.Counts.Len() > varying {
		n.Counts, err = n.Counts.First(varying)
	}
	return err
}

// Turn is the end of a branch run and the beginning of the next one, as noted by a recorder
// that enters it at the node later.
type Turn struct {
	Run  uint64 // length of the run that ended
	Runs uint64 // number of the node's runs before the next one
	To   uint32 // node that the next one leads to
}

// Enter enters the turns at n that are not entered, of one or more that are given, oldest
// first. The first of them may be entered in part; if the recorder continued while n was read,
// all of them may be entered, and later ones, which are ignored. n.Runs must have been read
// after the turns, and before n.Counts and n.Edges.
func (n *OpenNode) Enter(turns []Turn) error {
	run := n.Run
	if most := turns[len(turns)-1].Runs + 1; n.Runs.Len() > most {
		n.Runs = n.Runs.Prefix(most)
	}
	for len(turns) > 0 && turns[0].Runs < n.Runs.Len() {
		turns = turns[1:]
	}
	if len(turns) > 0 {
		if turns[0].Runs != n.Runs.Len() {
			return fmt.Errorf("%w: a turn after %d branch runs of %d", ErrGraph, turns[0].Runs, n.Runs.Len())
		}
		n.Run = turns[0].Run
	}
	runs, err := n.settle()
	if err != nil {
		return err
	}
	counts := writerOf(n.Counts)
	for i := range turns {
		if err := n.turn(&turns[i], runs, counts); err != nil {
			return err
		}
	}
	n.Run, n.Runs = run, runs.Seq()
	if counts.Len() > 0 {
		n.Counts = counts.Seq()
	}
	return nil
}

// writerOf returns a writer that contains the values of a sequence.
func writerOf(s *seq.Seq) *seq.Writer {
	w := seq.NewWriter(false)
	it := s.Iter()
	for v, ok := it.Next(); ok; v, ok = it.Next() {
		w.Push(v)
	}
	return w
}

// settle makes the totals and the current edge consistent with n.Runs, whose last run has
// length n.Run. It returns a writer that contains these runs.
func (n *OpenNode) settle() (*seq.Writer, error) {
	r, w := n.runReader(), seq.NewWriter(false)
	for range n.Runs.Len() {
		if r.cur >= 0 && r.left == math.MaxUint64 {
			return nil, fmt.Errorf("%w: branch run %d of %d is not closed", ErrGraph, r.nruns, n.Runs.Len())
		}
		if r.cur >= 0 {
			r.done[r.cur].Total += r.left
		}
		if err := r.next(); err != nil {
			return nil, err
		}
		if r.nruns > maxSteps {
			return nil, fmt.Errorf("%w: more than %d branch runs to go through", ErrGraph, maxSteps)
		}
		w.Push(uint64(r.cur))
	}
	if r.cur < 0 {
		return nil, fmt.Errorf("%w: a turn at a node without branch runs", ErrGraph)
	}
	r.done[r.cur].Runs--
	return w, n.keep(r.done, r.nruns, r.cur, n.Run)
}

// turn closes the current run and begins another.
func (n *OpenNode) turn(t *Turn, runs, counts *seq.Writer) error {
	e := &n.Edges[n.Cur]
	switch {
	case t.Run == 0:
		return fmt.Errorf("%w: empty branch run", ErrGraph)
	case e.Runs == 0:
		e.Count, e.Fixed = t.Run, 1
	case e.Runs == e.Fixed && e.Count == t.Run:
		e.Fixed++
	default:
		counts.Push(t.Run)
	}
	e.Runs++
	e.Total += t.Run
	n.Cur = slices.IndexFunc(n.Edges, func(e OpenEdge) bool { return e.To == t.To })
	if n.Cur < 0 {
		n.Cur = len(n.Edges)
		n.Edges = append(n.Edges, OpenEdge{To: t.To})
	}
	runs.Push(uint64(n.Cur))
	return nil
}

// visits returns the number of events, or counted polls, of each node.
func (o *OpenStream) visits() []uint64 {
	v := make([]uint64, len(o.Nodes))
	if o.Events > 0 {
		v[o.first()] = 1
	}
	for i := range o.Nodes {
		n := &o.Nodes[i]
		if isCounted(n.Words) {
			v[i] = n.Run
		}
		for j, e := range n.Edges {
			v[e.To] += e.Total
			if j == n.Cur {
				v[e.To] += n.Run
			}
		}
	}
	return v
}

// close closes the current run and trims the attributes to the node's visits.
func (n *OpenNode) close(to *Node, visits uint64) error {
	if isCounted(n.Words) {
		return n.closeCounted(to, visits)
	}
	*to = Node{Words: n.Words, Mask: n.Mask, Runs: n.Runs, Counts: n.Counts, Attrs: n.Attrs, Stats: n.Stats, Counters: n.Counters}
	to.Edges = make([]Edge, len(n.Edges))
	for i := range n.Edges {
		o := &n.Edges[i]
		to.Edges[i] = Edge{To: o.To, Weight: o.Total, Count: o.Count, Fixed: o.Fixed}
	}
	if n.Cur >= 0 {
		n.closeRun(to)
	}
	if n.Stats != nil && n.Stats.Count > visits {
		to.Stats = nil // of later events, too: they cannot be separated
	}
	to.dropLater(visits)
	for i := range to.Attrs {
		if err := to.Attrs[i].trim(visits); err != nil {
			return fmt.Errorf("attribute %d: %w", i, err)
		}
	}
	return nil
}

// closeCounted is close for a node of counted polls. If there is a later node it has at least
// one poll, whatever was read.
func (n *OpenNode) closeCounted(to *Node, visits uint64) error {
	if len(n.Edges) > 0 {
		return fmt.Errorf("%w: edges from polls that are only counted", ErrGraph)
	}
	*to = Node{Words: n.Words, Mask: n.Mask, Counted: max(visits, 1), Stats: n.Stats, Counters: n.Counters}
	if n.Stats != nil && n.Stats.Count > to.Counted {
		to.Stats = nil
	}
	to.dropLater(to.Counted)
	return nil
}

// closeRun adds the current run to the node that n becomes.
func (n *OpenNode) closeRun(to *Node) {
	o, e := &n.Edges[n.Cur], &to.Edges[n.Cur]
	e.Weight += n.Run
	switch {
	case o.Runs == 0:
		e.Count, e.Fixed = n.Run, 1
	case o.Runs == o.Fixed && o.Count == n.Run:
		e.Fixed++
	default:
		to.Counts = n.Counts.Plus(n.Run)
	}
}

// trim cuts the attribute stream to n values.
func (a *Attr) trim(n uint64) error {
	if a.Values.Len() < n {
		return fmt.Errorf("%w: %d values for %d events", ErrGraph, a.Values.Len(), n)
	}
	a.Values = a.Values.Prefix(n)
	// There may be elements of an event whose length is not stored yet; an excessive number of
	// lengths is not summed for those.
	if a.Elems == nil || n > maxSteps {
		return nil
	}
	var elems uint64
	it := a.Values.Iter()
	for v, ok := it.Next(); ok; v, ok = it.Next() {
		if v&1 == 0 {
			elems += v >> 1
		}
	}
	if err := it.Err(); err != nil {
		return err
	}
	if elems > a.Elems.Len() {
		return fmt.Errorf("%w: %d elements, want %d", ErrGraph, a.Elems.Len(), elems)
	}
	a.Elems = a.Elems.Prefix(elems)
	return nil
}
