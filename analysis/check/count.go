package check

import (
	"github.com/efg-tools/efg/analysis"
	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/signature"
)

// count counts on the graphs. If the order of events decides something, it says so
// in doubt, and the counts mean nothing.
func (t *tally) count() error {
	for i := range t.p.Data.Streams {
		s := &t.p.Data.Streams[i]
		for k := range s.Nodes {
			if err := t.countNode(i, k, s); err != nil || t.doubt {
				return err
			}
		}
	}
	t.settle()
	return nil
}

func (t *tally) countNode(i, k int, s *efg.Stream) error {
	n := &s.Nodes[k]
	r := rolesOf(n)
	at := place{s.Thread, int32(k)}
	p := t.p
	t.total.Calls += p.Visits(i)[k]
	if failed(n) {
		return t.countFailed(i, k, n)
	}
	if r.proc == nil || n.Counted > 0 {
		return nil
	}
	if err := t.countMessages(i, k, n, r, at); err != nil {
		return err
	}
	if r.request != 0 {
		err := p.Tuples(i, k, mask(r.request), func(v *analysis.Tuple) error {
			if v.Word(r.request)>>62 == 0 {
				lifeAt(t.requests, at).made += v.Times
				t.total.Requests += v.Times
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	if r.requests != 0 {
		if err := t.countRequests(i, k, r); err != nil {
			return err
		}
	}
	return t.countObjects(i, k, r, at)
}

// countFailed: requests of a call that failed may be complete or not.
func (t *tally) countFailed(i, k int, n *efg.Node) error {
	p := procOf(n)
	if p == nil || n.Counted > 0 {
		return nil
	}
	r := &allRoles()[p.ID]
	if r.starts {
		t.doubt = true // a request that was active?
	}
	if r.requests == 0 || r.completes == "" {
		return nil
	}
	return t.p.Tuples(i, k, mask(r.requests), func(v *analysis.Tuple) error {
		for _, id := range t.array(i, k, r, v) {
			if _, at, ok := t.issuer(id); ok {
				t.maybe[at] += v.Times
			}
		}
		return nil
	})
}

// countMessages counts what a call sends, and what it receives if the call itself
// tells what came.
func (t *tally) countMessages(i, k int, n *efg.Node, r *roles, at place) error {
	if r.proc.Persistent || !r.sends && !r.receives {
		return nil
	}
	words := mask(2, r.dest, r.sendTag, r.source, r.recvTag, r.message, r.statusSource, r.statusTag, r.sendType, r.recvType)
	return t.p.Tuples(i, k, words, func(v *analysis.Tuple) error {
		if r.sends {
			t.sent(t.p.PeerOf(v.Word(2), v.Word(r.dest)), t.name(v.Word(2)), v.Word(r.sendTag), v.Word(r.sendType), v.Times, at)
		}
		if r.receives {
			t.countReceive(r, v, at)
		}
		return nil
	})
}

func (t *tally) countReceive(r *roles, v *analysis.Tuple, at place) {
	source, tag := v.Word(r.source), v.Word(r.recvTag)
	switch {
	case nothing(r, source, v.Word(r.message)):
	case !wild(r, source, tag):
		t.received(t.p.PeerOf(v.Word(2), source), t.name(v.Word(2)), tag, v.Word(r.recvType), v.Times, at)
	case !r.posts:
		comm := t.commOf(r, v.Word(2), v.Word(r.message))
		t.received(t.p.PeerOf(comm, v.Word(r.statusSource)), t.name(comm), v.Word(r.statusTag), v.Word(r.recvType), v.Times, at)
	}
}

// array is the array of requests, or the one request, of a call. What the order of
// events decides is in doubt.
func (t *tally) array(i, k int, r *roles, v *analysis.Tuple) []uint64 {
	if !r.vec {
		return []uint64{v.Word(r.requests)}
	}
	if a, ok := v.Vec(r.requests); ok {
		return a
	}
	if v.Word(r.requests) != wordSame {
		return nil
	}
	// Some of the array may be complete and null: only a call that names what it
	// completed leaves no doubt, or persistent requests, which stay.
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
	return t.p.Tuples(i, k, words, func(v *analysis.Tuple) error {
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

// statusReader tells which requests a call is about, and the senders and tags
// that it told.
type statusReader struct {
	r    *roles
	word func(int) uint64
	vec  func(int) ([]uint64, bool)
}

func (s *statusReader) each(array []uint64, f func(position int, id, source, tag uint64)) {
	r := s.r
	if r.starts || r.frees || !r.vec {
		for k, id := range array {
			f(k, id, s.word(r.statusSource), s.word(r.statusTag))
		}
		return
	}
	switch r.completes {
	case "any":
		if at := s.word(r.index); at < uint64(len(array)) {
			f(int(at), array[at], s.word(r.statusSource), s.word(r.statusTag))
		}
	case "some":
		indices, _ := s.vec(r.indices)
		quads := s.quads()
		for k, at := range indices {
			if at < uint64(len(array)) {
				source, tag := quads.of(k)
				f(int(at), array[at], source, tag)
			}
		}
	case "all":
		quads := s.quads()
		for k, id := range array {
			source, tag := quads.of(k)
			f(k, id, source, tag)
		}
	}
}

// quads are statuses that are not as posted: position, source, tag, bytes.
type quads []uint64

func (s *statusReader) quads() quads {
	q, _ := s.vec(s.r.statuses)
	return q
}

func (q *quads) of(k int) (source, tag uint64) {
	for len(*q) >= 4 && (*q)[0] < uint64(k) {
		*q = (*q)[4:]
	}
	if len(*q) >= 4 && (*q)[0] == uint64(k) {
		return (*q)[1], (*q)[2]
	}
	return wordAsPosted, wordAsPosted
}

// started counts the start of a persistent request.
func (t *tally) started(id, times uint64) {
	n, at, ok := t.issuer(id)
	if !ok {
		return
	}
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
			t.sent(o.Peer, t.name(o.Comm), o.Tag, o.Datatype, times, at)
		case o.Kind == analysis.ReceiveOperation && !t.persistentWild(n):
			t.received(o.Peer, t.name(o.Comm), o.Tag, o.Datatype, times, at)
		}
	}
	if moves { // with MPI_PROC_NULL a request may count as inactive at once
		lifeAt(t.starts, at).made += times
	}
}

// persistentWild says whether receives of a node may have wildcards. If some have
// and some not, there is doubt.
func (t *tally) persistentWild(n *efg.Node) bool {
	r := rolesOf(n)
	if n.Mask&mask(r.source, r.recvTag) != 0 {
		t.doubt = true
	}
	return wild(r, n.Words[r.source], n.Words[r.recvTag])
}

// freed counts requests that are given back.
func (t *tally) freed(id, times uint64) {
	if n, at, ok := t.issuer(id); ok {
		lifeAt(t.requests, at).freed += times
		if r := rolesOf(n); r.receives {
			t.doubt = true // a message may come yet
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
	} else {
		lifeAt(t.requests, at).freed += times
	}
	if !r.receives {
		return
	}
	if n.Mask&mask(2, r.source, r.recvTag, r.message) != 0 {
		if source != wordAsPosted || tag != wordAsPosted {
			t.doubt = true // which of them had a wildcard?
		}
		return
	}
	if !wild(r, n.Words[r.source], n.Words[r.recvTag]) {
		return
	}
	if source == wordAsPosted {
		source = n.Words[r.source]
	}
	if tag == wordAsPosted {
		tag = n.Words[r.recvTag]
	}
	comm := t.commOf(r, n.Words[2], n.Words[r.message])
	t.received(t.p.PeerOf(comm, source), t.name(comm), tag, t.typeAt(n, r), times, at)
}

// typeAt is the datatype of a node's receives; 0 if they have several.
func (t *tally) typeAt(n *efg.Node, r *roles) uint64 {
	if n.Mask&mask(r.recvType) != 0 {
		return 0
	}
	return n.Words[r.recvType]
}

// countObjects counts what a call makes and frees.
func (t *tally) countObjects(i, k int, r *roles, at place) error {
	if r.made+r.freed == 0 {
		return nil
	}
	return t.p.Tuples(i, k, mask(r.made, r.freed), func(v *analysis.Tuple) error {
		t.object(r, v.Word(r.made+r.freed), v.Times, at)
		return nil
	})
}

func (t *tally) object(r *roles, word, times uint64, at place) {
	if isConst(word) || word == 0 {
		return
	}
	l := lifeAt(t.objects, object{r.object, word})
	if r.freed != 0 {
		l.freed += times
		return
	}
	l.made += times
	l.at = at
	t.total.Objects += times
}

// settle takes receives that were never completed out of those that got a message.
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
	// The order of starts and completions is not in their numbers.
	if len(t.starts) > 0 && !t.alternate() {
		t.doubt = true
	}
}

// pend notes receives of a node that were never completed.
func (t *tally) pend(n *efg.Node, r *roles, open uint64) {
	if n.Mask&mask(2, r.source, r.recvTag, r.message) != 0 {
		t.doubt = true
		return
	}
	source, tag := n.Words[r.source], n.Words[r.recvTag]
	comm := t.commOf(r, n.Words[2], n.Words[r.message])
	switch {
	case nothing(r, source, n.Words[r.message]):
	case wild(r, source, tag):
		t.waiting[anywhere{t.rank, t.name(comm)}] += open
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
