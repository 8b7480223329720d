package table

import (
	"github.com/efg-tools/efg/internal/analysis"
	"github.com/efg-tools/efg/internal/analysis/eventrow"
	"github.com/efg-tools/efg/internal/analysis/regions"
	"github.com/efg-tools/efg/internal/export"
	"github.com/efg-tools/efg/reconstruct"
)

// eventKind is what rows of events have in common, except for their number and times.
type eventKind struct {
	rank              int
	thread            uint32
	node              *eventrow.Node
	number            int // of the node
	comm, datatype    string
	peer              int
	tag, count        int64
	sent, received    uint64
	hasPeer, hasTag   bool
	hasCount, hasSize bool
	args, out         string
	region            string
}

// Columns of events that differ from row to row.
const (
	eventSeq   = "seq"
	eventStart = "t0"
	eventEnd   = "t1"
)

var events = define(
	Schema{Name: "events", Order: 3, Doc: "a row for each call, as in JSON Lines"},
	column[eventKind]{Column{"rank", Integer, false, "", "rank in MPI_COMM_WORLD, -1 if unknown; ranks of later worlds follow"}, func(k *eventKind) Value { return integer(k.rank) }},
	column[eventKind]{Column{"thread", Integer, false, "", "ordinal of the thread in its process"}, func(k *eventKind) Value { return integer(k.thread) }},
	column[eventKind]{Column{eventSeq, Integer, false, "", "number of the call in its stream, from 0"}, nil},
	column[eventKind]{Column{"node", Integer, false, "", "number of the call's node in the stream's graph"}, func(k *eventKind) Value { return integer(k.number) }},
	column[eventKind]{Column{"op", Text, false, "", "procedure"}, func(k *eventKind) Value { return text(k.node.Op) }},
	column[eventKind]{Column{"class", Text, true, "", "classes of the MPI Trace Format, separated by commas"}, func(k *eventKind) Value { return text(k.node.Class) }},
	column[eventKind]{Column{"site", Text, true, "", "source location"}, func(k *eventKind) Value { return text(k.node.Site) }},
	column[eventKind]{Column{"func", Text, true, "", "function that contains the call"}, func(k *eventKind) Value { return text(k.node.Func) }},
	column[eventKind]{Column{"error", Text, true, "", "error class, if the call failed"}, func(k *eventKind) Value { return text(k.node.Error) }},
	column[eventKind]{Column{"pmpi", Boolean, false, "", "the program called the procedure by its PMPI_ name"}, func(k *eventKind) Value { return boolean(k.node.PMPI) }},
	column[eventKind]{Column{"comm", Text, true, "", "communicator, window or file"}, func(k *eventKind) Value { return text(k.comm) }},
	column[eventKind]{Column{"peer", Integer, true, "", "rank of the other side"}, func(k *eventKind) Value { return known(k.hasPeer, integer(k.peer)) }},
	column[eventKind]{Column{"tag", Integer, true, "", "tag of the message"}, func(k *eventKind) Value { return known(k.hasTag, integer(k.tag)) }},
	column[eventKind]{Column{"count", Integer, true, "elements", "number of elements"}, func(k *eventKind) Value { return known(k.hasCount, integer(k.count)) }},
	column[eventKind]{Column{"datatype", Text, true, "", "datatype of the elements"}, func(k *eventKind) Value { return text(k.datatype) }},
	column[eventKind]{Column{"bytes", Integer, true, "bytes", "the larger of sent and received"}, func(k *eventKind) Value { return known(k.hasSize, integer(max(k.sent, k.received))) }},
	column[eventKind]{Column{"sent", Integer, true, "bytes", "sent, or written"}, func(k *eventKind) Value { return known(k.hasSize, integer(k.sent)) }},
	column[eventKind]{Column{"received", Integer, true, "bytes", "received, or read"}, func(k *eventKind) Value { return known(k.hasSize, integer(k.received)) }},
	column[eventKind]{Column{eventStart, Integer, true, "ns", "start, since the run began"}, nil},
	column[eventKind]{Column{eventEnd, Integer, true, "ns", "end, since the run began"}, nil},
	column[eventKind]{Column{"args", JSON, false, "", "arguments, as in JSON Lines"}, func(k *eventKind) Value { return text(k.args) }},
	column[eventKind]{Column{"out", JSON, false, "", "results, as in JSON Lines"}, func(k *eventKind) Value { return text(k.out) }},
	column[eventKind]{Column{"path", JSON, true, "", "call path, the outermost call first, as in JSON Lines"}, func(k *eventKind) Value { return text(k.node.Path) }},
	column[eventKind]{Column{"region", Text, true, "", "names of the regions that the program is in, the outermost first, separated by slashes"}, func(k *eventKind) Value { return text(k.region) }},
	column[eventKind]{Column{"depth", Integer, false, "", "of how many calls of MPI the call was made inside, by a function that MPI calls"}, func(k *eventKind) Value { return integer(k.node.Depth) }},
)

// kindKey tells the kinds of events of a node apart: what a call does follows from its arguments and
// results, except for those that start persistent requests.
type kindKey struct {
	node, args, out uint32 // args and out are numbers of texts
	started         uint32 // number of what a call starts; 0 if it starts nothing
	region          int32  // number of the frame
}

// eventBuilder makes rows of events. What rows have in common is computed once for each kind of
// events, and columns refer to it: most rows cost three numbers and a reference.
type eventBuilder struct {
	sink            Sink
	batch           Batch
	seq, start, end *Vector
	kinds           []uint32 // by row
	found           int      // kinds in the batch
	size            int      // bytes of its texts
	texts           map[string]uint32
	keys            map[kindKey]uint32

	started            map[eventKind]uint32
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

// nodeKind is one more than the kind of all events of a node in a region; 0: unknown, or they differ.
type nodeKind struct {
	kind   uint32
	region int32
}

func newEventBuilder(sink Sink) *eventBuilder {
	if sink == nil {
		return nil
	}
	b := &eventBuilder{sink: sink, texts: map[string]uint32{}, keys: map[kindKey]uint32{}, started: map[eventKind]uint32{}}
	b.batch = Batch{Schema: &events.Schema, Vectors: make([]Vector, len(events.Columns))}
	vector := func(name string) *Vector { return &b.batch.Vectors[events.Column(name)] }
	b.seq, b.start, b.end = vector(eventSeq), vector(eventStart), vector(eventEnd)
	return b
}

// stream adds the selected events of Streams[i]. A nil builder does nothing.
func (b *eventBuilder) stream(p *reconstruct.Process, facts *analysis.Process, i int, job *export.Job) error {
	if b == nil {
		return nil
	}
	s := &p.Data().Streams[i]
	b.process, b.nodes, b.rank, b.thread = p, eventrow.Nodes(p, i), p.Data().Rank, s.Thread
	b.follower = facts.Follow(i, eventrow.Fields)
	b.all = b.follower.NeedsAll()
	b.regions, b.region, b.regionText = regions.NewFollower(p.Data(), i), regions.Outside, ""
	b.forget(len(s.Nodes))
	return job.Walk(p, i, export.Walk{Follower: b.follower, Write: b.add})
}

// forget begins a stream, or a batch: kinds have no numbers.
func (b *eventBuilder) forget(nodes int) {
	if cap(b.byNode) < nodes {
		b.byNode = make([]nodeKind, nodes)
	}
	b.byNode = b.byNode[:nodes]
	clear(b.byNode)
	clear(b.keys)
}

func (b *eventBuilder) add(e *reconstruct.Event, start, end int64, timed bool) error {
	if now := b.regions.At(e.Seq); now != b.region {
		b.region, b.regionText = now, regions.PathText(b.regions.Path(now))
	}
	known := b.byNode[e.Node()]
	kind := known.kind
	if kind == 0 || known.region != b.region {
		var err error
		if kind, err = b.kindOf(e); err != nil {
			return err
		}
	}
	b.kinds = append(b.kinds, kind-1)
	b.seq.Ints = append(b.seq.Ints, int64(e.Seq))
	b.start.Ints = append(b.start.Ints, start)
	b.end.Ints = append(b.end.Ints, end)
	b.start.Nulls = append(b.start.Nulls, !timed)
	if len(b.kinds) == BatchRows || b.size > batchText {
		return b.flush()
	}
	return nil
}

// kindOf returns one more than the number of an event's kind.
func (b *eventBuilder) kindOf(e *reconstruct.Event) (uint32, error) {
	n := &b.nodes[e.Node()]
	b.arguments, b.results = e.AppendJSONArguments(b.arguments[:0]), e.AppendJSONResults(b.results[:0])
	key := kindKey{node: uint32(e.Node()), region: b.region, args: b.text(b.arguments), out: b.text(b.results)}
	starts := n.Proc != nil && n.Proc.Starts
	if starts || b.all {
		call, err := b.follower.Call(e)
		if err != nil {
			return 0, err
		}
		if starts {
			k := b.operations(e, call)
			if b.started[k] == 0 {
				b.started[k] = uint32(len(b.started) + 1)
			}
			key.started = b.started[k]
		}
	}
	if kind, ok := b.keys[key]; ok {
		return kind, nil
	}
	call, err := b.follower.Call(e)
	if err != nil {
		return 0, err
	}
	k := b.operations(e, call)
	k.rank, k.thread, k.node, k.number = b.rank, b.thread, n, e.Node()
	k.args, k.out, k.region = string(b.arguments), string(b.results), b.regionText
	b.addKind(&k)
	b.found++
	kind := uint32(b.found)
	b.keys[key] = kind
	if e.Constant() && b.follower.Constant(e.Node()) {
		b.byNode[e.Node()] = nodeKind{kind, b.region}
	}
	return kind, nil
}

// operations are the columns that say what a call does.
func (b *eventBuilder) operations(e *reconstruct.Event, call *analysis.Call) (k eventKind) {
	list, names := call.Operations, b.process.Names()
	k.peer, k.hasPeer = eventrow.Peer(list)
	k.tag, k.hasTag = eventrow.Tag(list)
	k.count, k.hasCount = eventrow.Count(list)
	k.sent, k.received, k.hasSize = eventrow.Volume(list)
	k.comm, k.datatype = b.nodes[e.Node()].Object(e, names), eventrow.Datatype(list, names)
	return k
}

// text returns the number of a text in the batch.
func (b *eventBuilder) text(t []byte) uint32 {
	n, ok := b.texts[string(t)]
	if !ok {
		n = uint32(len(b.texts))
		b.texts[string(t)] = n
	}
	return n
}

// addKind adds the values that a kind of events has in each column.
func (b *eventBuilder) addKind(k *eventKind) {
	for i, value := range events.values {
		if value == nil {
			continue
		}
		v, to := value(k), &b.batch.Vectors[i]
		if events.Columns[i].Type.Textual() {
			to.Texts = append(to.Texts, v.Text)
			b.size += len(v.Text)
		} else {
			to.Ints = append(to.Ints, v.Int)
		}
		if events.Columns[i].Nullable {
			to.Nulls = append(to.Nulls, v.Null)
		}
	}
}

// flush hands on the rows that there are.
func (b *eventBuilder) flush() error {
	if b == nil || len(b.kinds) == 0 {
		return nil
	}
	b.batch.Rows = len(b.kinds)
	b.end.Nulls = b.start.Nulls
	for i, value := range events.values {
		if value != nil {
			b.batch.Vectors[i].Of = b.kinds
		}
	}
	err := b.sink(&b.batch)
	for i := range b.batch.Vectors {
		b.batch.Vectors[i].Of = nil
		b.batch.Vectors[i].clear()
	}
	b.end.Nulls = nil
	b.kinds, b.found, b.size = b.kinds[:0], 0, 0
	clear(b.texts)
	clear(b.started)
	b.forget(len(b.byNode))
	return err
}
