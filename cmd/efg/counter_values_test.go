package main

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/efg-tools/efg/efg/runfile"
)

// countedCall is a line of JSON Lines.
type countedCall struct {
	Rank, Thread, Depth int
	Op                  string
	T0                  *int64
	Counters            map[string]struct{ Before, Call uint64 }
}

// reconstructed returns the calls of a run file.
func reconstructed(t *testing.T, file string) (calls []countedCall) {
	t.Helper()
	out, errOut, status := efgRun(t, nil, "reconstruct", file, "--format", "jsonl")
	if status != 0 {
		t.Fatal(errOut)
	}
	for line := range strings.Lines(out) {
		var c countedCall
		if err := json.Unmarshal([]byte(line), &c); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		if c.Op != "" {
			calls = append(calls, c)
		}
	}
	return calls
}

// checkCalls demands of each call that counted.c makes the page faults that it causes before it, and that the outermost calls that have
// times have values; more are faults that a fork may cause. It returns what the first thread of rank 0 counted in the part that the program counts itself, too.
func checkCalls(t *testing.T, calls []countedCall, more uint64) (total uint64) {
	t.Helper()
	probes := map[[2]int]int{}
	reduced, barriers := map[int]int{}, 0
	for i, c := range calls {
		if len(c.Counters) != 4 {
			t.Fatalf("call %d: %+v", i, c)
		}
		faults := c.Counters["page-faults"]
		switch c.Op {
		case "MPI_Allreduce":
			if reduced[c.Rank]++; faults.Before < 100 || faults.Before > 110+more {
				t.Errorf("rank %d: %d page faults before MPI_Allreduce", c.Rank, faults.Before)
			}
			if c.Rank == 0 {
				total += faults.Before + faults.Call
			}
		case "MPI_Barrier":
			if barriers++; c.Rank == 0 && reduced[0] == 10 && total != 0 && barriers == 2 {
				total += faults.Before
			}
		case "MPI_Iprobe":
			if probes[[2]int{c.Rank, c.Thread}]++; probes[[2]int{c.Rank, c.Thread}] > 1 && (faults.Before < 50 || faults.Before > 53) {
				t.Errorf("rank %d, thread %d: %d page faults before MPI_Iprobe", c.Rank, c.Thread, faults.Before)
			}
		}
	}
	if reduced[0] != 10 || reduced[1] != 10 || len(probes) != 2 {
		t.Errorf("%v reductions, %v probes", reduced, probes)
	}
	return total
}

// Each call has the page faults that it and what was before it caused, which the program counts itself: in each thread, with each kind of times,
// whatever else the program does, and until it is killed.
func TestCounterValues(t *testing.T) {
	for _, m := range mpis {
		program := compileMPI(t, m, "../../../testdata/c/counted.c")
		for _, c := range []struct{ time, args string }{{"trace", ""}, {"trace=exact", ""}, {"auto", ""}, {"trace=exact", "close fork"}, {"trace=exact", "kill"}} {
			t.Run(m.name+" "+c.time+" "+c.args, func(t *testing.T) {
				run, file, out, errOut, status := recordWith(t, m, []string{"--counter-values", "--time", c.time}, program, strings.Fields(c.args)...)
				if killed := c.args == "kill"; (status != 0) != killed || !killed && withoutBuilds(errOut) != "" {
					t.Fatalf("status %d: %s", status, errOut)
				}
				if !run.HasCounterValues() {
					t.Fatal("no values")
				}
				more := uint64(0)
				if strings.Contains(c.args, "fork") {
					more = 200
				}
				total := checkCalls(t, reconstructed(t, file), more)
				if c.args == "" && !slices.ContainsFunc(strings.Split(out, "\n"), func(line string) bool {
					n, err := strconv.ParseUint(strings.TrimPrefix(line, "faults "), 10, 64)
					return err == nil && max(n, total)-min(n, total) <= 5
				}) {
					t.Errorf("%d page faults, the program counted %q", total, out)
				}
			})
		}
	}
}

// Programs in Fortran have values, too.
func TestCounterValuesOfFortran(t *testing.T) {
	for _, m := range mpis {
		t.Run(m.name, func(t *testing.T) {
			_, file, _, errOut, status := recordWith(t, m, []string{"--counter-values", "--time", "trace"}, compileCountedFortran(t, m))
			if status != 0 {
				t.Fatal(errOut)
			}
			for _, c := range reconstructed(t, file) {
				if faults := c.Counters["page-faults"].Before; c.Op == "MPI_Allreduce" && faults < 2000 && c.Counters["max-rss"].Before < 7000 {
					t.Errorf("%+v", c)
				}
			}
		})
	}
}

// Calls inside others have no values: these calls have them. A budget for times ends both.
func TestCounterValuesInside(t *testing.T) {
	for _, m := range mpis {
		t.Run(m.name, func(t *testing.T) {
			program := compileMPI(t, m, "../../../testdata/c/callbacks.c")
			_, file, _, errOut, status := recordWith(t, m, []string{"--counter-values", "--time", "trace"}, program)
			if status != 0 {
				t.Fatal(errOut)
			}
			inside := 0
			for i, c := range reconstructed(t, file) {
				if (c.Depth == 0) != (len(c.Counters) == 4) {
					t.Fatalf("call %d: %+v", i, c)
				}
				inside += min(c.Depth, 1)
			}
			if inside == 0 {
				t.Error("no calls inside others")
			}
			_, file, _, errOut, status = recordWith(t, m, []string{"--counter-values", "--time", "auto=4KiB"}, program)
			if status != 0 {
				t.Fatal(errOut)
			}
			timed, untimed := 0, 0
			for i, c := range reconstructed(t, file) {
				if c.T0 == nil {
					untimed++
				} else {
					timed++
				}
				if c.Depth == 0 && (c.T0 != nil) != (len(c.Counters) == 4) {
					t.Fatalf("call %d: %+v", i, c)
				}
			}
			if timed == 0 || untimed == 0 {
				t.Errorf("%d calls with times, %d without", timed, untimed)
			}
		})
	}
}

// Metrics in OTF2 have the values of each call.
func TestCounterValuesInTimelines(t *testing.T) {
	for _, m := range mpis {
		t.Run(m.name, func(t *testing.T) {
			_, file, _, errOut, status := recordWith(t, m, []string{"--counter-values", "--time", "trace=exact"}, compileMPI(t, m, "../../../testdata/c/counted.c"))
			if status != 0 {
				t.Fatal(errOut)
			}
			var want []string // at the start and the end of each call of rank 0
			sums := map[string]uint64{}
			for _, c := range reconstructed(t, file) {
				if c.Rank != 0 || c.Thread != 0 {
					continue
				}
				for _, end := range []bool{false, true} {
					var values []string
					for _, name := range strings.Split(counting, ",") {
						if v := c.Counters[name]; end {
							sums[name] += v.Call
						} else {
							sums[name] += v.Before
						}
						values = append(values, fmt.Sprint(sums[name]))
					}
					want = append(want, strings.Join(values, " "))
				}
			}
			dir := filepath.Join(t.TempDir(), "otf2")
			if _, errOut, status := efgRun(t, nil, "export", file, "--format", "otf2", "-o", dir); status != 0 {
				t.Fatal(errOut)
			}
			if got := metricsOf(t, dir, "0"); !slices.Equal(got, want) {
				t.Errorf("metrics %q\nwant    %q", got, want)
			}
		})
	}
}

// metricsOf are the values of each record of metrics of a location.
func metricsOf(t *testing.T, dir, location string) (list []string) {
	t.Helper()
	out, err := exec.Command("otf2-print", filepath.Join(dir, "traces.otf2")).Output()
	if err != nil {
		t.Fatal(err)
	}
	value := regexp.MustCompile(`UINT64; (\d+)\)`)
	for line := range strings.Lines(string(out)) {
		if f := strings.Fields(line); len(f) > 1 && f[0] == "METRIC" && f[1] == location {
			var values []string
			for _, v := range value.FindAllStringSubmatch(line, -1) {
				values = append(values, v[1])
			}
			list = append(list, strings.Join(values, " "))
		}
	}
	return list
}

// Without the option nothing of each call is recorded.
func TestCountersWithoutValues(t *testing.T) {
	m := mpis[0]
	run, file, _, _, _ := recordWith(t, m, []string{"--time", "trace"}, compileMPI(t, m, "../../../testdata/c/counted.c"))
	if run.HasCounterValues() {
		t.Error("the file has values")
	}
	for _, c := range reconstructed(t, file) {
		if c.Counters != nil {
			t.Fatalf("%+v", c)
		}
	}
}

// Merged files have the values of their parts, and a file from the text of another has its values.
func TestCounterValuesMerged(t *testing.T) {
	m := mpis[1]
	_, file, _, _, _ := recordWith(t, m, []string{"--counter-values", "--time", "trace"}, compileMPI(t, m, "../../../testdata/c/counted.c"))
	text, errOut, status := efgRun(t, nil, "dump", file)
	if status != 0 || strings.Count(text, "   values 3 ") < 4 {
		t.Fatalf("status %d: %s%s", status, errOut, text)
	}
	name := file + ".again"
	if _, errOut, status := efgRun(t, strings.NewReader(text), "assemble", "-o", name, "-"); status != 0 {
		t.Fatal(errOut)
	}
	run, err := runfile.OpenRun(name)
	if err != nil {
		t.Fatal(err)
	}
	defer run.Close()
	if err := runfile.Validate(run); err != nil || !run.HasCounterValues() {
		t.Error(err)
	}
	checkCalls(t, reconstructed(t, name), 0)
}

// The option needs counters, and times of each call.
func TestCounterValuesRefused(t *testing.T) {
	for args, want := range map[string]string{
		"--counter-values":                                      "efg: --counter-values needs --counters that are read at each call\n",
		"--counter-values --counters energy":                    "efg: --counter-values needs --counters that are read at each call\n",
		"--counter-values --counters page-faults --time stats":  "efg: --counter-values needs times of each call: --time stats has none; use trace or auto\n",
		"--counter-values --counters page-faults --time off":    "efg: --counters needs times: --time off records none\n",
		"--counter-values --counters page-faults --time trace=": `efg: --time trace=: `,
	} {
		out, errOut, status := efgRun(t, nil, append(append([]string{"run"}, strings.Fields(args)...), "--", "echo", "started")...)
		if status != 2 || out != "" || !strings.HasPrefix(errOut, want) || strings.Count(errOut, "\n") != 1 {
			t.Errorf("%s: status %d, %q, %q", args, status, out, errOut)
		}
	}
}
