package check

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
)

// match compares what was sent with what was received.
func (b *builder) match() {
	keys := slices.Collect(maps.Keys(b.flows))
	keys = slices.DeleteFunc(keys, func(c channel) bool {
		f := b.flows[c]
		return f.sent == f.received && !f.out.differs(&f.in)
	})
	slices.SortFunc(keys, func(x, y channel) int {
		return cmp.Or(cmp.Compare(x.to, y.to), cmp.Compare(x.from, y.from), cmp.Compare(x.comm, y.comm), cmp.Compare(x.tag, y.tag))
	})
	for _, c := range keys {
		f := b.flows[c]
		_, from := b.number[int(c.from)]
		_, to := b.number[int(c.to)]
		if !from || !to {
			b.report.Unjudged += f.sent + f.received
			continue
		}
		b.judge(c, f)
	}
}

// judge evaluates a channel whose numbers differ.
func (b *builder) judge(c channel, f *flow) {
	remark := ""
	for _, rank := range []int{int(c.to), int(c.from)} {
		if b.short[rank] {
			remark = fmt.Sprintf("the recording of rank %d ends early", rank)
		}
	}
	at := b.callers[c]
	s := candidateFault{at: at.at, op: at.op, site: at.site, channel: c, remark: remark}
	if f.out.differs(&f.in) {
		other := s
		other.kind, other.count, other.rank, other.remark = OtherTypes, f.sent, int(c.from), ""
		b.group(other)
	}
	if f.sent == f.received {
		return
	}
	if f.sent > f.received {
		lost := f.sent - f.received
		lost -= min(lost, f.pending+f.cancelled)
		w := wildcardSite{c.to, c.comm}
		taken := min(lost, b.waiting[w])
		b.waiting[w] -= taken
		if lost -= taken; lost == 0 {
			return
		}
		s.kind, s.count, s.before, s.rank = LostMessage, lost, f.sent-lost, int(c.from)
	} else {
		if b.short[int(c.from)] || f.received <= f.sent+f.cancelled {
			return // the missing process sent it
		}
		s.kind, s.count, s.rank = UnsentMessage, f.received-f.sent, int(c.to)
	}
	b.group(s)
}
