package check

import (
	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/internal/analysis"
	"github.com/efg-tools/efg/signature"
)

// count counts on the graphs. If something depends on the order of events it sets doubt, and
// the counts are meaningless.
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
	if !r.proc.Annotates() {
		t.total.Calls += p.Visits(i)[k]
	}
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
		err := p.ValueGroups(i, k, mask(r.request), func(v *analysis.ValueGroup) error {
			if signature.IsPlain(v.Word(r.request)) {
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

// countMessages counts what a call sends, and what it receives if the call itself returns the
// message's status.
func (t *tally) countMessages(i, k int, n *efg.Node, r *roles, at place) error {
	if r.proc.Persistent || !r.sends && !r.receives {
		return nil
	}
	words := mask(signature.ObjectWord, r.dest, r.sendTag, r.source, r.recvTag, r.message, r.statusSource, r.statusTag, r.sendType, r.sendCount, r.recvType)
	return t.p.ValueGroups(i, k, words, func(v *analysis.ValueGroup) error {
		if r.sends {
			comm := v.Word(signature.ObjectWord)
			t.sent(t.p.PeerOf(comm, v.Word(r.dest)), t.name(comm), v.Word(r.sendTag), data{v.Word(r.sendType), v.Word(r.sendCount)}, v.Times, at)
		}
		if r.receives {
			t.countReceive(r, v, at)
		}
		return nil
	})
}

func (t *tally) countReceive(r *roles, v *analysis.ValueGroup, at place) {
	source, tag := v.Word(r.source), v.Word(r.recvTag)
	switch {
	case procNull(r, source, v.Word(r.message)):
	case !hasWildcard(r, source, tag):
		t.received(t.p.PeerOf(v.Word(signature.ObjectWord), source), t.name(v.Word(signature.ObjectWord)), tag, data{v.Word(r.recvType), 1}, v.Times, at)
	case !r.posts:
		comm := t.commOf(r, v.Word(signature.ObjectWord), v.Word(r.message))
		t.received(t.p.PeerOf(comm, v.Word(r.statusSource)), t.name(comm), v.Word(r.statusTag), data{v.Word(r.recvType), 1}, v.Times, at)
	}
}

// countObjects counts what a call makes and frees.
func (t *tally) countObjects(i, k int, r *roles, at place) error {
	if r.made+r.freed == 0 {
		return nil
	}
	return t.p.ValueGroups(i, k, mask(r.made, r.freed), func(v *analysis.ValueGroup) error {
		t.object(r, v.Word(r.made+r.freed), v.Times, at)
		return nil
	})
}

func (t *tally) object(r *roles, word, times uint64, at place) {
	if signature.IsConst(word) || word == 0 {
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
