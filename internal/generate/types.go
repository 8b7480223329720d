package generate

import (
	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/signature"
)

// span is where the elements of a datatype lie: bytes from the address that a call is given. What
// is not known exactly, the padding that a compiler would insert, is at most what it says.
type span struct{ low, high, extent int64 }

// typeSpans computes the spans of datatypes.
type typeSpans struct {
	defs map[uint64]*efg.Def
	done map[uint64]span
}

func newTypeSpans(defs []efg.Def) *typeSpans {
	t := &typeSpans{defs: map[uint64]*efg.Def{}, done: map[uint64]span{}}
	for i := range defs {
		if d := &defs[i]; d.Kind == efg.DefType {
			t.defs[d.Word] = d
		}
	}
	return t
}

// padding is the most that a datatype is extended for alignment.
const padding = 16

func (t *typeSpans) of(w uint64) span {
	if c := signature.ConstantOf(w); c != nil {
		n := int64(c.Size)
		if len(c.Basics()) == 2 {
			n = (n + padding - 1) / padding * padding
		}
		return span{0, n, n}
	}
	if s, ok := t.done[w]; ok {
		return s
	}
	t.done[w] = span{} // a broken file may have a type that contains itself
	s := span{0, 1, 1}
	if d := t.defs[w]; d != nil && len(d.Words) >= 6 {
		s = t.compute(d)
	}
	t.done[w] = s
	return s
}

// contents are those of a datatype's definition.
type contents struct {
	combiner            string
	size                int64
	ints, addrs, counts []int64
	types               []uint64
}

func contentsOf(d *efg.Def) (c contents, ok bool) {
	t, ok := d.Datatype()
	if k := signature.ConstantOf(t.Combiner); k != nil {
		c.combiner = k.Name
	}
	c.size, c.types = int64(t.Size), t.Types
	c.ints, c.addrs, c.counts = signed(t.Integers), signed(t.Addresses), signed(t.Counts)
	return c, ok
}

func signed(words []uint64) []int64 {
	list := make([]int64, len(words))
	for i, w := range words {
		list[i] = int64(w)
	}
	return list
}

// place is a number of elements of a type at a displacement.
func (s span) place(disp, n int64) span {
	if n <= 0 {
		return span{disp, disp, 0}
	}
	last := (n - 1) * s.extent
	return span{low: disp + s.low + min(0, last), high: disp + s.high + max(0, last)}
}

func (s span) union(o span) span {
	return span{min(s.low, o.low), max(s.high, o.high), 0}
}

// leastNumbers is how many numbers the contents of a datatype have at least.
var leastNumbers = map[string]int{
	"MPI_COMBINER_RESIZED": 1, "MPI_COMBINER_CONTIGUOUS": 1, "MPI_COMBINER_VECTOR": 3, "MPI_COMBINER_HVECTOR": 3,
	"MPI_COMBINER_HVECTOR_INTEGER": 3, "MPI_COMBINER_SUBARRAY": 1, "MPI_COMBINER_DARRAY": 3, "MPI_COMBINER_INDEXED_BLOCK": 2,
	"MPI_COMBINER_HINDEXED_BLOCK": 2,
}

func (t *typeSpans) compute(d *efg.Def) span {
	c, ok := contentsOf(d)
	if !ok {
		return span{0, int64(d.Words[1]), int64(d.Words[1])}
	}
	n := append(c.ints, c.counts...) // of a large-count type the numbers are counts
	if len(n)+len(c.addrs) < leastNumbers[c.combiner] || c.combiner != "MPI_COMBINER_RESIZED" && len(n) < min(1, leastNumbers[c.combiner]) {
		return span{0, c.size, c.size}
	}
	old := t.of(c.types[0])
	all := span{}
	first := true
	add := func(p span) {
		if first {
			all, first = p, false
			return
		}
		all = all.union(p)
	}
	switch c.combiner {
	case "MPI_COMBINER_RESIZED":
		b := append(c.addrs, c.counts...)
		return span{old.low, old.high, b[len(b)-1]}
	case "MPI_COMBINER_DUP":
		return old
	case "MPI_COMBINER_CONTIGUOUS":
		add(old.place(0, n[0]))
	case "MPI_COMBINER_VECTOR", "MPI_COMBINER_HVECTOR", "MPI_COMBINER_HVECTOR_INTEGER":
		b := append(n, c.addrs...)
		stride := b[2]
		if c.combiner == "MPI_COMBINER_VECTOR" {
			stride *= old.extent
		}
		add(old.place(0, b[1]))
		add(old.place(stride*max(b[0]-1, 0), b[1]))
	case "MPI_COMBINER_SUBARRAY", "MPI_COMBINER_DARRAY":
		return t.whole(&c, n, old)
	case "MPI_COMBINER_F90_REAL", "MPI_COMBINER_F90_COMPLEX", "MPI_COMBINER_F90_INTEGER", "MPI_COMBINER_VALUE_INDEX":
		return span{0, c.size + padding, c.size + padding}
	default:
		t.blocks(&c, n, old, add)
	}
	all.extent = all.high - all.low
	if c.combiner == "MPI_COMBINER_STRUCT" {
		all.extent = (all.extent + padding - 1) / padding * padding
	}
	return all
}

// whole is the span of a part of an array, whose extent is that of the array.
func (t *typeSpans) whole(c *contents, n []int64, old span) span {
	dims, at := n[0], int64(1)
	if c.combiner == "MPI_COMBINER_DARRAY" {
		if len(n) < 3 {
			return span{0, c.size, c.size}
		}
		dims, at = n[2], 3
	}
	total := int64(1)
	if int64(len(n)) < at+dims || dims < 0 {
		return span{0, c.size, c.size}
	}
	for _, size := range n[at : at+dims] {
		total *= size
	}
	return span{old.low, old.high + (total-1)*old.extent, total * old.extent}
}

// blocks adds the blocks of an indexed type or struct.
func (t *typeSpans) blocks(c *contents, n []int64, old span, add func(span)) {
	if len(n) == 0 {
		return
	}
	count := n[0]
	rest := append(n[1:len(n):len(n)], c.addrs...)
	one := c.combiner == "MPI_COMBINER_INDEXED_BLOCK" || c.combiner == "MPI_COMBINER_HINDEXED_BLOCK"
	lens := rest
	if one {
		rest = rest[min(1, len(rest)):]
	} else {
		rest = rest[max(0, min(count, int64(len(rest)))):]
	}
	for i := range max(0, min(count, int64(len(rest)))) {
		length, disp, typ := lens[0], rest[i], old
		if !one {
			length = lens[i]
		}
		switch c.combiner {
		case "MPI_COMBINER_INDEXED", "MPI_COMBINER_INDEXED_BLOCK":
			disp *= old.extent
		case "MPI_COMBINER_STRUCT", "MPI_COMBINER_STRUCT_INTEGER":
			if i < int64(len(c.types)) {
				typ = t.of(c.types[i])
			}
		}
		if length > 0 {
			add(typ.place(disp, length))
		}
	}
}
