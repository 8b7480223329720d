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

// Outcomes finds out what nonblocking receives of any source or tag will receive, by reading the
// stream ahead until they are complete.
type Outcomes struct {
	// Err is why reading ended before the end of the stream.
	Err error

	reader *reconstruct.Reader
	wild   func(request uint64) bool
	nodes  []outcomeNode
	found  map[uint64][]reconstruct.Reception // by request, in order
	room   []reconstruct.Reception
	ended  bool
}

// outcomeNode is what the calls of a node do to requests.
type outcomeNode struct {
	completes bool
	freed     int // the word of the request that they free, 0: none
}

// OutcomesOf reads Data().Streams[stream] of a process. It keeps the outcomes of the requests of
// which wild is true.
func OutcomesOf(p *reconstruct.Process, stream int, wild func(request uint64) bool) *Outcomes {
	x := &Outcomes{reader: p.UntimedReader(stream), wild: wild, found: map[uint64][]reconstruct.Reception{}}
	nodes := p.Data().Streams[stream].Nodes
	x.nodes = make([]outcomeNode, len(nodes))
	for i := range nodes {
		proc := procOf(&nodes[i])
		h := signature.Header(nodes[i].Words[0])
		if proc == nil || h.ErrorClass() != 0 || h.Counted() {
			continue
		}
		x.nodes[i].completes = proc.Completes != ""
		if proc.FreesRequest() {
			x.nodes[i].freed = proc.Roles.Requests
		}
	}
	return x
}

// Next returns the next outcome of a request; false if its completion is not in the stream. The
// source and tag of one that is freed are signature.Absent.
func (x *Outcomes) Next(request uint64) (got reconstruct.Reception, ok bool) {
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
	case n.freed != 0:
		x.note(e.Word(n.freed), reconstruct.Reception{Source: signature.Absent, Tag: signature.Absent})
	case n.completes:
		x.room = e.AppendReceptions(x.room[:0])
		for _, r := range x.room {
			x.note(e.Request(r.Position), r)
		}
	}
	return true
}

func (x *Outcomes) note(request uint64, got reconstruct.Reception) {
	if x.wild(request) {
		x.found[request] = append(x.found[request], got)
	}
}
