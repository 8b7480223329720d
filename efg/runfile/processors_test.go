package runfile

import (
	"slices"
	"testing"
)

func TestJoinProcessors(t *testing.T) {
	a := Meta{Processors: []string{"2 b", "8 a"}}
	a.Join(&Meta{Processors: []string{"4 b", "16 c", "x", "-1 d", "3"}})
	want := []Processors{{"a", 8}, {"b", 4}, {"c", 16}}
	if got := a.ProcessorsOf(); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	var none Meta
	if none.Join(&Meta{}); none.Processors != nil {
		t.Errorf("%v of nothing", none.Processors)
	}
}
