package sql_test

import (
	"fmt"
	"testing"

	"github.com/efg-tools/efg/internal/testing/testrun"
)

// The region of each call, whichever other columns are asked for.
func TestRegions(t *testing.T) {
	s := testrun.NewScript(t, 2)
	s.Each(func(r *testrun.ScriptRank, rank int) {
		r.Call(1, 2, "MPI_Barrier", testrun.Args{"comm": "MPI_COMM_WORLD"})
		for i := range int64(3) {
			r.Call(10*i+3, 10*i+3, "efg_region_begin", testrun.Args{"name": "step"})
			r.Call(10*i+4, 10*i+4, "efg_attribute_string", testrun.Args{"name": "kind", "value": fmt.Sprint(i)})
			r.Call(10*i+5, 10*i+6, "MPI_Barrier", testrun.Args{"comm": "MPI_COMM_WORLD"})
			r.Call(10*i+7, 10*i+7, "efg_region_begin", testrun.Args{"name": "solve"})
			r.Call(10*i+7, 10*i+8, "MPI_Barrier", testrun.Args{"comm": "MPI_COMM_WORLD"})
			r.Call(10*i+9, 10*i+9, "efg_region_end", testrun.Args{"name": "solve"})
			r.Call(10*i+9, 10*i+9, "efg_region_end", testrun.Args{"name": "step"})
		}
	})
	db := database(t, s.Run())
	for statement, want := range map[string]string{
		"select region, count(*) from events where op = 'MPI_Barrier' group by region":                              "[<nil>|2 step|6 step/solve|6]",
		"select region, sum(t1 - t0) from events where op = 'MPI_Barrier' and rank = 1 group by 1":                  "[<nil>|1000 step|3000 step/solve|3000]",
		"select seq, region from events where rank = 0 and seq between 9 and 12":                                    "[9|step 10|step 11|step 12|step/solve]",
		"select region, json_extract(args, '$.value') from events where rank = 1 and op = 'efg_attribute_string'":   "[step|0 step|1 step|2]",
		"select count(*) from events where region is null and op = 'efg_region_begin'":                              "[6]",
		"select count(distinct region) from events where comm = 'MPI_COMM_WORLD' and region in ('step', 'nothing')": "[1]",
	} {
		if got := fmt.Sprint(ask(t, db, statement)); got != want {
			t.Errorf("%s: %s, want %s", statement, got, want)
		}
	}
}
