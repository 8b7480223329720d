package block

import (
	"encoding/binary"
	"math"
	"slices"
	"testing"
)

// columnValues converts bytes into values of all sizes: a byte says how many bytes the next
// value has, or how often the last one is repeated.
func columnValues(data []byte) []uint64 {
	var vals []uint64
	for len(data) > 0 && len(vals) < 1<<12 {
		n := int(data[0] & 15)
		data = data[1:]
		if n > 8 && len(vals) > 0 {
			vals = append(vals, slices.Repeat(vals[max(len(vals)-n+8, 0):], n-7)...)
			continue
		}
		var b [8]byte
		k := copy(b[:min(n, 8)], data)
		vals = append(vals, binary.LittleEndian.Uint64(b[:]))
		data = data[k:]
	}
	return vals
}

// FuzzColumn stores values in every encoding and reads them back.
func FuzzColumn(f *testing.F) {
	for _, vals := range columns() {
		var data []byte
		for _, v := range vals[:min(len(vals), 200)] {
			data = binary.LittleEndian.AppendUint64(append(data, 8), v)
		}
		f.Add(data)
	}
	f.Add([]byte{1, 3, 15, 15, 12, 2, 1, 1, 15, 14, 13})
	f.Fuzz(func(t *testing.T, data []byte) {
		vals := columnValues(data)
		if len(vals) == 0 {
			return
		}
		encoding, payload := encodeColumn(vals, mostChoice)
		codes := map[int][]byte{columnPacked: packingOf(vals).pack(vals), encoding: payload}
		for _, e := range []int{columnAdaptive, columnOrder1, columnPredicted} {
			codes[e] = adaptColumn(vals, e, math.MaxInt)
		}
		if code := stepColumnOf(vals); code != nil {
			codes[columnSteps] = code
		}
		for e, code := range codes {
			if len(code) < len(payload) && e == columnPacked {
				t.Errorf("%d bytes with encoding %d, %d are chosen", len(payload), encoding, len(code))
			}
			got, err := decodeColumn(e, code, len(vals))
			if err != nil || !slices.Equal(got, vals) {
				t.Errorf("encoding %d: %v: %d in place of %d", e, err, got, vals)
			}
			if _, err := decodeColumn(e, append(slices.Clone(code), 1), len(vals)); err == nil && (e <= columnPacked || e == columnSteps) {
				t.Errorf("encoding %d: a byte too many is not noticed", e)
			}
		}
	})
}

// FuzzColumnPayload decodes arbitrary bytes: the result is an error, or the requested number of
// values, which can be stored again.
func FuzzColumnPayload(f *testing.F) {
	for _, vals := range columns() {
		vals = vals[:min(len(vals), 300)]
		encoding, payload := encodeColumn(vals, mostChoice)
		f.Add(uint8(encoding), uint16(len(vals)), payload)
		f.Add(uint8(columnPredicted), uint16(len(vals)), adaptColumn(vals, columnPredicted, math.MaxInt))
		f.Add(uint8(columnSteps), uint16(len(vals)), stepColumnOf(vals))
	}
	f.Fuzz(func(t *testing.T, encoding uint8, n uint16, payload []byte) {
		vals, err := decodeColumn(int(encoding&7), payload, int(n))
		if err != nil {
			return
		}
		if len(vals) != int(n) {
			t.Fatalf("%d values, not %d", len(vals), n)
		}
		if n == 0 {
			return
		}
		e, code := encodeColumn(vals, mostChoice)
		again, err := decodeColumn(e, code, len(vals))
		if err != nil || !slices.Equal(again, vals) {
			t.Errorf("%v: encoding %d in place of %d", err, e, encoding)
		}
	})
}

// FuzzBlock decodes a block of arbitrary bytes: it costs no more than its size allows.
func FuzzBlock(f *testing.F) {
	for _, vals := range columns() {
		b := Append(nil, 1, Columns{vals, nil, nil, {7}, vals[:min(len(vals), 40)]}, 0)
		f.Add(b[1 : len(b)-checksumSize])
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		cols, err := decodeColumns(&Cursor{Buf: data}, MaxColumns)
		total := 0
		for _, c := range cols {
			total += len(c)
		}
		if err == nil && total > maxRatio*len(data)+freeValues {
			t.Errorf("%d values of %d bytes", total, len(data))
		}
	})
}
