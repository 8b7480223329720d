package match

import (
	"math/bits"
	"runtime"
	"sync"

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

// read fills a window with the next events.
func (t *Thread) read(w *window) error {
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

// windowReader reads the windows of threads while the matcher is at those before them: each of these threads has
// two.
type windowReader struct {
	wanted chan *Thread // whose other window is to be filled
	wg     sync.WaitGroup
}

// newWindowReader begins to read ahead; stop must be called. It is nil if there is only one processor.
func newWindowReader(threads []*Thread) *windowReader {
	if runtime.GOMAXPROCS(0) < 2 {
		return nil
	}
	r := &windowReader{wanted: make(chan *Thread, len(threads))}
	for _, t := range threads {
		if t.canReadAhead() {
			t.filled = make(chan error, 1)
			r.wanted <- t
		}
	}
	r.wg.Go(func() {
		for t := range r.wanted {
			t.filled <- t.read(&t.other)
		}
	})
	return r
}

// stop waits for the reader.
func (r *windowReader) stop() {
	if r == nil {
		return
	}
	close(r.wanted)
	for range r.wanted { // nobody needs these
	}
	r.wg.Wait()
}

// canReadAhead reports whether nothing that reading needs, or changes, is used by the matcher as well: the places of
// requests are if other calls than those that issue or complete them look for these.
func (t *Thread) canReadAhead() bool {
	if !t.alone || t.ahead != nil {
		return false
	}
	for i := range t.nodes {
		n := &t.nodes[i]
		if n.frees || n.cancels || n.action == startsPersistent || n.action == readiesParts || n.action == asksForPart {
			return false
		}
	}
	return true
}

// nextWindow goes to the next window; it is empty at the end.
func (m *matcher) nextWindow(t *Thread) error {
	if t.filled == nil {
		return t.read(&t.window)
	}
	err := <-t.filled
	t.window, t.other = t.other, t.window
	if err == nil && len(t.window.events) > 0 {
		m.reads.wanted <- t
	} else {
		t.filled = nil // at the end, reading again finds nothing
	}
	return err
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
