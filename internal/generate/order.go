package generate

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/efg-tools/efg/reconstruct"
	"github.com/efg-tools/efg/signature"
)

// ordering is what is known about the order in which the threads of a process made their calls. The record has the order
// within each thread, the objects that calls make, use and free, and times.
//
// Objects say most: a call that uses one comes after the call that made it, and a request has the lowest number that was
// free at its place. Where this leaves something open, times decide. All of it was so in the run, which came to its end: a
// program that waits for the same does, too.
type ordering struct {
	process   *process
	timed     bool
	events    [][]orderedEvent // by stream: those that matter
	variables map[variableKey]*variable
	blocks    map[uint64]*orderedBlock // by issuer, of requests and other objects that a stream shares with others
	places    map[placeKey][]place     // calls whose order matters although they share no objects
	first     []int64                  // when each thread began its first call
	last      []int64                  // when its last call ended
	main      []mainCall               // the calls of the first thread
}

// orderedEvent is a call that matters for the order.
type orderedEvent struct {
	seq        uint64 // among those of its thread in the program
	node       int
	visit      uint64
	start, end int64
	before     int64 // when the thread's call before returned
	ops        []operation
	after      []reference // calls that came before, as their times say
}

// mainCall is a call of the first thread.
type mainCall struct {
	node       int
	start, end int64
}

// reference is an event of a stream.
type reference struct{ stream, at int }

// use is what a call does with an object.
type use uint8

const (
	makes   use = iota
	uses        // any number of threads at the same time
	passes      // what has been the object before, in the array that an earlier call left
	starts      // a persistent request
	ends        // the operation of a request; the request itself unless it is persistent
	removes     // the object
)

type operation struct {
	variable *variable
	use      use
}

// variableKey is an object. Datatypes, groups and operations are those of a stream.
type variableKey struct {
	kind   signature.Kind
	stream int
	word   uint64
}

// variable is an object that several threads use.
type variable struct {
	key        variableKey
	made       bool          // some call makes it
	several    bool          // perhaps more than one
	block      *orderedBlock // nil: it has a name of its own
	slot       int
	live       int
	active     bool
	remaining  int         // uses to come
	last       reference   // the call that made or changed it last
	users      []reference // since then, at most one of each stream
	above      reference   // the last call that made one with a higher number meanwhile
	persistent bool
}

// orderedBlock are the objects that one node makes. They are numbered: each has the lowest number that is free.
type orderedBlock struct {
	slots []*variable
	makes []int // numbers of the objects that calls make
	next  int
}

// maxOrdered bounds the calls of a process with threads that share objects.
const maxOrdered = 1 << 22

var none = reference{stream: -1}

// readOrder reads what is known about the order of the threads' calls.
func (p *process) readOrder(source func() (*reconstruct.Process, error)) (*ordering, error) {
	events, err := source()
	if err != nil {
		return nil, err
	}
	o := &ordering{process: p, timed: true, variables: map[variableKey]*variable{}, blocks: map[uint64]*orderedBlock{}, places: map[placeKey][]place{}}
	o.findShared()
	serial, base := p.serialized(), 0
	for i := range p.data.Streams {
		r := &streamReader{ordering: o, stream: i, base: base, serial: serial, visits: map[int]uint64{}, used: map[*variable]bool{}, lastUse: map[*variable]orderedEvent{}}
		if err := r.read(events); err != nil {
			return nil, err
		}
		base += len(p.data.Streams[i].Nodes)
	}
	if serial && !o.timed {
		return nil, errors.New("threads take turns to call MPI (less than MPI_THREAD_MULTIPLE): without times it is unknown in which order (record with --time trace)")
	}
	return o, o.compareTimes()
}

// findShared finds the objects that several threads use.
func (o *ordering) findShared() {
	m, by := makersOf(o.process.list()), map[variableKey]int{}
	shared := map[variableKey]bool{}
	made := map[variableKey]uint64{}
	for _, n := range o.process.list() {
		n.eachObject(m, func(key variableKey, out bool) {
			if first, ok := by[key]; ok && first != n.stream {
				shared[key] = true
			}
			by[key] = n.stream
			if out {
				made[key] += n.visits
			}
		})
	}
	for key := range shared {
		v := &variable{key: key, made: made[key] > 0, several: made[key] > 1, last: none, above: none}
		o.variables[key] = v
		if id, ok := signature.ParseID(key.word); ok {
			o.block(issuer(key.word))
			v.made = true
			v.slot = int(id.Slot)
		}
	}
	for key := range by { // all objects of a node, if it shares one
		if b := o.blocks[issuer(key.word)]; b != nil {
			id, _ := signature.ParseID(key.word)
			for len(b.slots) <= int(id.Slot) {
				b.slots = append(b.slots, nil)
			}
			if o.variables[key] == nil {
				o.variables[key] = &variable{key: key, made: true, last: none, above: none, slot: int(id.Slot)}
			}
			v := o.variables[key]
			v.block, v.persistent = b, o.persistent(id)
			b.slots[id.Slot] = v
		}
	}
}

func (o *ordering) block(id uint64) *orderedBlock {
	b := o.blocks[id]
	if b == nil {
		b = &orderedBlock{}
		o.blocks[id] = b
	}
	return b
}

// persistent reports whether a node issues persistent requests.
func (o *ordering) persistent(id signature.ID) bool {
	for _, n := range o.process.list() {
		if n.thread == id.Thread && n.index == int(id.Node) {
			return n.proc.Persistent
		}
	}
	return false
}

// eachObject calls f for the objects of a node's calls.
func (n *node) eachObject(m makers, f func(key variableKey, out bool)) {
	for i := range n.values {
		q := n.param(i)
		if q == nil || !q.Kind.Handle() && q.Kind != signature.Keyval {
			continue
		}
		n.values[i].each(func(w uint64) {
			if key, ok := n.object(m, i, q.Kind, w); ok {
				f(key, n.proc.Words[i].Out || n.form(i) == signature.SlotForm)
			}
		})
	}
}

// object is the object that a word of a call names; false: a constant.
func (n *node) object(m makers, word int, kind signature.Kind, w uint64) (variableKey, bool) {
	if n.form(word) == signature.SlotForm && signature.IsPlain(w) {
		w = signature.ID{Thread: n.thread, Node: uint32(n.index), Slot: uint32(w)}.Word()
	}
	if special(w) {
		return variableKey{}, false
	}
	key := variableKey{kind: kind, word: w}
	if kind.Ident() {
		key.stream = m.owner(n.stream, w)
	}
	return key, true
}

// streamReader reads the calls of a stream.
type streamReader struct {
	*ordering
	stream, base int
	serial       bool
	makers       makers
	visits       map[int]uint64
	seq          uint64
	ended        int64 // when the call before returned
	list         []orderedEvent
	// Of the calls that use objects which exist once, the first and the last one matter.
	used    map[*variable]bool
	lastUse map[*variable]orderedEvent // other than the first
	// array are the requests of the last array that was passed, also those that it does not have any more.
	array []uint64
}

func (r *streamReader) read(events *reconstruct.Process) error {
	r.makers = makersOf(r.process.list())
	first, last := int64(math.MaxInt64), int64(0)
	for e, err := range events.Events(r.stream, reconstruct.Options{}) {
		if err != nil {
			return err
		}
		if e.Depth() > 0 || signature.FoundNothing(e.Words()) {
			continue
		}
		start, end, ok := e.Times()
		r.timed = r.timed && ok
		if first == math.MaxInt64 {
			first = start
		}
		last = max(last, end)
		if r.stream == 0 {
			r.main = append(r.main, mainCall{node: e.Node(), start: start, end: end})
		}
		if err := r.event(e, start, end); err != nil {
			return err
		}
		r.ended = end
	}
	r.ordering.first, r.ordering.last = append(r.ordering.first, first), append(r.ordering.last, last)
	for v, e := range r.lastUse {
		e.ops = []operation{{v, uses}}
		r.list = append(r.list, e)
	}
	r.finish()
	return nil
}

func (r *streamReader) event(e *reconstruct.Event, start, end int64) error {
	n := r.process.nodes[r.base+e.Node()]
	if n == nil {
		return fmt.Errorf("%s: thread %d: a call that its graph does not have", e.Op(), r.stream)
	}
	event := orderedEvent{seq: r.seq, node: n.number, visit: r.visits[n.number], start: start, end: end, before: r.ended}
	r.seq++
	r.visits[n.number]++
	for _, op := range r.operations(e, n) {
		v := op.variable
		if op.use == uses && v.block == nil && !v.several {
			if r.used[v] {
				r.lastUse[v] = event
				continue
			}
			r.used[v] = true
		}
		event.ops = append(event.ops, op)
	}
	keyed := r.placed(e, n, &event)
	if len(event.ops) == 0 && !keyed {
		return nil
	}
	if len(r.list) >= maxOrdered {
		return fmt.Errorf("thread %d: more than %d calls that use objects of other threads", r.stream, maxOrdered)
	}
	r.list = append(r.list, event)
	return nil
}

// finish puts the events of the stream in order.
func (r *streamReader) finish() {
	slices.SortStableFunc(r.list, func(a, b orderedEvent) int { return cmp.Compare(a.seq, b.seq) })
	var out []orderedEvent
	for _, e := range r.list {
		if k := len(out) - 1; k >= 0 && out[k].seq == e.seq {
			for _, op := range e.ops {
				if !slices.Contains(out[k].ops, op) {
					out[k].ops = append(out[k].ops, op)
				}
			}
			continue
		}
		out = append(out, e)
	}
	for i := range out {
		for _, op := range out[i].ops {
			op.variable.remaining++
			if b := op.variable.block; b != nil && op.use == makes {
				b.makes = append(b.makes, op.variable.slot)
			}
		}
	}
	r.events = append(r.events, out)
}

// operations are what a call does with objects that several threads use.
func (r *streamReader) operations(e *reconstruct.Event, n *node) []operation {
	var list []operation
	add := func(word int, kind signature.Kind, w uint64, what use) {
		key, ok := n.object(r.makers, word, kind, w)
		if v := r.variables[key]; ok && v != nil {
			if op := (operation{v, what}); !slices.Contains(list, op) {
				list = append(list, op)
			}
		}
	}
	for i := range n.values {
		q := n.param(i)
		if q == nil || !q.Kind.Handle() && q.Kind != signature.Keyval {
			continue
		}
		what := r.useOf(e, n, i)
		if q.Len == nil {
			add(i, q.Kind, e.Word(i), what)
			continue
		}
		elems, _ := e.Vec(i)
		for _, w := range elems {
			add(i, q.Kind, w, what)
		}
	}
	for _, w := range r.left(e, n) {
		add(n.proc.Roles.Requests, signature.Req, w, passes)
	}
	if n.proc.Completes == "" || e.Failed() {
		return list
	}
	for _, position := range e.Completed() {
		w := e.Request(position)
		list = slices.DeleteFunc(list, func(op operation) bool { return op.use == uses && op.variable.key.word == w })
		add(n.proc.Roles.Requests, signature.Req, w, ends)
	}
	return list
}

// left returns the requests that were in the array which a call passes as an earlier one left it, and are not there any more.
func (r *streamReader) left(e *reconstruct.Event, n *node) []uint64 {
	word := n.proc.Roles.Requests
	if !n.proc.Vector(word) {
		return nil
	}
	elems, _ := e.Vec(word)
	if e.Word(word) != signature.Same || !n.continues() || len(elems) != len(r.array) {
		r.array = slices.Clone(elems)
		return nil
	}
	var list []uint64
	for i, w := range r.array {
		if elems[i] != w && special(elems[i]) {
			list = append(list, w)
		}
	}
	return list
}

// useOf is what a call does with the objects that a word names.
func (r *streamReader) useOf(e *reconstruct.Event, n *node, word int) use {
	p, q := n.proc, n.param(word)
	switch {
	case p.Words[word].Out || n.form(word) == signature.SlotForm:
		return makes
	case e.Failed():
		return uses
	case p.FreesRequest() && q.Kind == signature.Req, p.Frees && word == p.Roles.Freed, q.Kind == signature.Msg && q.Name == "message":
		return removes
	case p.Frees && q.Dir == signature.InOut && q.Kind != signature.Req:
		return removes
	case p.Starts && q.Kind == signature.Req:
		return starts
	}
	return uses
}
