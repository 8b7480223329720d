package efg

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

func formatPage(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile("FORMAT.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// The example of "Demotion", with a bound of 3.
func TestFormatDemotion(t *testing.T) {
	b := NewBuilder(0, 3, &Definitions{})
	var want strings.Builder
	want.WriteString("| event | words 3, 4 | node | its signature | attribute |\n|---|---|---|---|---|\n")
	for i, e := range [][2]uint64{{1, 10}, {1, 11}, {2, 12}, {1, 13}, {2, 14}, {1, 15}, {1, 11}} {
		if err := b.Add(Input{Words: []uint64{5<<24 | 0xffff, 1, 2, e[0], e[1]}}); err != nil {
			t.Fatal(err)
		}
		n := b.nodes[b.cur]
		fmt.Fprintf(&want, "| %d | %d, %d | %d | %d, ", i, e[0], e[1], n.number, n.words[3])
		if n.mask == 0 {
			fmt.Fprintf(&want, "%d | |\n", n.words[4])
		} else {
			fmt.Fprintf(&want, "· | %d |\n", e[1])
		}
	}
	if !strings.Contains(formatPage(t), want.String()) {
		t.Errorf("FORMAT.md does not have the example:\n%s", want.String())
	}
}
