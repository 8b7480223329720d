package waits

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/analysis/match"
	"github.com/efg-tools/efg/internal/testing/testrun"
)

// stretches is a run of four ranks that meet rarely: between two meetings the latest of them makes many calls,
// of several kinds. So the critical path stays on one rank for many spans.
func stretches(t *testing.T) *runfile.Run {
	const ranks, meetings = 4, 6
	s := testrun.NewScript(t, ranks)
	random := rand.New(rand.NewPCG(1, 2))
	now := [ranks]int64{}
	for range meetings {
		last := 0
		for rank := range ranks {
			for range 20 + random.IntN(300) {
				now[rank] += int64(1+random.IntN(40)) * ms
				proc := []string{"MPI_Comm_size", "MPI_Comm_rank"}[random.IntN(2)]
				s.Rank(rank).Call(now[rank], now[rank]+ms, proc, args{"comm": "MPI_COMM_WORLD"})
				now[rank] += ms
			}
			if now[rank] > now[last] {
				last = rank
			}
		}
		next := (last + 1) % ranks // the path goes to a rank that has sent nothing, too
		from, begun := now[last], now[next]
		s.Rank(last).Call(from, from+ms, "MPI_Send", message("dest", next, 5))
		s.Rank(next).Call(begun, from+2*ms, "MPI_Recv", message("source", last, 5))
		now[last], now[next] = from+ms, from+2*ms
	}
	return s.Run()
}

// The critical path is the same if spans of threads are soon put together, because few are kept.
func TestPathOverFoldedSpans(t *testing.T) {
	run := stretches(t)
	path := func(limit int) Path {
		trace, err := match.Open(run)
		if err != nil {
			t.Fatal(err)
		}
		b, err := newBuilder(run, trace, []int{0, 1, 2, 3})
		if err != nil {
			t.Fatal(err)
		}
		for i := range b.delays.histories {
			b.delays.histories[i].limit = limit
		}
		summary, err := trace.Walk(t.Context(), b, nil)
		if err != nil {
			t.Fatal(err)
		}
		places, err := b.sites.Places(run)
		if err != nil {
			t.Fatal(err)
		}
		b.report.Matched = *summary
		folds := 0
		for i := range b.delays.histories {
			folds += len(b.delays.histories[i].folds)
		}
		if few := limit == fewSpans; few != (folds > 0) {
			t.Fatalf("with %d spans of a thread, %d folds", limit, folds)
		}
		r := b.finish(places)
		sameSegments(t, r)
		return r.Path
	}
	want, got := path(1<<20), path(fewSpans)
	if want.Hops < 3 || len(want.Rows) < 4 {
		t.Fatalf("the path is too simple: %d hops, %d rows", want.Hops, len(want.Rows))
	}
	if got.Time != want.Time || got.Hops != want.Hops || !slices.Equal(got.Ranks, want.Ranks) {
		t.Errorf("%d ns over %d hops on %v, want %d over %d on %v", got.Time, got.Hops, got.Ranks, want.Time, want.Hops, want.Ranks)
	}
	sameRow := func(x, y PathRow) bool {
		return x.Region == y.Region && x.Time == y.Time && x.Mean == y.Mean && (x.Loop == y.Loop || x.Loop != nil && y.Loop != nil && *x.Loop == *y.Loop)
	}
	if !slices.EqualFunc(got.Rows, want.Rows, sameRow) {
		t.Errorf("rows %+v, want %+v", got.Rows, want.Rows)
	}
}
