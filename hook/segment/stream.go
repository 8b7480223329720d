package segment

import (
	"errors"
	"fmt"
	"math/bits"
	"unsafe"

	"encoding/binary"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/signature"
)

// stream decodes the graph of one thread.
func (r *reader) stream(ref uint32, st *Stream, h *Header) (*efg.Stream, error) {
	pub := &st.Pub[st.Events&1]
	o := &efg.OpenStream{Thread: st.Thread, Events: st.Events, Hash: pub.Hash, Dropped: st.Dropped}
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
	for i := range nodes {
		n, err := r.node(&nodes[i], numbers, h.TimeMode != 0)
		if err != nil {
			return nil, err
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
	s, err := o.Close()
	if err != nil {
		return nil, r.corrupt("stream", ref, err)
	}
	return s, nil
}

// rawNode is a node and where it stands.
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

func (r *reader) node(raw *rawNode, numbers map[uint32]uint32, times bool) (*efg.OpenNode, error) {
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
	if err := r.edges(raw, numbers, n); err != nil {
		return nil, err
	}
	if raw.Runs != 0 && len(n.Edges) > 1 {
		if n.Runs, err = r.seq(raw.Runs); err != nil {
			return nil, err
		}
	}
	if raw.Counts != 0 {
		if n.Counts, err = r.seq(raw.Counts); err != nil {
			return nil, err
		}
	}
	if n.Attrs, err = r.attrs(raw); err != nil {
		return nil, err
	}
	if times {
		at := (size + 8*uint64(raw.N) + 63) &^ 63
		n.Stats, err = r.stats(raw.ref, at)
	}
	return n, err
}

func (r *reader) edges(raw *rawNode, numbers map[uint32]uint32, n *efg.OpenNode) error {
	for ref := raw.Edges; ref != 0; {
		var e Edge
		if err := r.record("edge", ref, &e); err != nil {
			return err
		}
		to, ok := numbers[e.To]
		if !ok || e.Index != uint32(len(n.Edges)) {
			return r.corrupt("edge", ref, fmt.Errorf("edge %d to ref %d, number %d", len(n.Edges), e.To, e.Index))
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

func (r *reader) stats(ref uint32, at uint64) (*efg.Stats, error) {
	b, err := r.bytes("node", ref, at, uint64(unsafe.Sizeof(NodeStats{})))
	if err != nil {
		return nil, err
	}
	var s NodeStats
	decode(b, &s)
	return &efg.Stats{
		Count: s.Count,
		Dur:   efg.Interval{Sum: s.DurSum, Min: s.DurMin, Max: s.DurMax, Bins: s.DurBins},
		Gap:   efg.Interval{Sum: s.GapSum, Min: s.GapMin, Max: s.GapMax, Bins: s.GapBins},
	}, nil
}

// seq decodes a sequence: the bytes in its chunks and the pending repeats.
func (r *reader) seq(ref uint32) (*efg.Seq, error) {
	var s Seq
	if err := r.record("sequence", ref, &s); err != nil {
		return nil, err
	}
	if s.Sel > 1 {
		return nil, r.corrupt("sequence", ref, errors.New("no such state"))
	}
	st := &s.State[s.Sel]
	code, err := r.chunks(s.First, st.NBytes)
	if err != nil {
		return nil, err
	}
	for l := SeqLevels - 1; l >= 0; l-- {
		if st.M[l] > 0 {
			code = binary.AppendUvarint(code, uint64(st.D[l])<<2|uint64(l+1))
			code = binary.AppendUvarint(code, st.M[l])
		}
	}
	seq, err := efg.NewSeq(st.N, s.Flags&1 != 0, code)
	if err != nil {
		return nil, r.corrupt("sequence", ref, err)
	}
	return seq, nil
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
