package analysis

import (
	"math"
	"math/bits"

	"github.com/efg-tools/efg/reconstruct"
	"github.com/efg-tools/efg/signature"
)

// Words are the words of a call.
type Words interface{ Word(i int) uint64 }

// PayloadBytes returns the size in bytes of what a call sends or receives, at most the largest
// number; false if it is unknown or the payload is not significant.
func (p *Process) PayloadBytes(call Words, d *signature.Payload) (uint64, bool) {
	if d.Type == 0 {
		return 0, false
	}
	elements := uint64(1)
	for _, w := range [...]int{d.Count, d.Parts} {
		if w == 0 {
			continue
		}
		v := call.Word(w)
		if signature.IsConst(v) {
			return 0, false
		}
		elements = Product(elements, v)
	}
	if elements == 0 {
		return 0, true
	}
	size, ok := p.typeSize(call.Word(d.Type))
	return Product(elements, size), ok
}

// Product is the product of two numbers, or the largest number.
func Product(a, b uint64) uint64 {
	if high, low := bits.Mul64(a, b); high == 0 {
		return low
	}
	return math.MaxUint64
}

// Outcome is what became of a nonblocking receive.
type Outcome struct {
	reconstruct.Reception
	Cancelled bool // by a call; it may have received something nevertheless
}

// Outcomes finds out what nonblocking receives of any source or tag will receive, by reading the
// stream ahead until they are complete.
type Outcomes struct {
	// Err is why reading ended before the end of the stream.
	Err error

	reader *reconstruct.Reader
	wild   func(request uint64) bool
	nodes  []outcomeNode
	found  map[uint64][]Outcome // by request, in order
	open   map[uint64]*openRequest
	room   []reconstruct.Reception
	ended  bool
}

// openRequest is a request that is active, as far as the stream shows.
type openRequest struct{ cancelled bool }

// outcomeNode is what the calls of a node do to requests.
type outcomeNode struct {
	completes bool
	issued    int // the word of the slot of the active request that they make, 0: none
	started   int // likewise, of the requests that they start
	freed     int // the word of the request that they free, 0: none
	cancelled int // likewise, that they cancel
}

// OutcomesOf reads Data().Streams[stream] of a process. It keeps the outcomes of the requests of
// which wild is true.
func OutcomesOf(p *reconstruct.Process, stream int, wild func(request uint64) bool) *Outcomes {
	x := &Outcomes{reader: p.UntimedReader(stream), wild: wild, found: map[uint64][]Outcome{}, open: map[uint64]*openRequest{}}
	nodes := p.Data().Streams[stream].Nodes
	x.nodes = make([]outcomeNode, len(nodes))
	for i := range nodes {
		proc := procOf(&nodes[i])
		h := signature.Header(nodes[i].Words[0])
		if proc == nil || h.ErrorClass() != 0 || h.Counted() {
			continue
		}
		x.nodes[i].completes = proc.Completes != ""
		switch {
		case proc.Starts:
			x.nodes[i].started = proc.Roles.Requests
		case proc.Receives() && !proc.Persistent:
			x.nodes[i].issued = proc.Roles.Request
		}
		if proc.FreesRequest() {
			x.nodes[i].freed = proc.Roles.Requests
		}
		if proc.Cancels {
			x.nodes[i].cancelled = proc.Roles.Requests
		}
	}
	return x
}

// Next returns the next outcome of a request; false if its completion is not in the stream. The
// source and tag of one that is freed are signature.Absent.
func (x *Outcomes) Next(request uint64) (got Outcome, ok bool) {
	for len(x.found[request]) == 0 {
		if !x.read() {
			return got, false
		}
	}
	list := x.found[request]
	if x.found[request] = list[1:]; len(list) == 1 {
		delete(x.found, request)
	}
	return list[0], true
}

// read goes through one event; false at the end.
func (x *Outcomes) read() bool {
	if x.ended {
		return false
	}
	e, err := x.reader.Next()
	if e == nil || err != nil {
		x.ended, x.Err = true, err
		return false
	}
	switch n := &x.nodes[e.Node()]; {
	case n.issued != 0:
		if slot := e.Word(n.issued); signature.IsPlain(slot) {
			x.begin(signature.ID{Thread: e.Thread(), Node: uint32(e.Node()), Slot: uint32(slot)}.Word())
		}
	case n.started != 0:
		list := []uint64{e.Word(n.started)}
		if e.Proc().Vector(n.started) {
			list, _ = e.Vec(n.started)
		}
		for _, w := range list {
			x.begin(w)
		}
	case n.cancelled != 0:
		if o := x.open[e.Word(n.cancelled)]; o != nil {
			o.cancelled = true
		}
	case n.freed != 0:
		x.note(e.Word(n.freed), unseen)
	case n.completes:
		x.room = e.AppendReceptions(x.room[:0])
		for _, r := range x.room {
			x.note(e.Request(r.Position), r)
		}
	}
	return true
}

// unseen is the outcome of a receive of which no call of the stream tells.
var unseen = reconstruct.Reception{Source: signature.Absent, Tag: signature.Absent}

// begin: a request becomes active. If it is already, another thread has completed it meanwhile.
func (x *Outcomes) begin(request uint64) {
	if !x.wild(request) {
		return
	}
	if x.open[request] != nil {
		x.note(request, unseen)
	}
	x.open[request] = &openRequest{}
}

func (x *Outcomes) note(request uint64, got reconstruct.Reception) {
	if o := x.open[request]; o != nil {
		x.found[request] = append(x.found[request], Outcome{got, o.cancelled})
		delete(x.open, request)
	}
}
