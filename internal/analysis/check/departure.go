package check

import (
	"fmt"
	"math"
	"strings"

	"github.com/efg-tools/efg/signature"
)

// Kinds of faults of collective calls.
const (
	CollectiveOrder   Kind = "collective call out of order"
	CollectiveMissing Kind = "collective call missing"
	CollectiveRoot    Kind = "collective call with another root"
	CollectiveOp      Kind = "collective call with another operation"
	CollectiveData    Kind = "collective call with other data"
)

// compare finds where each class diverges from the first one.
func (b *builder) compare(k scopeKey, s *scopeState, list []*class) error {
	reference, err := b.reading(list[0].ranks[0], k)
	if err != nil {
		return err
	}
	for _, c := range list[1:] {
		odd, err := b.reading(c.ranks[0], k)
		if err != nil {
			return err
		}
		var f *candidateFault
		switch n := s.sure; {
		case !s.unordered:
			f = b.departure(reference, odd, list[0], c, n)
		case n == math.MaxUint64:
			f = b.unequal(list[0], c, odd)
		}
		if f == nil {
			continue
		}
		kind := signature.Comm
		if odd.isWindow() {
			kind = signature.Win
		}
		f.text = strings.ReplaceAll(f.text, scopeMark, odd.names.Handle(kind, s.word))
		for _, r := range c.ranks {
			g := *f
			g.rank = r
			b.group(g)
		}
	}
	return nil
}

// scopeMark stands for the name of the communicator in a text.
const scopeMark = "\x00"

// unequal reports that calls in several threads differ in number or kind.
func (b *builder) unequal(ref, odd *class, x *callCursor) *candidateFault {
	if b.short[odd.ranks[0]] || b.short[ref.ranks[0]] {
		return nil
	}
	f := &candidateFault{kind: CollectiveMissing, count: 1}
	x.next()
	x.addFault(f)
	f.text = fmt.Sprintf("makes %d collective calls on %s, and rank %d makes %d, or others, in several threads",
		odd.length, scopeMark, ref.ranks[0], ref.length)
	return f
}

// departure describes where two classes diverge; nil if one only ends early, or if they diverge
// after a failed call.
func (b *builder) departure(r, x *callCursor, ref, odd *class, sure uint64) *candidateFault {
	n := r.common(x)
	if n >= sure {
		return nil
	}
	r.restart(n)
	x.restart(n)
	if n > 0 { // so that the last common call is known
		r.next()
		x.next()
	}
	inRef, inOdd := r.next(), x.next()
	f := &candidateFault{kind: CollectiveMissing, count: 1}
	x.addFault(f)
	switch {
	case inRef && inOdd:
		f.kind, f.text = differs(n+1, &r.now.symbol, &x.now.symbol, ref.ranks[0], r.place())
	case inRef && !b.short[odd.ranks[0]]:
		f.text = fmt.Sprintf("makes %d collective calls on %s, and rank %d goes on with %s at %s",
			n, scopeMark, ref.ranks[0], opName(&r.now.symbol), r.place())
	case inOdd && !b.short[ref.ranks[0]]:
		f.kind = CollectiveOrder
		f.text = fmt.Sprintf("calls %s as collective call %d on %s, where rank %d makes no more",
			opName(&x.now.symbol), n+1, scopeMark, ref.ranks[0])
	default:
		return nil
	}
	return f
}

// differs describes how two calls at the same position differ.
func differs(n uint64, ref, odd *symbol, rank int, place string) (Kind, string) {
	where := fmt.Sprintf("in collective call %d on %s, where rank %d at %s has", n, scopeMark, rank, place)
	switch {
	case ref.proc != odd.proc:
		return CollectiveOrder, fmt.Sprintf("calls %s as collective call %d on %s, where rank %d calls %s at %s",
			opName(odd), n, scopeMark, rank, opName(ref), place)
	case ref.root != odd.root:
		return CollectiveRoot, fmt.Sprintf("names root %s %s %s", tagText(odd.root), where, tagText(ref.root))
	case ref.op != odd.op:
		return CollectiveOp, fmt.Sprintf("reduces with %s %s another operation", opText(odd.op), where)
	case ref.amount.bytes != odd.amount.bytes:
		return CollectiveData, fmt.Sprintf("gives %d bytes %s %d", odd.amount.bytes, where, ref.amount.bytes)
	}
	return CollectiveData, fmt.Sprintf("gives data of other datatypes %s others", where)
}

func opName(s *symbol) string {
	if p := signature.ProcByID(s.proc); p != nil {
		return p.Name
	}
	return fmt.Sprintf("procedure %d", s.proc)
}

func opText(w uint64) string {
	if signature.IsConst(w) {
		return tagText(w)
	}
	return "an operation of the program's"
}
