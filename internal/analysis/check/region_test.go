package check

import (
	"fmt"
	"testing"

	"github.com/efg-tools/efg/internal/testing/testrun"
	"github.com/efg-tools/efg/signature"
)

// Begins and ends of regions that do not fit, in a recording that is complete and in one that is not.
func TestUnbalancedRegions(t *testing.T) {
	type say struct{ op, name string }
	begin, end := func(name string) say { return say{"efg_region_begin", name} }, func(name string) say { return say{"efg_region_end", name} }
	for name, c := range map[string]struct {
		says   []say
		killed bool
		want   string
	}{
		"balanced":       {[]say{begin("a"), begin("b"), end(""), end("a")}, false, "[]"},
		"never ended":    {[]say{begin("a"), begin("b"), end("b")}, false, `[event 2: began the region "a", which was never ended]`},
		"inner one":      {[]say{begin("a"), begin("b"), end("a")}, false, `[event 3: began the region "b", which was never ended]`},
		"another name":   {[]say{begin("a"), end("b")}, false, `[event 3: ended the region "a" by the name "b"]`},
		"none open":      {[]say{begin("a"), end("a"), end("")}, false, `[event 4: ended a region, and none was open]`},
		"none so called": {[]say{end("a")}, false, `[event 2: ended the region "a", and none was open]`},
		"killed":         {[]say{begin("a")}, true, "[]"},
		"killed, faulty": {[]say{begin("a"), end("b")}, true, `[event 3: ended the region "a" by the name "b"]`},
	} {
		t.Run(name, func(t *testing.T) {
			s := testrun.NewScript(t, 2)
			s.Each(func(r *testrun.ScriptRank, rank int) {
				r.Call(1, 2, "MPI_Init", nil)
				r.Call(3, 4, "MPI_Barrier", testrun.Args{"comm": "MPI_COMM_WORLD"})
				for i, x := range c.says {
					args := testrun.Args{"line": 10 + i, "name": x.name}
					if x.name == "" {
						args["name"] = signature.Absent
					}
					r.Call(5, 5, x.op, args)
				}
				if c.killed {
					r.Kill()
					return
				}
				r.Call(6, 7, "MPI_Finalize", nil)
			})
			rep, err := New(s.Run())
			if err != nil {
				t.Fatal(err)
			}
			got := []string{}
			for _, f := range rep.Findings {
				if f.Kind == UnbalancedRegion {
					got = append(got, fmt.Sprintf("event %d: %s", f.Event, f.Text))
				}
				if f.Kind == UnbalancedRegion && (f.Count != 2 || fmt.Sprint(f.Ranks) != "[0 1]" || f.Remark != "") {
					t.Errorf("finding %+v is not of both ranks", f)
				}
			}
			if fmt.Sprint(got) != c.want {
				t.Errorf("found %v, want %s", got, c.want)
			}
			if want := uint64(6); !c.killed && rep.Calls != want {
				t.Errorf("%d calls, want %d: annotations are none", rep.Calls, want)
			}
		})
	}
}
