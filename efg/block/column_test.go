package block

import (
	"math"
	"math/rand"
	"slices"
	"testing"
)

func columns() map[string][]uint64 {
	rng := rand.New(rand.NewSource(1))
	m := map[string][]uint64{
		"one": {7}, "zeros": make([]uint64, 1000), "wide": {0, ^uint64(0), 1 << 63, 5}, "15-16-17": {15, 16, 17, 31, 32, 33},
	}
	for width := 0; width <= 64; width++ {
		v := make([]uint64, 333)
		for i := range v {
			v[i] = rng.Uint64() >> (64 - width)
		}
		m["random"+string(rune('A'+width))] = v
	}
	var cyc, geo []uint64
	for i := range 2000 {
		cyc = append(cyc, uint64(i%37*i%37))
		n := uint64(0)
		for rng.Intn(20) != 0 {
			n++
		}
		geo = append(geo, n)
	}
	m["cycle"], m["geometric"] = cyc, geo
	return m
}

func TestColumnsRoundTrip(t *testing.T) {
	for name, vals := range columns() {
		encoding, payload := encodeColumn(vals, mostChoice)
		got, err := decodeColumn(encoding, payload, len(vals))
		if err != nil || !slices.Equal(got, vals) {
			t.Errorf("%s: encoding %d: %v", name, encoding, err)
		}
		raw := []byte{}
		for _, v := range vals {
			raw = AppendUvarint(raw, v)
		}
		for encoding, payload := range map[int][]byte{
			columnRaw: raw, columnPacked: packingOf(vals).pack(vals), columnZstd: zstdEncoder().EncodeAll(raw, nil),
			columnAdaptive: adaptColumn(vals, columnAdaptive, math.MaxInt), columnOrder1: adaptColumn(vals, columnOrder1, math.MaxInt),
			columnPredicted: adaptColumn(vals, columnPredicted, math.MaxInt), columnSteps: stepColumnOf(vals),
		} {
			if encoding == columnSteps && payload == nil { // it has values that cannot be coded
				continue
			}
			got, err := decodeColumn(encoding, payload, len(vals))
			if err != nil || !slices.Equal(got, vals) {
				t.Errorf("%s: encoding %d: %v", name, encoding, err)
			}
		}
	}
}

// At most one adaptive encoding is tried on all of a long column, and the result is as good as
// trying each.
func TestLongColumns(t *testing.T) {
	r := rand.New(rand.NewSource(3))
	data := map[string]func(i int) uint64{
		"random": func(int) uint64 { return r.Uint64() }, "bytes": func(int) uint64 { return uint64("aaabbcdefgh "[r.Intn(12)]) },
		"text": func(i int) uint64 { return uint64("value number 17 of very many "[i%29]) }, "rising": func(i int) uint64 { return uint64(i) },
		"steps": func(i int) uint64 { return uint64(i / 1000 % 3 * (1 + r.Intn(2))) }, "periodic": func(i int) uint64 { return uint64(i % 37 * i % 41) },
		"rare": func(int) uint64 { return uint64(max(0, r.Intn(1000)-998)) }, "halves": func(i int) uint64 { return uint64(r.Intn(2 + i/70_000*200)) },
	}
	for name, value := range data {
		vals := make([]uint64, 150_000)
		for i := range vals {
			vals[i] = value(i)
		}
		encoding, payload := encodeColumn(vals, mostChoice)
		tried := worthTrying(vals, len(payload)+1)
		if len(tried) > 1 {
			t.Errorf("%s: %v are tried", name, tried)
		}
		for _, e := range []int{columnAdaptive, columnOrder1, columnPredicted} {
			if n := len(adaptColumn(vals, e, math.MaxInt)); n < len(payload)/100*88 {
				t.Errorf("%s: encoding %d takes %d bytes, %d only %d", name, encoding, len(payload), e, n)
			}
		}
	}
}
