package runfile

import (
	"fmt"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/block"
	"github.com/efg-tools/efg/efg/mix"
	"github.com/efg-tools/efg/efg/seq"
	"github.com/efg-tools/efg/internal/token"
	"github.com/efg-tools/efg/signature"
)

// eventGroup is a group of an event block.
type eventGroup struct {
	*readGroup
	lists []int // of a graph's members: number of the list of their process in the block, -1: it is not there
}

// encodeEvents returns the code of an event block of these groups of definitions and graphs, in a file with
// these features. The stream carries the code while it is made, and has ended afterwards.
func encodeEvents(groups []eventGroup, features uint32, to *mix.Stream) ([]byte, error) {
	defer to.End()
	begin := beginning()
	e := begin.coder(begin.state.EncoderTo(to))
	e.setFeatures(features)
	defer e.c.Close()
	if err := e.groups(groups); err != nil {
		return nil, err
	}
	return e.c.Finish(), nil
}

// setFeatures says how call paths are coded.
func (e *eventCoder) setFeatures(features uint32) {
	e.paths = features&featurePathCode != 0
	e.byPath = e.paths && features&featurePathGraphs != 0
}

// groups encodes groups.
func (e *eventCoder) groups(groups []eventGroup) error {
	e.c.Number(mix.Hash(ctxMembers, 1), uint64(len(groups)))
	for _, p := range groups {
		e.c.Number(mix.Hash(ctxMembers, 2), p.members)
		e.c.Bit(mix.Hash(ctxMembers, 3), p.kind == recordGraph)
		for m := range p.members {
			if err := e.member(p, m); err != nil {
				return err
			}
		}
	}
	return nil
}

// member encodes a member of a group.
func (e *eventCoder) member(p eventGroup, m uint64) error {
	if p.kind == recordDefs {
		list, err := p.definitions(m)
		if err != nil {
			return err
		}
		e.definitions(list)
		return e.err
	}
	g, err := p.eventGraph(m)
	if err != nil {
		return err
	}
	if e.byPath {
		e.listOf(p.lists[m])
		e.inBlock(g)
	}
	e.graph(g)
	return e.err
}

// decodeEvents reads what encodeEvents wrote.
func decodeEvents(code []byte, features uint32) ([]*readGroup, error) {
	begin := beginning()
	return begin.decode(begin.state.Decoder(code), features)
}

func (b *eventStart) decode(c *mix.Coder, features uint32) ([]*readGroup, error) {
	e := b.coder(c)
	e.setFeatures(features)
	defer e.c.Close()
	return e.readGroups()
}

func (e *eventCoder) readGroups() ([]*readGroup, error) {
	n := e.c.Number(mix.Hash(ctxMembers, 1), 0)
	var groups []*readGroup
	for i := uint64(0); i < n && e.err == nil; i++ {
		members := e.c.Number(mix.Hash(ctxMembers, 2), 0)
		var p *recordGroup
		graph := e.c.Bit(mix.Hash(ctxMembers, 3), false)
		for m := uint64(0); m < members && e.err == nil; m++ {
			u, err := e.record(graph)
			if err != nil {
				return nil, err
			}
			if p == nil {
				p = newGroup(u)
			}
			if u.key != p.key() {
				return nil, fmt.Errorf("%w: records of different shapes in group %d", errEvents, i)
			}
			p.add(u, nil)
		}
		if p == nil {
			e.failf("a group of no members")
			break
		}
		groups = append(groups, p.asRead())
	}
	if e.err == nil && e.c.Rest() > 0 {
		e.failf("%d bytes after them", e.c.Rest())
	}
	return groups, e.err
}

// record decodes a record.
func (e *eventCoder) record(graph bool) (*record, error) {
	if e.c.Overrun() {
		e.failf("they end early")
	}
	if !graph {
		list := e.definitions(nil)
		if e.err != nil {
			return nil, e.err
		}
		return recordOf(list), nil
	}
	if e.byPath {
		e.listOf(-1)
	}
	g := e.graph(nil)
	if e.err != nil {
		return nil, e.err
	}
	return g.record()
}

// asRead is the group as it would be read from a file.
func (p *recordGroup) asRead() *readGroup {
	r := &readGroup{kind: p.kind, shape: p.shape, key: p.key(), members: p.members, places: layout(p.kind, p.shape),
		bodies: p.bodies, wide: p.wide, cells: make([]readCell, len(p.cells))}
	if p.kind == recordGraph {
		for at := p.shape[1:]; len(at) > 0; at = at[4+at[3]:] {
			r.masks = append(r.masks, at[1])
		}
	}
	for i := range p.cells {
		c := &p.cells[i]
		values := c.chosen()
		if values.varies() {
			r.cells[i].values = values.body()
			continue
		}
		r.cells[i].v = values.first
		if c.isEither() {
			if r.alts == nil {
				r.alts = map[int]uint64{}
			}
			r.alts[i] = c.relative.first
		}
	}
	return r
}

func (p *recordGroup) key() shapeKey { return keyOf(p.kind, p.shape) }

// eventGraph is member m as nodes and events.
func (p *readGroup) eventGraph(m uint64) (*eventGraph, error) {
	vals, err := p.memberCells(nil, m)
	if err != nil {
		return nil, err
	}
	u := &unflatten{group: p, vals: vals, raw: true}
	shape := p.shape[1:]
	nodes := make([]efg.Node, p.shape[0])
	first := make([]int, len(nodes)) // cell of each node
	for i := range nodes {
		first[i] = u.at
		shape = u.node(&nodes[i], shape, nil, nil)
	}
	events, values := uint64(0), uint64(0)
	visits := efg.VisitsOf(nodes)
	for i := range nodes {
		u.lengths(&nodes[i], visits[i])
		events += visits[i]
		for k := range nodes[i].Attrs {
			a := &nodes[i].Attrs[k]
			values += a.Values.Len() + a.Elems.Len()
		}
	}
	if u.err != nil {
		return nil, u.err
	}
	if events > maxBlockEvents || values > maxBlockValues {
		return nil, fmt.Errorf("%w: %d of a stream, with %d values", errEvents, events, values)
	}
	g := &eventGraph{visits: make([]uint32, 0, events), values: make([]uint64, 0, values)}
	numbers := g.take(p, nodes, vals, first)
	s := &efg.Stream{Events: events, Nodes: nodes}
	w := s.Walk(nil)
	for w.Next() {
		n := w.Node()
		g.visits = append(g.visits, numbers[n])
		for k := range nodes[n].Attrs {
			v, elems := w.Stored(k)
			g.values = append(append(g.values, v), elems...)
		}
	}
	return g, w.Err()
}

// take makes the nodes of a graph whose words are tokens: vals, of each node from first on. It
// returns the numbers of those that have events among these.
func (g *eventGraph) take(p *readGroup, nodes []efg.Node, vals []uint64, first []int) []uint32 {
	numbers := make([]uint32, len(nodes))
	for i := range nodes {
		n := newEventNode(p, &nodes[i], vals, first[i])
		if signature.Header(n.header).Counted() {
			g.counted = append(g.counted, pollNode{uint64(i), nodes[i].Counted, n})
			continue
		}
		numbers[i] = uint32(len(g.nodes))
		g.nodes = append(g.nodes, n)
	}
	return numbers
}

// newEventNode takes a node, of which cell at is the first.
func newEventNode(p *readGroup, from *efg.Node, vals []uint64, at int) *eventNode {
	n := &eventNode{header: from.Words[0], mask: from.Mask}
	for k := 1; k < len(from.Words); k++ {
		if from.Mask>>k&1 != 0 {
			continue
		}
		w := eventWord{token: vals[at], alt: vals[at], index: k}
		if alt, ok := p.alts[at]; ok {
			w.alt = alt
		}
		if w.token&7 == token.Wide {
			w.token, w.alt, w.wide = token.Wide, token.Wide, from.Words[k]
		}
		n.words = append(n.words, w)
		at++
	}
	for k := range from.Attrs {
		a := &from.Attrs[k]
		n.forms = append(n.forms, seq.FormOf(a.Values))
		if a.Elems != nil {
			n.forms = append(n.forms, seq.FormOf(a.Elems))
		}
	}
	return n
}

// rebuilt is a node that is rebuilt from its events.
type rebuilt struct {
	*eventNode
	polls  uint64
	counts []uint64 // lengths of branch runs
	runs   []uint64
	edges  []rebuiltEdge
	byTo   map[uint32]int
	at     int // edge of the current branch run, -1: none
	length uint64
	values [][]uint64 // of each attribute stream
	elems  [][]uint64
}

// rebuiltEdge is an edge: see efg.Edge.
type rebuiltEdge struct {
	to                           uint32
	weight, count, fixed, varies uint64
}

// record makes the record of the graph that has these events.
func (g *eventGraph) record() (*record, error) {
	nodes, numbers, err := g.order()
	if err != nil {
		return nil, err
	}
	count := make([]int, len(g.nodes))
	for _, v := range g.visits {
		count[v]++
	}
	for i, at := range numbers {
		nodes[at].expect(count[i])
	}
	values := g.values
	last := -1
	for _, v := range g.visits {
		at := numbers[v]
		if last >= 0 {
			nodes[last].step(uint32(at))
		}
		values = nodes[at].take(values)
		last = at
	}
	f := &flatten{record{kind: recordGraph, shape: []uint64{uint64(len(nodes))}}}
	for i := range nodes {
		nodes[i].end()
		nodes[i].flatten(f, g.list)
	}
	f.key = keyOf(f.kind, f.shape)
	return &f.record, nil
}

// order puts the nodes of counted polls among the others.
func (g *eventGraph) order() (nodes []rebuilt, numbers []int, err error) {
	counted := g.counted
	for len(nodes) < len(g.nodes)+len(g.counted) {
		n := rebuilt{at: -1}
		if len(counted) > 0 && (counted[0].number == uint64(len(nodes)) || len(numbers) == len(g.nodes)) {
			if counted[0].number != uint64(len(nodes)) || !signature.Header(counted[0].node.header).Counted() {
				return nil, nil, fmt.Errorf("%w: node %d of counted polls", errEvents, counted[0].number)
			}
			n.eventNode, n.polls = counted[0].node, counted[0].polls
			counted = counted[1:]
		} else {
			if len(numbers) == len(g.nodes) {
				return nil, nil, fmt.Errorf("%w: nodes of counted polls out of order", errEvents)
			}
			n.eventNode = g.nodes[len(numbers)]
			if signature.Header(n.header).Counted() {
				return nil, nil, fmt.Errorf("%w: of counted polls", errEvents)
			}
			n.byTo = map[uint32]int{}
			numbers = append(numbers, len(nodes))
		}
		nodes = append(nodes, n)
	}
	return nodes, numbers, nil
}

// expect allocates space for the values of that many events.
func (n *rebuilt) expect(events int) {
	n.values, n.elems = make([][]uint64, len(n.attrs)), make([][]uint64, len(n.attrs))
	for i := range n.values {
		n.values[i] = make([]uint64, 0, events)
	}
}

// take takes the values of an event and returns those of later ones.
func (n *rebuilt) take(values []uint64) []uint64 {
	for i := range n.attrs {
		v := values[0]
		n.values[i] = append(n.values[i], v)
		values = values[1:]
		if n.attrs[i].form == signature.VecForm && v&1 == 0 {
			n.elems[i] = append(n.elems[i], values[:v>>1]...)
			values = values[v>>1:]
		}
	}
	return values
}

// step goes along an edge. The rules are those of a recorder: FORMAT.md, "Edges and branch runs".
func (n *rebuilt) step(to uint32) {
	k, ok := n.byTo[to]
	if !ok {
		k = len(n.edges)
		n.byTo[to] = k
		n.edges = append(n.edges, rebuiltEdge{to: to})
	}
	if k != n.at {
		n.end()
		n.at = k
		n.runs = append(n.runs, uint64(k))
	}
	n.length++
}

// end ends the current branch run.
func (n *rebuilt) end() {
	if n.length == 0 {
		return
	}
	e := &n.edges[n.at]
	e.weight += n.length
	switch {
	case e.count == 0:
		e.count, e.fixed = n.length, 1
	case e.varies == 0 && e.count == n.length:
		e.fixed++
	default:
		e.varies = 1
		n.counts = append(n.counts, n.length)
	}
	n.length = 0
}

// flatten adds the node to a record, as flattenGraph does, with words as the list of its process has them.
func (n *rebuilt) flatten(f *flatten, list *defList) {
	flags := uint64(0)
	if len(n.counts) > 0 {
		flags = nodeCounts
	}
	for k := range n.attrs {
		if n.attrs[k].form == signature.VecForm {
			flags |= nodeElems << k
		}
	}
	f.shape = append(f.shape, n.header, n.mask, flags, uint64(len(n.edges)))
	for i := range n.edges {
		f.shape = append(f.shape, uint64(n.edges[i].to))
	}
	for i := range n.words {
		w := list.inList(n.words[i])
		f.eventWord(&w)
	}
	if signature.Header(n.header).Counted() {
		f.number(n.polls)
	}
	for i := range n.edges {
		e := &n.edges[i]
		f.edge(e.weight, e.count, e.fixed, e.varies != 0)
	}
	if len(n.counts) > 0 {
		f.folded(n.counts, 0, roleCounts, 0)
	}
	if len(n.edges) > 1 {
		f.folded(n.runs, uint64(len(n.runs)), roleRuns, 0)
	}
	form := 0
	for i := range n.attrs {
		f.folded(n.values[i], uint64(len(n.values[i])), roleValues, n.forms[form])
		if form++; n.attrs[i].form == signature.VecForm {
			f.folded(n.elems[i], 0, roleElems, n.forms[form])
			form++
		}
	}
}

// folded adds a sequence of values, and its length as the difference from what is expected.
func (f *flatten) folded(values []uint64, expected uint64, role int, form uint8) {
	f.number(block.Zigzag(int64(uint64(len(values)) - expected)))
	f.cells = append(f.cells, cell{kind: cellSeq, role: role, body: seq.Fold(values, form)})
}
