package block

import (
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
)

// The example of "Adaptive columns".
func TestFormatAdaptive(t *testing.T) {
	vals := []uint64{3, 3, 3, 40, 3, 3, 3, 1000}
	code := adaptColumn(vals, columnAdaptive, math.MaxInt)
	var want strings.Builder
	want.WriteString("| value | class | bits below | range | code |\n|---|---|---|---|---|\n")
	d, m := newRangeDecoder(code), &valueModel{}
	fmt.Fprintf(&want, "| | | | %08x | %08x |\n", d.rng, d.code)
	for _, v := range vals {
		if got := d.value(m); got != v {
			t.Fatalf("%d in place of %d", got, v)
		}
		class, rest := classOf(v)
		below := ""
		if rest > 0 {
			base, _ := classBase(class)
			below = fmt.Sprintf("%0*b", rest, v-base)
		}
		fmt.Fprintf(&want, "| %d | %d | %s | %08x | %08x |\n", v, class, below, d.rng, d.code)
	}
	fmt.Fprintf(&want, "\nThe payload is `% x`.\n", code)
	page, err := os.ReadFile("FORMAT.md")
	if err != nil {
		t.Fatal(err)
	}
	if doc := strings.ReplaceAll(string(page), "|  |", "| |"); !strings.Contains(doc, strings.ReplaceAll(want.String(), "|  |", "| |")) {
		t.Errorf("FORMAT.md does not have the example:\n%s", want.String())
	}
}
