package waitfor

import (
	"github.com/efg-tools/efg/internal/analysis"
	"github.com/efg-tools/efg/reconstruct"
	"github.com/efg-tools/efg/signature"
)

// history is what can be determined only from the order of a rank's events.
type history struct {
	turns   map[uint64]turn // of the last collective, by its request
	traffic *traffic        // in which receives with wildcards are those that their completion names
}

// history iterates over the events of a rank, once; nil if there are too many.
func (n *needs) history(r *Rank) *history {
	h, ok := n.histories[r]
	if !ok {
		if p := n.process(r); p != nil {
			h = newHistory(r, p)
		}
		n.histories[r] = h
	}
	return h
}

// historyBuilder iterates over the events of a rank.
type historyBuilder struct {
	history
	rank    *Rank
	process *analysis.Process
	made    map[order]uint64
	streams map[order]int          // number of the stream that made the calls
	open    map[uint64][]channel   // pending receives with wildcards, by request
	early   map[uint64][]completed // by request, for receives of streams that follow
}

// completed holds the words of sender and tag that a completion names.
type completed struct{ source, tag uint64 }

func newHistory(r *Rank, p *analysis.Process) *history {
	events := uint64(0)
	for i := range r.Process.Streams {
		events += r.Process.Streams[i].Events
	}
	if events > walkLimit {
		return nil
	}
	h := &historyBuilder{
		history: history{map[uint64]turn{}, emptyTraffic()}, rank: r, process: p, made: map[order]uint64{},
		streams: map[order]int{}, open: map[uint64][]channel{}, early: map[uint64][]completed{},
	}
	walk := reconstruct.NewProcess(r.Process, reconstruct.NewNames(r.Process.Defs, nil))
	for i := range r.Process.Streams {
		follower := p.Follow(i, trafficFields)
		for e, err := range walk.Events(i, reconstruct.Options{}) {
			var call *analysis.Call
			if err == nil {
				call, err = follower.Call(e)
			}
			if err != nil {
				return nil
			}
			h.event(e, call, i)
		}
	}
	for _, list := range h.open {
		for _, c := range list {
			h.traffic.add(false, true, c, 1)
		}
	}
	h.traffic.inFlightOf(r, p)
	return &h.history
}

func (h *historyBuilder) event(e *reconstruct.Event, call *analysis.Call, stream int) {
	h.collective(e, stream)
	request, issues := issuedBy(e)
	for i := range call.Operations {
		o := &call.Operations[i]
		if o.Started {
			request, issues = e.Request(i), true
		}
		if issues && o.Moves && o.Kind == analysis.ReceiveOperation && (o.Peer == analysis.NoRank || signature.IsConst(o.Tag)) {
			h.post(request, channel{o.Peer, o.Comm, o.Tag})
			continue
		}
		h.traffic.operation(o, 1)
	}
	if p := e.Proc(); p == nil || p.Completes == "" || p.Peeks != "" || e.Failed() {
		return
	}
	for _, k := range e.Completed() {
		h.complete(e, k)
	}
}

// collective counts a collective call.
func (h *historyBuilder) collective(e *reconstruct.Event, stream int) {
	words := e.Words()
	p, a := lookUp(words)
	if p == nil || !counted(a) {
		return
	}
	o := order{objectOf(words, a), h.rank.First}
	if first, ok := h.streams[o]; !ok {
		h.streams[o] = stream
	} else if first != stream {
		return // made finds that there is no order
	}
	h.made[o]++
	if request, ok := issuedBy(e); ok {
		h.turns[request] = turn{o, h.made[o]}
	}
}

// issuedBy returns the request that an event issued.
func issuedBy(e *reconstruct.Event) (request uint64, ok bool) {
	p := e.Proc()
	if p == nil || p.Issues == "" || e.Failed() {
		return 0, false
	}
	slot := e.Word(p.Roles.Request)
	return signature.ID{Thread: e.Thread(), Node: uint32(e.Node()), Slot: uint32(slot)}.Word(), signature.IsPlain(slot)
}

// post records a receive with a wildcard.
func (h *historyBuilder) post(request uint64, c channel) {
	early := h.early[request]
	if len(early) == 0 {
		h.open[request] = append(h.open[request], c)
		return
	}
	h.receive(c, early[0])
	h.early[request] = early[1:]
}

// complete records the completion of the request at a position.
func (h *historyBuilder) complete(e *reconstruct.Event, position int) {
	request := e.Request(position)
	list := h.open[request]
	id, _ := signature.ParseID(request)
	if len(list) == 0 && id.Thread == e.Thread() {
		return // not recorded by post
	}
	x := completed{}
	x.source, x.tag = e.Received(position)
	if len(list) == 0 {
		h.early[request] = append(h.early[request], x)
		return
	}
	h.receive(list[0], x)
	if list = list[1:]; len(list) == 0 {
		delete(h.open, request)
	} else {
		h.open[request] = list
	}
}

// receive attributes a receive with a wildcard to the sender that its completion names.
func (h *historyBuilder) receive(c channel, x completed) {
	if c.peer == analysis.NoRank {
		c.peer = h.process.PeerOf(c.comm, x.source)
	}
	if signature.IsConst(c.tag) {
		c.tag = x.tag
	}
	h.traffic.add(false, true, c, 1)
}
