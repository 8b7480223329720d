package efg

import (
	"fmt"
	"math/bits"
)

// What follows a number that has several forms.
const (
	countWeight = 0 // the edge was taken in one branch run
	countEqual  = 1 // all branch runs are as long: the length follows
	countVaries = 2 // the length of the first runs and their number follow
)

// appendGraph appends the content of a graph block: everything of the stream
// but its times. sig gives the numbers of signatures in the shared table.
func appendGraph(b []byte, s *Stream, sig func([]uint64) (uint32, error)) ([]byte, error) {
	b = appendUvarint(b, uint64(len(s.Nodes)))
	for i := range s.Nodes {
		n := &s.Nodes[i]
		k, err := sig(n.Words)
		if err != nil {
			return nil, fmt.Errorf("node %d: %w", i, err)
		}
		b = appendUvarint(b, uint64(k))
		b = appendUvarint(b, n.Mask)
		b = appendEdges(b, n)
		if b, err = appendAttrs(b, n); err != nil {
			return nil, fmt.Errorf("node %d: %w", i, err)
		}
	}
	return b, nil
}

func appendEdges(b []byte, n *Node) []byte {
	b = appendUvarint(b, uint64(len(n.Edges))<<2|flag(n.Counts != nil)<<1|flag(n.Runs != nil))
	for i := range n.Edges {
		e := &n.Edges[i]
		b = appendUvarint(b, uint64(e.To))
		b = appendUvarint(b, e.Weight)
		switch {
		case e.varies():
			b = appendUvarint(appendUvarint(append(b, countVaries), e.Count), e.Fixed)
		case e.Count == e.Weight:
			b = append(b, countWeight)
		default:
			b = appendUvarint(append(b, countEqual), e.Count)
		}
	}
	if n.Runs != nil {
		b = n.Runs.AppendTo(b)
	}
	if n.Counts != nil {
		b = n.Counts.AppendTo(b)
	}
	return b
}

func appendAttrs(b []byte, n *Node) ([]byte, error) {
	if len(n.Attrs) != bits.OnesCount64(n.Mask) {
		return nil, fmt.Errorf("%d attribute streams for mask %#x", len(n.Attrs), n.Mask)
	}
	for i := range n.Attrs {
		a := &n.Attrs[i]
		b = append(b, byte(flag(a.Elems != nil)))
		b = a.Values.AppendTo(b)
		if a.Elems != nil {
			b = a.Elems.AppendTo(b)
		}
	}
	return b, nil
}

func flag(v bool) uint64 {
	if v {
		return 1
	}
	return 0
}

// decodeGraph reads a graph block's content. Nodes share the words of sigs.
func decodeGraph(section string, content []byte, sigs [][]uint64) ([]Node, error) {
	c := &cursor{section: section, buf: content}
	count := c.count(3)
	nodes := make([]Node, 0, count)
	for i := 0; i < count && c.err == nil; i++ {
		var n Node
		if k := c.index(len(sigs), "signature"); c.err == nil {
			n.Words = sigs[k]
		}
		n.Mask = c.uvarint()
		if n.Mask>>len(n.Words) != 0 {
			c.failf("mask %#x of %d words", n.Mask, len(n.Words))
		}
		c.edges(&n, count)
		c.attrs(&n)
		nodes = append(nodes, n)
	}
	return nodes, c.close()
}

func (c *cursor) edges(n *Node, nodes int) {
	v := c.uvarint()
	count, hasRuns, hasCounts := v>>2, v&1 != 0, v&2 != 0
	if c.err == nil && count > c.left()/3 {
		c.failf("%d edges announced, %d bytes left", count, c.left())
	}
	if c.err != nil {
		return
	}
	if count > 0 {
		n.Edges = make([]Edge, count)
	}
	for i := range n.Edges {
		e := &n.Edges[i]
		e.To = c.index(nodes, "node")
		e.Weight = c.uvarint()
		switch form := c.byte(); form {
		case countWeight:
			e.Count, e.Fixed = e.Weight, 1
		case countEqual:
			e.Count = c.uvarint()
			if e.Count == 0 || e.Weight%e.Count != 0 {
				c.failf("weight %d in branch runs of %d", e.Weight, e.Count)
				return
			}
			e.Fixed = e.Weight / e.Count
		case countVaries:
			e.Count, e.Fixed = c.uvarint(), c.uvarint()
		default:
			c.failf("unknown form %d of counts", form)
		}
	}
	if hasRuns {
		n.Runs = c.seq()
	}
	if hasCounts {
		n.Counts = c.seq()
	}
}

func (c *cursor) attrs(n *Node) {
	if c.err != nil || n.Mask == 0 {
		return
	}
	n.Attrs = make([]Attr, bits.OnesCount64(n.Mask))
	for i := range n.Attrs {
		form := c.byte()
		if form > 1 {
			c.failf("unknown form %d of an attribute stream", form)
		}
		n.Attrs[i].Values = c.seq()
		if form == 1 {
			n.Attrs[i].Elems = c.seq()
		}
	}
}

// appendStats appends the content of a statistics block: for each node 0, or
// 1 and its times. It returns b unchanged if no node has any.
func appendStats(b []byte, nodes []Node) []byte {
	start, any := len(b), false
	for i := range nodes {
		st := nodes[i].Stats
		if st == nil {
			b = append(b, 0)
			continue
		}
		any = true
		b = appendUvarint(append(b, 1), st.Count)
		b = appendInterval(b, &st.Dur)
		b = appendInterval(b, &st.Gap)
	}
	if !any {
		return b[:start]
	}
	return b
}

func appendInterval(b []byte, v *Interval) []byte {
	b = appendUvarint(b, v.Sum)
	b = appendUvarint(b, v.Min)
	b = appendUvarint(b, v.Max)
	used := uint64(0)
	for i, n := range v.Bins {
		if n != 0 {
			used |= 1 << i
		}
	}
	b = appendUvarint(b, used)
	for _, n := range v.Bins {
		if n != 0 {
			b = appendUvarint(b, uint64(n))
		}
	}
	return b
}

// decodeStats reads a statistics block's content into the nodes.
func decodeStats(section string, content []byte, nodes []Node) error {
	c := &cursor{section: section, buf: content}
	for i := range nodes {
		switch form := c.byte(); {
		case c.err != nil:
			return c.err
		case form == 1:
			st := &Stats{Count: c.uvarint()}
			c.interval(&st.Dur)
			c.interval(&st.Gap)
			nodes[i].Stats = st
		case form != 0:
			c.failf("unknown form %d of statistics", form)
		}
	}
	return c.close()
}

func (c *cursor) interval(v *Interval) {
	v.Sum, v.Min, v.Max = c.uvarint(), c.uvarint(), c.uvarint()
	used := c.uvarint()
	if used>>len(v.Bins) != 0 {
		c.failf("bins %#x out of range", used)
	}
	for i := range v.Bins {
		if used>>i&1 == 0 {
			continue
		}
		n := c.uvarint()
		if n == 0 || n > 1<<32-1 {
			c.failf("%d events in a bin", n)
		}
		v.Bins[i] = uint32(n)
	}
}
