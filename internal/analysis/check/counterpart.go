package check

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/analysis"
	"github.com/efg-tools/efg/reconstruct"
	"github.com/efg-tools/efg/signature"
)

// A finding about a message belongs to the sender. Its text says what the receiver did: the
// call that received it as something else, or one that waits for another message.

// openReceive is a receive without a message.
type openReceive struct {
	eventRef
	comm uint64 // its common name
	from int    // NoRank for any source
	tag  uint64
	op   string
	site uint64 // 0 for the callsite of its node
}

// counterparts determines what the receivers of messages did.
func (b *builder) counterparts() error {
	byProc := map[int][]*group{}
	for _, g := range b.groups {
		if i, ok := b.number[int(g.channel.to)]; ok && (g.kind == LostMessage || g.kind == OtherTypes) {
			byProc[i] = append(byProc[i], g)
		}
	}
	sites, err := b.run.Sites()
	if err != nil {
		return err
	}
	return analysis.EachUntimed(b.run, slices.Sorted(maps.Keys(byProc)), func(p *analysis.Process) error {
		return counterpartsIn(p, byProc[b.number[p.Data.Rank]], sites)
	})
}

func counterpartsIn(p *analysis.Process, groups []*group, sites []runfile.Site) error {
	w := wantedEvents{takes: map[channel]uint64{}}
	for _, g := range groups {
		if g.kind == OtherTypes {
			w.takes[g.channel] = g.before
		}
	}
	t := newTally(p)
	f, err := t.walkThrough(w)
	if err != nil {
		return err
	}
	names := reconstruct.NamesOf(p.Data, sites)
	open := append(f.receives, t.receivesInCall()...)
	for _, g := range groups {
		if take, ok := f.takes[g.channel]; ok && g.kind == OtherTypes {
			op, site := t.caller(take.place)
			g.other = fmt.Sprintf("%s by %s of rank %d (%s)", dataText(names, take.datatype), op, p.Data.Rank, placeText(names, take.event, site))
		} else if r := nearest(g.channel, open); r != nil && g.kind == LostMessage {
			g.other = t.waitsText(r, names)
		}
	}
	return nil
}

// dataText names a datatype.
func dataText(names *reconstruct.Names, datatype uint64) string {
	return names.Handle(signature.Type, datatype)
}

// receivesInCall are the receives in progress in the threads of a process when its recording
// ended.
func (t *tally) receivesInCall() (list []openReceive) {
	for i := range t.p.Data.Streams {
		s := &t.p.Data.Streams[i]
		if s.Pending == nil {
			continue
		}
		w := s.Pending.Words
		p := signature.ProcByID(signature.Header(w[0]).Proc())
		if p == nil || len(p.Words) != len(w) {
			continue
		}
		if r := &allRoles()[p.ID]; r.receives && r.source != 0 && w[r.source] != signature.ProcNull {
			list = append(list, openReceive{
				eventRef: eventRef{place{s.Thread, int32(len(s.Nodes))}, s.Events}, comm: t.name(w[signature.ObjectWord]), from: t.p.PeerOf(w[signature.ObjectWord], w[r.source]),
				tag: w[r.recvTag], op: p.Name, site: w[1],
			})
		}
	}
	return list
}

// nearest returns the receive that is most similar to the messages of a channel without
// matching them; nil if none is similar.
func nearest(c channel, list []openReceive) *openReceive {
	var best *openReceive
	most := 1
	for i := range list {
		r := &list[i]
		from, tag := r.from == analysis.NoRank || r.from == int(c.from), r.tag == signature.AnyTag || r.tag == c.tag
		n := truth(r.comm == c.comm) + truth(from) + truth(tag)
		if n == 3 || n < most || n == most && best != nil && cmp.Compare(r.event, best.event) >= 0 {
			continue
		}
		best, most = r, n
	}
	if most < 2 {
		return nil
	}
	return best
}

func truth(b bool) int {
	if b {
		return 1
	}
	return 0
}

// waitsText says what a receive waits for.
func (t *tally) waitsText(r *openReceive, names *reconstruct.Names) string {
	from, tag, site := "any rank", "any tag", r.site
	if r.from != analysis.NoRank {
		from = rankText(t.p, r.comm, r.from, names)
	}
	if r.tag != signature.AnyTag {
		tag = "tag " + tagText(r.tag)
	}
	if site == 0 {
		_, site = t.caller(r.place)
	}
	return fmt.Sprintf("rank %d waits for one from %s with %s on %s in %s (%s)",
		t.rank, from, tag, names.Handle(signature.Comm, r.comm), r.op, placeText(names, r.event, site))
}

// rankText names a rank of the run and, if it differs, its rank in a communicator, in the
// remote group if there is one.
func rankText(p *analysis.Process, comm uint64, rank int, names *reconstruct.Names) string {
	own, other := p.Members(comm)
	if other != nil {
		own = other
	}
	if own == nil {
		return fmt.Sprintf("rank %d", rank)
	}
	if i := own.Index(rank); i >= 0 && i != rank {
		return fmt.Sprintf("rank %d (%d of %s)", rank, i, strings.TrimSpace(names.Handle(signature.Comm, comm)))
	}
	return fmt.Sprintf("rank %d", rank)
}
