package block

import (
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
		encoding, payload := encodeColumn(vals)
		got, err := decodeColumn(encoding, payload, len(vals))
		if err != nil || !slices.Equal(got, vals) {
			t.Errorf("%s: encoding %d: %v", name, encoding, err)
		}
		raw := []byte{}
		for _, v := range vals {
			raw = AppendUvarint(raw, v)
		}
		for encoding, payload := range map[int][]byte{
			columnRaw: raw, columnPacked: packColumn(vals), columnZstd: zstdEncoder().EncodeAll(raw, nil),
			columnAdaptive: adaptColumn(vals, columnAdaptive), columnOrder1: adaptColumn(vals, columnOrder1),
			columnPredicted: adaptColumn(vals, columnPredicted),
		} {
			got, err := decodeColumn(encoding, payload, len(vals))
			if err != nil || !slices.Equal(got, vals) {
				t.Errorf("%s: encoding %d: %v", name, encoding, err)
			}
		}
	}
}
