package analysis

import "math/bits"

// Sizes counts messages, calls and accesses by the bytes that they move: what they send or, if that
// is more, receive, read or write. Bin 0 is of those that move nothing, bin i of those with at least
// 2^(i-1) bytes and less than 2^i. Those of unknown size are in none.
type Sizes [maxSizeBits + 1]uint64

// maxSizeBits bounds sizes: 4 TiB and more are in the last bin.
const maxSizeBits = 43

// Used is the number of bins without the empty ones after the last one; 0 if nothing moves bytes.
func (s *Sizes) Used() int {
	n := len(s)
	for n > 0 && s[n-1] == 0 {
		n--
	}
	if n == 1 {
		return 0
	}
	return n
}

// Merge adds o.
func (s *Sizes) Merge(o *Sizes) {
	for i, n := range o {
		s[i] += n
	}
}

// SizeBin is a bin of Sizes that is not empty.
type SizeBin struct {
	Bin   int
	Count uint64
}

// countSize adds n transfers that each move v to bins.
func countSize(list []SizeBin, v *Volume, n uint64) []SizeBin {
	if v.Unknown > 0 {
		return list
	}
	bin := min(bits.Len64(max(v.Sent, v.Received, v.Read+v.Written)), maxSizeBits)
	for i := range list {
		if list[i].Bin == bin {
			list[i].Count += n
			return list
		}
	}
	return append(list, SizeBin{bin, n})
}
