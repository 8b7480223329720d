package check

import (
	"maps"
	"math"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/internal/analysis"
	"github.com/efg-tools/efg/signature"
)

// A call that returned an error may or may not have taken place: a receive that is too short
// consumes its message. What it may have done excuses a mismatch on the other side.

// countFailed counts what the failed calls of a node may have done.
func (t *tally) countFailed(i, k int, n *efg.Node) error {
	p := procOf(n)
	if p == nil || n.Counted > 0 {
		return nil
	}
	r := &allRoles()[p.ID]
	if r.starts {
		t.doubt = true // a request that was active?
	}
	if r.requests != 0 && r.completes != "" {
		return t.countUnfinished(i, k, r)
	}
	if p.Persistent || !r.sends && !r.receives {
		return nil
	}
	return t.p.ValueGroups(i, k, mask(signature.ObjectWord, r.dest, r.sendTag, r.source, r.recvTag, r.message), func(v *analysis.ValueGroup) error {
		if r.sends {
			t.maySend(v.Word(signature.ObjectWord), v.Word(r.dest), v.Word(r.sendTag), v.Times)
		}
		if r.receives && !r.posts {
			comm := t.commOf(r, v.Word(signature.ObjectWord), v.Word(r.message))
			t.mayReceive(r, comm, v.Word(r.source), v.Word(r.recvTag), v.Word(r.message), v.Times)
		}
		return nil
	})
}

// countUnfinished: requests of a call that failed may or may not be complete.
func (t *tally) countUnfinished(i, k int, r *roles) error {
	return t.p.ValueGroups(i, k, mask(r.requests), func(v *analysis.ValueGroup) error {
		for _, id := range t.array(i, k, r, v) {
			n, at, ok := t.issuer(id)
			if !ok {
				continue
			}
			t.maybe[at] += v.Times
			if rolesOf(n).sends {
				t.doubt = true // to whom?
			}
		}
		return nil
	})
}

// maySend counts messages that may have been sent.
func (t *tally) maySend(comm, dest, tag, times uint64) {
	if to := t.p.PeerOf(comm, dest); to != analysis.NoRank && t.rank >= 0 {
		t.flow(channel{t.rank, int32(to), t.name(comm), tag}).cancelled += times
	}
}

// mayReceive counts messages that may have been received.
func (t *tally) mayReceive(r *roles, comm, source, tag, message, times uint64) {
	switch {
	case procNull(r, source, message):
	case hasWildcard(r, source, tag):
		t.waiting[wildcardSite{t.rank, t.name(comm)}] += times
	default:
		if from := t.p.PeerOf(comm, source); from != analysis.NoRank && t.rank >= 0 {
			t.flow(channel{int32(from), t.rank, t.name(comm), tag}).pending += times
		}
	}
}

// failed: the effects of a failed call may or may not have taken place.
func (x *walk) failed(at eventRef) {
	p := x.e.Proc()
	if p == nil {
		return
	}
	r := &allRoles()[p.ID]
	if r.requests == 0 || r.completes == "" && !r.starts {
		x.failedMessage(r)
		return
	}
	for _, id := range x.array(r) {
		q := x.open[id]
		if r.starts {
			x.startedAgain(q, at)
			continue
		}
		if q == nil {
			continue
		}
		x.maybe[q.place]++
		x.leaveOpen(q)
		if q.r.sends {
			x.maySend(q.comm, q.dest, q.sendTag, 1)
		}
		x.drop(id, q)
	}
}

func (x *walk) failedMessage(r *roles) {
	if r.proc.Persistent {
		return
	}
	if r.sends {
		x.maySend(x.e.Word(signature.ObjectWord), x.word(r.dest), x.word(r.sendTag), 1)
	}
	if r.receives && !r.posts {
		message := x.word(r.message)
		x.mayReceive(r, x.commOf(r, x.e.Word(signature.ObjectWord), message), x.word(r.source), x.word(r.recvTag), message, 1)
	}
}

// failedRoles says what the words of a node of failed collective calls are for; nil for other
// nodes.
func failedRoles(n *efg.Node) *collRoles {
	if p := procOf(n); p != nil && failed(n) {
		return collectiveOf(&allRoles()[p.ID])
	}
	return nil
}

// failures records after how many calls on a communicator the first one failed.
type failures struct {
	done, after map[scopeKey]uint64
	words       map[scopeKey]uint64 // of communicators on which some failed
}

func newFailures() *failures {
	return &failures{map[scopeKey]uint64{}, map[scopeKey]uint64{}, map[scopeKey]uint64{}}
}

// sure is the number of calls before the first one that failed.
func (f *failures) sure(k scopeKey) uint64 {
	if n, ok := f.after[k]; ok {
		return n
	}
	return math.MaxUint64
}

// noteFailed adds steps.
func (r *reader) noteFailed(steps []efg.Step, f *failures) {
	for i := range steps {
		s := &steps[i]
		if s.Times == 0 {
			r.noteFailedStep(s, f)
			continue
		}
		before := maps.Clone(f.done)
		r.noteFailed(s.Body, f)
		for k, n := range f.done {
			f.done[k] = before[k] + (n-before[k])*s.Times
		}
	}
}

func (r *reader) noteFailedStep(s *efg.Step, f *failures) {
	if c, ok := r.call(s); ok {
		f.done[c.scope]++
		return
	}
	role := r.failed[s.Node]
	if role == nil {
		return
	}
	word := r.fold.Words(s)[role.scope]
	scope := r.t.scope(word)
	if _, known := f.after[scope]; !known && scope.word != 0 {
		f.after[scope], f.words[scope] = f.done[scope], word
	}
}
