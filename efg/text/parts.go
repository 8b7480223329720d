package text

import (
	"fmt"
	"slices"

	"github.com/efg-tools/efg/efg"
)

// What follows is the text of single values, for other formats.

// WordText writes a word as Dump does, except for definitions, which are numbers.
func WordText(w uint64) string { return (&words{}).text(w) }

// ParseWord reads what WordText wrote.
func ParseWord(s string) (uint64, error) { return (&words{}).parse(s) }

// CodeText writes the code of a traced interval: BIN, BIN+FINE or BIN-FINE.
func CodeText(c efg.TimeCode) string { return codeText(c) }

// ParseCode reads what CodeText wrote, for times with that many bins.
func ParseCode(s string, bins int) (efg.TimeCode, error) { return parseCode(s, uint32(bins)) }

// EndName is the name of how a stream ended.
func EndName(e efg.End) string { return endNames[e] }

// ParseEnd reads the name of how a stream ended.
func ParseEnd(s string) (efg.End, error) {
	i := slices.Index(endNames, s)
	if i < 0 {
		return 0, fmt.Errorf("%q is no end of a thread", s)
	}
	return efg.End(i), nil
}

// KindName is the name of a kind of definitions.
func KindName(k efg.DefKind) string { return kindNames[k] }

// ParseKind reads the name of a kind of definitions.
func ParseKind(s string) (efg.DefKind, error) {
	i := slices.Index(kindNames, s)
	if i < 0 {
		return 0, fmt.Errorf("%q is no kind of a definition", s)
	}
	return efg.DefKind(i), nil
}
