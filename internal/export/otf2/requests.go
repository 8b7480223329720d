package otf2

import (
	"github.com/efg-tools/efg/reconstruct"
	"github.com/efg-tools/efg/signature"
)

// requestTable finds the operations of requests by their words. Most requests are among the first of the node that
// makes them: these are in arrays.
type requestTable struct {
	threads [][]*operations // by slot, firstSlots for each node
	others  map[uint64]*operations
}

const (
	firstSlots   = 4
	tableNodes   = 1 << 16 // of a thread, at most
	tableThreads = 1 << 8
)

// find returns the operations of a request, nil if there is none.
func (t *requestTable) find(word uint64) *operations {
	if thread, at, ok := tablePlace(word); ok {
		if thread < len(t.threads) && at < len(t.threads[thread]) {
			return t.threads[thread][at]
		}
		return nil
	}
	return t.others[word]
}

// set sets the operations of a request; nil ends it.
func (t *requestTable) set(word uint64, r *operations) {
	thread, at, ok := tablePlace(word)
	if !ok {
		if t.others == nil {
			t.others = map[uint64]*operations{}
		}
		if t.others[word] = r; r == nil {
			delete(t.others, word)
		}
		return
	}
	for thread >= len(t.threads) {
		t.threads = append(t.threads, nil)
	}
	if list := t.threads[thread]; at >= len(list) {
		t.threads[thread] = append(list, make([]*operations, at+firstSlots-len(list))...)
	}
	t.threads[thread][at] = r
}

// tablePlace is the place of a request in the array of a thread; false if it has none.
func tablePlace(word uint64) (thread, at int, ok bool) {
	id, ok := signature.ParseID(word)
	if !ok || id.Slot >= firstSlots || id.Node >= tableNodes || id.Thread >= tableThreads {
		return 0, 0, false
	}
	return int(id.Thread), int(id.Node)*firstSlots + int(id.Slot), true
}

// complete writes which operations a call has completed.
func (t *threadWriter) complete(e *reconstruct.Event, x *plan) {
	positions := e.Completed()
	if len(positions) == 0 {
		return
	}
	t.found, t.looked = e.AppendReceptions(t.found[:0]), 0
	first := true
	for _, at := range positions {
		w := e.Request(at)
		r := t.process.requests.find(w)
		if r == nil {
			continue
		}
		for i := range r.list {
			var got *reconstruct.Reception
			if r.list[i].receives {
				got = t.reception(at)
			}
			t.completed(&r.list[i], got, &first)
		}
		if r.list = r.list[:0]; r.prepared == nil {
			t.process.forget(w, r)
		}
	}
}

// reception is what the completion of the request at a position reported; nil: nothing. Positions are asked for, and
// found, in order; if they are not, all are looked at.
func (t *threadWriter) reception(at int) *reconstruct.Reception {
	for range t.found {
		if t.looked == len(t.found) {
			t.looked = 0
		}
		if t.looked++; t.found[t.looked-1].Position == at {
			return &t.found[t.looked-1]
		}
	}
	return nil
}
