package analysis

import (
	"errors"

	"github.com/efg-tools/efg/reconstruct"
	"github.com/efg-tools/efg/signature"
)

type event = *reconstruct.Event

// Follower says what each event of a stream does, while its events are
// reconstructed in order.
type Follower struct {
	s       *stream
	fields  Fields
	known   []*Call              // by node, for nodes whose events all do the same
	current map[uint64]*instance // persistent requests that the graph leaves ambiguous
	call    Call
	room    instance
}

// Follow starts at the first event of Data.Streams[i].
func (p *Process) Follow(i int, fields Fields) *Follower {
	s := p.streams[i]
	return &Follower{s: s, fields: fields, known: make([]*Call, len(s.Nodes)), current: map[uint64]*instance{}}
}

// NeedsAll reports whether the meaning of events depends on previous events: then none may be
// skipped.
func (f *Follower) NeedsAll() bool {
	for i := range f.s.Nodes {
		n := &f.s.Nodes[i]
		if proc := procOf(n); proc != nil && proc.Persistent && n.Mask&f.wordsOf(proc) != 0 {
			return true
		}
	}
	return false
}

func (f *Follower) wordsOf(proc *signature.Proc) uint64 {
	mask := f.fields.wordsOf(proc)
	if proc != nil && proc.Persistent {
		mask |= (BytesField | TagField).wordsOf(proc)
	}
	return mask
}

// Call returns what the event does. It is valid until the next one.
func (f *Follower) Call(e *reconstruct.Event) (*Call, error) {
	if c := f.known[e.Node()]; c != nil {
		return c, nil
	}
	n := &f.s.Nodes[e.Node()]
	proc := procOf(n)
	f.call.Times = 1
	if plan := planOf(proc); plan.kind == starting && !e.Failed() {
		return f.started(e, proc, proc.Roles.Requests)
	}
	mask := f.wordsOf(proc)
	c := f.instance(e, proc, mask)
	f.call.Operations = c.operations(f.call.Operations[:0], f.fields)
	switch {
	case n.Mask&mask == 0:
		f.known[e.Node()] = &Call{Times: 1, Operations: append([]Operation(nil), f.call.Operations...)}
	case proc.Persistent && !e.Failed():
		id := signature.ID{Thread: e.Thread(), Node: uint32(e.Node()), Slot: uint32(e.Word(proc.Roles.Request))}
		f.current[id.Word()] = c.clone()
	}
	return &f.call, nil
}

// Constant reports whether Call has found that it returns the same for all events of a node.
func (f *Follower) Constant(node int) bool { return f.known[node] != nil }

// instance reads the words of mask of an event.
func (f *Follower) instance(e *reconstruct.Event, proc *signature.Proc, mask uint64) *instance {
	n := &f.s.Nodes[e.Node()]
	c := &f.room
	c.process, c.proc, c.plan, c.mask, c.times = f.s.process, proc, planOf(proc), n.Mask, 1
	c.words = append(c.words[:0], n.Words...)
	c.vecs = c.vecs[:0]
	for i := range c.words {
		c.vecs = append(c.vecs, nil)
		if proc == nil || mask&n.Mask>>i&1 == 0 {
			continue
		}
		if proc.Words[i].Form == signature.VecForm {
			c.vecs[i], c.words[i] = e.Vec(i)
		} else {
			c.words[i] = e.Word(i)
		}
	}
	return c
}

func (f *Follower) started(e *reconstruct.Event, proc *signature.Proc, requests int) (*Call, error) {
	array := []uint64{e.Word(requests)}
	if proc.Words[requests].Form == signature.VecForm {
		array, _ = e.Vec(requests)
	}
	f.call.Operations = f.call.Operations[:0]
	for _, w := range array {
		c := f.current[w]
		if c == nil {
			var err error
			if c, err = f.s.process.operation(w); errors.Is(err, errDoubt) {
				c = unknownInstance
			} else if err != nil {
				return nil, err
			}
		}
		f.call.Operations = c.startedOperations(f.call.Operations, f.fields)
	}
	return &f.call, nil
}

// eachEvent walks the stream.
func (s *stream) eachEvent(f func(e event, follower *Follower) error, fields Fields) error {
	data := s.process.Data
	p := reconstruct.NewProcess(data, reconstruct.NewNames(data.Defs, nil))
	for i := range data.Streams {
		if &data.Streams[i] != s.Stream {
			continue
		}
		follower := s.process.Follow(i, fields)
		for e, err := range p.Events(i, reconstruct.Options{}) {
			if err == nil {
				err = f(e, follower)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}
