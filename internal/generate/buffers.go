package generate

import (
	"fmt"
	"strings"

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

// poolKey is a buffer of its own of a call.
type poolKey struct {
	call *call
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
	ends := map[*process]int64{} // of the buffers that a process has already
	for _, c := range e.all {
		if c.text != "" {
			continue
		}
		n := c.like()
		for i := range n.values {
			if _, ok := n.spans[i]; !ok || !n.owns(i) {
				continue
			}
			at := int64(0)
			for _, p := range c.procs {
				at = max(at, ends[p])
			}
			s := c.span(i)
			e.pool[poolKey{c, i}] = at - s.low
			at += (s.high - s.low) * c.slots()
			for _, p := range c.procs {
				ends[p] = at
			}
			e.pooled = max(e.pooled, at)
		}
	}
}

// span is what a buffer that the call owns needs on any rank.
func (c *call) span(word int) span {
	s := span{}
	for _, n := range c.nodes {
		s = s.union(n.spans[word].rounded())
	}
	return s
}

// slots is the number of requests that a rank has at the same time.
func (c *call) slots() int64 {
	if c.like().slot == 0 {
		return 1
	}
	most := uint64(1)
	for i, n := range c.nodes {
		if b := n.block(c.procs[i]); b != nil {
			most = max(most, b.slots)
		}
	}
	return int64(most)
}

// block are the requests of a node.
func (n *node) block(p *process) *block {
	return p.handles.blocks[signature.ID{Thread: n.thread, Node: uint32(n.index)}.Word()]
}

// buffer is the address of a buffer.
func (e *emitter) buffer(word int) string {
	n := e.node
	if n.attaches() {
		return "(char *)attached_at + " + e.scalar("base", "long", e.values(word), func(w uint64) string { return fmt.Sprint(w) })
	}
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
	if e.threads > 1 {
		return offset(fmt.Sprintf("in[%d]", n.stream), -e.in.low)
	}
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
	at := e.pool[poolKey{e.call, word}]
	if e.call.slots() == 1 {
		return offset("pool", at)
	}
	s := e.call.span(word)
	slot := e.number(signature.Req, n.slot)
	bases := make([]*value, len(e.call.nodes))
	for i, n := range e.call.nodes {
		bases[i] = &value{series: series{{Count: 1}}}
		if b := n.block(e.call.procs[i]); b != nil {
			bases[i].series[0].Value = b.base
		}
	}
	base := e.scalar("first_request", "int", bases, func(w uint64) string { return fmt.Sprint(w) })
	e.needs["slot"] = true
	e.pre = append(e.pre, fmt.Sprintf("slot = %s;", slot))
	if strings.Contains(base, " ") {
		base = "(" + base + ")"
	}
	return fmt.Sprintf("%s + %d * (slot - %s)", offset("pool", at), s.high-s.low, base)
}
