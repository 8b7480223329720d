package flows

import (
	"cmp"
	"container/heap"
	"maps"
	"slices"

	"github.com/efg-tools/efg/internal/analysis/match"
	"github.com/efg-tools/efg/signature"
)

// mostParts bounds the parts of all collective calls of an answer: more cannot be told apart in a
// picture.
const mostParts = 4000

// collective is a collective call, of which some members may not have left yet.
type collective struct {
	proc       *signature.Proc
	comm       uint64
	by         *match.Process // that knows the communicator
	parts      []Part
	begin, end int64
	order      int // of finding it
}

func (x *collective) span() (begin, end int64, order int) { return x.begin, x.end, x.order }

// part adds the part in a collective call that a call has completed.
func (f *finder) part(c *match.Call, o *match.Operation) {
	n := o.Collective
	if n.Proc.Setup() {
		return // it tells nothing: all ranks of all runs make them
	}
	x := f.open[n]
	if x == nil {
		x = &collective{proc: n.Proc, comm: n.Comm(), by: c.Thread.Process, begin: o.Enter, end: c.Exit, order: f.order}
		f.order++
		f.open[n] = x
	}
	x.begin, x.end = min(x.begin, o.Enter), max(x.end, c.Exit)
	if f.wanted[c.Thread.Process.Number] {
		x.parts = append(x.parts, Part{c.Thread.Process.Rank, o.Enter, c.Exit})
	}
	if n.Left == n.Members-1 {
		delete(f.open, n)
		f.complete(x)
	}
}

// complete adds a collective call to those that are kept, if it is to be shown.
func (f *finder) complete(x *collective) {
	if !f.shows(x.begin, x.end) || len(x.parts) == 0 {
		return
	}
	f.collectiveCount++
	heap.Push(&f.collectives, x)
	f.parts += len(x.parts)
	for len(f.collectives) > f.query.Most || f.parts > mostParts && len(f.collectives) > 1 {
		f.parts -= len(heap.Pop(&f.collectives).(*collective).parts)
	}
}

// completeAll adds the collective calls that some members have not left.
func (f *finder) completeAll() {
	for _, x := range slices.SortedFunc(maps.Values(f.open), func(a, b *collective) int { return cmp.Compare(a.order, b.order) }) {
		f.complete(x)
	}
}
