package text

import (
	"fmt"
	"slices"

	"github.com/efg-tools/efg/efg"
)

// The functions below convert single values, for other formats.

// WordText returns the text of a word as in Dump, but with numbers for definitions.
func WordText(w uint64) string { return (&words{}).text(w) }

// ParseWord parses the result of WordText.
func ParseWord(s string) (uint64, error) { return (&words{}).parse(s) }

// CodeText returns the text of the code of a traced interval: BIN, BIN+FINE or BIN-FINE.
func CodeText(c efg.TimeCode) string { return codeText(c) }

// ParseCode parses the result of CodeText, for times with that many bins.
func ParseCode(s string, bins int) (efg.TimeCode, error) { return parseCode(s, uint32(bins)) }

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
