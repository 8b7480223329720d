package efg

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
)

// Each interval is in a bin whose value is within the error, and so is what a
// fine code stands for, wherever the clock is.
func TestQuantumKeepsTheError(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, parts := range []uint32{MinError, 100, 333, 500, MaxError} {
		q, err := NewTimeQuantizer(parts)
		if err != nil {
			t.Fatal(err)
		}
		bound := int64(q.Bound())
		ahead := int64(0)
		for i := range uint64(200_000) {
			ns := i
			if i > 3000 {
				ns = r.Uint64() >> (2 + r.IntN(62))
			}
			if r.IntN(10) == 0 {
				ahead = r.Int64N(2*bound+1) - bound
			}
			before := ahead
			var c TimeCode
			c, ahead = q.Encode(ns, ahead)
			v, err := q.Value(c)
			if err != nil {
				t.Fatal(err)
			}
			if d := off(int64(v - ns)); d > int64(q.share(ns)) || ahead != before+int64(v-ns) || off(ahead) > bound {
				t.Fatalf("%d parts: %d ns, the clock ahead by %d: %+v is %d, ahead by %d", parts, ns, before, c, v, ahead)
			}
		}
	}
	for _, parts := range []uint32{0, MinError - 1, MaxError + 1} {
		if _, err := NewTimeQuantizer(parts); err == nil {
			t.Errorf("%d parts: no error", parts)
		}
	}
}

// Codes come back from bytes, a prefix from a prefix, and no bytes do harm.
func FuzzTimeSeq(f *testing.F) {
	f.Add([]byte{0, 239, 240, 0, 247, 255, 248, 1, 2, 249, 3, 5, 249})
	f.Fuzz(func(t *testing.T, code []byte) {
		var n uint64
		var back []byte
		for it := (TimeSeq{uint64(len(code)), code}).Iter(); ; n++ {
			c, ok := it.Next()
			if !ok {
				break
			}
			back = AppendTimeCode(back, c)
		}
		s, err := NewTimeSeq(n, code)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := NewTimeSeq(uint64(len(code))+1, code); err == nil {
			t.Fatal("more codes than bytes")
		}
		again, err := NewTimeSeq(n, back)
		if err != nil {
			t.Fatal(err)
		}
		a, b := s.Iter(), again.Iter()
		for range n {
			x, _ := a.Next()
			if y, ok := b.Next(); x != y || !ok {
				t.Fatalf("%+v came back as %+v", x, y)
			}
		}
		both := DecodeTimes(code)
		if both.Gap.Len() != n/2 || both.Dur.Len() != n/2 {
			t.Fatalf("%d gaps and %d durations of %d codes", both.Gap.Len(), both.Dur.Len(), n)
		}
	})
}

// The example of FORMAT.md, "Times".
func TestTimesExample(t *testing.T) {
	q, err := NewTimeQuantizer(500)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	b.WriteString("| interval | code | stands for | the clock is ahead by |\n|---|---|---|---|\n")
	ahead := int64(0)
	for _, ns := range []uint64{1000, 300_000, 1000, 300_000, 1000, 300_000, 1000, 300_000, 1000, 2_000_000_000} {
		var c TimeCode
		c, ahead = q.Encode(ns, ahead)
		v, err := q.Value(c)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "| %d | `% x` | %d | %d |\n", ns, AppendTimeCode(nil, c), v, ahead)
	}
	page, err := os.ReadFile("FORMAT.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(page), b.String()) {
		t.Errorf("FORMAT.md does not have the example:\n%s", b.String())
	}
}
