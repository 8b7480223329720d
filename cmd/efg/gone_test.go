package main

import (
	"encoding/json"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/efg-tools/efg/efg/runfile"
)

// A call that a rank was killed in ends when the rank was gone, not with the command, which went on. (Launchers may kill the other ranks:
// that of MPICH now and then does so although it is told not to.)
func TestCallOfRankThatWasKilledEarly(t *testing.T) {
	for _, m := range mpis {
		t.Run(m.name, func(t *testing.T) {
			program, dir := compileMPI(t, m, "../../../testdata/c/early.c"), t.TempDir()
			file, stamp := filepath.Join(dir, "run.efg"), filepath.Join(dir, "stamp")
			_, errOut, status := efgRun(t, nil, slices.Concat([]string{"run", "--time", "trace=exact", "-o", file, "--",
				"sh", "-c", `"$@"; sleep 3; date +%s%N >"$0"`, stamp}, m.launcher, []string{program})...)
			text, err := os.ReadFile(stamp)
			if err != nil {
				t.Fatalf("%v; status %d: %s", err, status, errOut)
			}
			later, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			run, err := runfile.OpenRun(file)
			if err != nil {
				t.Fatal(err)
			}
			defer run.Close()
			checkGone(t, run, later)
			checkDrawnUntilGone(t, file, run)
			checkLeftWhenGone(t, file, run)
			dumped, again := filepath.Join(dir, "run.txt"), filepath.Join(dir, "text.efg")
			efgOK(t, "dump", file, "-o", dumped)
			efgOK(t, "assemble", dumped, "-o", again)
			if efgOK(t, "dump", again) != efgOK(t, "dump", file) {
				t.Error("the text does not restore the run")
			}
			for _, form := range []string{"mtf", "gxl"} {
				there, back := filepath.Join(dir, "there."+form), filepath.Join(dir, form+".efg")
				efgOK(t, "export", file, "-o", there)
				efgOK(t, "import", there, "-o", back)
				if efgOK(t, "dump", back) != efgOK(t, "dump", file) {
					t.Errorf("%s does not restore the run", form)
				}
			}
		})
	}
}

// efgOK runs a command that must succeed, and returns what it prints.
func efgOK(t *testing.T, args ...string) string {
	t.Helper()
	out, errOut, status := efgRun(t, nil, args...)
	if status != 0 {
		t.Fatalf("%v: status %d: %s", args, status, errOut)
	}
	return out
}

// checkGone demands that rank 1 alone is known to be gone: after it had entered its last call, and before the command noted
// the time of day, before it ended.
func checkGone(t *testing.T, run *runfile.Run, later int64) {
	t.Helper()
	if gone := run.Procs[0].Gone; gone != 0 {
		t.Errorf("rank 0 was gone after %d ns", gone)
	}
	p, err := run.Process(1)
	if err != nil {
		t.Fatal(err)
	}
	entered, gone := p.Streams[0].Pending.At(p), p.LatestEnd(math.MaxInt64)
	if entered == 0 || entered >= gone || gone >= later || later >= run.Meta.Ended {
		t.Errorf("entered at %d, gone at %d, then it was %d, and the run ended at %d", entered, gone, later, run.Meta.Ended)
	}
}

// checkDrawnUntilGone demands that a timeline shows the call until then.
func checkDrawnUntilGone(t *testing.T, file string, run *runfile.Run) {
	t.Helper()
	p, err := run.Process(1)
	if err != nil {
		t.Fatal(err)
	}
	var drawn struct {
		TraceEvents []struct {
			Name    string  `json:"name"`
			PID     int     `json:"pid"`
			TS, Dur float64 // µs
			Args    struct{ Returned *bool }
		} `json:"traceEvents"`
	}
	if err := json.Unmarshal([]byte(efgOK(t, "export", file, "--format", "chrome")), &drawn); err != nil {
		t.Fatal(err)
	}
	want, found := float64(p.LatestEndInRun(math.MaxInt64)), 0
	for _, e := range drawn.TraceEvents {
		if e.Args.Returned == nil {
			continue
		}
		found++
		if end := 1000 * (e.TS + e.Dur); e.Name != "MPI_Sendrecv" || math.Abs(end-want) > 1 {
			t.Errorf("%s of process %d ends at %.0f ns, want MPI_Sendrecv, at %.0f", e.Name, e.PID, end, want)
		}
	}
	if found != 1 {
		t.Errorf("%d calls that did not return, want 1", found)
	}
}

// checkLeftWhenGone demands that an OTF2 archive has the call for as long.
func checkLeftWhenGone(t *testing.T, file string, run *runfile.Run) {
	t.Helper()
	p, err := run.Process(1)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "archive")
	efgOK(t, "export", file, "--format", "otf2", "-o", dir)
	out, err := exec.Command("otf2-print", filepath.Join(dir, "traces.otf2")).Output()
	if err != nil {
		t.Fatal(err)
	}
	record := regexp.MustCompile(`(?m)^(ENTER|LEAVE) +1 +(\d+)  Region: "MPI_Sendrecv"`)
	var kinds []string
	var times []uint64
	for _, m := range record.FindAllSubmatch(out, -1) {
		at, err := strconv.ParseUint(string(m[2]), 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		kinds, times = append(kinds, string(m[1])), append(times, at)
	}
	if !slices.Equal(kinds, []string{"ENTER", "LEAVE"}) {
		t.Fatalf("%q of the call: %s", kinds, out)
	}
	if got, want := times[1]-times[0], p.Gone-p.Streams[0].Pending.Since; got != want {
		t.Errorf("the call lasts %d ns in OTF2, want %d", got, want)
	}
}
