package efg

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
)

// Each interval is rounded within the error, and no start or end is off by more than the bound,
// wherever the clock is.
func TestRoundKeepsErrorAndBound(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, parts := range []uint32{MinError, 100, 333, 500, MaxError} {
		for _, bound := range []uint64{0, 1, 7, 1000, 2277} {
			q, err := NewTimeQuantizer(parts, bound)
			if err != nil {
				t.Fatal(err)
			}
			checkRound(t, q, r)
		}
	}
	for _, parts := range []uint32{MinError - 1, MaxError + 1} {
		if _, err := NewTimeQuantizer(parts, 1000); err == nil {
			t.Errorf("%d parts: no error", parts)
		}
	}
}

// The interval below a number is found for all numbers around each interval.
func TestIntervalBelow(t *testing.T) {
	for _, parts := range []uint32{MinError, 100, 333, 500, MaxError} {
		for _, bound := range []uint64{0, 1, 7, 1000, 2277, 1 << 40} {
			q, err := NewTimeQuantizer(parts, bound)
			if err != nil {
				t.Fatal(err)
			}
			for i := range min(uint64(len(q.fine))+100, 100_000) {
				v, next := q.Value(i), q.Value(i+1)
				for _, x := range []uint64{v, v + (next-v)/2, next - 1} {
					if got := q.Below(x); got != i {
						t.Fatalf("error %d, bound %d: %d is above interval %d, want %d (%d)", parts, bound, x, got, i, v)
					}
				}
			}
		}
	}
}

func checkRound(t *testing.T, q *TimeQuantizer, r *rand.Rand) {
	t.Helper()
	bound := int64(q.bound)
	ahead := int64(0)
	for i := range uint64(50_000) {
		x := i
		if i > 3000 {
			x = r.Uint64() >> (2 + r.IntN(62))
		}
		if r.IntN(10) == 0 {
			ahead = r.Int64N(2*bound+1) - bound
		}
		before := ahead
		var v uint64
		v, ahead = q.Round(x, ahead)
		if off(v, x) > q.share(x) || ahead != before+int64(v-x) || max(ahead, -ahead) > bound {
			t.Fatalf("%+v: %d ticks, the clock ahead by %d: %d, ahead by %d", q.parts, x, before, v, ahead)
		}
		if n, ok := q.Number(v); !ok || q.Value(n) != v {
			t.Fatalf("%d has number %d, which is %d", v, n, q.Value(n))
		}
	}
}

// Of error 0 every interval is as it was.
func TestExactTimes(t *testing.T) {
	q, err := NewTimeQuantizer(0, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []uint64{0, 1, 99, 1 << 40, 1<<64 - 1} {
		v, ahead := q.Round(x, 0)
		if n, ok := q.Number(x); v != x || ahead != 0 || !ok || q.Value(n) != x {
			t.Errorf("%d: %d, number %d", x, v, n)
		}
	}
}

// Intervals come back from bytes, a prefix from a prefix, and no bytes do harm.
func FuzzTimeSeq(f *testing.F) {
	f.Add([]byte{0, 127, 128, 1, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1, 128})
	f.Fuzz(func(t *testing.T, code []byte) {
		var n uint64
		var back []byte
		for it := (TimeSeq{uint64(len(code)), code}).Iter(); ; n++ {
			v, ok := it.Next()
			if !ok {
				break
			}
			back = binary.AppendUvarint(back, v)
		}
		if _, err := NewTimeSeq(uint64(len(code))+1, code); err == nil {
			t.Fatal("more intervals than bytes")
		}
		again, err := NewTimeSeq(n, back)
		if err != nil {
			t.Fatal(err)
		}
		a, b := (TimeSeq{n, code}).Iter(), again.Iter()
		for range n {
			x, _ := a.Next()
			if y, ok := b.Next(); x != y || !ok {
				t.Fatalf("%d came back as %d", x, y)
			}
		}
	})
}

// The example of FORMAT.md, "Times".
func TestTimesExample(t *testing.T) {
	q, err := NewTimeQuantizer(500, 1000)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	b.WriteString("| interval | number | stands for | the clock is ahead by |\n|---|---|---|---|\n")
	ahead := int64(0)
	for _, x := range []uint64{1000, 300_000, 1000, 15_000, 1000, 15_000, 1000, 15_000, 1000, 2_000_000_000} {
		var v uint64
		v, ahead = q.Round(x, ahead)
		n, _ := q.Number(v)
		fmt.Fprintf(&b, "| %d | %d | %d | %d |\n", x, n, v, ahead)
	}
	page, err := os.ReadFile("FORMAT.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(page), b.String()) {
		t.Errorf("FORMAT.md does not have the example:\n%s", b.String())
	}
}
