package otf2

import "slices"

// heldEvent is an event that is written later: a call is recorded after those inside it, but entered
// before them.
type heldEvent struct {
	at            int64
	record, extra []byte
}

// innerCall has the events of a call made inside one that is still to come, with those of the calls
// inside itself.
type innerCall struct {
	depth  int
	events []heldEvent
}

// beginCall begins the events of a call of a depth. They are held back if it was made inside another one,
// or others were made inside it.
func (t *threadWriter) beginCall(depth int) { t.holds = depth > 0 || len(t.inner) > 0 }

// atStart adds an event at the start of the call, with what extra has.
func (t *threadWriter) atStart(record, extra []byte) {
	if t.holds {
		t.front = append(t.front, heldEvent{t.start, slices.Clone(record), slices.Clone(extra)})
		return
	}
	t.put(t.start, record, extra)
}

// atEnd adds an event at the end of the call, with what extra has.
func (t *threadWriter) atEnd(record, extra []byte) {
	if t.holds {
		t.back = append(t.back, heldEvent{t.end, slices.Clone(record), slices.Clone(extra)})
		return
	}
	t.put(t.end, record, extra)
}

// endCall ends the events of a call: those at its start come before the calls inside it.
func (t *threadWriter) endCall(depth int) {
	if !t.holds {
		return
	}
	from := len(t.inner)
	for from > 0 && t.inner[from-1].depth > depth {
		from--
	}
	events := t.front
	for _, c := range t.inner[from:] {
		for _, e := range c.events {
			e.at = min(max(e.at, t.start), t.end) // times of different depths are rounded apart
			events = append(events, e)
		}
	}
	events = append(events, t.back...)
	t.inner = append(t.inner[:from], innerCall{depth, events})
	t.front, t.back, t.holds = nil, t.back[:0], false
	if depth == 0 {
		t.releaseInner()
	}
}

// releaseInner writes the calls that are held back.
func (t *threadWriter) releaseInner() {
	for _, c := range t.inner {
		for _, e := range c.events {
			t.put(e.at, e.record, e.extra)
		}
	}
	t.inner = t.inner[:0]
}

// put writes an event at a time, the first one in the region of the program.
func (t *threadWriter) put(at int64, record, extra []byte) {
	time := t.process.stamp(at)
	if !t.written {
		t.written, t.lowest, t.last = true, time, time
		t.out.event(time, nil, reference(nil, eventEnter, t.process.program))
	}
	t.last = max(t.last, time)
	t.out.event(t.last, extra, record)
}
