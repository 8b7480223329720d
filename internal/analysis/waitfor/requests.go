package waitfor

import (
	"slices"

	"github.com/efg-tools/efg/reconstruct"
	"github.com/efg-tools/efg/signature"
)

// walkLimit bounds the events that are walked to find the requests of a call. It takes about a
// second.
const walkLimit = 10e6

// walkRequests finds the array of requests, whose word is w, that a call in progress was
// passed. Arrays are recorded when the call returns, so the events before it are walked: the
// array is the one that the last call left (EFG_SAME), or consists of pending requests, which
// the hash in w confirms.
func walkRequests(r *Rank, thread int, w uint64) ([]uint64, bool) {
	if r.Process.Streams[thread].Events > walkLimit {
		return nil, false
	}
	names := reconstruct.NewNames(r.Process.Defs, nil)
	p := reconstruct.NewProcess(r.Process, names)
	var t openRequests
	for e, err := range p.Events(thread, reconstruct.Options{}) {
		if err != nil {
			return nil, false
		}
		t.event(e)
	}
	if w == signature.Same {
		return t.last, t.last != nil
	}
	return t.search(w)
}

// openRequests tracks the requests of a stream.
type openRequests struct {
	open []uint64 // in the order in which they were issued
	last []uint64 // the array as the last call left it
}

func (t *openRequests) event(e *reconstruct.Event) {
	p := e.Proc()
	if p == nil || e.Failed() {
		return
	}
	done := e.Completed()
	if made, ok := issuedBy(e); ok {
		t.open = append(t.open, made)
	}
	switch requests := p.Roles.Requests; {
	case p.Vector(requests):
		t.array(e, requests, done, p)
	case requests != 0 && len(done) > 0:
		t.close(e.Request(0))
	}
}

// array processes a call that takes an array of requests.
func (t *openRequests) array(e *reconstruct.Event, word int, done []int, p *signature.Proc) {
	elems, constant := e.Vec(word)
	if constant != 0 {
		t.last = nil
		return
	}
	t.last = append(t.last[:0:0], elems...)
	if p.Peeks != "" {
		return
	}
	for _, i := range done {
		if i < len(t.last) {
			t.close(t.last[i])
			t.last[i] = signature.RequestNull
		}
	}
}

func (t *openRequests) close(request uint64) {
	if i := slices.Index(t.open, request); i >= 0 {
		t.open = slices.Delete(t.open, i, i+1)
	}
}

// search looks for consecutive pending requests with a given hash.
func (t *openRequests) search(w uint64) ([]uint64, bool) {
	const most = 2000
	open := t.open[max(0, len(t.open)-most):]
	for n := len(open); n > 0; n-- {
		for i := len(open) - n; i >= 0 && (n == len(open) || len(open) <= 100 || i == len(open)-n || i == 0); i-- {
			if signature.Ident(signature.Hash(open[i:i+n]...)) == w {
				return open[i : i+n], true
			}
		}
	}
	return nil, false
}
