package text

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/efg-tools/efg/efg"
)

// The functions below convert single values, for other formats.

// WordText returns the text of a word as in Dump, but with numbers for definitions.
func WordText(w uint64) string { return (&words{}).text(w) }

// ParseWord parses the result of WordText.
func ParseWord(s string) (uint64, error) { return (&words{}).parse(s) }

// PairText writes the gap before an event and its duration: GAP/DURATION.
func PairText(gap, dur uint64) string { return fmt.Sprintf("%d/%d", gap, dur) }

// ParsePair reads what PairText wrote.
func ParsePair(s string) (gap, dur uint64, err error) {
	before, after, _ := strings.Cut(s, "/")
	gap, err1 := strconv.ParseUint(before, 10, 64)
	dur, err2 := strconv.ParseUint(after, 10, 64)
	if err1 != nil || err2 != nil {
		return 0, 0, fmt.Errorf("%q: want GAP/DURATION", s)
	}
	return gap, dur, nil
}

// AnchorText writes an anchor: TICK MONO REAL WIDTH.
func AnchorText(a efg.Anchor) string {
	return fmt.Sprintf("%d %d %d %d", a.Tick, a.Mono, a.Real, a.Width)
}

// ParseAnchor reads what AnchorText wrote.
func ParseAnchor(s string) (a efg.Anchor, err error) {
	fields := strings.Fields(s)
	if len(fields) == 4 {
		a.Real, err = strconv.ParseInt(fields[2], 10, 64)
		for i, to := range []*uint64{&a.Tick, &a.Mono, nil, &a.Width} {
			if to != nil && err == nil {
				*to, err = strconv.ParseUint(fields[i], 10, 64)
			}
		}
	}
	if len(fields) != 4 || err != nil {
		return a, fmt.Errorf("%q: want TICK MONO REAL WIDTH", s)
	}
	return a, nil
}

// EndName is the name of a way in which streams end.
func EndName(e efg.End) string { return endNames[e] }

// ParseEnd parses the name of a way in which streams end.
func ParseEnd(s string) (efg.End, error) {
	i := slices.Index(endNames, s)
	if i < 0 {
		return 0, fmt.Errorf("%q is no end of a thread", s)
	}
	return efg.End(i), nil
}

// KindName is the name of a kind of definition.
func KindName(k efg.DefKind) string { return kindNames[k] }

// ParseKind parses the name of a kind of definition.
func ParseKind(s string) (efg.DefKind, error) {
	i := slices.Index(kindNames, s)
	if i < 0 {
		return 0, fmt.Errorf("%q is no kind of a definition", s)
	}
	return efg.DefKind(i), nil
}
