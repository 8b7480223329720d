package runfile_test

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/efg/seq"
	"github.com/efg-tools/efg/internal/testing/sim"
)

// valuesOf expands a sequence.
func valuesOf(t *testing.T, s *seq.Seq) []uint64 {
	t.Helper()
	var list []uint64
	it := s.Iter()
	for v, ok := it.Next(); ok; v, ok = it.Next() {
		list = append(list, v)
	}
	if it.Err() != nil {
		t.Fatal(it.Err())
	}
	return list
}

// sameStream compares streams, sequences by their values.
func sameStream(t *testing.T, got, want *efg.Stream) bool {
	t.Helper()
	if got.Thread != want.Thread || got.Events != want.Events || got.Hash != want.Hash || got.End != want.End || len(got.Nodes) != len(want.Nodes) {
		return false
	}
	for k := range want.Nodes {
		x, y := &got.Nodes[k], &want.Nodes[k]
		if !slices.Equal(x.Words, y.Words) || x.Mask != y.Mask || !slices.Equal(x.Edges, y.Edges) || len(x.Attrs) != len(y.Attrs) ||
			x.Counted != y.Counted || !reflect.DeepEqual(x.Stats, y.Stats) {
			return false
		}
		if !slices.Equal(valuesOf(t, x.Runs), valuesOf(t, y.Runs)) || !slices.Equal(valuesOf(t, x.Counts), valuesOf(t, y.Counts)) {
			return false
		}
		for a := range y.Attrs {
			if !slices.Equal(valuesOf(t, x.Attrs[a].Values), valuesOf(t, y.Attrs[a].Values)) || !slices.Equal(valuesOf(t, x.Attrs[a].Elems), valuesOf(t, y.Attrs[a].Elems)) {
				return false
			}
		}
	}
	return true
}

// TestTemplate makes the processes of each class from one of them and compares them with those
// in the file.
func TestTemplate(t *testing.T) {
	for _, c := range []sim.Config{
		{Program: "halo", Ranks: 120, Steps: 30}, {Program: "halo", Ranks: 64, Steps: 9, Periodic: true, Stats: true},
		{Program: "halo", Ranks: 60, Steps: 9, Null: true}, {Program: "farm", Ranks: 40, Steps: 9, Stats: true},
		{Program: "mesh", Ranks: 64, Steps: 30}, {Program: "random", Ranks: 30, Steps: 60, Signatures: 9},
	} {
		c.Seed = 3
		t.Run(fmt.Sprintf("%s-%d", c.Program, c.Ranks), func(t *testing.T) {
			run, err := c.Run(nil)
			if err != nil {
				t.Fatal(err)
			}
			templates := map[runfile.ClassKey]*runfile.ClassTemplate{}
			for i := range run.Procs {
				key, ok, err := run.RankClass(i)
				if err != nil || !ok {
					t.Fatalf("process %d: no class (%v)", i, err)
				}
				if templates[key] == nil {
					if templates[key], err = run.ClassTemplate(i); err != nil {
						t.Fatal(err)
					}
				}
				got := templates[key].Process(i)
				want, err := run.Process(i)
				if err == nil {
					err = run.ReadTimes(i, got)
				}
				if err != nil {
					t.Fatal(err)
				}
				same := reflect.DeepEqual(got.Defs, want.Defs) && got.Rank == want.Rank && got.PID == want.PID && got.Host == want.Host && len(got.Streams) == len(want.Streams)
				for j := range want.Streams {
					same = same && sameStream(t, &got.Streams[j], &want.Streams[j])
				}
				if !same {
					t.Fatalf("process %d differs from what the file has", i)
				}
			}
			if len(templates) == len(run.Procs) && c.Program == "halo" {
				t.Errorf("%d classes of %d processes", len(templates), len(run.Procs))
			}
			t.Logf("%d classes of %d processes", len(templates), len(run.Procs))
		})
	}
}
