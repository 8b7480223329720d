package parquet

import (
	"encoding/binary"
	"math/bits"
)

// appendHybrid appends values of a number of bits as runs: of equal values, and of packed ones.
func appendHybrid(b []byte, values []uint32, width int) []byte {
	const group = 8
	for i := 0; i < len(values); {
		if n := repeats(values[i:]); n >= group || i+n == len(values) && n > 1 {
			b = binary.AppendUvarint(b, uint64(n)<<1)
			for k := 0; k < width; k += 8 {
				b = append(b, byte(values[i]>>k))
			}
			i += n
			continue
		}
		end := i + group
		for end < len(values) && repeats(values[end:min(end+group, len(values))]) < group {
			end += group
		}
		b = binary.AppendUvarint(b, uint64((end-i)/group)<<1|1)
		b = appendPacked(b, values[i:min(end, len(values))], width, end-i)
		i = end
	}
	return b
}

// repeats returns how often the first value is repeated.
func repeats(values []uint32) int {
	n := 1
	for n < len(values) && values[n] == values[0] {
		n++
	}
	return n
}

// appendPacked appends values of a number of bits, the lowest first, filled up with zeros to a
// number of values that is a multiple of 8.
func appendPacked[U uint32 | uint64](b []byte, values []U, width, fill int) []byte {
	size := len(b) + fill*width/8
	var word uint64
	have := 0
	for _, v := range values {
		word |= uint64(v) << have
		if have += width; have < 64 {
			continue
		}
		b = binary.LittleEndian.AppendUint64(b, word)
		if have -= 64; have > 0 {
			word = uint64(v) >> (width - have)
		} else {
			word = 0
		}
	}
	for len(b) < size {
		b = append(b, byte(word))
		word >>= 8
	}
	return b[:size]
}

// appendDelta appends integers as differences, in blocks with as many bits as the largest needs.
func appendDelta(b []byte, values []int64) []byte {
	const block, mini = 128, 32
	b = binary.AppendUvarint(b, block)
	b = binary.AppendUvarint(b, block/mini)
	b = binary.AppendUvarint(b, uint64(len(values)))
	first := int64(0)
	if len(values) > 0 {
		first = values[0]
	}
	b = binary.AppendVarint(b, first)
	var room [block]uint64
	for i := 1; i < len(values); i += block {
		deltas := room[:min(block, len(values)-i)]
		least := values[i] - values[i-1]
		for k := range deltas {
			d := values[i+k] - values[i+k-1]
			least = min(least, d)
			deltas[k] = uint64(d)
		}
		b = binary.AppendVarint(b, least)
		at := len(b)
		b = append(b, make([]byte, block/mini)...)
		for k := 0; k < len(deltas); k += mini {
			part := deltas[k:min(k+mini, len(deltas))]
			all := uint64(0)
			for n := range part {
				part[n] -= uint64(least)
				all |= part[n]
			}
			width := bits.Len64(all)
			b[at+k/mini] = byte(width)
			b = appendPacked(b, part, width, mini)
		}
	}
	return b
}

// appendBits appends booleans, eight to a byte.
func appendBits(b []byte, values []bool) []byte {
	for i := 0; i < len(values); i += 8 {
		c := byte(0)
		for k, v := range values[i:min(i+8, len(values))] {
			if v {
				c |= 1 << k
			}
		}
		b = append(b, c)
	}
	return b
}

func appendText(b []byte, text string) []byte {
	return append(binary.LittleEndian.AppendUint32(b, uint32(len(text))), text...)
}
