package jsondoc

import (
	"github.com/efg-tools/efg/internal/analysis/flows"
	"github.com/efg-tools/efg/internal/analysis/waits"
)

// Flows are the messages, waits and collective calls in a part of a run's time; docs/api.md describes the document.
// Times are in nanoseconds since the run began.
type Flows struct {
	Schema          string     `json:"schema"`
	File            string     `json:"file"`
	From            int64      `json:"from"`
	To              int64      `json:"to"`
	MessageCount    int        `json:"message_count"`
	WaitCount       int        `json:"wait_count"`
	CollectiveCount int        `json:"collective_count"`
	States          []FlowName `json:"states"`
	Places          []Place    `json:"places"`
	Comms           []string   `json:"comms"`
	// Messages are [rank, thread, place, sent, rank, thread, place, received, bytes, tag,
	// communicator].
	Messages [][11]int64 `json:"messages"`
	// Waits are [rank, thread, place, begin, end, state, rank, thread, place]; the last three are of
	// what was waited for, -1 if that is nobody.
	Waits       [][9]int64       `json:"waits"`
	Collectives []FlowCollective `json:"collectives"`
}

// FlowCollective is a collective call.
type FlowCollective struct {
	Op string `json:"op"`
	// Comm is the number of the communicator, -1 if it is on none.
	Comm int64 `json:"comm"`
	// Parts are [rank, entered, left].
	Parts [][3]int64 `json:"parts"`
}

// FlowName is a wait state.
type FlowName struct {
	State string `json:"state"`
	Name  string `json:"name"`
}

// NewFlows makes the document.
func NewFlows(file string, f *flows.Flows) *Flows {
	j := &Flows{
		Schema: "efg-flows/1", File: file, From: f.From, To: f.To, MessageCount: f.MessageCount, WaitCount: f.WaitCount, CollectiveCount: f.CollectiveCount,
		States: []FlowName{}, Places: []Place{}, Comms: []string{}, Messages: [][11]int64{}, Waits: [][9]int64{}, Collectives: []FlowCollective{},
	}
	places, states, comms := numbering[waits.Place]{}, numbering[FlowName]{}, numbering[string]{}
	side := func(s *flows.Side) (rank, thread, place int64) {
		if s.Rank < 0 {
			return -1, -1, -1
		}
		return int64(s.Rank), int64(s.Thread), places.of(s.Place)
	}
	for i := range f.Messages {
		m := &f.Messages[i]
		fromRank, fromThread, fromPlace := side(&m.From)
		rank, thread, place := side(&m.To)
		j.Messages = append(j.Messages, [11]int64{fromRank, fromThread, fromPlace, m.Sent, rank, thread, place, m.Received, int64(m.Bytes), m.Tag, comms.of(m.Comm)})
	}
	for i := range f.Waits {
		w := &f.Waits[i]
		rank, thread, place := side(&w.Of)
		forRank, forThread, forPlace := side(&w.For)
		state := states.of(FlowName{w.State.Key(), w.State.String()})
		j.Waits = append(j.Waits, [9]int64{rank, thread, place, w.Begin, w.End, state, forRank, forThread, forPlace})
	}
	for i := range f.Collectives {
		c := &f.Collectives[i]
		x := FlowCollective{Op: c.Op, Comm: -1, Parts: make([][3]int64, len(c.Parts))}
		if c.Comm != "" {
			x.Comm = comms.of(c.Comm)
		}
		for k, part := range c.Parts {
			x.Parts[k] = [3]int64{int64(part.Rank), part.Begin, part.End}
		}
		j.Collectives = append(j.Collectives, x)
	}
	j.Comms = append(j.Comms, comms.list...)
	j.States = append(j.States, states.list...)
	for _, p := range places.list {
		j.Places = append(j.Places, Place{p.Op, p.Site})
	}
	return j
}

// compact: there are too many flows for a line each.
func (*Flows) compact() {}

// numbering numbers values in the order in which they come, from 0.
type numbering[V comparable] struct {
	list []V
	at   map[V]int64
}

func (n *numbering[V]) of(v V) int64 {
	k, ok := n.at[v]
	if !ok {
		if n.at == nil {
			n.at = map[V]int64{}
		}
		k = int64(len(n.list))
		n.list = append(n.list, v)
		n.at[v] = k
	}
	return k
}
