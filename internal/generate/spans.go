package generate

import (
	"fmt"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/signature"
)

// spans returns where the data of each buffer of a node's calls lie, by word. The node's values
// are as recorded.
func (p *process) spans(n *node) map[int]span {
	out := map[int]span{}
	if n.attaches() {
		return out // what is attached is not declared
	}
	for i := signature.FirstWord; i < len(n.values); i++ {
		if q := n.param(i); q != nil && q.Kind == signature.Buf {
			out[i] = p.span(n, i)
		}
	}
	return out
}

// firstAddress is less than any address of data in a process. In C, NULL is recorded as MPI_BOTTOM, too.
const firstAddress = 64 << 10

// refuseAbsolute returns an error if calls of a node pass MPI_BOTTOM and a datatype of addresses,
// which are those of the recorded process.
func (p *process) refuseAbsolute(n *node) error {
	for i := signature.FirstWord; i < len(n.values); i++ {
		q, d := n.param(i), n.proc.Roles.DataOf(i)
		if q == nil || q.Kind != signature.Buf || d == nil || d.Type == 0 {
			continue
		}
		bottom, absolute := false, false
		n.values[i].each(func(w uint64) {
			c := signature.ConstantOf(w)
			bottom = bottom || c != nil && c.Name == "MPI_BOTTOM"
		})
		n.values[d.Type].each(func(w uint64) { absolute = absolute || p.types.of(w).low >= firstAddress })
		if bottom && absolute {
			return fmt.Errorf("%s: MPI_BOTTOM with a datatype of addresses, which are those of the recorded processes", n.proc.Name)
		}
	}
	return nil
}

func (p *process) span(n *node, buffer int) span {
	if d := n.proc.Roles.DataOf(buffer); d != nil && d.Type != 0 {
		return p.payload(n, d)
	}
	for _, size := range []string{"size", "insize", "outsize", "origin_datatype", "datatype", "count"} {
		for i := range n.values {
			q := n.param(i)
			if q == nil || q.Name != size {
				continue
			}
			if q.Kind == signature.Type {
				return p.elements(&n.values[i], 1)
			}
			return span{0, max(n.values[i].largest(), 1), 0}
		}
	}
	return span{0, 1, 0}
}

// elements is the span of a number of elements of any of the types of a value.
func (p *process) elements(types *value, count int64) span {
	s := span{}
	types.each(func(w uint64) { s = s.union(p.types.of(w).place(0, count)) })
	return s
}

// payload is the span of the data of a call.
func (p *process) payload(n *node, d *signature.Payload) span {
	count, types := int64(1), &n.values[d.Type]
	if d.Count != 0 {
		count = n.values[d.Count].largest()
	}
	if d.Parts != 0 {
		count *= n.values[d.Parts].largest()
	}
	switch {
	case d.Count != 0 && n.values[d.Count].vecs != nil:
		return p.blocksOf(n, d, types)
	case d.Blocks:
		count *= p.peers(n)
	}
	return p.elements(types, count)
}

// blocksOf is the span of blocks with counts and displacements of their own.
func (p *process) blocksOf(n *node, d *signature.Payload, types *value) span {
	counts := &n.values[d.Count]
	if d.Displs == 0 || n.values[d.Displs].vecs == nil {
		most := int64(0)
		for _, e := range counts.vecs {
			sum := int64(0)
			for _, w := range e {
				sum += int64(w)
			}
			most = max(most, sum)
		}
		return p.elements(types, most)
	}
	low, high := int64(0), int64(0)
	for _, e := range n.values[d.Displs].vecs {
		for _, w := range e {
			low, high = min(low, int64(w)), max(high, int64(w))
		}
	}
	one := p.elements(types, counts.largest())
	extent := int64(1)
	if types.vecs == nil {
		types.each(func(w uint64) { extent = max(extent, p.types.of(w).extent) })
	}
	return span{low: low*extent + one.low, high: high*extent + one.high}
}

// peers is at least the number of blocks of a collective of a process: members, or neighbours.
func (p *process) peers(n *node) int64 {
	most := int64(p.size)
	for i := range p.data.Defs {
		if d := &p.data.Defs[i]; d.Kind == efg.DefComm && len(d.Words) > 2 {
			most = max(most, int64(d.Words[2]))
			if len(d.Words) > 3 {
				for r := d.Words[min(uint64(len(d.Words)), 4+d.Words[3]):]; len(r) >= 3; r = r[3:] {
					most = max(most, int64(r[1]))
				}
			}
		}
	}
	if n.proc.Shape == signature.Neighbours {
		for i := range p.data.Defs {
			if d := &p.data.Defs[i]; d.Kind == efg.DefVec {
				most = max(most, 2*int64(len(d.Words)))
			}
		}
	}
	return most
}
