package sql

import (
	"iter"
	"math"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/analysis"
	"github.com/efg-tools/efg/internal/analysis/eventrow"
	"github.com/efg-tools/efg/internal/analysis/regions"
	"github.com/efg-tools/efg/reconstruct"
)

// Columns of events.
const (
	eventRank = iota
	eventThread
	eventSeq
	eventNode
	eventOp
	eventClass
	eventSite
	eventFunc
	eventError
	eventComm
	eventPeer
	eventTag
	eventCount
	eventDatatype
	eventBytes
	eventSent
	eventReceived
	eventT0
	eventT1
	eventArgs
	eventOut
	eventPath
	eventRegion
	eventDepth
)

const (
	eventColumns = `rank INTEGER, thread INTEGER, seq INTEGER, node INTEGER, op TEXT, class TEXT, site TEXT, func TEXT, error TEXT,
		comm TEXT, peer INTEGER, tag INTEGER, count INTEGER, datatype TEXT, bytes INTEGER, sent INTEGER, received INTEGER,
		t0 INTEGER, t1 INTEGER, args TEXT, out TEXT, path TEXT, region TEXT, depth INTEGER`

	// nodeLevel are the columns that are equal for all events of a node.
	nodeLevel = 1<<eventRank | 1<<eventThread | 1<<eventNode | 1<<eventOp | 1<<eventClass | 1<<eventSite | 1<<eventFunc | 1<<eventError | 1<<eventPath | 1<<eventDepth
	// walked are the columns that a walk provides without decoding arguments.
	walked = nodeLevel | 1<<eventSeq | 1<<eventRegion
	// operationLevel are the columns that depend on what the call does.
	operationLevel = 1<<eventComm | 1<<eventPeer | 1<<eventTag | 1<<eventCount | 1<<eventDatatype | 1<<eventBytes | 1<<eventSent | 1<<eventReceived
	eventPushed    = 1<<eventRank | 1<<eventThread | 1<<eventSeq | 1<<eventOp | 1<<eventT0
	wholeEvent     = 1<<eventArgs | 1<<eventOut
	eventTimes     = 1<<eventT0 | 1<<eventT1
)

func countEvents(run *runfile.Run) (n float64) {
	for i := range run.Procs {
		for k := range run.Procs[i].Streams {
			n += float64(run.Procs[i].Streams[k].Events)
		}
	}
	return n
}

// eventRows iterates over the events that may be requested.
type eventRows struct {
	db     *Database
	q      *request
	procs  []int // that remain
	p      *process
	stream int // the next one

	facts  []eventrow.Node
	thread uint32
	chosen []bool // by node
	seq    uint64
	node   int
	number uint64 // number of the row in its stream
	step   func() (bool, error)
	stop   func()

	regions *regions.Follower // nil if the region is not requested, or there are none
	frame   int32             // that text is of
	region  any

	event      *reconstruct.Event
	follower   *analysis.Follower
	call       *analysis.Call // nil until requested
	text       []byte         // arguments or results; reused
	start, end int64
	known      bool // the times are known
}

func openEvents(db *Database, q *request) (rows, error) {
	return &eventRows{db: db, q: q, procs: db.ranks(q), stop: func() {}}, nil
}

// ranks lists the processes that satisfy the constraints on column 0.
func (db *Database) ranks(q *request) []int {
	b := q.bound(0)
	var list []int
	for i, p := range db.run.Procs {
		if b.has(int64(p.Rank)) {
			list = append(list, i)
		}
	}
	return list
}

func (r *eventRows) id() int64 {
	const numberBits = 40
	return (r.db.streams[r.p.index]+int64(r.stream-1))<<numberBits | int64(r.number)
}

func (r *eventRows) close() { r.stop() }

func (r *eventRows) next() (bool, error) {
	for {
		if r.step != nil {
			if more, err := r.step(); more || err != nil {
				return more, err
			}
			r.stop()
			r.step, r.stop = nil, func() {}
		}
		if more, err := r.nextStream(); !more || err != nil {
			return false, err
		}
	}
}

// nextStream moves to the next stream that may have requested events.
func (r *eventRows) nextStream() (bool, error) {
	for {
		if r.p == nil || r.stream == len(r.p.data.Streams) {
			if len(r.procs) == 0 {
				return false, nil
			}
			p, err := r.db.process(r.procs[0])
			if err != nil {
				return false, err
			}
			r.p, r.stream, r.procs = p, 0, r.procs[1:]
			continue
		}
		i := r.stream
		r.stream++
		if !r.q.bound(eventThread).has(int64(r.p.data.Streams[i].Thread)) {
			continue
		}
		if r.open(i) {
			return true, nil
		}
	}
}

// open begins a stream in the cheapest way that provides the requested columns; false if none
// of its nodes is requested.
func (r *eventRows) open(i int) bool {
	s := &r.p.data.Streams[i]
	r.facts, r.thread = r.p.factsOf(i), s.Thread
	r.chosen = make([]bool, len(s.Nodes))
	found := false
	op, one := r.q.texts[eventOp]
	for k := range r.chosen {
		r.chosen[k] = !one || r.facts[k].Op == op
		found = found || r.chosen[k]
	}
	if !found {
		return false
	}
	r.regions, r.frame, r.region = nil, regions.Outside, nil
	if r.q.uses(1 << eventRegion) {
		r.regions = regions.NewFollower(r.p.data, i)
	}
	_, sought := r.q.bounds[eventSeq]
	switch {
	case r.q.used&^nodeLevel == 0 && !sought:
		r.step = r.byNodes(s)
	case r.q.used&^walked == 0:
		r.step = r.byWalk(s)
	default:
		r.step = r.byEvents(i)
	}
	return true
}

// byNodes returns the events of a node one after another, without a walk.
func (r *eventRows) byNodes(s *efg.Stream) func() (bool, error) {
	visits := make([]uint64, len(s.Nodes))
	if len(visits) > 0 {
		visits[0] = 1
	}
	for k := range s.Nodes {
		for _, e := range s.Nodes[k].Edges {
			visits[e.To] += e.Weight
		}
	}
	node, left, before := -1, uint64(0), uint64(0)
	return func() (bool, error) {
		for left == 0 {
			if node++; node == len(visits) {
				return false, nil
			}
			if r.chosen[node] {
				left = visits[node]
			}
			before += visits[node]
		}
		r.node, r.number = node, before-left
		left--
		return true, nil
	}
}

// window is the range of requested event numbers.
func (r *eventRows) window(events uint64) (from, to uint64) {
	b := r.q.bound(eventSeq)
	if b.high < 0 || b.low > b.high {
		return 0, 0
	}
	to = events
	if b.high < math.MaxInt64 {
		to = min(to, uint64(b.high)+1)
	}
	return uint64(max(b.low, 0)), to
}

func (r *eventRows) byWalk(s *efg.Stream) func() (bool, error) {
	from, to := r.window(s.Events)
	if from >= to {
		return func() (bool, error) { return false, nil }
	}
	w := s.WalkFrom(r.p.data.Defs, from)
	return func() (bool, error) {
		for w.Next() {
			if r.db.sandbox.stopped.Load() {
				return false, errStopped
			}
			r.seq, r.number, r.node = w.Seq(), w.Seq(), w.Node()
			if r.seq >= to {
				return false, nil
			}
			if r.seq >= from && r.chosen[r.node] {
				return true, nil
			}
		}
		return false, w.Err()
	}
}

func (r *eventRows) byEvents(i int) func() (bool, error) {
	s := &r.p.data.Streams[i]
	from, to := r.window(s.Events)
	if from >= to {
		return func() (bool, error) { return false, nil }
	}
	opt := reconstruct.Options{From: from, To: to}
	r.follower = nil
	all := false
	if r.q.uses(operationLevel) {
		r.follower = r.p.facts.Follow(i, eventrow.Fields)
		if all = r.follower.NeedsAll(); all {
			opt.From = 0
		}
	}
	pull, stop := iter.Pull2(r.p.events.Events(i, opt))
	r.stop = stop
	return func() (bool, error) {
		for {
			e, err, ok := pull()
			if !ok || err != nil {
				return false, err
			}
			if r.db.sandbox.stopped.Load() {
				return false, errStopped
			}
			r.event, r.seq, r.number, r.node, r.call = e, e.Seq, e.Seq, e.Node(), nil
			if all {
				if r.call, err = r.follower.Call(e); err != nil {
					return false, err
				}
			}
			if !r.chosen[r.node] || r.seq < from {
				continue
			}
			if in, over := r.timed(); over {
				return false, nil
			} else if in {
				return true, nil
			}
		}
	}
}

// timed reads the event's times and reports whether they may satisfy the constraints, and
// whether those of all later events cannot.
func (r *eventRows) timed() (in, over bool) {
	if !r.q.uses(eventTimes) {
		return true, false
	}
	r.start, r.end, r.known = r.event.Times()
	b := r.q.bound(eventT0)
	return !r.known || b.has(r.start), r.known && r.start > b.high
}

func (r *eventRows) column(i int) (any, error) {
	f := &r.facts[r.node]
	switch i {
	case eventRank:
		return int64(r.p.data.Rank), nil
	case eventThread:
		return int64(r.thread), nil
	case eventSeq:
		return int64(r.seq), nil
	case eventNode:
		return int64(r.node), nil
	case eventRegion:
		return r.regionText(), nil
	case eventT0:
		return r.time(r.start), nil
	case eventT1:
		return r.time(r.end), nil
	case eventArgs, eventOut:
		return r.json(i), nil
	}
	if v, ok := nodeColumn(f, i); ok {
		return v, nil
	}
	if r.call == nil {
		var err error
		if r.call, err = r.follower.Call(r.event); err != nil {
			return nil, err
		}
	}
	return r.operation(i), nil
}

// regionText names the regions that the event is in; NULL if it is in none.
func (r *eventRows) regionText() any {
	if now := r.regions.At(r.seq); now != r.frame {
		r.frame = now
		text := regions.PathText(r.regions.Path(now))
		r.region = orNull(text, text != "")
	}
	return r.region
}

func (r *eventRows) time(t int64) any {
	if !r.known {
		return nil
	}
	return t
}

// json is the arguments or the results as an object.
func (r *eventRows) json(column int) any {
	if column == eventArgs {
		r.text = r.event.AppendJSONArguments(r.text[:0])
	} else {
		r.text = r.event.AppendJSONResults(r.text[:0])
	}
	return string(r.text)
}

// operation returns what the call does: peer, tag and datatype of the first
// operation that has one, bytes of all.
func (r *eventRows) operation(column int) any {
	list, names := r.call.Operations, r.p.events.Names()
	switch column {
	case eventComm:
		text := r.facts[r.node].Object(r.event, names)
		return orNull(text, text != "")
	case eventPeer:
		rank, ok := eventrow.Peer(list)
		return orNull(int64(rank), ok)
	case eventTag:
		return orNull(eventrow.Tag(list))
	case eventCount:
		return orNull(eventrow.Count(list))
	case eventDatatype:
		text := eventrow.Datatype(list, names)
		return orNull(text, text != "")
	}
	sent, received, ok := eventrow.Volume(list)
	switch column {
	case eventSent:
		return orNull(int64(sent), ok)
	case eventReceived:
		return orNull(int64(received), ok)
	}
	return orNull(int64(max(sent, received)), ok)
}

// orNull is a value, or NULL.
func orNull[T any](v T, ok bool) any {
	if !ok {
		return nil
	}
	return v
}

// factsOf describes the nodes of a stream, once.
func (p *process) factsOf(i int) []eventrow.Node {
	if p.nodes[i] == nil {
		p.nodes[i] = eventrow.Nodes(p.events, i)
	}
	return p.nodes[i]
}

// nodeColumn returns a column that is equal for all events of a node; false: it is none.
func nodeColumn(n *eventrow.Node, i int) (any, bool) {
	text := ""
	switch i {
	case eventOp:
		text = n.Op
	case eventClass:
		text = n.Class
	case eventSite:
		text = n.Site
	case eventFunc:
		text = n.Func
	case eventError:
		text = n.Error
	case eventPath:
		text = n.Path
	case eventDepth:
		return int64(n.Depth), true
	default:
		return nil, false
	}
	return orNull(text, text != ""), true
}
