package efg

import (
	"errors"
	"fmt"

	"github.com/efg-tools/efg/efg/block"
	"github.com/efg-tools/efg/efg/seq"
)

// StreamError says which stream breaks a rule of the format.
type StreamError struct {
	Rank   int
	Thread uint32
	Node   int // -1: the stream as a whole
	Cause  error
}

func (e *StreamError) Error() string {
	if e.Node < 0 {
		return fmt.Sprintf("rank %d, thread %d: %v", e.Rank, e.Thread, e.Cause)
	}
	return fmt.Sprintf("rank %d, thread %d, node %d: %v", e.Rank, e.Thread, e.Node, e.Cause)
}

func (e *StreamError) Unwrap() error { return e.Cause }

// Validate checks everything in a run file that the format asks for, also what
// a reader can do without: every block, every graph, and that the index agrees
// with them.
func Validate(r *Run) error {
	if _, err := r.Sites(); err != nil {
		return err
	}
	if err := r.validatePieces(); err != nil {
		return err
	}
	for i := range r.Procs {
		info := &r.Procs[i]
		if i > 0 && info.Rank >= 0 && uint(info.Rank) <= uint(r.Procs[i-1].Rank) {
			return fmt.Errorf("process %d: rank %d after %d", i, info.Rank, r.Procs[i-1].Rank)
		}
		p, err := r.Process(i)
		if err != nil {
			return err
		}
		if n, err := CheckDefs(p.Defs); err != nil {
			return fmt.Errorf("rank %d, definition %d: %w", info.Rank, n, err)
		}
		for j := range p.Streams {
			if err := r.validateStream(info, j, &p.Streams[j]); err != nil {
				return err
			}
		}
	}
	if err := r.validateTimes(); err != nil {
		return err
	}
	return r.validateTraces()
}

// validatePieces checks that every piece has the members that the index gives it.
func (r *Run) validatePieces() error {
	members := make([]uint64, len(r.pieces))
	used := map[int]bool{} // parts of long sequences
	for i := range r.Procs {
		members[r.Procs[i].defs]++
		for j := range r.Procs[i].Streams {
			members[r.Procs[i].Streams[j].piece]++
		}
		for _, e := range r.Procs[i].extras() {
			members[e.piece]++
		}
	}
	for n := range r.pieces {
		p, err := r.piece(n)
		if err != nil {
			return err
		}
		if p.members != members[n] {
			return &CorruptError{Section: "index", Cause: fmt.Errorf("piece %d has %d members, not %d", n, p.members, members[n])}
		}
		for _, b := range p.bodies {
			for _, n := range b.PartBlocks() {
				used[n] = true
			}
		}
		nodes, edges := uint64(0), uint64(0)
		if p.kind == unitGraph {
			nodes, edges = shapeSizes(p.shape)
		}
		if nodes != r.pieces[n].nodes || edges != r.pieces[n].edges {
			return &CorruptError{Section: "index", Cause: fmt.Errorf("piece %d has %d nodes and %d edges", n, nodes, edges)}
		}
	}
	if len(used) != len(r.parts) {
		return &CorruptError{Section: "index", Cause: fmt.Errorf("%d parts of long sequences, %d are used", len(r.parts), len(used))}
	}
	return nil
}

// validateTimes checks that nothing is left over in statistics blocks.
func (r *Run) validateTimes() error {
	for _, s := range r.stats {
		b, err := r.read(s.block)
		if err != nil {
			return err
		}
		for i := s.first; i < s.first+s.procs; i++ {
			for range r.Procs[i].Streams {
				takeStats(b, nil)
			}
		}
		if err := b.Close(); err != nil {
			return err
		}
	}
	return nil
}

// validateTraces checks that nothing is left over in trace blocks, and that all
// parts of a stream's times are there.
func (r *Run) validateTraces() error {
	for i := range r.Procs {
		for j := range r.Procs[i].Streams {
			blocks := r.traceBlocks(r.Procs[i].first + j)
			if len(blocks) < 2 {
				continue
			}
			p, err := r.Process(i)
			if err != nil {
				return err
			}
			if s := &p.Streams[j]; s.Trace == nil || len(s.Nodes) == 0 || s.LoadTimes() != nil {
				return &StreamError{r.Procs[i].Rank, s.Thread, -1, fmt.Errorf("%w: parts that do not fit", ErrTimes)}
			}
		}
	}
	for k, t := range r.traces {
		if t.streams == 0 || k > 0 && t.first < r.traces[k-1].first+r.traces[k-1].streams && (t != traceBlock{r.traces[k-1].first, 1, t.block} || r.traces[k-1].streams != 1) {
			return &CorruptError{Section: "index", Cause: fmt.Errorf("trace block %d overlaps the one before", k)}
		}
		if k+1 < len(r.traces) && r.traces[k+1].first == t.first || k > 0 && r.traces[k-1].first == t.first {
			continue // a part: LoadTimes has read it
		}
		b, err := r.read(t.block)
		if err != nil {
			return err
		}
		for n := t.first; n < t.first+t.streams; n++ {
			takeTrace(b, nil, nil, r.eventsOf(n))
		}
		if err := b.Close(); err != nil {
			return err
		}
	}
	return nil
}

// CheckTimes checks that each node of a stream with a trace, whose graph CheckStream
// has found right, has the times of its events.
func CheckTimes(s *Stream) (node int, err error) {
	if s.Trace == nil {
		return -1, nil
	}
	for i, visits := range visitsOf(s.Nodes) {
		if t := s.Nodes[i].Times; t == nil || t.Gap.Len() != visits || t.Dur.Len() != visits {
			return i, fmt.Errorf("%w: not of all %d events", ErrTimes, visits)
		}
	}
	return -1, nil
}

func (r *Run) validateStream(proc *ProcInfo, j int, s *Stream) error {
	info := &proc.Streams[j]
	node, err := CheckStream(s)
	switch {
	case err != nil:
	case info.Words != wordsOf(s.Nodes):
		node, err = -1, errors.New("index and graph disagree on the number of words")
	case j > 0 && info.Thread <= proc.Streams[j-1].Thread:
		node, err = -1, errors.New("threads are not in order")
	}
	if err != nil {
		return &StreamError{proc.Rank, info.Thread, node, err}
	}
	return nil
}

// CheckStream checks the rules of a graph: the form of its nodes, and that the
// weights belong to one walk from the first node. It returns the number of the
// node at fault, -1 if it is the graph as a whole.
func CheckStream(s *Stream) (node int, err error) {
	if s.End > EndExit {
		return -1, fmt.Errorf("unknown end %d", s.End)
	}
	if err := s.Pending.check(); err != nil {
		return -1, err
	}
	if len(s.Nodes) == 0 {
		if s.Events != 0 {
			return -1, fmt.Errorf("%d events without nodes", s.Events)
		}
		return -1, nil
	}
	if err := checkDistinct(s); err != nil {
		return -1, err
	}
	for i := range s.Nodes {
		if err := checkForm(s, &s.Nodes[i]); err != nil {
			return i, err
		}
	}
	visits, node, err := checkFlow(s)
	if err != nil {
		return node, err
	}
	for i := range s.Nodes {
		visits[i] += s.Nodes[i].Counted
	}
	for i := range s.Nodes {
		if err := checkContent(&s.Nodes[i], visits[i]); err != nil {
			return i, err
		}
	}
	return -1, checkMarks(s)
}

func checkDistinct(s *Stream) error {
	seen := make(map[string]int, len(s.Nodes))
	for i := range s.Nodes {
		key := nodeKey(&s.Nodes[i])
		if first, ok := seen[key]; ok {
			return fmt.Errorf("nodes %d and %d are equal", first, i)
		}
		seen[key] = i
	}
	return nil
}

func nodeKey(n *Node) string {
	b := block.AppendU64(make([]byte, 0, 8+8*len(n.Words)), n.Mask)
	for _, w := range n.Words {
		b = block.AppendU64(b, w)
	}
	return string(b)
}

func checkForm(s *Stream, n *Node) error {
	if len(n.Words) < 3 || len(n.Words) > MaxWords || n.Words[0]>>24&0xff != uint64(len(n.Words)) {
		return fmt.Errorf("%d words, header %#x", len(n.Words), n.Words[0])
	}
	if n.Mask&3 != 0 || n.Mask>>len(n.Words) != 0 {
		return fmt.Errorf("mask %#x of %d words", n.Mask, len(n.Words))
	}
	for i, w := range n.Words {
		if n.Mask>>i&1 != 0 && w != 0 {
			return fmt.Errorf("word %d is demoted and not zero", i)
		}
	}
	if counted := isCounted(n.Words); counted != (n.Counted > 0) || counted && len(n.Edges) > 0 {
		return fmt.Errorf("%d polls counted, %d edges, header %#x", n.Counted, len(n.Edges), n.Words[0])
	}
	if len(n.Attrs) != attrsOf(n.Words[0], n.Mask) {
		return fmt.Errorf("%d attribute streams for mask %#x", len(n.Attrs), n.Mask)
	}
	if (n.Runs != nil) != (len(n.Edges) > 1) {
		return fmt.Errorf("%d edges, branch runs: %v", len(n.Edges), n.Runs != nil)
	}
	seen := make(map[uint32]bool, len(n.Edges))
	for i, e := range n.Edges {
		if uint64(e.To) >= uint64(len(s.Nodes)) || seen[e.To] || isCounted(s.Nodes[e.To].Words) {
			return fmt.Errorf("edge %d to node %d: no such node, or second edge to it", i, e.To)
		}
		seen[e.To] = true
		if e.Weight == 0 || e.Weight >= s.Events {
			return fmt.Errorf("edge %d: weight %d of %d events", i, e.Weight, s.Events)
		}
	}
	return nil
}

// checkFlow returns how often each node is visited. Every node but the last
// one is left as often as it is entered.
func checkFlow(s *Stream) (visits []uint64, node int, err error) {
	visits = make([]uint64, len(s.Nodes))
	total := uint64(0)
	if i := start(s.Nodes); i >= 0 {
		visits[i], total = 1, 1
	}
	if total > s.Events {
		return nil, -1, errors.New("no events, but a node of some")
	}
	for i := range s.Nodes {
		for _, e := range s.Nodes[i].Edges {
			if e.Weight > s.Events-total {
				return nil, i, errors.New("more steps than events")
			}
			total += e.Weight
			visits[e.To] += e.Weight
		}
	}
	if total != s.Events {
		return nil, -1, fmt.Errorf("%d events, the edges make %d", s.Events, total)
	}
	last := -1
	for i := range s.Nodes {
		left := uint64(0)
		for _, e := range s.Nodes[i].Edges {
			left += e.Weight
		}
		switch {
		case left == visits[i]:
		case left+1 == visits[i] && last < 0:
			last = i
		default:
			return nil, i, fmt.Errorf("entered %d times, left %d times", visits[i], left)
		}
	}
	return visits, -1, nil
}

func checkContent(n *Node, visits uint64) error {
	if n.Stats != nil && n.Stats.Count > visits {
		return fmt.Errorf("times of %d events at a node visited %d times", n.Stats.Count, visits)
	}
	for i := range n.Attrs {
		if err := checkAttr(&n.Attrs[i], visits); err != nil {
			return fmt.Errorf("attribute stream %d: %w", i, err)
		}
	}
	if n.Runs == nil {
		return nil
	}
	if n.Runs.Len() > visits {
		return fmt.Errorf("%d branch runs at a node visited %d times", n.Runs.Len(), visits)
	}
	if n.Runs.Len() > seq.CheckLimit {
		return nil
	}
	return checkRuns(n)
}

func checkAttr(a *Attr, visits uint64) error {
	if a.Values == nil || a.Values.Len() != visits {
		return fmt.Errorf("not one value for each of %d events", visits)
	}
	if a.Elems == nil || visits > seq.CheckLimit {
		return nil
	}
	total, left := uint64(0), a.Elems.Len()
	it := a.Values.Iter()
	for v, ok := it.Next(); ok; v, ok = it.Next() {
		if v&1 != 0 { // a constant in place of a vector
			continue
		}
		if v >>= 1; v > left-total {
			return errors.New("vectors longer than their elements")
		}
		total += v
	}
	if total != left {
		return fmt.Errorf("%d elements, the lengths make %d", left, total)
	}
	return nil
}

// checkRuns compares a node's branch runs with its edges.
func checkRuns(n *Node) error {
	runs := make([]uint64, len(n.Edges))
	sums := make([]uint64, len(n.Edges))
	lengths := newRunLengths(n)
	it := n.Runs.Iter()
	first, last := uint64(0), ^uint64(0)
	for e, ok := it.Next(); ok; e, ok = it.Next() {
		switch {
		case e >= uint64(len(n.Edges)):
			return fmt.Errorf("branch run of edge %d of %d", e, len(n.Edges))
		case e == last:
			return fmt.Errorf("two branch runs of edge %d in a row", e)
		case runs[e] == 0 && e != first:
			return errors.New("edges are not in the order of first use")
		case runs[e] == 0:
			first++
		}
		length := lengths.next(e)
		if length == 0 || length > n.Edges[e].Weight-sums[e] {
			return fmt.Errorf("branch run of length %d on edge %d of weight %d", length, e, n.Edges[e].Weight)
		}
		runs[e]++
		sums[e] += length
		last = e
	}
	for i, e := range n.Edges {
		if sums[i] != e.Weight || runs[i] < e.Fixed {
			return fmt.Errorf("edge %d: weight %d, branch runs make %d", i, e.Weight, sums[i])
		}
	}
	if left := lengths.counts.Left(); left != 0 {
		return fmt.Errorf("%d lengths of branch runs too many", left)
	}
	return nil
}
