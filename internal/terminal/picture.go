package terminal

import "strings"

var (
	eighths = []rune(" ▏▎▍▌▋▊▉█")
	levels  = []rune("▁▂▃▄▅▆▇█")
)

// Bar draws a share between 0 and 1 of a bar of width characters, in eighths of one. What is more
// than nothing is seen.
func Bar(share float64, width int) string {
	n := int(min(max(share, 0), 1)*float64(width)*8 + 0.5)
	if share > 0 {
		n = max(n, 1)
	}
	bar := strings.Repeat(string(eighths[8]), n/8)
	if n%8 > 0 {
		bar += string(eighths[n%8])
	}
	return bar
}

// Distribution draws the numbers of a histogram as columns in at most width characters, from the
// first bin that counts something to the last. Empty bins between them are spaces.
func Distribution(bins []uint64, width int) string {
	for len(bins) > 0 && bins[0] == 0 {
		bins = bins[1:]
	}
	for len(bins) > 0 && bins[len(bins)-1] == 0 {
		bins = bins[:len(bins)-1]
	}
	if len(bins) == 0 || width <= 0 {
		return ""
	}
	joined := make([]uint64, min(len(bins), width))
	most := uint64(0)
	for i, n := range bins {
		k := i * len(joined) / len(bins)
		joined[k] += n
		most = max(most, joined[k])
	}
	var b strings.Builder
	for _, n := range joined {
		if n == 0 {
			b.WriteByte(' ')
			continue
		}
		b.WriteRune(levels[int(float64(n)/float64(most)*float64(len(levels)-1)+0.5)])
	}
	return b.String()
}
