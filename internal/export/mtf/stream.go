package mtf

import (
	"encoding/binary"
	"math/bits"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/seq"
	"github.com/efg-tools/efg/internal/export"
	"github.com/efg-tools/efg/signature"
)

// vector reports whether attribute stream k of nodes with a header and mask holds arrays.
func vector(header, mask uint64, k int) bool {
	for range k {
		mask &= mask - 1
	}
	return export.WordForm(header, bits.TrailingZeros64(mask)) == signature.VecForm
}

// items returns the events of a stream as records refer to them. Streams with the same steps
// between nodes are walked once.
func (w *writer) items(s *efg.Stream, defs []efg.Def) ([]item, error) {
	key, err := flow(s)
	if err != nil {
		return nil, err
	}
	if items, ok := w.folded[key]; ok {
		w.tell(s.Events)
		return items, nil
	}
	f := newPatternFinder()
	walk := s.Walk(defs)
	for walk.Next() {
		f.push(uint32(walk.Node()))
		if walk.Seq()%(1<<16) == 1<<16-1 {
			w.tell(1 << 16)
		}
	}
	if err := walk.Err(); err != nil {
		return nil, err
	}
	w.tell(s.Events % (1 << 16))
	numbers := map[uint32]uint32{}
	items := w.settle(f, f.items, numbers)
	w.folded[key] = items
	return items, w.err
}

func (w *writer) tell(events uint64) {
	w.events += events
	if w.progress != nil {
		w.progress(w.events)
	}
}

// flow is equal for streams whose events are at the same nodes in the same order.
func flow(s *efg.Stream) (string, error) {
	var b []byte
	num := func(v uint64) { b = binary.AppendUvarint(b, v) }
	sequence := func(s *seq.Seq) error {
		parts, err := s.Parts()
		if err != nil || parts == nil {
			parts = []*seq.Seq{s}
		}
		for _, p := range parts {
			num(p.Len())
			num(uint64(p.Form()))
			num(uint64(len(p.Code())))
			b = append(b, p.Code()...)
		}
		return err
	}
	num(s.Events)
	for i := range s.Nodes {
		n := &s.Nodes[i]
		num(min(n.Counted, 1))
		num(uint64(len(n.Edges)))
		for _, e := range n.Edges {
			num(uint64(e.To))
			num(e.Weight)
			num(e.Count)
			num(e.Fixed)
		}
		for _, q := range []*seq.Seq{n.Runs, n.Counts} {
			if q == nil {
				num(0)
			} else if err := sequence(q); err != nil {
				return "", err
			}
		}
	}
	return string(b), nil
}

// short is the number of events up to which occurrences are written out instead of as a
// pattern.
const short = 4

// settle returns items with the numbers that patterns have in the file, and writes the
// patterns. Occurrences that stand for few events are written out.
func (w *writer) settle(f *patternFinder, items []item, numbers map[uint32]uint32) []item {
	out := make([]item, 0, len(items))
	for _, it := range items {
		if it.count == 0 {
			out = append(out, it)
			continue
		}
		body := f.patterns[it.n]
		if uint64(len(body))*it.count <= short && plain(body) {
			for range it.count {
				out = append(out, body...)
			}
			continue
		}
		n, ok := numbers[it.n]
		if !ok {
			inner := w.settle(f, body, numbers)
			w.recordWriter.begin(kindPattern, 1)
			w.itemList(inner)
			n = uint32(w.share(kindPattern))
			numbers[it.n] = n
		}
		out = append(out, item{n, it.count})
	}
	return out
}

func plain(items []item) bool {
	for _, it := range items {
		if it.count > 0 {
			return false
		}
	}
	return true
}

// itemList writes items: an event as its class, occurrences as a list of the pattern and their
// number.
func (w *recordWriter) itemList(items []item) {
	w.list(len(items))
	for _, it := range items {
		if it.count == 0 {
			w.uint(uint64(it.n))
		} else {
			w.uints([]uint64{uint64(it.n), it.count})
		}
	}
}

// stream writes what streams do not share. calls are its calls in progress, the outermost first: of each
// the class, and since when.
func (w *writer) stream(s *efg.Stream, body int, calls []uint64, hash bool) error {
	fields := plainFields
	if len(calls) > 0 {
		fields++
	}
	w.list(fields)
	w.uint(uint64(s.Thread))
	w.uint(uint64(s.End))
	w.uint(s.Dropped)
	w.uint(uint64(body))
	if hash {
		w.uints([]uint64{s.Hash})
	} else {
		w.uints(nil)
	}
	timed := 0
	for i := range s.Nodes {
		if s.Nodes[i].Stats != nil {
			timed = len(s.Nodes)
		}
	}
	w.list(timed)
	for i := range timed {
		w.stats(s.Nodes[i].Stats)
	}
	if s.Trace == nil {
		w.uints(nil)
		w.list(0)
	} else if err := w.times(s); err != nil {
		return err
	}
	if len(calls) > 0 {
		w.uints(calls)
	}
	return w.err
}

// plainFields is the number of fields of a stream without a call in progress.
const plainFields = 8

func (w *writer) times(s *efg.Stream) error {
	if err := s.LoadTimes(); err != nil {
		return err
	}
	clock := []uint64{uint64(s.Trace.Error), s.Trace.Bound, s.Trace.Begin}
	if s.Trace.Untimed > 0 {
		clock = append(clock, s.Trace.Untimed)
	}
	w.uints(clock)
	w.list(2 * len(s.Nodes))
	for i := range s.Nodes {
		w.data(s.Nodes[i].Times.Gap.Code())
		w.data(s.Nodes[i].Times.Dur.Code())
	}
	return w.err
}

// stats writes a node's statistics of time; an empty list if there are none.
func (w *writer) stats(s *efg.Stats) {
	if s == nil {
		w.list(0)
		return
	}
	list := []uint64{s.Count}
	for _, v := range []*efg.Interval{&s.Dur, &s.Gap} {
		first, last := 0, len(v.Bins)
		for first < last && v.Bins[first] == 0 {
			first++
		}
		for last > first && v.Bins[last-1] == 0 {
			last--
		}
		list = append(list, v.Sum, v.Min, v.Max-v.Min, uint64(first), uint64(last-first))
		for _, n := range v.Bins[first:last] {
			list = append(list, uint64(n))
		}
	}
	w.uints(list)
}
