package chrome

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/efg-tools/efg/internal/export"
	"github.com/efg-tools/efg/internal/testing/testrun"
)

// scriptBegins is when the first rank of a script begins, µs since the run began.
const scriptBegins = 1e6

// Regions nest on a track of their own; of many calls, only those are drawn that are long enough to be seen,
// and those around them. What is open at the end ends with the last call.
func TestRegions(t *testing.T) {
	s := testrun.NewScript(t, 1)
	r := s.Rank(0)
	call := func(from, to int64) { r.Call(from, to, "MPI_Barrier", testrun.Args{"comm": "MPI_COMM_SELF"}) }
	begin := func(at int64, name string) { r.Call(at, at, "efg_region_begin", testrun.Args{"name": name}) }
	end := func(at int64, name string) { r.Call(at, at, "efg_region_end", testrun.Args{"name": name}) }
	begin(0, "program")
	for i := range int64(100) {
		begin(10*i+1, "short")
		call(10*i+2, 10*i+3)
		end(10*i+4, "short")
	}
	begin(2000, "step")
	begin(2000, "solve")
	call(2100, 9000)
	end(9100, "step") // and what is in it
	call(9200, 9300)
	run := s.Run()
	for most, want := range map[uint64]string{
		1 << 40: "program 0, step 2000, solve 2000, 9100, 9100, 9300, 100 short",
		20:      "program 0, step 2000, solve 2000, 9100, 9100, 9300, 0 short",
	} {
		var out bytes.Buffer
		if _, err := Write(&out, &export.Job{Run: run, Selection: export.Selection{Thread: -1, Procs: []int{0}}}, most); err != nil {
			t.Fatal(err)
		}
		var trace struct{ TraceEvents []event }
		if err := json.Unmarshal(out.Bytes(), &trace); err != nil {
			t.Fatal(err)
		}
		got, short, open := "", 0, []string{}
		for _, e := range trace.TraceEvents {
			if e.Phase == "X" && (e.Name == "efg_region_begin" || e.Name == "efg_region_end") {
				t.Errorf("%s is drawn as a call", e.Name)
			}
			switch e.Phase {
			case "B":
				if open = append(open, e.Name); e.Name == "short" {
					short++
				} else {
					got += fmt.Sprintf("%s %.0f, ", e.Name, e.TS-scriptBegins)
				}
			case "E":
				if open[len(open)-1] != "short" {
					got += fmt.Sprintf("%.0f, ", e.TS-scriptBegins)
				}
				open = open[:len(open)-1]
			}
		}
		if got += fmt.Sprintf("%d short", short); got != want || len(open) > 0 {
			t.Errorf("of %d slices: %s, want %s", most, got, want)
		}
	}
}
