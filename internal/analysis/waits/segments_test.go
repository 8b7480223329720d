package waits

import (
	"slices"
	"testing"
)

// sameSegments checks that the segments of the critical path follow each other, and are as long on each rank as
// the path is.
func sameSegments(t *testing.T, r *Report) {
	t.Helper()
	times, sum := map[int]int64{}, int64(0)
	for i, s := range r.Path.Segments {
		times[s.Rank] += s.End - s.Begin
		sum += s.End - s.Begin
		if s.End <= s.Begin || i > 0 && (s.Begin != r.Path.Segments[i-1].End || s.Rank == r.Path.Segments[i-1].Rank) {
			t.Errorf("segment %d: %+v after %+v", i, s, r.Path.Segments[max(0, i-1)])
		}
	}
	if sum != r.Path.Time+r.Path.Setup {
		t.Errorf("segments take %d, the path %d", sum, r.Path.Time+r.Path.Setup)
	}
	for _, x := range r.Path.Ranks {
		if times[x.Rank] < x.Time {
			t.Errorf("rank %d: segments take %d, the path %d", x.Rank, times[x.Rank], x.Time)
		}
	}
}

func TestCoarse(t *testing.T) {
	var list []PathSegment
	for i := range 1000 {
		at := int64(10 * i)
		list = append(list, PathSegment{i / 100, at, at + 7}, PathSegment{50, at + 7, at + 10})
	}
	got := coarse(list, 100)
	var want []PathSegment
	for i := range 10 {
		want = append(want, PathSegment{i, int64(1000 * i), int64(1000 * (i + 1))})
	}
	if !slices.Equal(got, want) {
		t.Errorf("%+v", got)
	}
	if few := coarse(list[:3], 3); !slices.Equal(few, list[:3]) {
		t.Errorf("%+v", few)
	}
}
