package table

import (
	"slices"

	"github.com/efg-tools/efg/internal/analysis"
	"github.com/efg-tools/efg/internal/analysis/eventrow"
	"github.com/efg-tools/efg/internal/analysis/regions"
	"github.com/efg-tools/efg/internal/export"
	"github.com/efg-tools/efg/reconstruct"
)

// eventNode is what the calls of a node have in common while the program is in a region.
type eventNode struct {
	*eventrow.Node
	rank   int
	thread uint32
	number int
	region string
}

// eventCall is what a call does.
type eventCall struct {
	comm, datatype    string
	peer              int
	tag, count        int64
	sent, received    uint64
	hasPeer, hasTag   bool
	hasCount, hasSize bool
}

// eventColumn is a column of events; one without a value differs from row to row, or is text that is
// made with the rows.
type eventColumn struct {
	Column
	ofNode func(*eventNode) Value
	ofCall func(*eventCall) Value
}

// Columns of events without a value.
const (
	eventSeq       = "seq"
	eventStart     = "t0"
	eventEnd       = "t1"
	eventArguments = "args"
	eventResults   = "out"
)

var eventColumns = []eventColumn{
	{Column{"rank", Integer, false, "", "rank in MPI_COMM_WORLD, -1 if unknown; ranks of later worlds follow"}, func(n *eventNode) Value { return integer(n.rank) }, nil},
	{Column{"thread", Integer, false, "", "ordinal of the thread in its process"}, func(n *eventNode) Value { return integer(n.thread) }, nil},
	{Column{eventSeq, Integer, false, "", "number of the call in its stream, from 0"}, nil, nil},
	{Column{"node", Integer, false, "", "number of the call's node in the stream's graph"}, func(n *eventNode) Value { return integer(n.number) }, nil},
	{Column{"op", Text, false, "", "procedure"}, func(n *eventNode) Value { return text(n.Op) }, nil},
	{Column{"class", Text, true, "", "classes of the MPI Trace Format, separated by commas"}, func(n *eventNode) Value { return text(n.Class) }, nil},
	{Column{"site", Text, true, "", "source location"}, func(n *eventNode) Value { return text(n.Site) }, nil},
	{Column{"func", Text, true, "", "function that contains the call"}, func(n *eventNode) Value { return text(n.Func) }, nil},
	{Column{"error", Text, true, "", "error class, if the call failed"}, func(n *eventNode) Value { return text(n.Error) }, nil},
	{Column{"pmpi", Boolean, false, "", "the program called the procedure by its PMPI_ name"}, func(n *eventNode) Value { return boolean(n.PMPI) }, nil},
	{Column{"comm", Text, true, "", "communicator, window or file"}, nil, func(c *eventCall) Value { return text(c.comm) }},
	{Column{"peer", Integer, true, "", "rank of the other side"}, nil, func(c *eventCall) Value { return known(c.hasPeer, integer(c.peer)) }},
	{Column{"tag", Integer, true, "", "tag of the message"}, nil, func(c *eventCall) Value { return known(c.hasTag, integer(c.tag)) }},
	{Column{"count", Integer, true, "elements", "number of elements"}, nil, func(c *eventCall) Value { return known(c.hasCount, integer(c.count)) }},
	{Column{"datatype", Text, true, "", "datatype of the elements"}, nil, func(c *eventCall) Value { return text(c.datatype) }},
	{Column{"bytes", Integer, true, "bytes", "the larger of sent and received"}, nil, func(c *eventCall) Value { return known(c.hasSize, integer(max(c.sent, c.received))) }},
	{Column{"sent", Integer, true, "bytes", "sent, or written"}, nil, func(c *eventCall) Value { return known(c.hasSize, integer(c.sent)) }},
	{Column{"received", Integer, true, "bytes", "received, or read"}, nil, func(c *eventCall) Value { return known(c.hasSize, integer(c.received)) }},
	{Column{eventStart, Integer, true, "ns", "start, since the run began"}, nil, nil},
	{Column{eventEnd, Integer, true, "ns", "end, since the run began"}, nil, nil},
	{Column{eventArguments, JSON, false, "", "arguments, as in JSON Lines"}, nil, nil},
	{Column{eventResults, JSON, false, "", "results, as in JSON Lines"}, nil, nil},
	{Column{"path", JSON, true, "", "call path, the outermost call first, as in JSON Lines"}, func(n *eventNode) Value { return text(n.Path) }, nil},
	{Column{"region", Text, true, "", "names of the regions that the program is in, the outermost first, separated by slashes"}, func(n *eventNode) Value { return text(n.region) }, nil},
	{Column{"depth", Integer, false, "", "of how many calls of MPI the call was made inside, by a function that MPI calls"}, func(n *eventNode) Value { return integer(n.Depth) }, nil},
}

var events = func() (s Schema) {
	s = Schema{Name: "events", Order: 3, Doc: "a row for each call, as in JSON Lines"}
	for i := range eventColumns {
		s.Columns = append(s.Columns, eventColumns[i].Column)
	}
	return s
}()

// kindKey tells the kinds of events of a node apart: what a call does follows from its arguments and
// results, except for those that start persistent requests.
type kindKey struct {
	node, args, out uint32 // numbers of values
	started         uint32 // number of what a call starts; 0 if it starts nothing
}

// kind are the numbers of the values that rows have in columns that are alike.
type kind struct{ node, call, args, out uint32 }

// eventBuilder makes rows of events. What rows have in common is computed once for each kind of
// events, and columns refer to it: most rows cost three numbers and a reference.
type eventBuilder struct {
	sink            Sink
	batch           Batch
	seq, start, end *Vector
	rows            []uint32 // numbers of their kinds
	kinds           []kind
	keys            map[kindKey]uint32
	nodeValues      uint32               // values of columns of nodes
	size            int                  // bytes of their texts
	made            map[nodeIn]uint32    // numbers of the values of columns of nodes
	calls           map[eventCall]uint32 // of those of calls
	started         map[eventCall]uint32
	args, out       texts
	room            [4][]uint32 // by row: numbers of values

	byNode             []nodeKind
	regions            *regions.Follower
	region             int32  // number of the frame of the event at hand
	regionText         string // its names
	arguments, results []byte // reused
	process            *reconstruct.Process
	nodes              []eventrow.Node
	follower           *analysis.Follower
	all                bool // the follower must see each event
	rank               int
	thread             uint32
}

// nodeIn is a node of the stream while the program is in a region, by the number of its frame.
type nodeIn struct {
	node   int
	region int32
}

// nodeKind is what is known of a node in a batch, and in a region.
type nodeKind struct {
	region int32
	// node is one more than the number of its values; 0: it has none.
	node uint32
	// kind is one more than the kind of all its events; 0: unknown, or they differ.
	kind uint32
	// looked and found are how many of its events were looked up, and found to be of a known kind.
	looked, found uint32
}

// differ reports whether the events of a node are so rarely alike that looking for their kind does not pay.
func (n *nodeKind) differ() bool { return n.looked >= 64 && n.found < n.looked/8 }

func newEventBuilder(sink Sink) *eventBuilder {
	if sink == nil {
		return nil
	}
	b := &eventBuilder{
		sink: sink, keys: map[kindKey]uint32{}, made: map[nodeIn]uint32{}, calls: map[eventCall]uint32{}, started: map[eventCall]uint32{},
	}
	b.args.numbers, b.out.numbers = map[string]uint32{}, map[string]uint32{}
	b.batch = Batch{Schema: &events, Vectors: make([]Vector, len(events.Columns))}
	b.seq, b.start, b.end = b.vector(eventSeq), b.vector(eventStart), b.vector(eventEnd)
	return b
}

func (b *eventBuilder) vector(name string) *Vector { return &b.batch.Vectors[events.Column(name)] }

// add adds the selected events of Streams[i]. A nil builder does nothing.
func (b *eventBuilder) add(p *reconstruct.Process, facts *analysis.Process, i int, job *export.Job) error {
	if b == nil {
		return nil
	}
	s := &p.Data().Streams[i]
	b.process, b.nodes, b.rank, b.thread = p, eventrow.Nodes(p, i), p.Data().Rank, s.Thread
	b.follower = facts.Follow(i, eventrow.Fields)
	b.all = b.follower.NeedsAll()
	b.regions, b.region, b.regionText = regions.NewFollower(p.Data(), i), regions.Outside, ""
	b.forget(len(s.Nodes))
	return job.Walk(p, i, export.Walk{Follower: b.follower, Write: b.event})
}

// forget begins a stream, or a batch: kinds have no numbers.
func (b *eventBuilder) forget(nodes int) {
	if cap(b.byNode) < nodes {
		b.byNode = make([]nodeKind, nodes)
	}
	b.byNode = b.byNode[:nodes]
	clear(b.byNode)
	clear(b.keys)
	clear(b.made)
}

func (b *eventBuilder) event(e *reconstruct.Event, start, end int64, timed bool) error {
	if now := b.regions.At(e.Seq); now != b.region {
		b.region, b.regionText = now, regions.PathText(b.regions.Path(now))
	}
	known := &b.byNode[e.Node()]
	if known.region != b.region {
		known.region, known.node, known.kind = b.region, 0, 0
	}
	kind := known.kind
	if kind == 0 {
		var err error
		if kind, err = b.kindOf(e, known); err != nil {
			return err
		}
	}
	b.rows = append(b.rows, kind-1)
	b.seq.Ints = append(b.seq.Ints, int64(e.Seq))
	b.start.Ints = append(b.start.Ints, start)
	b.end.Ints = append(b.end.Ints, end)
	b.start.Nulls = append(b.start.Nulls, !timed)
	if len(b.rows) == BatchRows || b.size+len(b.args.bytes)+len(b.out.bytes) > batchText {
		return b.flush()
	}
	return nil
}

// kindOf returns one more than the number of an event's kind.
func (b *eventBuilder) kindOf(e *reconstruct.Event, known *nodeKind) (uint32, error) {
	if known.node == 0 {
		known.node = b.addNode(e.Node()) + 1
	}
	b.arguments, b.results = e.AppendJSONArguments(b.arguments[:0]), e.AppendJSONResults(b.results[:0])
	if known.differ() {
		return b.addKind(e, kind{node: known.node - 1, args: b.args.add(b.arguments), out: b.out.number(b.results)})
	}
	key := kindKey{node: known.node, args: b.args.number(b.arguments), out: b.out.number(b.results)}
	var err error
	if key.started, err = b.startedBy(e); err != nil {
		return 0, err
	}
	known.looked++
	if kind, ok := b.keys[key]; ok {
		known.found++
		return kind, nil
	}
	n, err := b.addKind(e, kind{node: known.node - 1, args: key.args, out: key.out})
	b.keys[key] = n
	if e.Constant() && b.follower.Constant(e.Node()) {
		known.kind = n
	}
	return n, err
}

// startedBy is the number of what an event starts, 0 if it starts nothing.
func (b *eventBuilder) startedBy(e *reconstruct.Event) (uint32, error) {
	n := &b.nodes[e.Node()]
	starts := n.Proc != nil && n.Proc.Starts
	if !starts && !b.all {
		return 0, nil
	}
	call, err := b.follower.Call(e)
	if err != nil || !starts {
		return 0, err
	}
	x := b.operations(e, call)
	if b.started[x] == 0 {
		b.started[x] = uint32(len(b.started) + 1)
	}
	return b.started[x], nil
}

// addKind adds the kind of an event, whose call is not known yet, and returns one more than its number.
func (b *eventBuilder) addKind(e *reconstruct.Event, k kind) (uint32, error) {
	call, err := b.follower.Call(e)
	if err != nil {
		return 0, err
	}
	x := b.operations(e, call)
	k.call = b.addCall(&x)
	b.kinds = append(b.kinds, k)
	return uint32(len(b.kinds)), nil
}

// operations are the columns that say what a call does.
func (b *eventBuilder) operations(e *reconstruct.Event, call *analysis.Call) (c eventCall) {
	list, names := call.Operations, b.process.Names()
	c.peer, c.hasPeer = eventrow.Peer(list)
	c.tag, c.hasTag = eventrow.Tag(list)
	c.count, c.hasCount = eventrow.Count(list)
	c.sent, c.received, c.hasSize = eventrow.Volume(list)
	c.comm, c.datatype = b.nodes[e.Node()].Object(e, names), eventrow.Datatype(list, names)
	return c
}

// addNode returns the number of the values of a node's columns.
func (b *eventBuilder) addNode(node int) uint32 {
	key := nodeIn{node, b.region}
	n, ok := b.made[key]
	if ok {
		return n
	}
	n = b.nodeValues
	b.made[key] = n
	b.nodeValues++
	x := eventNode{&b.nodes[node], b.rank, b.thread, node, b.regionText}
	for i := range eventColumns {
		if c := &eventColumns[i]; c.ofNode != nil {
			v := c.ofNode(&x)
			b.batch.Vectors[i].add(&c.Column, v)
			b.size += len(v.Text)
		}
	}
	return n
}

// addCall returns the number of the values of a call's columns.
func (b *eventBuilder) addCall(x *eventCall) uint32 {
	if n, ok := b.calls[*x]; ok {
		return n
	}
	for i := range eventColumns {
		if c := &eventColumns[i]; c.ofCall != nil {
			b.batch.Vectors[i].add(&c.Column, c.ofCall(x))
		}
	}
	n := uint32(len(b.calls))
	b.calls[*x] = n
	return n
}

// flush hands on the rows that there are.
func (b *eventBuilder) flush() error {
	if b == nil || len(b.rows) == 0 {
		return nil
	}
	b.batch.Rows = len(b.rows)
	b.end.Nulls = b.start.Nulls
	b.refer()
	err := b.sink(&b.batch)
	for i := range b.batch.Vectors {
		b.batch.Vectors[i].Of = nil
		b.batch.Vectors[i].clear()
	}
	b.end.Nulls = nil
	b.rows, b.kinds, b.nodeValues, b.size = b.rows[:0], b.kinds[:0], 0, 0
	b.args.clear()
	b.out.clear()
	clear(b.calls)
	clear(b.started)
	b.forget(len(b.byNode))
	return err
}

// refer lets each row refer to its values.
func (b *eventBuilder) refer() {
	for i := range b.room {
		b.room[i] = slices.Grow(b.room[i][:0], len(b.rows))[:len(b.rows)]
	}
	for row, n := range b.rows {
		k := &b.kinds[n]
		b.room[0][row], b.room[1][row], b.room[2][row], b.room[3][row] = k.node, k.call, k.args, k.out
	}
	for i := range eventColumns {
		switch c := &eventColumns[i]; {
		case c.ofNode != nil:
			b.batch.Vectors[i].Of = b.room[0]
		case c.ofCall != nil:
			b.batch.Vectors[i].Of = b.room[1]
		}
	}
	args, out := b.vector(eventArguments), b.vector(eventResults)
	args.Texts, args.Of, args.Distinct = b.args.list(args.Texts), b.room[2], true
	out.Texts, out.Of, out.Distinct = b.out.list(out.Texts), b.room[3], true
}

// texts are those of a batch, one after the other.
type texts struct {
	bytes   []byte
	ends    []int
	numbers map[string]uint32
}

// add returns the number of a text that is not looked for among those that there are.
func (t *texts) add(text []byte) uint32 {
	t.bytes = append(t.bytes, text...)
	t.ends = append(t.ends, len(t.bytes))
	return uint32(len(t.ends) - 1)
}

// number returns the number of a text.
func (t *texts) number(text []byte) uint32 {
	n, ok := t.numbers[string(text)]
	if !ok {
		n = t.add(text)
		t.numbers[string(text)] = n
	}
	return n
}

// list appends the texts to a list.
func (t *texts) list(list []string) []string {
	all, from := string(t.bytes), 0
	for _, end := range t.ends {
		list = append(list, all[from:end])
		from = end
	}
	return list
}

func (t *texts) clear() {
	t.bytes, t.ends = t.bytes[:0], t.ends[:0]
	clear(t.numbers)
}
