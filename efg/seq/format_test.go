package seq

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

// The example of the format page: twelve iterations of a loop of 1 2 and some 7s.
func TestFormatSequence(t *testing.T) {
	w := NewWriter(false)
	var values []uint64
	for range 12 {
		for _, v := range []uint64{1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 7, 7, 7, 7, 7} {
			values = append(values, v)
			w.Push(v)
		}
	}
	doc, err := os.ReadFile("FORMAT.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(doc), "| code | symbol | values |\n|---|---|---|\n")
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
	s, err := New(uint64(len(values)), false, code)
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
