package check

import (
	"fmt"
	"testing"

	"github.com/efg-tools/efg/efg"
)

// Calls before MPI_Init and after MPI_Finalize, for which the libraries end programs; a rank
// without MPI_Finalize; one that was killed; one that is missing from the file.
func TestOutside(t *testing.T) {
	barrier, ask := coll{op: "MPI_Barrier"}, coll{op: "MPI_Finalized", self: true}
	inside := []coll{{op: "MPI_Init"}, barrier, barrier, {op: "MPI_Finalize"}}
	early := append([]coll{ask, {op: "MPI_Barrier", self: true}}, inside...)
	late := append(append([]coll{}, inside...), ask, coll{op: "MPI_Bcast", self: true})
	for name, c := range map[string]struct {
		calls []coll
		end   efg.End
		want  string
	}{
		"as it should be": {inside, efg.EndFinalized, "[]"},
		"asks before":     {append([]coll{ask}, inside...), efg.EndFinalized, "[]"},
		"before":          {early, efg.EndFinalized, "[call before MPI_Init at MPI_Barrier event 1 on 1]"},
		"after":           {late, efg.EndFinalized, "[call after MPI_Finalize at MPI_Bcast event 5 on 1]"},
		"without":         {inside[:3], efg.EndExit, "[no MPI_Finalize at MPI_Barrier event 2 on 1]"},
		"killed":          {inside[:2], efg.EndOpen, "[]"},
	} {
		t.Run(name, func(t *testing.T) {
			run := runThat(t, []efg.End{efg.EndFinalized, c.end}, inside, c.calls)
			r, err := New(run)
			if err != nil {
				t.Fatal(err)
			}
			if got := fmt.Sprint(short(r)); got != c.want {
				t.Errorf("found %s, want %s: %+v", got, c.want, r.Findings)
			}
			if (len(r.Incomplete) > 0) != (c.end == efg.EndOpen) {
				t.Errorf("incomplete: %v", r.Incomplete)
			}
		})
	}
}
