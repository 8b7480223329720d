package seq

import (
	"math/rand"
	"testing"
	"time"
)

// nestedLoops returns sequences with repeats at all levels.
func nestedLoops(rng *rand.Rand, n int) []uint64 {
	var out []uint64
	var loop func(depth int)
	loop = func(depth int) {
		body := 1 + rng.Intn(4)
		times := 1 + rng.Intn(30)
		vals := make([]uint64, body)
		for i := range vals {
			vals[i] = uint64(rng.Intn(5))
		}
		for range times {
			for i := range body {
				if depth > 0 && i == 0 {
					loop(depth - 1)
				}
				out = append(out, vals[i])
			}
			if len(out) > n {
				return
			}
		}
	}
	for len(out) < n {
		start := len(out)
		loop(rng.Intn(3))
		for k := len(out) - start; k > 0 && len(out) < n && rng.Intn(2) == 0; k-- { // again
			out = append(out, out[len(out)-k])
		}
	}
	return out[:n]
}

// Skipping yields the same state as reading, for all ways of folding.
func TestSkipIsReading(t *testing.T) {
	rng := rand.New(rand.NewSource(3))
	for round := range 300 {
		vals := nestedLoops(rng, 1+rng.Intn(6000))
		for _, delta := range []bool{false, true} {
			for _, window := range [][Levels]uint32{recorderWindow, PackWindow, {8, 8, 8}} {
				w := NewWindowWriter(delta, window)
				for _, v := range vals {
					w.Push(v)
				}
				s := w.Seq()
				it := s.Iter()
				for at := 0; at < len(vals); {
					k := rng.Intn(1 + rng.Intn(len(vals)-at))
					it.Skip(uint64(k))
					at += k
					v, ok := it.Next()
					if !ok || v != vals[at] {
						t.Fatalf("round %d, %v, %v: value %d is %d, not %d (%v)", round, delta, window, at, v, vals[at], it.Err())
					}
					at++
				}
			}
		}
	}
}

// Long repeats at each level are skipped in no time.
func TestSkipTakesNoTime(t *testing.T) {
	const far = 1 << 45
	lit := func(v uint64) symbol { return symbol{value: v} }
	rep := func(level int, d, m uint64) symbol { return symbol{kind: uint32(d)<<2 | uint32(level+1), value: m} }
	for i, syms := range [][]symbol{
		{lit(2), lit(4), rep(0, 2, far)},
		{lit(2), lit(4), rep(0, 2, 7), lit(6), rep(1, 4, far)},
		{lit(2), rep(0, 1, 9), lit(4), rep(1, 3, 12), lit(6), lit(8), rep(2, 5, far)},
		{lit(2), rep(0, 1, 1<<20), lit(4), rep(1, 3, 1<<20), lit(6), lit(8), rep(2, 5, 1<<20)},
	} {
		for _, form := range []uint8{0, formDelta} {
			b := NewBody(form, syms)
			start := time.Now()
			it := b.Seq(far, nil).Iter()
			it.Skip(far - 1)
			if _, ok := it.Next(); !ok || it.Left() != 0 {
				t.Errorf("sequence %d: %d left, %v", i, it.Left(), it.Err())
			}
			if d := time.Since(start); d > 20*time.Second {
				t.Errorf("sequence %d took %v", i, d)
			}
		}
	}
}

// The same for random codes with long repeats, including codes that no writer makes.
func TestSkipIsReadingInLongRepeats(t *testing.T) {
	rng := rand.New(rand.NewSource(5))
	for round := range 400 {
		var syms []symbol
		for k := range 3 + rng.Intn(12) {
			level := uint32(rng.Intn(Levels + 2))
			if level >= Levels || k < 2 {
				syms = append(syms, symbol{value: uint64(rng.Intn(9))})
				continue
			}
			d := 1 + rng.Intn(min(k, 4))
			syms = append(syms, symbol{kind: uint32(d)<<2 | (level + 1), value: 1 + uint64(rng.Intn(1<<rng.Intn(16)))})
		}
		b := NewBody(uint8(rng.Intn(2)), syms)
		const n = 100_000
		var want []uint64
		it := b.Seq(n, nil).Iter()
		for v, ok := it.Next(); ok; v, ok = it.Next() {
			want = append(want, v)
		}
		for range 10 {
			it := b.Seq(n, nil).Iter()
			for at := 0; ; at++ {
				k := rng.Intn(1 + rng.Intn(n))
				it.Skip(uint64(k))
				at += k
				v, ok := it.Next()
				if ok != (at < len(want)) || ok && v != want[at] {
					t.Fatalf("round %d: value %d: %d, %v; read: %d of %d\n%+v", round, at, v, ok, want[min(at, len(want)-1)], len(want), syms)
				}
				if !ok {
					break
				}
			}
		}
	}
}
