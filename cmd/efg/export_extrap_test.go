package main

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
)

// The measurements are those of the report, by rank.
func TestExportExtrap(t *testing.T) {
	assembled(t, "traced")
	out, errOut, status := efgRun(t, nil, "export", "a.efg", "--format", "extrap")
	if status != 0 || errOut != "" {
		t.Fatal(errOut)
	}
	var report struct {
		Processes int
		Total     struct {
			Sent uint64
			Time struct{ Sum float64 }
		}
	}
	doc, _, _ := efgRun(t, nil, "report", "a.efg", "--json")
	if err := json.Unmarshal([]byte(doc), &report); err != nil {
		t.Fatal(err)
	}
	found := map[string]float64{}
	for line := range strings.Lines(out) {
		var m struct {
			Params           struct{ Ranks int }
			Callpath, Metric string
			Value            float64
		}
		if err := json.Unmarshal([]byte(line), &m); err != nil || m.Params.Ranks != report.Processes || m.Callpath == "" {
			t.Fatalf("%v: %s", err, line)
		}
		found[m.Callpath+":"+m.Metric] = m.Value * float64(report.Processes)
	}
	if found["MPI:bytes_sent"] != float64(report.Total.Sent) || math.Abs(found["MPI:time"]*1e9-report.Total.Time.Sum) > 1 {
		t.Errorf("%v bytes, %v s, want %d and %v ns", found["MPI:bytes_sent"], found["MPI:time"], report.Total.Sent, report.Total.Time.Sum)
	}
	if _, _, status := efgRun(t, nil, "export", "a.efg", "--format", "extrap", "--to", "5"); status != 2 {
		t.Errorf("status %d", status)
	}
}
