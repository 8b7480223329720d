package generate

import (
	"fmt"

	"github.com/efg-tools/efg/signature"
)

// align is the alignment of buffers.
const align = 16

func (s span) rounded() span {
	return span{low: s.low &^ (align - 1), high: (s.high + align - 1) &^ (align - 1)}
}

// reads reports whether a call only reads a buffer. Calls that do can share one: MPI allows
// several operations to read the same memory.
func (n *node) reads(word int) bool { return n.param(word).Dir == signature.In && !n.owns(word) }

// owns reports whether the library keeps a buffer longer than the call, and writes to it.
func (n *node) owns(word int) bool {
	q := n.param(word)
	switch {
	case n.proc.MadeKind() == signature.Win, q.Name == "buffer" && n.proc.Roles.Send.Buffer == 0 && n.proc.Roles.Recv.Buffer == 0:
		return true
	case q.Dir == signature.In:
		return false
	}
	return n.slot != 0 || n.proc.Accesses() || n.proc.Split != ""
}

// poolKey is a buffer of its own of a node's calls.
type poolKey struct {
	node *node
	word int
}

// layOut assigns all buffers.
func (e *emitter) layOut() {
	for _, p := range e.procs {
		for _, n := range p.list() {
			for i, s := range n.spans {
				switch s = s.rounded(); {
				case n.owns(i):
				case n.reads(i):
					e.out = e.out.union(s)
				default:
					e.in = e.in.union(s)
				}
			}
		}
	}
	for _, c := range e.classes {
		at := int64(0)
		for _, n := range c.like().list() {
			for i := range n.values {
				if _, ok := n.spans[i]; ok && n.owns(i) {
					s := e.ownSpan(c, n.number, i)
					e.pool[poolKey{n, i}] = at - s.low
					at += (s.high - s.low) * e.slots(c, n)
				}
			}
		}
		e.pooled = max(e.pooled, at)
	}
}

// ownSpan is what a buffer that a node's calls own needs on any rank of the class.
func (e *emitter) ownSpan(c *class, number, word int) span {
	s := span{}
	for _, p := range c.procs {
		s = s.union(p.nodes[number].spans[word].rounded())
	}
	return s
}

// slots is the number of requests that a node has at the same time.
func (e *emitter) slots(c *class, n *node) int64 {
	if n.slot == 0 {
		return 1
	}
	most := uint64(1)
	for _, p := range c.procs {
		if b := p.handles.blocks[signature.ID{Thread: n.thread, Node: uint32(n.number)}.Word()]; b != nil {
			most = max(most, b.slots)
		}
	}
	return int64(most)
}

// buffer is the address of a buffer.
func (e *emitter) buffer(word int) string {
	n := e.node
	w, ok := n.values[word].constant()
	if c := signature.ConstantOf(w); ok && special(w) {
		if c.Group == "buf" && c.Name != "EFG_NULL" {
			return c.Name
		}
		return "NULL"
	}
	switch {
	case n.proc.Name == "MPI_Free_mem":
		e.needs["allocated"] = true
		return "allocated[--allocations]"
	case n.owns(word):
		return e.own(word)
	case n.reads(word):
		e.needs["out"] = true
		return offset("out", -e.out.low)
	}
	e.needs["in"] = true
	return offset("in", -e.in.low)
}

func offset(name string, bytes int64) string {
	if bytes == 0 {
		return name
	}
	return fmt.Sprintf("%s + %d", name, bytes)
}

// own is the address of a buffer that belongs to a request or window.
func (e *emitter) own(word int) string {
	n := e.node
	e.needs["pool"] = true
	at := e.pool[poolKey{n, word}]
	if e.slots(e.class, n) == 1 {
		return offset("pool", at)
	}
	s := e.ownSpan(e.class, n.number, word)
	slot := e.number(signature.Req, n.slot)
	base := e.class.like().handles.blocks[signature.ID{Thread: n.thread, Node: uint32(n.number)}.Word()].base
	e.needs["slot"] = true
	e.pre = append(e.pre, fmt.Sprintf("slot = %s;", slot))
	return fmt.Sprintf("%s + %d * (slot - %d)", offset("pool", at), s.high-s.low, base)
}
