package main

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/efg-tools/efg/internal/jsondoc"
)

func TestEfficiency(t *testing.T) {
	golden := goldenDir(t)
	assembled(t, "traced")
	timedRun(t, "ring.efg", 3, 50)
	timedRun(t, "large.efg", 6, 50)
	timedRun(t, "larger.efg", 12, 50)
	checkGolden(t, golden, map[string]string{
		"efficiency": "efficiency a.efg --windows 2", "efficiency-runs": "efficiency ring.efg large.efg", "efficiency-models": "efficiency ring.efg large.efg larger.efg --top 4",
		"efficiency-models-json": "efficiency ring.efg large.efg larger.efg --json", "efficiency-json": "efficiency a.efg ring.efg --json",
	})
	out, _, _ := efgRun(t, nil, "efficiency", "a.efg", "--json")
	var j jsondoc.Efficiency
	if err := json.Unmarshal([]byte(out), &j); err != nil {
		t.Fatal(err)
	}
	r := j.Runs[0]
	if j.Schema != "efg-efficiency/1" || j.Scaling != nil || r.Serialisation == nil || r.Ranks != 3 {
		t.Fatalf("%s", out)
	}
	if product := r.LoadBalance * *r.Serialisation * *r.Transfer; math.Abs(product-r.Parallel) > 1e-9 || r.Parallel <= 0 || r.Parallel >= 1 {
		t.Errorf("%f, the product of its factors is %f", r.Parallel, product)
	}
}

func TestEfficiencyMistakes(t *testing.T) {
	t.Chdir(t.TempDir())
	sampleRun(t, "app.efg")
	checkMistakes(t, map[string]string{
		"efficiency none.efg":                 "none.efg: no such file or directory",
		"efficiency app.efg":                  "app.efg: no times were recorded (efg run --time stats or trace records them)",
		"efficiency app.efg --windows -1":     "--windows -1: want a number from 0 to 10000",
		"efficiency app.efg --scaling linear": "--scaling linear: want auto, strong or weak",
	})
}
