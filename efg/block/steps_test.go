package block

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
)

// The example of "Columns in steps".
func TestFormatSteps(t *testing.T) {
	vals := []uint64{96, 96, 98, 96, 94, 96, 5000, 96}
	code := stepColumnOf(vals)
	x := binary.LittleEndian.Uint64(code)
	var want strings.Builder
	fmt.Fprintf(&want, "| value | steps and bits | x |\n|---|---|---|\n| | | %x |\n", x)
	for i := range vals {
		// Each value is decoded with those before, as the models are not kept.
		d := stepDecoder{in: code, at: 8}
		out := make([]uint64, i+1)
		x = d.values(out, binary.LittleEndian.Uint64(code))
		if out[i] != vals[i] {
			t.Fatalf("%d in place of %d", out[i], vals[i])
		}
		steps := fmt.Sprintf("%d %d", out[i]/16, out[i]%16)
		if v := out[i] + 16; v >= 256 {
			k := len(fmt.Sprintf("%b", v)) - 9
			steps = fmt.Sprintf("15 %d %d %d, %0*b", k, v>>(k+4)&15, v>>k&15, k, v&(1<<k-1))
		}
		fmt.Fprintf(&want, "| %d | %s | %x |\n", out[i], steps, x)
	}
	fmt.Fprintf(&want, "\nThe payload is `% x`.\n", code)
	page, err := os.ReadFile("FORMAT.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(page), want.String()) {
		t.Errorf("FORMAT.md does not have the example:\n%s", want.String())
	}
}

// Values of all sizes come back, and bytes that are missing, too many or others are noticed or make other values.
func TestSteps(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	vals := []uint64{0, 15, 16, 239, 240, 255, 256, 1<<13 - 17, 1 << 24, 1<<63 - 1, stepMost}
	for range 1 << 16 {
		vals = append(vals, random.Uint64()>>(1+random.Uint64N(63)))
	}
	code := stepColumnOf(vals)
	got := make([]uint64, len(vals))
	if err := unstepColumn(code, got); err != nil || !slices.Equal(got, vals) {
		t.Fatalf("%v: %d…, want %d…", err, got[:8], vals[:8])
	}
	if stepColumnOf([]uint64{stepMost + 1}) != nil {
		t.Error("a value that cannot be coded is")
	}
	for _, n := range []int{0, 7, 8, 12, len(code) - 4, len(code) - 1} {
		if unstepColumn(code[:n], got) == nil {
			t.Errorf("%d of %d bytes are enough", n, len(code))
		}
	}
	if unstepColumn(append(slices.Clone(code), 0), got) == nil || unstepColumn(append(slices.Clone(code), 0, 0, 0, 0), got) == nil {
		t.Error("bytes after the code are not noticed")
	}
}

// Models stay in order whatever they learn: no frequency is below the least one.
func TestStepModels(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	m := &stepModel{sums: stepStart}
	for i := range 100_000 {
		m.learn(random.IntN(1 + i/1000%stepSymbols))
		for s := range stepSymbols {
			if below, frequency := m.of(s); frequency < stepFloor || below+frequency > 1<<stepBits {
				t.Fatalf("after %d symbols, %d has %d after %d", i, s, frequency, below)
			}
		}
		at := random.Uint64N(1 << stepBits)
		if below, frequency := m.of(m.find(at)); at < below || at >= below+frequency {
			t.Fatalf("%d is not in %d to %d", at, below, below+frequency)
		}
	}
}

// Long columns of times are coded in steps, unless another code is much smaller.
func TestStepsAreChosen(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	times, periodic := make([]uint64, 1<<13), make([]uint64, 1<<13)
	for i := range times {
		times[i] = uint64(60 + 30*(i>>10) + int(random.NormFloat64()*3)) // one callsite after the other
		periodic[i] = times[i%100]
	}
	for _, c := range []struct {
		vals []uint64
		by   choice
		want bool
	}{{times, fastChoice, true}, {times[:1<<11], fastChoice, false}, {times, mostChoice, false}, {periodic, fastChoice, false}} {
		encoding, payload := encodeColumn(c.vals, c.by)
		if (encoding == columnSteps) != c.want {
			t.Errorf("%d values: encoding %d, %d bytes", len(c.vals), encoding, len(payload))
		}
	}
}
