package check

import (
	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/internal/analysis"
	"github.com/efg-tools/efg/signature"
)

// array is the array of requests, or the single request, of a call. It sets doubt if that
// depends on the order of events.
func (t *tally) array(i, k int, r *roles, v *analysis.ValueGroup) []uint64 {
	if !r.vec {
		return []uint64{v.Word(r.requests)}
	}
	if a, ok := v.Vec(r.requests); ok {
		return a
	}
	if v.Word(r.requests) != signature.Same {
		return nil
	}
	// Some entries may be complete and null: only a call that names the requests that it
	// completed leaves no doubt, or persistent requests, which remain.
	a, ok := t.p.ArrayAt(i, k)
	if !ok || r.completes == "all" && !t.allPersistent(a) {
		t.doubt = true
	}
	return a
}

// issuer is the node that issued a request.
func (t *tally) issuer(id uint64) (*efg.Node, place, bool) {
	n, _, at, ok := t.node(id)
	return n, at, ok && rolesOf(n).request != 0
}

func (t *tally) allPersistent(array []uint64) bool {
	for _, id := range array {
		n, _, ok := t.issuer(id)
		if !ok || procOf(n) == nil || !procOf(n).Persistent {
			return false
		}
	}
	return true
}

// countRequests counts what a call does to requests.
func (t *tally) countRequests(i, k int, r *roles) error {
	if r.cancels {
		t.doubt = true
		return nil
	}
	words := mask(r.requests, r.flag, r.index, r.indices, r.statusSource, r.statusTag, r.statuses)
	return t.p.ValueGroups(i, k, words, func(v *analysis.ValueGroup) error {
		if r.flag != 0 && v.Word(r.flag) != 1 {
			return nil
		}
		array := t.array(i, k, r, v)
		if t.doubt {
			return nil
		}
		status := statusReader{r: r, word: v.Word, vec: v.Vec}
		status.each(array, func(_ int, id, source, tag uint64) {
			switch {
			case r.starts:
				t.started(id, v.Times)
			case r.frees:
				t.freed(id, v.Times)
			default:
				t.completed(id, source, tag, v.Times)
			}
		})
		return nil
	})
}

// started counts the start of a persistent request.
func (t *tally) started(id, times uint64) {
	n, at, ok := t.issuer(id)
	if !ok {
		return
	}
	t.begun[at] = true
	ops, known := t.p.Started(id)
	if !known {
		t.doubt = true
		return
	}
	moves := false
	for k := range ops {
		o := &ops[k]
		moves = moves || o.Moves
		switch {
		case !o.Moves:
		case o.Kind == analysis.SendOperation:
			t.sent(o.Peer, t.name(o.Comm), o.Tag, data{o.Datatype, o.Count}, times, at)
		case o.Kind == analysis.ReceiveOperation && !t.persistentWild(n):
			t.received(o.Peer, t.name(o.Comm), o.Tag, data{o.Datatype, 1}, times, at)
		}
	}
	if moves { // with MPI_PROC_NULL a request may become inactive at once
		lifeAt(t.starts, at).made += times
	}
}

// persistentWild reports whether receives of a node may have wildcards. If only some have, it
// sets doubt.
func (t *tally) persistentWild(n *efg.Node) bool {
	r := rolesOf(n)
	if n.Mask&mask(r.source, r.recvTag) != 0 {
		t.doubt = true
	}
	return hasWildcard(r, n.Words[r.source], n.Words[r.recvTag])
}

// freed counts freed requests.
func (t *tally) freed(id, times uint64) {
	if n, at, ok := t.issuer(id); ok {
		lifeAt(t.requests, at).freed += times
		if r := rolesOf(n); r.receives {
			t.doubt = true // a message may still arrive
		}
	}
}

// completed counts the completion of a request and, of a receive with a wildcard,
// the message that came.
func (t *tally) completed(id, source, tag, times uint64) {
	n, at, ok := t.issuer(id)
	if !ok {
		return
	}
	r := rolesOf(n)
	if r.proc != nil && r.proc.Persistent {
		lifeAt(t.starts, at).freed += times
		t.awaited[at] += times
	} else {
		lifeAt(t.requests, at).freed += times
	}
	if !r.receives {
		return
	}
	if n.Mask&mask(signature.ObjectWord, r.source, r.recvTag, r.message) != 0 {
		if source != signature.AsPosted || tag != signature.AsPosted {
			t.doubt = true // which of them had a wildcard?
		}
		return
	}
	if !hasWildcard(r, n.Words[r.source], n.Words[r.recvTag]) {
		return
	}
	if source == signature.AsPosted {
		source = n.Words[r.source]
	}
	if tag == signature.AsPosted {
		tag = n.Words[r.recvTag]
	}
	comm := t.commOf(r, n.Words[signature.ObjectWord], n.Words[r.message])
	t.received(t.p.PeerOf(comm, source), t.name(comm), tag, data{t.typeAt(n, r), 1}, times, at)
}

// typeAt is the datatype of a node's receives; 0 if they have several.
func (t *tally) typeAt(n *efg.Node, r *roles) uint64 {
	if n.Mask&mask(r.recvType) != 0 {
		return 0
	}
	return n.Words[r.recvType]
}

// settle removes receives that were never completed from those that received a message.
func (t *tally) settle() {
	for at, l := range t.requests {
		open := l.made - min(l.made, l.freed)
		n, r := t.nodeAt(at)
		if r.proc.Persistent {
			s := t.starts[at]
			if s == nil {
				continue
			}
			open = s.made - min(s.made, s.freed)
		}
		if open == 0 || !r.receives {
			continue
		}
		t.pend(n, r, open)
	}
	// The numbers do not show the order of starts and completions.
	if len(t.starts) > 0 && !t.alternate() {
		t.doubt = true
	}
}

// pend records receives of a node that were never completed.
func (t *tally) pend(n *efg.Node, r *roles, open uint64) {
	if n.Mask&mask(signature.ObjectWord, r.source, r.recvTag, r.message) != 0 {
		t.doubt = true
		return
	}
	source, tag := n.Words[r.source], n.Words[r.recvTag]
	comm := t.commOf(r, n.Words[signature.ObjectWord], n.Words[r.message])
	switch {
	case procNull(r, source, n.Words[r.message]):
	case hasWildcard(r, source, tag):
		t.waiting[wildcardSite{t.rank, t.name(comm)}] += open
	default:
		t.pendOn(t.p.PeerOf(comm, source), t.name(comm), tag, open)
	}
}

func (t *tally) pendOn(from int, comm, tag, open uint64) {
	if from == analysis.NoRank || t.rank < 0 {
		return
	}
	f := t.flow(channel{int32(from), t.rank, comm, tag})
	open = min(open, f.received)
	f.received -= open
	f.pending += open
	t.total.Received -= open
}

func (t *tally) nodeAt(at place) (*efg.Node, *roles) {
	n, _, _, ok := t.node(signature.ID{Thread: at.thread, Node: uint32(at.node)}.Word())
	if !ok {
		return nil, &allRoles()[0]
	}
	return n, rolesOf(n)
}
