package main

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/efg-tools/efg/internal/jsondoc"
)

func TestWhatif(t *testing.T) {
	golden := goldenDir(t)
	assembled(t, "traced")
	checkGolden(t, golden, map[string]string{
		"whatif": "whatif a.efg --top 3", "whatif-json": "whatif a.efg --json", "whatif-ideal": "whatif a.efg --ideal-network",
		"whatif-network": "whatif a.efg --latency 1ms --overhead 10us --bandwidth 1MB/s",
	})
	half := predicted(t, "--compute", "all: 0.5")
	if same := predicted(t, "--compute", "all: 1"); same.Asked == nil || same.Overview != nil || math.Abs(same.Asked.Time-same.Recorded.Time) > 1 || half.Asked.Time >= same.Asked.Time {
		t.Errorf("%+v, in half the time %+v", same.Asked, half.Asked)
	}
	if m := predicted(t, "--network", "recorded"); *m.Asked != m.Modelled {
		t.Errorf("%+v with the recorded network alone, want %+v", m.Asked, m.Modelled)
	}
	writeFile(t, "slow.json", `{"schema":"efg-network/1","classes":[{"class":"same-host","latency":1000000,"overhead":10000,"per_byte":1000}]}`)
	slow := predicted(t, "--latency", "1ms", "--overhead", "10us", "--bandwidth", "1MB/s")
	if m := predicted(t, "--network", "slow.json"); *m.Asked != *slow.Asked || *m.Asked == m.Recorded {
		t.Errorf("%+v on the network of a file, want %+v", m.Asked, slow.Asked)
	}
	if m := predicted(t, "--own-network", "slow.json", "--network", "slow.json"); m.Network.Latency != 1e6 || math.Abs(m.Asked.Time-m.Recorded.Time) > 1 {
		t.Errorf("%+v: %+v on the own network, recorded %+v", m.Network, m.Asked, m.Recorded)
	}
}

func predicted(t *testing.T, args ...string) (j jsondoc.Whatif) {
	t.Helper()
	out, errOut, status := efgRun(t, nil, append([]string{"whatif", "a.efg", "--json"}, args...)...)
	if status != 0 {
		t.Fatal(errOut)
	}
	if err := json.Unmarshal([]byte(out), &j); err != nil {
		t.Fatal(err)
	}
	return j
}

func TestWhatifMistakes(t *testing.T) {
	assembled(t, "traced")
	sampleRun(t, "app.efg")
	for args, want := range map[string]string{
		"whatif|none.efg":                                 "none.efg: no such file or directory",
		"whatif|app.efg":                                  "app.efg: the times of each call were not recorded (efg run --time trace records them)",
		"whatif|a.efg|--top|-1":                           "--top -1: want a number of parts, or 0 for all",
		"whatif|a.efg|--compute|all":                      `--compute "all": want "rank 0-3: 0.9", "site foo.c:88: 0.5" or "all: 2"`,
		"whatif|a.efg|--compute|all:-1":                   `--compute "all:-1": the factor must be a number from 0 to 1000000`,
		"whatif|a.efg|--compute|rank x:1":                 `--compute "rank x:1": want ranks and ranges of ranks, as in 0-3,7`,
		"whatif|a.efg|--compute|rank 7:1":                 "a.efg: no rank 7: the run has ranks 0-2",
		"whatif|a.efg|--network|none":                     "none: no such file or directory",
		"whatif|a.efg|--network|a.efg":                    "a.efg: is not a network measured by efg measure-network",
		"whatif|a.efg|--own-network|.":                    ".: is a directory",
		"whatif|a.efg|--network|recorded|--ideal-network": "a.efg: an ideal network has no latency, overhead or bandwidth to choose",
		"whatif|a.efg|--latency|3":                        `--latency "3" is no time: want one like 500ns or 1.5us`,
		"whatif|a.efg|--bandwidth|3":                      `--bandwidth "3" is no bandwidth: want one like 12GB/s or 100Gbit/s`,
		"whatif|a.efg|--latency|1us|--ideal-network":      "a.efg: an ideal network has no latency, overhead or bandwidth to choose",
	} {
		checkRefused(t, strings.Split(args, "|"), want)
	}
}
