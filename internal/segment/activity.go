package segment

import (
	"errors"
	"slices"
	"sync/atomic"
	"unsafe"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/signature"
)

// Activity is what a thread was doing at a moment when its segment was read.
type Activity struct {
	Thread uint32
	TID    int
	// Events is the number of events that the thread had published by then. It exceeds that of
	// the thread's stream if the thread continued while that was read.
	Events uint64
	// InCall: a call was in progress. Words are its words, of which only the inputs are valid;
	// else those of the last call, nil before the first.
	InCall bool
	Words  []uint64
	// Inner are the words of the innermost call in progress, if that is inside another one, the last of
	// Inside.
	Inner  []uint64
	Inside []InnerCall
	// Tick distinguishes calls of one thread; with times it is when the call began.
	Tick uint64
	// Since is when that call began, or else when the last one ended: nanoseconds of
	// CLOCK_MONOTONIC; 0 if times were not recorded or no call was made yet.
	Since uint64
	// Busy: calls began and ended too fast to see one.
	Busy bool
}

// InnerCall is a call in progress inside another one. Tick and Since are as in Activity.
type InnerCall struct {
	Words       []uint64
	Tick, Since uint64

	live *Inner
}

// maxReads is the number of attempts to read the state of a thread that calls all the time;
// after that the thread is busy.
const maxReads = 64

// activity reads what the thread whose record is at a ref is doing.
func (r *reader) activity(ref uint32, h *Header) (a Activity, err error) {
	b, err := r.bytes("stream", ref, 0, uint64(unsafe.Sizeof(Stream{})))
	if err == nil {
		a.read(view[Stream](b), h, nil)
		err = r.inner(&a, view[Stream](b), h)
	}
	return a, err
}

// read reads what a thread is doing. Words are stored in the buffer if that is large enough.
func (a *Activity) read(live *Stream, h *Header, words []uint64) {
	*a = Activity{Thread: atomic.LoadUint32(&live.Thread), TID: int(atomic.LoadUint64(&live.TID))}
	for range maxReads {
		a.Events, a.Tick = atomic.LoadUint64(&live.Events), atomic.LoadUint64(&live.CallTick)
		since := a.Tick
		if a.Tick == 0 {
			since = atomic.LoadUint64(&live.LastTick)
		}
		a.Words = callWords(&live.Words, words)
		// Without times all calls have the same tick, and counted polls are not events: the
		// words are compared, too, because those of two calls might be mixed. They are compared
		// before and after the tick: a thread may have gone on to the next call and written the
		// first words of it before, and the others since.
		if isCall(&live.Words, a.Words) && atomic.LoadUint64(&live.CallTick) == a.Tick && atomic.LoadUint64(&live.Events) == a.Events && isCall(&live.Words, a.Words) {
			a.InCall, a.Since = a.Tick != 0 && a.Words != nil, h.monotonic(since)
			return
		}
	}
	a.Busy, a.Words, a.Tick = true, nil, 0
}

// inner reads the calls in progress inside another one. A thread that goes on meanwhile has none.
func (r *reader) inner(a *Activity, live *Stream, h *Header) error {
	a.Inner, a.Inside = nil, nil
	var list []InnerCall
	ref := atomic.LoadUint32(&live.Inner)
	for a.InCall && ref != 0 {
		if len(list) == maxStreams {
			return r.corrupt("inner call", ref, errors.New("too many"))
		}
		b, err := r.bytes("inner call", ref, 0, uint64(unsafe.Sizeof(Inner{})))
		if err != nil {
			return err
		}
		c := InnerCall{live: view[Inner](b)}
		if c.Tick = atomic.LoadUint64(&c.live.CallTick); c.Tick == 0 {
			break
		}
		c.Words, c.Since = callWords(&c.live.Words, nil), h.monotonic(c.Tick)
		list = append(list, c)
		ref = atomic.LoadUint32(&c.live.Inner)
	}
	for i := range list {
		if !list[i].unchanged() {
			return nil
		}
	}
	if len(list) > 0 && atomic.LoadUint64(&live.CallTick) == a.Tick {
		a.Inner, a.Inside = list[len(list)-1].Words, list
	}
	return nil
}

// unchanged reports whether the thread is still in the call.
func (c *InnerCall) unchanged() bool {
	return c.Words != nil && isCall(&c.live.Words, c.Words) && atomic.LoadUint64(&c.live.CallTick) == c.Tick
}

// callWords copies the words of the latest call into a buffer; nil if they are not those of a
// call.
func callWords(live *[MaxWords]uint64, words []uint64) []uint64 {
	n := signature.Header(atomic.LoadUint64(&live[0])).Words()
	if n < signature.FirstWord || n > MaxWords {
		return nil
	}
	words = slices.Grow(words[:0], n)[:n]
	for i := range words {
		words[i] = atomic.LoadUint64(&live[i])
	}
	return words
}

// isCall reports whether these still are the words of the latest call.
func isCall(live *[MaxWords]uint64, words []uint64) bool {
	for i, w := range words {
		if atomic.LoadUint64(&live[i]) != w {
			return false
		}
	}
	return true
}

// monotonic turns clock ticks into nanoseconds of CLOCK_MONOTONIC, 0 for what is no
// time.
func (h *Header) monotonic(tick uint64) uint64 {
	if h.TimeMode == timesOff || tick < h.Start.Tick || tick <= 1 {
		return 0
	}
	return h.clock().At(tick)
}

// Activities reads only what the threads of a segment's process are doing: it takes
// microseconds, however much the process has recorded.
func Activities(path string) (*Header, []Activity, error) {
	w, err := OpenWatch(path)
	if err != nil {
		return nil, nil, err
	}
	defer w.Close()
	l, err := w.Look(false)
	if err != nil {
		return nil, nil, err
	}
	return &l.Header, l.Activities, nil
}

// pending is the call that the thread was in when its stream was read; nil if there was none,
// or the thread has continued since.
func (a *Activity) pending(s *efg.Stream, h *Header) *efg.Pending {
	head := signature.Header(0)
	if a.Words != nil {
		head = signature.Header(a.Words[0])
	}
	if !a.InCall || a.Events != s.Events || s.End == efg.EndThread || head.Counted() {
		return nil
	}
	p := efg.NewPending(a.Words, h.sinceStart(a.Since))
	for _, c := range a.Inside {
		p.Inside(efg.NewPending(c.Words, h.sinceStart(c.Since)))
	}
	return p
}

// GoneBy notes that the process had ended by a time of CLOCK_MONOTONIC, in ns, if it was killed in a call. Nothing is noted
// if the time is 0, or the process was there later.
func (s *Segment) GoneBy(mono uint64) {
	inCall, seen := false, s.Header.LastMono()
	for i := range s.Activities {
		seen = max(seen, s.Activities[i].Since)
		c := s.Process.Streams[i].Pending
		inCall = inCall || c != nil && c.Since != 0
	}
	if inCall && mono >= seen {
		s.Process.Gone = s.Header.sinceStart(mono)
	}
}

// sinceStart turns a time of CLOCK_MONOTONIC into one after the process's start; 0: unknown.
func (h *Header) sinceStart(mono uint64) uint64 {
	if mono == 0 {
		return 0
	}
	return max(1, mono-min(mono, h.StartMono()))
}
