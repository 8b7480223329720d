package generate

import (
	"fmt"
	"slices"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/signature"
)

// handles numbers the handles of a process: each is a variable of the program. Handles of
// different kinds are numbered apart.
type handles struct {
	families map[uint64]*family
	idents   map[identKey]uint64 // datatypes, groups and operations
	makers   makers
	blocks   map[uint64]*block // by the node that made them: an ID without its slot
	counts   map[signature.Kind]uint64
}

// family are the communicators, windows or files of one family.
type family struct {
	def         *efg.Def
	kind        signature.Kind
	first, last uint64 // sequence numbers that occur
	base        uint64
	used        bool
}

// block are the local objects that one node made.
type block struct {
	kind  signature.Kind
	slots uint64
	base  uint64
}

var familyKinds = map[efg.DefKind]signature.Kind{efg.DefComm: signature.Comm, efg.DefWin: signature.Win, efg.DefFile: signature.File}

var identKinds = map[efg.DefKind]signature.Kind{efg.DefType: signature.Type, efg.DefGroup: signature.Group, efg.DefOp: signature.Op}

// maxHandles bounds the variables of a kind.
const maxHandles = 1 << 22

// number numbers the handles of a process: those that the process made, in order.
func number(p *efg.Process, nodes []*node) (*handles, error) {
	h := &handles{families: map[uint64]*family{}, idents: map[identKey]uint64{}, makers: makersOf(nodes), blocks: map[uint64]*block{}, counts: map[signature.Kind]uint64{}}
	for i := range p.Defs {
		d := &p.Defs[i]
		if kind, ok := familyKinds[d.Kind]; ok {
			h.families[d.Word] = &family{def: d, kind: kind, first: signature.SequenceMask}
		}
	}
	for _, n := range nodes {
		h.scan(n)
	}
	h.numberIdents(p, nodes)
	for i := range p.Defs {
		f := h.families[p.Defs[i].Word]
		if f == nil || !f.used || f.def != &p.Defs[i] {
			continue
		}
		f.base = h.counts[f.kind]
		h.counts[f.kind] += f.last - f.first + 1
	}
	h.place(nodes)
	for kind, n := range h.counts {
		if n > maxHandles {
			return nil, fmt.Errorf("%d handles of kind %s", n, kind)
		}
	}
	return h, nil
}

// scan notes which handles occur at a node.
func (h *handles) scan(n *node) {
	for i := range n.values {
		q := n.param(i)
		if q == nil {
			continue
		}
		switch {
		case n.form(i) == signature.SlotForm:
			b := h.block(signature.ID{Thread: n.thread, Node: uint32(n.index)}.Word(), q.Kind)
			n.values[i].each(func(w uint64) {
				if signature.IsPlain(w) {
					b.slots = max(b.slots, w+1)
				}
			})
		case q.Kind.Object():
			n.values[i].each(func(w uint64) {
				if f := h.families[signature.Family(w)]; f != nil && !special(w) {
					f.used = true
					f.first, f.last = min(f.first, w&signature.SequenceMask), max(f.last, w&signature.SequenceMask)
				}
			})
		}
	}
}

// numberIdents numbers the datatypes, groups and operations that occur, in the order of their
// definitions.
func (h *handles) numberIdents(p *efg.Process, nodes []*node) {
	used := map[uint64][]int{} // the streams whose variables hold it
	for _, n := range nodes {
		for i := range n.values {
			if q := n.param(i); q != nil && q.Kind.Ident() && q.Kind.Handle() {
				n.values[i].each(func(w uint64) {
					if owner := h.makers.owner(n.stream, w); !slices.Contains(used[w], owner) {
						used[w] = append(used[w], owner)
					}
				})
			}
		}
	}
	for i := range p.Defs {
		d := &p.Defs[i]
		kind, ok := identKinds[d.Kind]
		for _, owner := range used[d.Word] {
			key := identKey{owner, d.Word}
			if _, done := h.idents[key]; ok && !done {
				h.idents[key] = h.counts[kind]
				h.counts[kind]++
			}
		}
	}
}

func (h *handles) block(id uint64, kind signature.Kind) *block {
	b := h.blocks[id]
	if b == nil {
		b = &block{kind: kind}
		h.blocks[id] = b
	}
	return b
}

// place gives blocks their numbers: requests that are in one array together, one after another, with room for
// the null requests among them. So calls can be passed the variables themselves: what MPI returns for operations that
// complete at once is the same handle for all of them, which only the variable tells apart.
func (h *handles) place(nodes []*node) {
	placed := map[uint64]bool{}
	place := func(id uint64) {
		if b := h.blocks[id]; b != nil && !placed[id] {
			placed[id] = true
			b.base = h.counts[b.kind]
			h.counts[b.kind] += b.slots
		}
	}
	for _, n := range nodes {
		for i := range n.values {
			if q := n.param(i); q == nil || q.Kind != signature.Req {
				continue
			}
			for _, e := range n.values[i].vecs {
				fresh := !slices.ContainsFunc(e, func(w uint64) bool { return placed[issuer(w)] })
				for _, w := range e {
					if id := issuer(w); id != 0 {
						place(id)
					} else if fresh && len(e) <= maxNull {
						h.counts[signature.Req]++
					}
				}
			}
		}
	}
	ids := make([]uint64, 0, len(h.blocks))
	for id := range h.blocks {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	for _, id := range ids {
		place(id)
	}
}

// maxNull is the length of the longest array with room for null requests.
const maxNull = 4096

// issuer is the ID of a request without its slot; 0 for constants.
func issuer(w uint64) uint64 {
	id, ok := signature.ParseID(w)
	if !ok {
		return 0
	}
	return signature.ID{Thread: id.Thread, Node: id.Node}.Word()
}

// number returns the number of a handle that calls of a stream pass. Constants stay.
func (h *handles) number(stream int, kind signature.Kind, w uint64) (uint64, error) {
	if special(w) {
		return w, nil
	}
	if id, ok := signature.ParseID(w); ok {
		b := h.blocks[signature.ID{Thread: id.Thread, Node: id.Node}.Word()]
		if b == nil || uint64(id.Slot) >= b.slots {
			return 0, fmt.Errorf("%s that no recorded call created", kind)
		}
		return b.base + uint64(id.Slot), nil
	}
	if kind.Object() {
		f := h.families[signature.Family(w)]
		if f == nil {
			return 0, fmt.Errorf("%s that no recorded call created", kind)
		}
		return f.base + w&signature.SequenceMask - f.first, nil
	}
	if kind.Ident() {
		n, ok := h.idents[identKey{h.makers.owner(stream, w), w}]
		if !ok {
			return 0, fmt.Errorf("%s without a definition", kind)
		}
		return n, nil
	}
	return 0, fmt.Errorf("%s %#x is not a handle", kind, w)
}

// translate replaces the handles in a node's values by their numbers.
func (h *handles) translate(n *node) error {
	for i := range n.values {
		q := n.param(i)
		if q == nil || !q.Kind.Handle() && q.Kind != signature.Keyval {
			continue
		}
		convert := func(w uint64) (uint64, error) { return h.number(n.stream, q.Kind, w) }
		if n.form(i) == signature.SlotForm {
			b := h.blocks[signature.ID{Thread: n.thread, Node: uint32(n.index)}.Word()]
			convert = func(w uint64) (uint64, error) {
				if special(w) {
					return w, nil
				}
				return b.base + w, nil
			}
		}
		v, err := n.values[i].mapped(convert)
		if err != nil {
			return fmt.Errorf("%s: argument %s: %w", n.proc.Name, n.proc.Words[i].Name, err)
		}
		n.values[i] = v
	}
	return nil
}
