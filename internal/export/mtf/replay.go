package mtf

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/efg/seq"
	"github.com/efg-tools/efg/internal/export"
	"github.com/efg-tools/efg/signature"
)

// stream reads what belongs to one stream and builds its graph, event by event.
func (r *reader) stream(p *efg.Process, words *words, defs *efg.Definitions) {
	fields := r.list()
	if r.err == nil && fields != plainFields && fields != plainFields+1 {
		r.fail(fmt.Errorf("a stream of %d fields", fields))
	}
	head := efg.Stream{Thread: uint32(r.number("thread", 1<<32)), End: efg.End(r.number("end", uint64(efg.EndExit)+1)), Dropped: r.uint()}
	body := r.number("trace", uint64(len(r.traces)))
	hash, stats := r.uints(), r.statistics()
	clock := r.uints()
	if len(hash) > 0 {
		head.Hash = hash[0]
	}
	switch {
	case len(clock) == 2 && r.version < timesVersion:
		r.fail(errors.New("times in a form of earlier versions of efg: export the run again"))
	case (len(clock) == 3 || len(clock) == 4) && clock[0] < 1<<32:
		head.Trace = &efg.Trace{Error: uint32(clock[0]), Bound: clock[1], Begin: clock[2]}
		if len(clock) == 4 {
			head.Trace.Untimed = clock[3]
		}
	case len(clock) > 0:
		r.fail(errors.New("a clock without error, bound and begin"))
	}
	codes := r.codes()
	if fields > plainFields {
		head.Pending = r.pending(words)
	}
	if r.err != nil {
		return
	}
	t := &r.traces[body]
	head.Events = t.events
	s, err := r.replay(p, head, len(hash) > 0, t, stats, codes, words, defs)
	if err != nil {
		r.fail(fmt.Errorf("thread %d: %w", head.Thread, err))
		return
	}
	p.Streams = append(p.Streams, *s)
}

// pending reads the calls in progress, the outermost first: of each its class, and since when.
func (r *reader) pending(words *words) *efg.Pending {
	calls := 1
	if n := r.list(); r.version >= innerVersion && n >= 2 && n%2 == 0 && n <= 2*efg.MaxPending {
		calls = n / 2
	} else if r.err == nil && n != 2 {
		r.fail(fmt.Errorf("calls in progress of %d numbers", n))
	}
	var outermost *efg.Pending
	for inner := &outermost; calls > 0 && r.err == nil; calls-- {
		*inner = r.callInProgress(words)
		inner = &(*inner).Inner
	}
	return outermost
}

// callInProgress reads a call in progress. Its words are not valid if that fails.
func (r *reader) callInProgress(words *words) *efg.Pending {
	class, since := r.number("class", uint64(len(r.classes))), r.uint()
	if r.err != nil {
		return &efg.Pending{}
	}
	var n efg.Node
	err := r.words(&n, &r.classes[class], words)
	if err == nil && n.Mask != 0 {
		err = fmt.Errorf("mask %#x", n.Mask)
	}
	if err != nil {
		r.fail(fmt.Errorf("call in progress: %w", err))
	}
	return &efg.Pending{Words: n.Words, Since: since}
}

// statistics reads the time statistics of a stream's nodes.
func (r *reader) statistics() []*efg.Stats {
	var list []*efg.Stats
	for range r.list() {
		v := r.uints()
		if r.err != nil {
			return nil
		}
		if len(v) == 0 {
			list = append(list, nil)
			continue
		}
		s := &efg.Stats{Count: v[0]}
		v = v[1:]
		for _, to := range []*efg.Interval{&s.Dur, &s.Gap} {
			if len(v) < 5 || v[3] > uint64(len(to.Bins)) || v[4] > uint64(len(to.Bins))-v[3] || v[4] > uint64(len(v)-5) {
				r.fail(errors.New("statistics of no form"))
				return nil
			}
			to.Sum, to.Min, to.Max = v[0], v[1], v[1]+v[2]
			for i := range v[4] {
				to.Bins[v[3]+i] = uint32(v[5+i])
			}
			v = v[5+v[4]:]
		}
		list = append(list, s)
	}
	return list
}

func (r *reader) codes() [][]byte {
	var list [][]byte
	for range r.list() {
		if r.err != nil {
			return nil
		}
		list = append(list, r.data())
	}
	return list
}

// replay builds a stream's nodes and iterates over its events.
func (r *reader) replay(p *efg.Process, head efg.Stream, hash bool, t *trace, stats []*efg.Stats, codes [][]byte, words *words, defs *efg.Definitions) (*efg.Stream, error) {
	nodes, err := r.nodes(p, head.Thread, t, stats, words)
	if err != nil {
		return nil, err
	}
	s, err := export.NewStream(head, hash, defs)
	if err != nil {
		return nil, err
	}
	if head.Trace != nil && len(codes) != 2*len(nodes) || head.Trace == nil && len(codes) > 0 {
		return nil, fmt.Errorf("times of %d sequences for %d nodes", len(codes), len(nodes))
	}
	open := make([]openNode, len(nodes))
	for i := range nodes {
		if err := s.AddNode(nodes[i]); err != nil {
			return nil, err
		}
		open[i].begin(&nodes[i])
	}
	u := newPatternExpander(t.items, r.patterns)
	for class, ok := u.next(); ok; class, ok = u.next() {
		if int(class) >= len(open) {
			return nil, fmt.Errorf("class %d of %d", class, len(open))
		}
		values, err := open[class].next(p.Defs)
		if err != nil {
			return nil, err
		}
		if err := s.Add(int(class), values); err != nil {
			return nil, err
		}
	}
	for i := range open {
		if open[i].left() {
			return nil, fmt.Errorf("%w: values without an event at node %d", export.ErrContent, i)
		}
		if codes != nil {
			if err := addTimes(s, i, codes[2*i], codes[2*i+1]); err != nil {
				return nil, err
			}
		}
	}
	return s.Finish()
}

func addTimes(s *export.Stream, node int, gap, dur []byte) error {
	for len(gap) > 0 && len(dur) > 0 {
		g, n := binary.Uvarint(gap)
		d, m := binary.Uvarint(dur)
		if n <= 0 || m <= 0 {
			return fmt.Errorf("%w: no interval", efg.ErrTimes)
		}
		gap, dur = gap[n:], dur[m:]
		if err := s.AddTimes(node, g, d); err != nil {
			return err
		}
	}
	if len(gap) > 0 || len(dur) > 0 {
		return fmt.Errorf("%w: gaps and durations of node %d do not go together", efg.ErrTimes, node)
	}
	return nil
}

// nodes builds a stream's nodes, with their attribute streams, which refer to the process.
func (r *reader) nodes(p *efg.Process, thread uint32, t *trace, stats []*efg.Stats, words *words) ([]efg.Node, error) {
	nodes := make([]efg.Node, len(t.classes))
	columns := t.columns
	for i, c := range t.classes {
		n := &nodes[i]
		if err := r.words(n, &r.classes[c], words); err != nil {
			return nil, fmt.Errorf("class %d: %w", i, err)
		}
		if len(stats) == len(nodes) {
			n.Stats = stats[i]
		} else if len(stats) > 0 {
			return nil, fmt.Errorf("statistics of %d classes of %d", len(stats), len(nodes))
		}
		if signature.Header(n.Words[0]).Counted() {
			continue
		}
		for k := range bits.OnesCount64(n.Mask) {
			var a efg.Attr
			for j, to := range []**seq.Seq{&a.Values, &a.Elems} {
				if j == 1 && !vector(n.Words[0], n.Mask, k) {
					continue
				}
				if len(columns) == 0 {
					return nil, fmt.Errorf("class %d: no attribute", i)
				}
				own := *r.columns[columns[0]] // used only by this process
				*to, columns = &own, columns[1:]
			}
			n.Attrs = append(n.Attrs, a)
		}
	}
	if len(columns) > 0 {
		return nil, fmt.Errorf("%d attributes too many", len(columns))
	}
	for list := t.counted; len(list) > 1; list = list[2:] {
		if list[0] >= uint64(len(nodes)) {
			return nil, fmt.Errorf("polls at node %d of %d", list[0], len(nodes))
		}
		nodes[list[0]].Counted = list[1]
	}
	bound := *p
	bound.Streams = []efg.Stream{{Thread: thread, Nodes: nodes}}
	runfile.Bind(&bound)
	return nodes, nil
}

// words builds the words of a class's node.
func (r *reader) words(n *efg.Node, c *class, words *words) error {
	o := &r.operations[c.operation]
	if o.words < signature.FirstWord || o.words > signature.MaxWords || c.mask>>o.words != 0 || c.mask&3 != 0 {
		return fmt.Errorf("%d words, mask %#x", o.words, c.mask)
	}
	n.Words, n.Mask = make([]uint64, o.words), c.mask
	n.Words[0] = o.header
	words.in(0)
	rest := c.tokens
	for i := 1; i < o.words; i++ {
		if c.mask>>i&1 != 0 {
			continue
		}
		if i >= signature.FirstWord && c.mask>>2&1 == 0 {
			words.in(n.Words[signature.ObjectWord])
		}
		if len(rest) == 0 {
			return errors.New("a word is missing")
		}
		var err error
		if n.Words[i], rest, err = words.word(rest, len(words.defs)); err != nil {
			return err
		}
	}
	if len(rest) > 0 {
		return errors.New("a word too many")
	}
	return nil
}

// openNode provides the values of a node's events.
type openNode struct {
	values []seq.Iter
	elems  []seq.Iter
	forms  []signature.Form
	out    []export.Value
}

func (o *openNode) begin(n *efg.Node) {
	mask := n.Mask
	for k := range n.Attrs {
		o.values = append(o.values, n.Attrs[k].Values.Iter())
		o.elems = append(o.elems, n.Attrs[k].Elems.Iter())
		o.forms = append(o.forms, export.WordForm(n.Words[0], bits.TrailingZeros64(mask)))
		mask &= mask - 1
	}
	o.out = make([]export.Value, len(n.Attrs))
}

// maxVector bounds arrays, because a small file can hold a sequence that expands
// without bound. No MPI call takes arrays that long.
const maxVector = 1 << 26

// next returns the values of the node's next event, valid until the next call.
func (o *openNode) next(defs []efg.Def) ([]export.Value, error) {
	for k := range o.values {
		raw, ok := o.values[k].Next()
		if !ok {
			return nil, fmt.Errorf("values are missing: %v", o.values[k].Err())
		}
		v := &o.out[k]
		form := o.forms[k]
		switch {
		case form == signature.ScalarForm || form == signature.SlotForm:
			*v = export.Value{Word: raw}
		case raw&1 != 0:
			*v = export.Value{Word: signature.ConstBit | raw>>1}
		case form == signature.VecForm:
			if err := o.elements(k, raw>>1); err != nil {
				return nil, err
			}
		case raw>>1 < uint64(len(defs)):
			*v = export.Value{Word: defs[raw>>1].Word}
		default:
			return nil, fmt.Errorf("definition %d of %d", raw>>1, len(defs))
		}
	}
	return o.out, nil
}

// elements reads the elements of an array.
func (o *openNode) elements(k int, n uint64) error {
	it := &o.elems[k]
	if n > it.Left() || n > maxVector {
		return fmt.Errorf("array of %d elements, %d are left", n, it.Left())
	}
	list := make([]uint64, 0, min(n, 1<<10))
	for range n {
		x, ok := it.Next()
		if !ok {
			return fmt.Errorf("elements end early: %v", it.Err())
		}
		list = append(list, x)
	}
	o.out[k] = export.Value{Elems: list}
	return nil
}

// left reports whether values are left.
func (o *openNode) left() bool {
	for k := range o.values {
		if o.values[k].Left() > 0 || o.elems[k].Left() > 0 {
			return true
		}
	}
	return false
}
