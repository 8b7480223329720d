package match

import (
	"math/bits"

	"github.com/efg-tools/efg/reconstruct"
	"github.com/efg-tools/efg/signature"
)

// windowSize is how many events of a thread are read at a time: those of a thousand threads are
// too far apart in memory to be read one by one in turn.
const windowSize = 256

// window has the next events of a thread, as far as a walk needs them.
type window struct {
	events []event
	next   int
	// words are those that differ within nodes, the words of requests that are started, the numbers of
	// partitions that are ready, and the places of those that are issued or complete.
	words []uint64
}

// event is an event of a window. Its words and its requests are parts of window.words.
type event struct {
	node           int32
	words          int32
	requests, done int32
	enter, exit    int64
}

// read fills the window.
func (t *Thread) read() error {
	w := &t.window
	w.events, w.words, w.next = w.events[:0], w.words[:0], 0
	for len(w.events) < windowSize && t.unread > 0 {
		t.unread--
		e, err := t.reader.Next()
		if err != nil {
			return err
		}
		if e == nil {
			return nil
		}
		w.add(e, &t.nodes[e.Node()], t)
	}
	return nil
}

func (w *window) add(e *reconstruct.Event, n *node, t *Thread) {
	x := event{node: int32(e.Node()), words: int32(len(w.words))}
	x.enter, x.exit, _ = e.Times()
	if n.needsWords {
		for mask := n.mask; mask != 0; mask &= mask - 1 {
			w.words = append(w.words, e.Word(bits.TrailingZeros64(mask)))
		}
	}
	x.requests = int32(len(w.words))
	switch {
	case n.failed:
	case n.completes:
		for _, i := range e.Completed() {
			w.words = append(w.words, t.Process.placeOf(e.Request(i)))
		}
	case n.action == issuesMessage || n.action == issuesPart || n.action == takesMessage && n.roles.Request != 0:
		if slot := e.Word(n.roles.Request); signature.IsPlain(slot) {
			id := signature.ID{Thread: t.Stream.Thread, Node: uint32(e.Node()), Slot: uint32(slot)}
			w.words = append(w.words, t.Process.place(n, id.Word(), id.Slot))
		}
	case n.action == startsPersistent && n.proc.Vector(n.roles.Requests):
		list, _ := e.Vec(n.roles.Requests)
		w.words = append(w.words, list...)
	case n.action == readiesParts && n.roles.Parts.List != 0:
		list, _ := e.Vec(n.roles.Parts.List)
		w.words = append(w.words, list...)
	case n.action == startsPersistent:
		w.words = append(w.words, e.Word(n.roles.Requests))
	}
	x.done = int32(len(w.words))
	w.events = append(w.events, x)
}

// Word is a word of the call that the thread is in.
func (t *Thread) Word(i int) uint64 {
	n := &t.nodes[t.call.Node]
	if n.mask>>i&1 == 0 {
		return n.words[i]
	}
	if !n.needsWords {
		return signature.Absent
	}
	return t.window.words[int(t.event.words)+bits.OnesCount64(n.mask&(1<<i-1))]
}

// requests are the requests that the call issues, starts or completes, as window.words has them.
func (t *Thread) requests() []uint64 { return t.window.words[t.event.requests:t.event.done] }
