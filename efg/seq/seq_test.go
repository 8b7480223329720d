package seq

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func expand(t testing.TB, s *Seq) []uint64 {
	t.Helper()
	var out []uint64
	it := s.Iter()
	for v, ok := it.Next(); ok; v, ok = it.Next() {
		out = append(out, v)
	}
	if err := it.Err(); err != nil {
		t.Fatalf("iterating: %v", err)
	}
	return out
}

func fold(values []uint64, delta bool) *Seq {
	w := NewWriter(delta)
	for _, v := range values {
		w.Push(v)
	}
	return w.Seq()
}

// loops appends nested loops with the given iteration counts, one value per level.
func loops(out []uint64, trips ...int) []uint64 {
	if len(trips) == 0 {
		return append(out, 1000)
	}
	for range trips[0] {
		out = append(out, uint64(len(trips)))
		out = loops(out, trips[1:]...)
	}
	return append(out, uint64(100+len(trips)))
}

func repeat(n int, values ...uint64) []uint64 { return slices.Repeat(values, n) }

func TestSeqRoundTripAndSize(t *testing.T) {
	ramp := make([]uint64, 100000)
	for i := range ramp {
		ramp[i] = uint64(i) * 4096
	}
	for _, c := range []struct {
		name   string
		values []uint64
		delta  bool
		max    int // bytes of code
	}{
		{"empty", nil, false, 0},
		{"one", []uint64{7}, false, 1},
		{"constant", repeat(1000000, 5), false, 10},
		{"period 2", repeat(100000, 1, 2), false, 12},
		{"period 100", repeat(1000, ramp[:100]...), false, 480},
		{"ramp", ramp, true, 16},
		{"large values", repeat(5, 1<<63, 1<<62, 1<<61, 0), true, 100},
		{"loops", loops(nil, 50, 40, 30), false, 200},
		{"loops beyond the window", loops(nil, 20, 1000, 5, 7), false, 400},
		{"deep", loops(nil, 6, 6, 6, 6, 6, 6), false, 1200},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := fold(c.values, c.delta)
			if got := expand(t, s); !slices.Equal(got, c.values) {
				t.Fatalf("expands to %d values, want %d", len(got), len(c.values))
			}
			t.Logf("%d values in %d bytes", s.Len(), len(s.Code()))
			if len(s.Code()) > c.max {
				t.Errorf("%d bytes of code, want at most %d", len(s.Code()), c.max)
			}
		})
	}
}

// Ten times the iterations must not produce ten times the code.
func TestSeqDoesNotGrowWithIterations(t *testing.T) {
	small, large := fold(loops(nil, 20, 30, 10), false), fold(loops(nil, 200, 30, 10), false)
	if len(large.Code()) > len(small.Code())+8 {
		t.Errorf("20 iterations: %d bytes, 200: %d", len(small.Code()), len(large.Code()))
	}
}

func TestSeqPrefixAtEveryLength(t *testing.T) {
	values := loops(nil, 4, 5, 3)
	s := fold(values, false)
	for n := range values {
		if got := expand(t, s.Prefix(uint64(n))); !slices.Equal(got, values[:n]) {
			t.Fatalf("prefix %d: %v", n, got)
		}
	}
}

// pattern converts fuzz bytes into values with repeats.
func pattern(data []byte) []uint64 {
	var out []uint64
	for i := 0; i+1 < len(data) && len(out) < 1<<16; i += 2 {
		switch op, arg := data[i]>>6, uint64(data[i+1]); op {
		case 0, 1:
			out = append(out, uint64(data[i]&63)*arg)
		case 2: // repeat the tail
			k := min(len(out), int(data[i]&63)+1)
			tail := slices.Clone(out[len(out)-k:])
			for range min(arg, 64) {
				out = append(out, tail...)
			}
		default:
			r := rand.New(rand.NewPCG(uint64(data[i]), arg))
			for range data[i] & 63 {
				out = append(out, r.Uint64()>>(arg&63))
			}
		}
	}
	return out
}

func FuzzSeqRoundTrip(f *testing.F) {
	f.Add([]byte{1, 1, 2, 2, 3, 3, 0x82, 20, 5, 5, 0x88, 30}, true)
	f.Add([]byte{0xff, 3, 0xbf, 60, 0xbf, 60, 1, 9, 0xbf, 60}, false)
	f.Fuzz(func(t *testing.T, data []byte, delta bool) {
		values := pattern(data)
		if got := expand(t, fold(values, delta)); !slices.Equal(got, values) {
			t.Fatalf("%d values came back as %d", len(values), len(got))
		}
	})
}

// Hostile code yields an error or values, never a panic, and never more than n values.
func FuzzSeqCode(f *testing.F) {
	f.Add(uint64(10), []byte{4, 8, 5, 9, 200, 200, 1})
	f.Add(uint64(1<<40), []byte{0, 5, 255, 255, 255, 255, 15})
	f.Fuzz(func(t *testing.T, n uint64, code []byte) {
		s, err := New(n, false, code)
		if err != nil {
			return
		}
		it := s.Iter()
		got := uint64(0)
		for _, ok := it.Next(); ok && got < 1<<16; _, ok = it.Next() {
			got++
		}
		if got > n || (got < n && got < 1<<16 && it.Err() == nil) {
			t.Fatalf("%d of %d values and no error", got, n)
		}
	})
}

func BenchmarkSeqPush(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	random := make([]uint64, 1<<16)
	for i := range random {
		random[i] = r.Uint64N(1000)
	}
	for name, values := range map[string][]uint64{
		"constant": repeat(1<<16, 3), "loops": loops(nil, 50, 40, 30), "random": random,
	} {
		b.Run(name, func(b *testing.B) {
			w := NewWriter(false)
			for i := 0; b.Loop(); i++ {
				w.Push(values[i%len(values)])
			}
			b.ReportMetric(float64(len(w.code))/float64(w.n), "bytes/value")
		})
	}
}

func BenchmarkSeqNext(b *testing.B) {
	s := fold(loops(nil, 50, 40, 30), false)
	it := s.Iter()
	for b.Loop() {
		if _, ok := it.Next(); !ok {
			it = s.Iter()
		}
	}
}
