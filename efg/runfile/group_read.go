package runfile

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/block"
	"github.com/efg-tools/efg/efg/seq"
	"github.com/efg-tools/efg/internal/token"
	"github.com/efg-tools/efg/signature"
)

// readGroup is a group as stored in a file.
type readGroup struct {
	kind    recordKind
	shape   []uint64
	key     shapeKey
	members uint64
	places  []place
	masks   []uint64 // of a graph's nodes, or of a call; otherwise nil
	cells   []readCell
	bodies  []*seq.Body
	wide    []uint64
	alts    map[int]uint64 // of cells that do not vary: another token with the same meaning

	mu     sync.Mutex
	values [][]uint64 // of varying cells, after several members were read
	asked  uint64
}

type readCell struct {
	v      uint64    // if it does not vary
	values *seq.Body // if it does
}

// groupReader reads groups from the columns of a block.
type groupReader struct {
	*block.Block
	load    seq.LoadPart
	headers []uint64
	bodies  []*seq.Body
	total   uint64 // values in the block, which bounds all counts
	room    []place
	predictions
}

// readGroups decodes a block of groups. load reads parts of long sequences.
func readGroups(b *block.Block, load seq.LoadPart) ([]*readGroup, error) {
	r := &groupReader{Block: b, load: load, predictions: *newPredictions()}
	r.total = b.Values()
	var groups []*readGroup
	for b.Err == nil && b.Left(colGroup) > 0 {
		groups = append(groups, r.group())
	}
	return groups, b.Close()
}

func (r *groupReader) group() *readGroup {
	head := r.Get(colGroup)
	p := &readGroup{kind: recordKind(head & (1<<groupKindBits - 1)), members: head >> groupKindBits}
	if p.members == 0 || p.kind >= recordKinds {
		r.Failf("a group of kind %d with %d members", p.kind, p.members)
	}
	switch p.kind {
	case recordGraph:
		p.shape, p.masks = r.graphShape()
	case recordCheckpoints:
		p.shape = r.checkpointsShape()
	case recordPending:
		p.shape, p.masks = r.pendingShape()
	default:
		p.shape = r.defShape()
	}
	for range r.Count(colWides, colWide, "wide words") {
		p.wide = append(p.wide, r.Get(colWide))
	}
	if r.Err != nil {
		return p
	}
	p.key = keyOf(p.kind, p.shape)
	r.room = layoutIn(r.room, p.kind, p.shape)
	p.places = slices.Clone(r.room)
	p.cells = make([]readCell, len(p.places))
	for i := range p.places {
		r.cell(p, &p.cells[i], &p.places[i])
	}
	return p
}

func (r *groupReader) graphShape() (shape, masks []uint64) {
	nodes := r.Count(colShape, colHeader, "nodes")
	shape = []uint64{uint64(nodes)}
	for i := range nodes {
		if r.Err != nil {
			break
		}
		header := r.header()
		mask := r.Get(colMask) ^ r.masks[header]
		r.masks[header] = mask
		masks = append(masks, mask)
		flags := r.Get(colFlags)
		n := header >> 24 & 0xff
		if n < signature.FirstWord || n > signature.MaxWords || mask>>n != 0 || mask&1 != 0 {
			r.Failf("node %d: %d words, mask %#x", i, n, mask)
		}
		edges := r.Count(colEdges, colTo, "edges")
		shape = append(shape, header, mask, flags, uint64(edges))
		for range edges {
			to := uint64(i) + 1 + uint64(block.Unzigzag(r.Get(colTo)))
			if to >= uint64(nodes) {
				r.Failf("node %d: edge to node %d of %d", i, to, nodes)
			}
			shape = append(shape, to)
		}
	}
	r.checkCounted(shape)
	return shape, masks
}

// checkCounted checks that nodes of counted polls have neither edges, nor flags.
func (r *groupReader) checkCounted(shape []uint64) {
	var counted []bool
	walk := func(f func(header, flags uint64, edges []uint64)) {
		for at := shape[1:]; len(at) >= 4 && r.Err == nil; at = at[4+at[3]:] {
			f(at[0], at[2], at[4:4+at[3]])
		}
	}
	walk(func(header, flags uint64, edges []uint64) {
		is := signature.Header(header).Counted()
		counted = append(counted, is)
		if is && (flags != 0 || len(edges) > 0) {
			r.Failf("node %d of counted polls has edges", len(counted)-1)
		}
	})
	walk(func(_, _ uint64, edges []uint64) {
		for _, to := range edges {
			if counted[to] {
				r.Failf("edge to node %d of counted polls", to)
			}
		}
	})
}

func (r *groupReader) header() uint64 {
	n := r.Below(colHeader, uint64(len(r.headers))+1, "header")
	if n > 0 {
		return r.headers[n-1]
	}
	h := r.Get(colNewHeader)
	r.headers = append(r.headers, h)
	return h
}

func (r *groupReader) defShape() []uint64 {
	defs := r.Count(colShape, colDefKind, "definitions")
	shape := []uint64{uint64(defs)}
	for range defs {
		k := r.Get(colDefKind)
		if efg.DefKind(k>>defFlags) > efg.DefRegion || k>>defFlags > 0xff {
			r.Failf("unknown kind %d of a definition", k>>defFlags)
		}
		words := r.Below(colDefWords, r.total, "number of words")
		shape = append(shape, k>>defFlags, k&(1<<defFlags-1), words)
	}
	return shape
}

func (r *groupReader) checkpointsShape() []uint64 {
	nodes := r.Count(colShape, colCheckpoints, "nodes")
	shape := []uint64{uint64(nodes)}
	left := r.total
	for range nodes {
		v := r.Get(colCheckpoints)
		if runs, elems := checkpointsOfNode(v); runs > left || elems > signature.MaxWords {
			r.Failf("checkpoints of %d branch runs and %d vectors", runs, elems)
			return shape
		} else {
			left -= runs
		}
		shape = append(shape, v)
	}
	return shape
}

func (r *groupReader) cell(p *readGroup, c *readCell, at *place) {
	if p.members > 1 && r.Below(colVaries, 2, "flag") == 1 {
		r.varying(p, c, at)
		return
	}
	switch at.what {
	case cellSeq:
		c.v = r.constantSeq(p, at)
	case cellWord:
		predicted := r.word(at)
		c.v = tokenChanged(r.Get(int(at.column)), predicted)
		r.noteWord(at, c.v)
		if c.v&7 == token.Wide && c.v>>3 >= uint64(len(p.wide)) {
			r.Failf("wide word %d of %d", c.v>>3, len(p.wide))
		}
	case cellText:
		c.v = r.text + uint64(block.Unzigzag(r.Get(int(at.column))))
		r.text = c.v
	default:
		c.v = r.Get(int(at.column))
		if at.column == colWeight {
			c.v = r.weight + uint64(block.Unzigzag(c.v))
			r.weight = c.v
		}
	}
}

func (r *groupReader) constantSeq(p *readGroup, at *place) uint64 {
	back := r.Below(int(at.column), uint64(len(p.bodies))+1, "sequence")
	if back > 0 {
		return uint64(len(p.bodies)) - back
	}
	r.localBody(p, at.role)
	return uint64(len(p.bodies)) - 1
}

// localBody reads the group's next body.
func (r *groupReader) localBody(p *readGroup, role int8) {
	back := r.Below(colBody, uint64(len(r.bodies))+1, "body")
	if back == 0 {
		r.bodies = append(r.bodies, seq.TakeBody(r.Block, roleColumn(int(role)), r.load))
		back = 1
	}
	p.bodies = append(p.bodies, r.bodies[uint64(len(r.bodies))-back])
}

func (r *groupReader) varying(p *readGroup, c *readCell, at *place) {
	switch at.what {
	case cellSeq:
		for range r.Count(colBodies, colBody, "bodies") {
			r.localBody(p, at.role)
		}
	case cellWord:
		r.Get(colForm)
	}
	c.values = seq.TakeBody(r.Block, roleColumn(roleMember), r.load)
}

// member returns the value of a cell in a member; memberCells is faster for many.
func (p *readGroup) member(cell int, m uint64) (uint64, error) {
	c := &p.cells[cell]
	if c.values == nil {
		return c.v, nil
	}
	it := c.values.Seq(p.members, nil).Iter()
	it.Skip(m)
	v, ok := it.Next()
	if !ok {
		return 0, it.Err()
	}
	return v, nil
}

// manyMembers is the number of members read after which all values of the varying cells are
// kept.
const manyMembers = 4

// maxExpanded is the maximum number of values of varying cells that are kept for a group: in
// larger ones, each member is looked up again.
const maxExpanded = 1 << 25

func (p *readGroup) varying() uint64 {
	n := uint64(0)
	for i := range p.cells {
		if p.cells[i].values != nil {
			n++
		}
	}
	return n
}

// memberCells appends the values of all cells in member m.
func (p *readGroup) memberCells(dst []uint64, m uint64) ([]uint64, error) {
	if m >= p.members {
		return nil, fmt.Errorf("member %d of %d", m, p.members)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.asked++; p.asked == manyMembers && p.members > manyMembers && p.members*p.varying() <= maxExpanded {
		if err := p.expand(); err != nil {
			return nil, err
		}
	}
	for i := range p.cells {
		switch {
		case p.cells[i].values == nil:
			dst = append(dst, p.cells[i].v)
		case p.values != nil:
			dst = append(dst, p.values[i][m])
		default:
			v, err := p.member(i, m)
			if err != nil {
				return nil, err
			}
			dst = append(dst, v)
		}
	}
	return dst, nil
}

// expand stores the values of varying cells.
func (p *readGroup) expand() error {
	values := make([][]uint64, len(p.cells))
	for i := range p.cells {
		if p.cells[i].values == nil {
			continue
		}
		it := p.cells[i].values.Seq(p.members, nil).Iter()
		for v, ok := it.Next(); ok; v, ok = it.Next() {
			values[i] = append(values[i], v)
		}
		if uint64(len(values[i])) != p.members {
			return it.Err()
		}
	}
	p.values = values
	return nil
}

// unflatten rebuilds what flatten took apart.
type unflatten struct {
	group *readGroup
	raw   bool // words and values stay tokens
	at    int
	vals  []uint64
	err   error
}

var errGroup = errors.New("broken group")

func (u *unflatten) failf(format string, args ...any) {
	if u.err == nil {
		u.err = fmt.Errorf("%w: "+format, append([]any{errGroup}, args...)...)
	}
}

func (u *unflatten) number() uint64 {
	v := u.vals[u.at]
	u.at++
	return v
}

func (u *unflatten) word(c *wordContext) uint64 {
	t := u.number()
	if t&7 == token.Wide {
		if t>>3 >= uint64(len(u.group.wide)) {
			u.failf("wide word %d of %d", t>>3, len(u.group.wide))
			return 0
		}
		return u.group.wide[t>>3]
	}
	if u.raw {
		return t
	}
	return c.Word(t)
}

// seq returns a sequence whose length is still the difference from the expected one.
func (u *unflatten) seq(c *wordContext) *seq.Seq {
	n, b := block.Unzigzag(u.number()), u.number()
	if b >= uint64(len(u.group.bodies)) {
		u.failf("sequence %d of %d", b, len(u.group.bodies))
		return &seq.Seq{}
	}
	if c == nil || u.raw {
		return u.group.bodies[b].Seq(uint64(n), nil)
	}
	return u.group.bodies[b].Seq(uint64(n), c)
}

// expect sets the length of a sequence.
func (u *unflatten) expect(s *seq.Seq, n uint64) {
	if total := s.Len() + n; !s.Extend(n) {
		u.failf("%d values without code", total)
	}
}

// graph rebuilds the nodes of member m.
func (p *readGroup) graph(m uint64, thread uint32, defs *defIndex, r *ranks) ([]efg.Node, error) {
	vals, err := p.memberCells(nil, m)
	if err != nil {
		return nil, err
	}
	u := &unflatten{group: p, vals: vals}
	shape := p.shape[1:]
	nodes := make([]efg.Node, p.shape[0])
	for i := range nodes {
		shape = u.node(&nodes[i], shape, &wordContext{defs: defs, thread: thread, node: uint32(i)}, r)
	}
	visits := efg.VisitsOf(nodes)
	for i := range nodes {
		u.lengths(&nodes[i], visits[i])
	}
	return nodes, u.err
}

func (u *unflatten) node(n *efg.Node, shape []uint64, c *wordContext, r *ranks) (rest []uint64) {
	header, mask, flags, edges := shape[0], shape[1], shape[2], shape[3]
	n.Words = make([]uint64, header>>24&0xff)
	n.Words[0], n.Mask = header, mask
	for k := 1; k < len(n.Words); k++ {
		if mask>>k&1 == 0 {
			n.Words[k] = u.word(c)
		}
		if k == signature.ObjectWord && !u.raw {
			c.rank, c.size = r.in(n)
		}
	}
	if edges > 0 {
		n.Edges = make([]efg.Edge, edges)
	}
	if signature.Header(n.Words[0]).Counted() {
		n.Counted = u.number()
	}
	for i := range n.Edges {
		e := &n.Edges[i]
		e.To = uint32(shape[4+i])
		u.edge(e)
	}
	if flags&nodeCounts != 0 {
		n.Counts = u.seq(nil)
	}
	if edges > 1 {
		n.Runs = u.seq(nil)
	}
	if attrs := efg.AttrStreams(header, mask); attrs > 0 {
		n.Attrs = make([]efg.Attr, attrs)
	}
	for i := range n.Attrs {
		n.Attrs[i].Values = u.seq(c)
		if flags&(nodeElems<<i) != 0 {
			n.Attrs[i].Elems = u.seq(c)
		}
	}
	return shape[4+edges:]
}

func (u *unflatten) edge(e *efg.Edge) {
	e.Weight = u.number()
	count, fixed := u.number(), u.number()
	switch {
	case fixed > 0:
		e.Count, e.Fixed = count, fixed-1
	case count == 0:
		e.Count, e.Fixed = e.Weight, 1
	case e.Weight%count != 0:
		u.failf("weight %d in branch runs of %d", e.Weight, count)
	default:
		e.Count, e.Fixed = count, e.Weight/count
	}
}

// lengths completes the lengths of a node's sequences.
func (u *unflatten) lengths(n *efg.Node, visits uint64) {
	if n.Counts != nil {
		u.expect(n.Counts, 0)
	}
	if n.Runs != nil {
		runs := n.Counts.Len()
		for i := range n.Edges {
			runs += n.Edges[i].Fixed
		}
		u.expect(n.Runs, runs)
	}
	for i := range n.Attrs {
		u.expect(n.Attrs[i].Values, visits)
		if n.Attrs[i].Elems != nil {
			u.expect(n.Attrs[i].Elems, 0)
		}
	}
}

// maxDefVec bounds the elements of an array that is expanded for a definition.
const maxDefVec = 1 << 24

// defs rebuilds the definitions of member m.
func (p *readGroup) defs(m uint64, text func(uint64) (string, error), rank, size int64) (*defIndex, error) {
	vals, err := p.memberCells(nil, m)
	if err != nil {
		return nil, err
	}
	u := &unflatten{group: p, vals: vals}
	x := &defIndex{list: make([]efg.Def, p.shape[0]), byWord: make(map[uint64]uint32, p.shape[0])}
	shape := p.shape[1:]
	left := uint64(maxDefVec)
	for i := range x.list {
		d := &x.list[i]
		d.Kind = efg.DefKind(shape[0])
		u.def(d, shape[1], shape[2], &wordContext{defs: x, rank: rank, size: size}, text, &left)
		if _, ok := x.byWord[d.Word]; !ok {
			x.byWord[d.Word] = uint32(i)
		}
		shape = shape[3:]
		x.below = uint32(i + 1)
	}
	return x, u.err
}

func (u *unflatten) def(d *efg.Def, flags, words uint64, c *wordContext, text func(uint64) (string, error), left *uint64) {
	if flags&defDerived == 0 {
		d.Word = u.word(c)
	}
	if flags&defData != 0 {
		s, err := text(u.number())
		if err != nil {
			u.failf("%w", err)
		}
		d.Data = []byte(s)
	}
	if d.Kind == efg.DefVec {
		u.vec(d, c, left)
	} else if words > 0 {
		d.Words = make([]uint64, words)
	}
	for k := range d.Words {
		if d.Kind != efg.DefVec {
			d.Words[k] = u.word(c)
		}
	}
	if flags&defDerived != 0 {
		d.Word = d.Identity()
	}
}

func (u *unflatten) vec(d *efg.Def, c *wordContext, left *uint64) {
	s := u.seq(c)
	u.expect(s, 0)
	if s.Len() > *left {
		u.failf("vectors of more than %d elements", maxDefVec)
		return
	}
	*left -= s.Len()
	it := s.Iter()
	for v, ok := it.Next(); ok; v, ok = it.Next() {
		d.Words = append(d.Words, v)
	}
	if err := it.Err(); err != nil {
		u.failf("%w", err)
	}
}
