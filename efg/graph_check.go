package efg

import (
	"errors"
	"fmt"

	"github.com/efg-tools/efg/efg/block"
	"github.com/efg-tools/efg/efg/seq"
	"github.com/efg-tools/efg/signature"
)

// StreamError reports which stream violates a rule of the format.
type StreamError struct {
	Rank   int
	Thread uint32
	Node   int // -1 for the stream as a whole
	Cause  error
}

func (e *StreamError) Error() string {
	if e.Node < 0 {
		return fmt.Sprintf("rank %d, thread %d: %v", e.Rank, e.Thread, e.Cause)
	}
	return fmt.Sprintf("rank %d, thread %d, node %d: %v", e.Rank, e.Thread, e.Node, e.Cause)
}

func (e *StreamError) Unwrap() error { return e.Cause }

// CheckTimes checks that each node of a stream with a trace, whose graph CheckStream has
// accepted, has the times of its events; and, if the last events have none, that there are as many
// as the others. That those are at the right nodes, a walk shows.
func CheckTimes(s *Stream) (node int, err error) {
	if s.Trace == nil {
		return -1, nil
	}
	part, left := s.Trace.Untimed > 0, s.Trace.Untimed
	if left > s.Events {
		return -1, fmt.Errorf("%w: %d of %d events have none", ErrTimes, left, s.Events)
	}
	for i, visits := range s.Visits() {
		t := s.Nodes[i].Times
		if t == nil || t.Gap.Len() != t.Dur.Len() || t.Gap.Len() > visits || !part && t.Gap.Len() < visits {
			return i, fmt.Errorf("%w: not of all %d events", ErrTimes, visits)
		}
		if err := t.checkValues(s.Trace.Counters); err != nil {
			return i, err
		}
		left -= visits - t.Gap.Len()
	}
	if part && left != 0 {
		return -1, fmt.Errorf("%w: not of the first %d events", ErrTimes, s.TimedEvents())
	}
	return -1, nil
}

// CheckStream checks the rules of a graph: the form of its nodes, and that the weights belong
// to one walk from the first node. It returns the number of the faulty node, -1 for the graph
// as a whole.
func CheckStream(s *Stream) (node int, err error) {
	if s.End > EndExit {
		return -1, fmt.Errorf("unknown end %d", s.End)
	}
	if err := s.Pending.Check(); err != nil {
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
	return -1, checkpointsFit(s)
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
	if len(n.Words) < 3 || len(n.Words) > signature.MaxWords || n.Words[0]>>24&0xff != uint64(len(n.Words)) {
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
	if len(n.Attrs) != AttrStreams(n.Words[0], n.Mask) {
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

// checkFlow returns how often each node is visited. Every node except the last one is left as
// often as it is entered.
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
	if err := checkCounters(n.Counters, visits); err != nil {
		return err
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

// CheckDefs checks the rules of a process's definitions. It returns the number of the faulty
// one.
func CheckDefs(defs []Def) (int, error) {
	type key struct {
		kind DefKind
		word uint64
	}
	seen := make(map[key]bool, len(defs))
	for i, d := range defs {
		if !signature.IsPlain(d.Word) && d.Kind != DefUnknown {
			return i, fmt.Errorf("word %#x is not an identity", d.Word)
		}
		k := key{d.Kind, d.Word}
		if seen[k] {
			return i, fmt.Errorf("second definition of %#x", d.Word)
		}
		seen[k] = true
	}
	return 0, nil
}
