package check

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/internal/analysis"
	"github.com/efg-tools/efg/signature"
)

// randomType defines a datatype made of others or of predefined ones, and returns its word and
// its basic datatypes.
func randomType(r *rand.Rand, defs *[]efg.Def, depth int) (word uint64, list []uint64) {
	plain := []string{"MPI_INT", "MPI_DOUBLE", "MPI_FLOAT", "MPI_DOUBLE_INT", "MPI_2INT", "MPI_FLOAT_INT"}
	if depth == 0 || r.IntN(4) == 0 {
		c := signature.ConstantByName(plain[r.IntN(len(plain))])
		for _, b := range c.Basics() {
			list = append(list, b.Word())
		}
		return c.Word(), list
	}
	var words []uint64
	if r.IntN(2) == 0 { // a struct
		n := 1 + r.IntN(3)
		lengths, types := []uint64{uint64(n)}, []uint64(nil)
		for range n {
			t, basics := randomType(r, defs, depth-1)
			length := r.IntN(3)
			lengths, types = append(lengths, uint64(length)), append(types, t)
			for range length {
				list = append(list, basics...)
			}
		}
		words = slices.Concat([]uint64{constant("MPI_COMBINER_STRUCT"), 0, uint64(n) + 1, uint64(n), 0, uint64(n)}, lengths, make([]uint64, n), types)
	} else {
		t, basics := randomType(r, defs, depth-1)
		n := 1 + r.IntN(3)
		for range n {
			list = append(list, basics...)
		}
		words = []uint64{constant("MPI_COMBINER_CONTIGUOUS"), 0, 1, 0, 0, 1, uint64(n), t}
	}
	for _, b := range list {
		k, _ := signature.ConstNumber(b)
		words[1] += uint64(signature.ConstantByID(k).Size)
	}
	word = signature.Ident(signature.Hash(words...))
	*defs = append(*defs, efg.Def{Kind: efg.DefType, Word: word, Words: words})
	return word, list
}

// repeated is a list repeated a number of times.
func repeated(list []uint64, n int) (all []uint64) {
	for range n {
		all = append(all, list...)
	}
	return all
}

// Signatures agree where the expanded lists of basic datatypes do.
func TestTypeSignatures(t *testing.T) {
	equal, prefixes, differ := 0, 0, 0
	for seed := range uint64(4000) {
		r := rand.New(rand.NewPCG(seed, 17))
		var defs []efg.Def
		a, one := randomType(r, &defs, 3)
		b, other := randomType(r, &defs, 3)
		if len(one) == 0 || len(other) == 0 {
			continue
		}
		n, m := 1+r.IntN(4), 1+r.IntN(4)
		p, err := analysis.NewProcess(&efg.Process{Size: 1, Defs: defs}, 0)
		if err != nil {
			t.Fatal(err)
		}
		x := newSigner(p)
		sent, taken := repeated(one, n), repeated(other, max(m, n*len(one)/len(other)+1))
		s, o := x.of(a), x.of(b)
		if want := slices.Equal(sent, taken[:len(sent)]); s.agrees(o, s.elements(uint64(n))) != want {
			t.Fatalf("seed %d: %v in %v: %v, want %v", seed, sent, taken, !want, want)
		} else if want {
			prefixes++
		} else {
			differ++
		}
		if int(s.elements(uint64(n))) != len(sent) {
			t.Fatalf("seed %d: %d elements, want %d", seed, s.elements(uint64(n)), len(sent))
		}
		given, _ := x.amountOf(uint64(n), a)
		got, _ := x.amountOf(uint64(m), b)
		if want := slices.Equal(sent, repeated(other, m)); (given == got) != want {
			t.Fatalf("seed %d: %v and %v are of equal amount: %v", seed, sent, repeated(other, m), !want)
		} else if want {
			equal++
		}
	}
	if equal < 30 || prefixes < 100 || differ < 1000 {
		t.Errorf("%d equal, %d prefixes, %d others", equal, prefixes, differ)
	}
}

// Definitions that claim arbitrary sizes yield a signature that matches all others.
func TestTypeSignatureBounds(t *testing.T) {
	const huge = 1 << 62
	for _, words := range [][]uint64{
		nil, {1, 2, 3}, {constant("MPI_COMBINER_CONTIGUOUS"), huge, 1, 0, 0, 1, 5, constant("MPI_INT")},
		{constant("MPI_COMBINER_STRUCT"), 8, huge, 0, 0, 1, 1, constant("MPI_INT")}, {constant("MPI_COMBINER_DUP"), 4, 0, 0, 0, 1, 77},
		{constant("MPI_COMBINER_STRUCT"), 8, 3, 2, 0, 2, 2, huge, huge, 0, 0, constant("MPI_INT"), constant("MPI_2INT")},
	} {
		p, err := analysis.NewProcess(&efg.Process{Size: 1, Defs: []efg.Def{{Kind: efg.DefType, Word: 77, Words: words}}}, 0)
		if err != nil {
			t.Fatal(err)
		}
		if s := newSigner(p).of(77); !s.open() {
			t.Errorf("%v: %v", words, s.unit)
		}
	}
}
