package segment

import (
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"sync/atomic"
	"unsafe"

	"encoding/binary"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/seq"
	"github.com/efg-tools/efg/signature"
)

// stream decodes the graph of one thread, and leaves the thread's record in st.
func (r *reader) stream(ref uint32, st *Stream, h *Header) (*efg.Stream, error) {
	pub, err := r.pin(ref, st)
	if err != nil {
		return nil, err
	}
	clock := h.clock()
	o := &efg.OpenStream{Thread: st.Thread, Events: st.Events, Hash: pub.Hash, Dropped: st.Dropped}
	if h.TimeMode == timesTrace {
		if err := r.trace(ref, st, clock, h.valued(), o); err != nil {
			return nil, err
		}
	}
	o.End = efg.End(st.State)
	if o.End == efg.EndOpen {
		o.End = efg.End(h.State)
	}
	if o.End > efg.EndExit {
		return nil, r.corrupt("stream", ref, fmt.Errorf("unknown state %d", o.End))
	}
	nodes, numbers, err := r.nodes(st.Nodes)
	if err != nil {
		return nil, err
	}
	turns, err := r.turns(ref, st, numbers)
	if err != nil {
		return nil, err
	}
	for i := range nodes {
		n, err := r.node(&nodes[i], numbers, h, clock)
		if err != nil {
			return nil, err
		}
		if l := turns[uint32(i)]; l != nil {
			if err := n.Enter(l); err != nil {
				return nil, r.corrupt("node", nodes[i].ref, err)
			}
		}
		o.Nodes = append(o.Nodes, *n)
	}
	if st.Events > 0 {
		last, ok := numbers[pub.Node]
		if !ok {
			return nil, r.corrupt("stream", ref, errors.New("last node is not in the list"))
		}
		o.Last = last
	}
	if o.Ahead, err = r.ahead(ref, st); err != nil {
		return nil, err
	}
	s, err := o.Close()
	if !r.lastTry && (errors.Is(err, efg.ErrGraph) || err == nil && !coherent(s)) {
		err = errBusy // the recorder may have continued between two reads
	}
	if err != nil {
		return nil, r.corrupt("stream", ref, err)
	}
	return s, nil
}

// coherent reports whether each node with several edges says in which order they were taken.
func coherent(s *efg.Stream) bool {
	return !slices.ContainsFunc(s.Nodes, func(n efg.Node) bool { return (n.Runs != nil) != (len(n.Edges) > 1) })
}

// trace reads the times of each event of a stream that was pinned, as far as they were recorded.
// counters is the number of counters whose values are with them. The stream's record is read again: when it was read first, it may have had fewer events.
func (r *reader) trace(ref uint32, st *Stream, clock efg.MachineClock, counters int, o *efg.OpenStream) (err error) {
	b, err := r.bytes("stream", ref, 0, uint64(unsafe.Sizeof(*st)))
	if err != nil {
		return err
	}
	live := view[Stream](b)
	o.Trace = &efg.Trace{Begin: live.FirstTick, Clock: clock}
	timed := st.Events
	if end := atomic.LoadUint64(&live.TimesEnd); end > 0 && end <= timed {
		timed = end - 1
		o.Trace.Untimed = st.Events - timed
	}
	o.Trace.Counters = counters
	o.Times, err = r.times(atomic.LoadUint32(&live.Times), timed, counters)
	return err
}

// pin reads a stream's record: first how it ended, then the number of events, with the data for
// that number, then where its nodes are. Everything that these events need was stored before
// their number was; the recorder may continue.
func (r *reader) pin(ref uint32, st *Stream) (*Published, error) {
	if err := r.record("stream", ref, st); err != nil {
		return nil, err
	}
	b, err := r.bytes("stream", ref, 0, uint64(unsafe.Sizeof(*st)))
	if err != nil {
		return nil, err
	}
	live := view[Stream](b)
	from, size := unsafe.Offsetof(st.Made), unsafe.Sizeof(*st)
	for range maxRetries {
		st.Events = atomic.LoadUint64(&live.Events)
		at := &live.Pub[st.Events&1]
		pub := &Published{Hash: atomic.LoadUint64(&at.Hash), Node: atomic.LoadUint32(&at.Node)}
		decodeWords(b[from:size], unsafe.Pointer(&st.Made))
		if atomic.LoadUint64(&live.Events) == st.Events {
			st.Nodes = atomic.LoadUint32(&live.Nodes)
			return pub, nil
		}
	}
	return nil, r.corrupt("stream", ref, errBusy)
}

// turns are those that the stream has not entered at their nodes, by number of the node.
func (r *reader) turns(ref uint32, st *Stream, numbers map[uint32]uint32) (map[uint32][]efg.Turn, error) {
	if st.Made-st.Entered > MaxTurns {
		return nil, r.corrupt("stream", ref, fmt.Errorf("%d turns made, %d entered", st.Made, st.Entered))
	}
	turns := map[uint32][]efg.Turn{}
	for i := st.Entered; i != st.Made; i++ {
		t := &st.Turns[i%MaxTurns]
		from, ok := numbers[t.From]
		to, known := numbers[t.To]
		if !ok || !known {
			return nil, r.corrupt("stream", ref, errors.New("turn between nodes that are not in the list"))
		}
		turns[from] = append(turns[from], efg.Turn{Run: t.Run, Runs: t.Runs, To: to})
	}
	return turns, nil
}

// ahead reports whether the stream has had events since it was pinned. If following them would
// take long, it requests a new start while that is worth trying: most programs pause between
// events.
func (r *reader) ahead(ref uint32, st *Stream) (bool, error) {
	b, err := r.bytes("stream", ref, 0, uint64(unsafe.Sizeof(*st)))
	if err != nil {
		return false, err
	}
	ahead := atomic.LoadUint64(&view[Stream](b).Events) != st.Events
	if ahead && !r.lastTry && st.Events > manyEvents {
		return false, errBusy
	}
	return ahead, nil
}

// rawNode is a node with its position.
type rawNode struct {
	Node
	ref uint32
}

// nodes reads a stream's list of nodes; numbers maps their refs.
func (r *reader) nodes(ref uint32) (nodes []rawNode, numbers map[uint32]uint32, err error) {
	numbers = map[uint32]uint32{}
	for ref != 0 {
		n := rawNode{ref: ref}
		if err := r.record("node", ref, &n.Node); err != nil {
			return nil, nil, err
		}
		if n.N < signature.FirstWord || n.N > MaxWords || n.Index != uint32(len(nodes)) {
			return nil, nil, r.corrupt("node", ref, fmt.Errorf("node %d has %d words, number %d", len(nodes), n.N, n.Index))
		}
		numbers[ref] = uint32(len(nodes))
		nodes = append(nodes, n)
		ref = n.Next
	}
	return nodes, numbers, nil
}

func (r *reader) node(raw *rawNode, numbers map[uint32]uint32, h *Header, clock efg.MachineClock) (*efg.OpenNode, error) {
	n := &efg.OpenNode{Mask: uint64(raw.Mask), Cur: -1, Run: raw.Run}
	size := uint64(unsafe.Sizeof(raw.Node))
	var err error
	if n.Words, err = r.words("node", raw.ref, size, uint64(raw.N)); err != nil {
		return nil, err
	}
	if signature.Header(n.Words[0]).Words() != int(raw.N) || raw.Mask>>raw.N != 0 || raw.Mask&3 != 0 {
		return nil, r.corrupt("node", raw.ref, errors.New("header, mask and number of words disagree"))
	}
	for i := range n.Words {
		if raw.Mask>>i&1 != 0 {
			n.Words[i] = 0
		}
	}
	if err := r.steps(raw, numbers, n); err != nil {
		return nil, err
	}
	if !signature.Header(n.Words[0]).Counted() {
		if n.Attrs, err = r.attrs(raw); err != nil {
			return nil, err
		}
	}
	if h.TimeMode == timesOff {
		return n, nil
	}
	at := size + 8*uint64(raw.N)
	if n.Stats, err = r.stats(raw.ref, at, clock); err != nil {
		return nil, err
	}
	n.Counters, err = r.nodeCounters(raw.ref, at+uint64(unsafe.Sizeof(NodeStats{})), h.NCounters)
	return n, err
}

// steps reads how the node was left. The order matters: runs before the lengths of those that
// are closed, see efg.OpenNode.Enter, and these before the edges that say how many are closed,
// see efg.OpenEdge.
func (r *reader) steps(raw *rawNode, numbers map[uint32]uint32, n *efg.OpenNode) (err error) {
	if raw.Runs != 0 {
		if n.Runs, err = r.seq(raw.Runs); err != nil {
			return err
		}
		b, err := r.bytes("node", raw.ref, 0, uint64(unsafe.Sizeof(raw.Node)))
		if err != nil {
			return err
		}
		raw.Counts = atomic.LoadUint32(&view[Node](b).Counts)
	}
	if raw.Counts != 0 {
		if n.Counts, err = r.seq(raw.Counts); err != nil {
			return err
		}
	}
	if err := r.edges(raw, numbers, n); err != nil {
		return err
	}
	if len(n.Edges) < 2 {
		n.Runs = nil
	}
	return nil
}

// edges reads a node's edges whose ends are known: one to a newer node than those of the list
// belongs to an event that is not published, or to a later one.
func (r *reader) edges(raw *rawNode, numbers map[uint32]uint32, n *efg.OpenNode) error {
	for ref := raw.Edges; ref != 0; {
		e, err := r.edge(ref)
		if err != nil {
			return err
		}
		to, ok := numbers[e.To]
		if !ok {
			return nil
		}
		if e.Index != uint32(len(n.Edges)) {
			return r.corrupt("edge", ref, fmt.Errorf("edge %d has number %d", len(n.Edges), e.Index))
		}
		if ref == raw.Cur {
			n.Cur = len(n.Edges)
		}
		out := efg.OpenEdge{To: to, Runs: e.Runs, Total: e.Steps * e.Runs, Count: e.Steps, Fixed: e.Runs}
		if e.Varies != 0 {
			var v Varies
			if err := r.record("edge", e.Varies, &v); err != nil {
				return err
			}
			out.Total, out.Count, out.Fixed = e.Steps, v.Count, v.Fixed
		}
		n.Edges = append(n.Edges, out)
		ref = e.Next
	}
	return nil
}

// edge reads an edge. Its runs vary from the moment that Varies is set; before
// that, Steps is the length of each. So Varies is read after Steps.
func (r *reader) edge(ref uint32) (e Edge, err error) {
	if err = r.record("edge", ref, &e); err != nil {
		return e, err
	}
	b, err := r.bytes("edge", ref, 0, uint64(unsafe.Sizeof(e)))
	if err != nil {
		return e, err
	}
	e.Varies = atomic.LoadUint32(&view[Edge](b).Varies)
	return e, nil
}

func (r *reader) attrs(raw *rawNode) ([]efg.Attr, error) {
	count := uint64(bits.OnesCount32(raw.Mask))
	if count == 0 {
		return nil, nil
	}
	b, err := r.bytes("node", raw.Attrs, 0, count*uint64(unsafe.Sizeof(Attr{})))
	if err != nil {
		return nil, err
	}
	out := make([]efg.Attr, count)
	for i := range out {
		var a Attr
		decode(b[uint64(i)*uint64(unsafe.Sizeof(a)):], &a)
		if out[i].Values, err = r.seq(a.Values); err != nil {
			return nil, err
		}
		if a.Elems != 0 {
			if out[i].Elems, err = r.seq(a.Elems); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// seq decodes a sequence: the bytes in its chunks and the pending repeats.
func (r *reader) seq(ref uint32) (*seq.Seq, error) {
	var s Seq
	if err := r.record("sequence", ref, &s); err != nil {
		return nil, err
	}
	st, first, err := r.seqState(ref)
	if err != nil {
		return nil, err
	}
	code, err := r.chunks(first, st.NBytes)
	if err != nil {
		return nil, err
	}
	for l := SeqLevels - 1; l >= 0; l-- {
		if st.M[l] > 0 {
			code = binary.AppendUvarint(code, uint64(st.D[l])<<2|uint64(l+1))
			code = binary.AppendUvarint(code, st.M[l])
		}
	}
	seq, err := seq.New(st.N, s.Flags&1 != 0, code)
	if err != nil {
		return nil, r.corrupt("sequence", ref, err)
	}
	return seq, nil
}

// seqState reads a sequence's state, and then where the code is that it counts.
// The state that is not current is only written after Turns has gone up.
func (r *reader) seqState(ref uint32) (st SeqState, first uint32, err error) {
	b, err := r.bytes("sequence", ref, 0, uint64(unsafe.Sizeof(Seq{})))
	if err != nil {
		return st, 0, err
	}
	live := view[Seq](b)
	for range maxRetries {
		turns, sel := atomic.LoadUint32(&live.Turns), atomic.LoadUint32(&live.Sel)
		if sel > 1 {
			return st, 0, r.corrupt("sequence", ref, errors.New("no such state"))
		}
		at := uint64(unsafe.Offsetof(live.State)) + uint64(sel)*uint64(unsafe.Sizeof(st))
		decode(b[at:], &st)
		if atomic.LoadUint32(&live.Turns) == turns {
			return st, atomic.LoadUint32(&live.First), nil
		}
	}
	return st, 0, r.corrupt("sequence", ref, errBusy)
}

func (r *reader) chunks(ref uint32, n uint64) ([]byte, error) {
	if n > uint64(len(r.data)) {
		return nil, r.corrupt("sequence", ref, fmt.Errorf("%d bytes of code", n))
	}
	out := make([]byte, 0, n)
	for n > 0 {
		var c Chunk
		if err := r.record("sequence", ref, &c); err != nil {
			return nil, err
		}
		take := min(n, uint64(c.Cap))
		b, err := r.bytes("sequence", ref, uint64(unsafe.Sizeof(c)), take)
		if err != nil {
			return nil, err
		}
		out = append(out, b...)
		n -= take
		ref = c.Next
	}
	return out, nil
}
