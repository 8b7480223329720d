package query_test

import (
	"fmt"
	"testing"

	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/analysis/query"
	"github.com/efg-tools/efg/internal/testing/testrun"
	"github.com/efg-tools/efg/signature"
)

// inRegions is a run of two ranks that make calls in step, in step/solve, in solve and outside. If
// ambiguous, all calls are made at one callsite.
func inRegions(t *testing.T, ambiguous bool) *runfile.Run {
	s := testrun.NewScript(t, 2)
	s.Each(func(r *testrun.ScriptRank, rank int) {
		at := int64(0)
		line := 0
		call := func() {
			if line++; ambiguous {
				line = 1
			}
			r.Call(at, at+10, "MPI_Barrier", testrun.Args{"comm": "MPI_COMM_WORLD", "line": line})
			at += 10
		}
		begin := func(name string) { r.Call(at, at, "efg_region_begin", testrun.Args{"name": name}) }
		end := func() { r.Call(at, at, "efg_region_end", testrun.Args{"name": signature.Absent}) }
		call()
		begin("step")
		call()
		begin("solve")
		call()
		end()
		end()
		begin("solve")
		r.Call(at, at, "efg_attribute_string", testrun.Args{"name": "kind", "value": "direct"})
		call()
		end()
	})
	return s.Run()
}

// Conditions on regions, and totals by region, whether the graph says in which regions calls are or not.
func TestRegions(t *testing.T) {
	for name, ambiguous := range map[string]bool{"on the graph": false, "by events": true} {
		t.Run(name, func(t *testing.T) {
			run := inRegions(t, ambiguous)
			for text, want := range map[string]int{
				"SELECT OPERATIONS":                                   8,
				"SELECT ANNOTATIONS":                                  14,
				"SELECT efg_attribute_string":                         2,
				"SELECT OPERATIONS WHERE REGION = step":               4,
				"SELECT OPERATIONS WHERE REGION = solve":              4,
				"SELECT OPERATIONS WHERE REGION = 'step/solve'":       2,
				"SELECT OPERATIONS WHERE REGION = 'S*'":               6,
				"SELECT OPERATIONS WHERE REGION = ''":                 2,
				"SELECT OPERATIONS WHERE REGION != step":              4,
				"SELECT OPERATIONS WHERE REGION IN (step, none)":      4,
				"SELECT OPERATIONS WHERE REGION = step AND RANK = 1":  2,
				"SELECT OPERATIONS WHERE NOT REGION != ''":            2,
				"SELECT OPERATIONS WHERE REGION = stepsolve":          0,
				"SELECT ANNOTATIONS WHERE REGION = solve AND OP != x": 6,
			} {
				q, err := query.Parse(text)
				if err != nil {
					t.Fatal(err)
				}
				n := 0
				err = q.Select(run, false, func(*query.Match) error { n++; return nil })
				if err != nil || n != want {
					t.Errorf("%s: %d events, %v; want %d", text, n, err, want)
				}
			}
			q, err := query.Parse("SELECT COUNT, SUM(TIME) GROUP BY REGION")
			if err != nil {
				t.Fatal(err)
			}
			table, err := q.Totals(run)
			if err != nil {
				t.Fatal(err)
			}
			const want = "[[<nil> 2 20000] [solve 2 20000] [step 2 20000] [step/solve 2 20000]]"
			if got := fmt.Sprint(table.Rows); got != want {
				t.Errorf("by region: %s, want %s", got, want)
			}
		})
	}
}
