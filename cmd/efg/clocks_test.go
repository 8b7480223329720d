package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/efg-tools/efg/internal/analysis/clocks"
	"github.com/efg-tools/efg/internal/jsondoc"
)

// machines makes m.efg, a run of testdata/c/pingpong.c on two machines whose clocks differ by
// seconds, recorded with testdata/skew.
func machines(t *testing.T) {
	t.Helper()
	source, err := filepath.Abs(filepath.Join("testdata", "machines.txt"))
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	if _, errOut, status := efgRun(t, nil, "assemble", source, "-o", "m.efg"); status != 0 {
		t.Fatal(errOut)
	}
}

func TestClocks(t *testing.T) {
	golden := goldenDir(t)
	machines(t)
	checkGolden(t, golden, map[string]string{"clocks": "clocks m.efg", "clocks-top": "clocks m.efg --top 1", "clocks-json": "clocks m.efg --json"})
	out, _, _ := efgRun(t, nil, "clocks", "m.efg", "--json")
	var j jsondoc.Clocks
	if err := json.Unmarshal([]byte(out), &j); err != nil {
		t.Fatal(err)
	}
	if j.Schema != "efg-clocks/1" || len(j.Machines) != 2 || !j.Machines[1].Aligned || j.Recorded.Calls == 0 || j.Remaining != 0 {
		t.Errorf("%+v", j)
	}
}

// Each command that shows times shows corrected ones, and with --clock raw those that were
// recorded.
func TestClockFlag(t *testing.T) {
	machines(t)
	for _, command := range []string{
		"reconstruct m.efg", "reconstruct m.efg --format mtf", "query m.efg SELECT|SENDS", "sql m.efg select|min(t0),max(t1)|from|events", "timeline m.efg",
		"waits m.efg", "efficiency m.efg --windows 3", "phases m.efg", "check m.efg --json",
	} {
		args := strings.Fields(command)
		for i := range args {
			args[i] = strings.ReplaceAll(args[i], "|", " ")
		}
		usual, _, _ := efgRun(t, nil, args...)
		corrected, errOut, status := efgRun(t, nil, append(args, "--clock", "corrected")...)
		raw, rawErr, rawStatus := efgRun(t, nil, append(args, "--clock", "raw")...)
		if status != 0 || rawStatus != 0 || errOut+rawErr != "" || usual != corrected {
			t.Errorf("%s: %d, %d, %s%s", command, status, rawStatus, errOut, rawErr)
		}
		if usual == raw && args[0] != "check" {
			t.Errorf("%s: --clock makes no difference", command)
		}
		checkRefused(t, append(args, "--clock", "x"), "--clock x: want corrected or raw")
	}
}

// Machines of whose clocks nothing is known are named.
func TestNotAligned(t *testing.T) {
	r := &clocks.Report{}
	for i := range 8 {
		r.Machines = append(r.Machines, clocks.Machine{Host: string(rune('a' + i)), Ranks: []int{i}, Aligned: i%4 == 1})
	}
	if got := strings.Join(notAligned(r), " "); got != "c d e g 1 others" {
		t.Errorf("%q", got)
	}
	r.Machines[2].Ranks, r.Machines[3].Ranks = nil, nil // of these no ranks are selected
	if got := strings.Join(notAligned(r), " "); got != "e g h" {
		t.Errorf("%q of a part", got)
	}
	if got := notAligned(&clocks.Report{Machines: r.Machines[2:4]}); got != nil {
		t.Errorf("%q of no ranks", got)
	}
}

func TestClocksMistakes(t *testing.T) {
	t.Chdir(t.TempDir())
	sampleRun(t, "app.efg")
	checkMistakes(t, map[string]string{
		"clocks none.efg":         "none.efg: no such file or directory",
		"clocks app.efg":          "app.efg: the times of each call were not recorded (efg run --time trace records them)",
		"clocks app.efg --top -1": "--top -1: want a number of rows, or 0 for all",
	})
}
