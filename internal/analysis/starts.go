package analysis

import (
	"errors"
	"maps"
	"slices"

	"github.com/efg-tools/efg/reconstruct"
	"github.com/efg-tools/efg/signature"
)

// Persistent operations move data when they are started. What they move is determined by the
// call that made the request, which the request's word names.

// issued holds the arguments of the calls of a node that makes persistent requests.
type issued struct {
	same   *instance            // if all are alike in what matters
	bySlot map[uint32]*instance // otherwise by the slot of the request; nil for different ones
}

// errDoubt is returned if the graph does not determine which operations a call starts.
var errDoubt = errors.New("the order of events decides")

// unknownInstance stands for an operation that is unknown.
var unknownInstance = &instance{}

// started calls f for the operations that the events of a node start.
func (s *stream) started(node int, f func(*instance) error) error {
	list, err := s.startedOperations(node)
	if errors.Is(err, errDoubt) {
		list, err = s.walkedOperations(node)
	}
	if err != nil {
		return err
	}
	for _, c := range list {
		if err := f(c); err != nil {
			return err
		}
	}
	return nil
}

func (s *stream) startedOperations(node int) ([]*instance, error) {
	requests, err := s.startedRequests(node)
	if err != nil {
		return nil, err
	}
	var list []*instance
	for _, w := range slices.Sorted(maps.Keys(requests)) {
		c, err := s.process.operation(w)
		if err != nil {
			return nil, err
		}
		d := *c
		d.times = requests[w]
		list = append(list, &d)
	}
	return list, nil
}

// startedRequests counts how often the events of a node start each request.
func (s *stream) startedRequests(node int) (map[uint64]uint64, error) {
	count := map[uint64]uint64{}
	err := s.instances(node, 1<<planOf(procOf(&s.Nodes[node])).Roles.Requests, func(c *instance) error {
		i := c.plan.Roles.Requests
		if !c.isVec(i) {
			count[c.words[i]] += c.times
			return nil
		}
		array, ok := c.vec(i)
		if !ok && c.words[i] == signature.Same {
			if array, ok = s.reaching(node); !ok {
				return errDoubt
			}
		}
		for _, w := range array {
			count[w] += c.times
		}
		return nil
	})
	return count, err
}

// operation returns the operation of a persistent request.
func (p *Process) operation(request uint64) (*instance, error) {
	id, ok := signature.ParseID(request)
	s := p.threads[id.Thread]
	if !ok || s == nil || int(id.Node) >= len(s.Nodes) {
		return unknownInstance, nil
	}
	o, err := s.issuedAt(int(id.Node))
	switch {
	case err != nil:
		return nil, err
	case o == nil:
		return unknownInstance, nil
	case o.same != nil:
		return o.same, nil
	case o.bySlot == nil:
		return nil, errDoubt
	case o.bySlot[id.Slot] == nil:
		return unknownInstance, nil
	}
	return o.bySlot[id.Slot], nil
}

// issuedAt returns what a node's requests are; nil if they are not persistent.
func (s *stream) issuedAt(node int) (*issued, error) {
	n := &s.Nodes[node]
	proc := procOf(n)
	if proc == nil || !proc.Persistent {
		return nil, nil
	}
	if o := s.issued[node]; o != nil {
		return o, nil
	}
	plan, slot := planOf(proc), proc.Roles.Request
	o := &issued{bySlot: map[uint32]*instance{}}
	err := s.instances(node, plan.mask|1<<slot, func(c *instance) error {
		if n.Mask&plan.mask == 0 {
			o.same = c.clone()
		} else if o.bySlot != nil {
			o.add(c, slot)
		}
		return nil
	})
	s.issued[node] = o
	return o, err
}

func (o *issued) add(c *instance, slot int) {
	at := uint32(c.words[slot])
	old := o.bySlot[at]
	switch {
	case old == nil:
		o.bySlot[at] = c.clone()
	case old.key() != c.key():
		o.bySlot = nil
	}
}

// key is a hash of what matters in an instance.
func (c *instance) key() uint64 {
	var list []uint64
	for i := range c.words {
		if c.plan.mask>>i&1 == 0 {
			continue
		}
		list = append(list, c.words[i])
		if c.isVec(i) {
			v, _ := c.vec(i)
			list = append(append(list, uint64(len(v))), v...)
		}
	}
	return signature.Hash(list...)
}

// States of an array of requests, besides the word of its content. No content has these hashes.
const (
	arrayUnset   = 0
	arrayUnknown = 1 << 63
)

// reaching returns the array that EFG_SAME at a node stands for: the last one that was passed,
// if that is the same on all paths to the node. (Entries that have completed since are null;
// they were not persistent, so they are not started.)
func (s *stream) reaching(node int) ([]uint64, bool) {
	if s.arrays == nil {
		s.propagateArrays()
	}
	a, ok := s.process.vecs[s.arrays[node]]
	return a, ok && s.Nodes[node].Mask>>planOf(procOf(&s.Nodes[node])).Roles.Requests&1 == 0
}

// propagateArrays computes for each node the array that the preceding call left, by data-flow
// analysis over the edges.
func (s *stream) propagateArrays() {
	s.arrays = make([]uint64, len(s.Nodes))
	first := s.Start()
	s.arrays[first] = arrayUnknown
	passes := make([]int, len(s.Nodes))
	for i := range s.Nodes {
		passes[i] = arrayWord(procOf(&s.Nodes[i]))
	}
	work := []int{first}
	for len(work) > 0 {
		i := work[len(work)-1]
		work = work[:len(work)-1]
		out := s.leaves(i, passes[i])
		for _, e := range s.Nodes[i].Edges {
			in := &s.arrays[e.To]
			switch {
			case *in == out || *in == arrayUnknown && int(e.To) != first:
				continue
			case *in == arrayUnset:
				*in = out
			case *in != arrayUnknown:
				*in = arrayUnknown
			default:
				continue
			}
			work = append(work, int(e.To))
		}
	}
}

// leaves is the state after a node.
func (s *stream) leaves(i, word int) uint64 {
	n := &s.Nodes[i]
	switch {
	case word == 0 || depthOf(n) > 0:
		return s.arrays[i]
	case n.Mask>>word&1 != 0 || signature.Header(n.Words[0]).ErrorClass() != 0:
		return arrayUnknown
	case n.Words[word] == signature.Same:
		return s.arrays[i]
	case signature.IsConst(n.Words[word]):
		return arrayUnknown
	}
	return n.Words[word]
}

// arrayWord is the word of the array of requests that a procedure takes; 0 if there is none.
func arrayWord(p *signature.Proc) int {
	if p == nil || !p.Vector(p.Roles.Requests) {
		return 0
	}
	return p.Roles.Requests
}

// walkedOperations determines by walking the stream which operations a node's events start.
func (s *stream) walkedOperations(node int) ([]*instance, error) {
	if s.walked == nil {
		w := &startWalk{stream: s, current: map[uint64]*instance{}, found: map[int]map[uint64]*instance{}}
		if err := w.run(); err != nil {
			return nil, err
		}
		s.walked = map[int][]*instance{}
		for at, list := range w.found {
			for _, key := range slices.Sorted(maps.Keys(list)) {
				s.walked[at] = append(s.walked[at], list[key])
			}
		}
	}
	return s.walked[node], nil
}

// startWalk follows the persistent requests of a stream.
type startWalk struct {
	*stream
	current map[uint64]*instance // by request, where the graph is ambiguous
	found   map[int]map[uint64]*instance
}

func (w *startWalk) run() error {
	data := w.process.Data
	p := reconstruct.NewProcess(data, reconstruct.NewNames(data.Defs, nil))
	for i := range data.Streams {
		if &data.Streams[i] != w.Stream {
			continue
		}
		for e, err := range p.Events(i, reconstruct.Options{}) {
			if err != nil {
				return err
			}
			w.event(e)
		}
	}
	return nil
}

func (w *startWalk) event(e *reconstruct.Event) {
	proc := e.Proc()
	switch {
	case proc == nil || e.Failed():
	case proc.Persistent:
		w.made(e, proc)
	case proc.Starts:
		i := proc.Roles.Requests
		array := []uint64{e.Word(i)}
		if proc.Words[i].Form == signature.VecForm {
			array, _ = e.Vec(i)
		}
		for _, request := range array {
			w.add(e.Node(), request)
		}
	}
}

// made records what a request is.
func (w *startWalk) made(e *reconstruct.Event, proc *signature.Proc) {
	n := &w.Nodes[e.Node()]
	plan := planOf(proc)
	if n.Mask&plan.mask == 0 {
		return
	}
	c := &instance{process: w.process, proc: proc, plan: plan, mask: n.Mask,
		words: make([]uint64, len(n.Words)), vecs: make([][]uint64, len(n.Words))}
	for i := range c.words {
		if plan.mask>>i&1 == 0 {
			continue
		}
		c.words[i] = e.Word(i)
		if c.isVec(i) {
			v, constant := e.Vec(i)
			c.vecs[i] = append([]uint64{}, v...)
			if n.Mask>>i&1 != 0 {
				c.words[i] = constant
			}
		}
	}
	id := signature.ID{Thread: e.Thread(), Node: uint32(e.Node()), Slot: uint32(e.Word(proc.Roles.Request))}
	w.current[id.Word()] = c
}

// add counts a start.
func (w *startWalk) add(node int, request uint64) {
	c := w.current[request]
	if c == nil {
		known, err := w.process.operation(request)
		if c = known; err != nil {
			c = unknownInstance
		}
	}
	key := uint64(0)
	if c.plan != nil {
		key = c.key()
	}
	if w.found[node] == nil {
		w.found[node] = map[uint64]*instance{}
	}
	if w.found[node][key] == nil {
		d := *c
		d.times = 0
		w.found[node][key] = &d
	}
	w.found[node][key].times++
}
