package runfile

import (
	"encoding/binary"
	"math/bits"
	"unsafe"

	"github.com/cespare/xxhash/v2"

	"github.com/efg-tools/efg/efg/block"
	"github.com/efg-tools/efg/efg/seq"
	"github.com/efg-tools/efg/internal/token"
)

// A recordGroup is a class of records, or as many of its members as a block should hold: the
// shape, the cells that are equal in all members, and for each other cell the sequence of its
// values over the members.
type recordGroup struct {
	kind    recordKind
	shape   []uint64
	members uint64
	cells   []groupCell
	bodies  []*seq.Body // of the cells that are sequences, in the order of first use
	known   map[string]uint64
	wide    []uint64
	wides   map[uint64]uint64
}

// groupKindBits is the number of bits of a group's first value that hold its kind.
const groupKindBits = 2

// groupCell is a cell over the members of a group. Peers have two forms, of
// which one is stored.
type groupCell struct {
	kind       cellKind
	role       int
	value      memberValues
	relative   memberValues
	noRelative bool // a member has a wide word
}

// memberValues holds the values of a cell over the members: one value while all are equal, a
// list while there are few, and otherwise a folded sequence.
type memberValues struct {
	first      uint64
	n          uint64
	list       []uint64
	raw, delta *seq.Writer
}

// listedMembers is the number of values that are kept as a list. Folding them takes much more
// memory, and if ranks differ most classes of a program have few members.
const listedMembers = 32

var memberWindow = [seq.Levels]uint32{512, 128, 128}

func (m *memberValues) push(v uint64) {
	m.n++
	switch {
	case m.raw != nil:
		m.raw.Push(v)
		m.delta.Push(v)
	case m.list != nil:
		if m.list = append(m.list, v); len(m.list) > listedMembers {
			m.fold()
		}
	case m.n == 1:
		m.first = v
	case v != m.first:
		m.begin(m.n-1, v)
	}
}

// begin stores n equal values and another one.
func (m *memberValues) begin(n, v uint64) {
	if n < listedMembers {
		m.list = make([]uint64, n, n+1)
		for i := range m.list {
			m.list[i] = m.first
		}
		m.list = append(m.list, v)
		return
	}
	m.raw, m.delta = seq.NewWindowWriter(false, memberWindow), seq.NewWindowWriter(true, memberWindow)
	for range n {
		m.raw.Push(m.first)
		m.delta.Push(m.first)
	}
	m.raw.Push(v)
	m.delta.Push(v)
}

// fold converts a list to a sequence.
func (m *memberValues) fold() {
	if m.list == nil {
		return
	}
	m.raw, m.delta = seq.NewWindowWriter(false, memberWindow), seq.NewWindowWriter(true, memberWindow)
	for _, v := range m.list {
		m.raw.Push(v)
		m.delta.Push(v)
	}
	m.list = nil
}

func (m *memberValues) varies() bool { return m.raw != nil || m.list != nil }

// size estimates the number of bytes of the values in a block.
func (m *memberValues) size() int {
	switch {
	case m.raw != nil:
		return min(m.raw.Size(), m.delta.Size())
	case m.list != nil:
		return listSize(m.list)
	}
	return 1
}

func listSize(list []uint64) int {
	raw, delta, last := 0, 0, uint64(0)
	for _, v := range list {
		raw += uvarintLen(v)
		delta += uvarintLen(block.Zigzag(int64(v - last)))
		last = v
	}
	return min(raw, delta)
}

func uvarintLen(v uint64) int { return (bits.Len64(v|1) + 6) / 7 }

// memory estimates the number of bytes of the values in memory, without the memberValues
// itself.
func (m *memberValues) memory() int {
	if m.raw == nil {
		return 8 * len(m.list)
	}
	return m.raw.Memory() + m.delta.Memory()
}

// body folds the values.
func (m *memberValues) body() *seq.Body {
	m.fold()
	return seq.SmallerBody(m.raw, m.delta)
}

func newGroup(u *record) *recordGroup {
	p := &recordGroup{kind: u.kind, shape: u.shape, cells: make([]groupCell, len(u.cells)),
		known: map[string]uint64{}, wides: map[uint64]uint64{}}
	for i := range u.cells {
		p.cells[i].kind, p.cells[i].role = u.cells[i].kind, u.cells[i].role
	}
	return p
}

// add adds u, which has the group's shape, as its next member. text numbers texts.
func (p *recordGroup) add(u *record, text func(string) uint64) {
	for i := range u.cells {
		c, to := &u.cells[i], &p.cells[i]
		switch c.kind {
		case cellText:
			to.value.push(text(c.text))
		case cellSeq:
			to.value.push(p.bodyNumber(c.body))
		case cellWide:
			to.value.push(token.Of(token.Wide, p.wideNumber(c.v)))
			to.noRelative = true
		case cellPeer:
			to.kind = cellPeer
			to.value.push(c.v)
			to.relative.push(c.alt)
		case cellWord:
			to.value.push(c.v)
			to.relative.push(c.v)
		default:
			to.value.push(c.v)
		}
	}
	p.members++
}

func (p *recordGroup) bodyNumber(b *seq.Body) uint64 {
	n, ok := p.known[b.Key]
	if !ok {
		n = uint64(len(p.bodies))
		p.known[b.Key] = n
		p.bodies = append(p.bodies, b)
	}
	return n
}

func (p *recordGroup) wideNumber(w uint64) uint64 {
	n, ok := p.wides[w]
	if !ok {
		n = uint64(len(p.wide))
		p.wides[w] = n
		p.wide = append(p.wide, w)
	}
	return n
}

// size estimates how much the group adds to its block, in bytes before compression.
func (p *recordGroup) size() int {
	n := len(p.shape) + 9*len(p.wide)
	for i := range p.cells {
		n += p.cells[i].value.size()
	}
	for _, b := range p.bodies {
		n += b.Size()
	}
	return n
}

// memory estimates the number of bytes of the group in memory.
func (p *recordGroup) memory() int {
	const perCell, perBody = int(unsafe.Sizeof(groupCell{})), 250
	n := 8*len(p.shape) + perCell*len(p.cells) + 32*len(p.wide)
	for i := range p.cells {
		n += p.cells[i].value.memory() + p.cells[i].relative.memory()
	}
	for _, b := range p.bodies {
		n += perBody + b.Memory() + b.Size()
	}
	return n
}

// chosen returns the form of a cell that is stored: the relative one if it is equal in all
// members, or if it folds better.
func (c *groupCell) chosen() *memberValues {
	if c.kind != cellPeer || c.noRelative {
		return &c.value
	}
	if !c.value.varies() {
		return &c.value
	}
	c.value.fold()
	c.relative.fold()
	if !c.relative.varies() || c.relative.size() <= c.value.size() {
		return &c.relative
	}
	return &c.value
}

// isEither reports whether both forms of a cell are equal in all members.
func (c *groupCell) isEither() bool {
	return c.kind == cellPeer && !c.noRelative && !c.value.varies() && !c.relative.varies()
}

// shapeKey identifies a class.
type shapeKey [2]uint64

func keyOf(kind recordKind, shape []uint64) shapeKey {
	b := make([]byte, 0, 8*len(shape)+1)
	b = append(b, byte(kind))
	for _, v := range shape {
		b = binary.LittleEndian.AppendUint64(b, v)
	}
	h := xxhash.Sum64(b)
	b = binary.LittleEndian.AppendUint64(b, h)
	return shapeKey{h, xxhash.Sum64(b)}
}
