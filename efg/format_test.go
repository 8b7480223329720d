package efg

import (
	"fmt"
	"os"
	"slices"
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

// The example of "Sequences": twelve rounds of a loop of 1 2 and some 7s.
func TestFormatSequence(t *testing.T) {
	w := NewSeqWriter(false)
	var values []uint64
	for range 12 {
		for _, v := range []uint64{1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 7, 7, 7, 7, 7} {
			values = append(values, v)
			w.Push(v)
		}
	}
	doc := formatPage(t)
	_, table, _ := strings.Cut(doc, "| code | symbol | values |\n|---|---|---|\n")
	table, _, _ = strings.Cut(table, "\n\n")
	var code []byte
	for row := range strings.Lines(table) {
		var b byte
		for _, x := range strings.Fields(strings.Split(row, "`")[1]) {
			if _, err := fmt.Sscanf(x, "%02x", &b); err != nil {
				t.Fatalf("%q: %v", row, err)
			}
			code = append(code, b)
		}
	}
	if !slices.Equal(code, w.Seq().Code()) {
		t.Errorf("the table has % x, the code is % x", code, w.Seq().Code())
	}
	s, err := NewSeq(uint64(len(values)), false, code)
	if err != nil {
		t.Fatal(err)
	}
	it := s.Iter()
	for i, want := range values {
		if v, ok := it.Next(); !ok || v != want {
			t.Fatalf("value %d of the table is %d, want %d", i, v, want)
		}
	}
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
