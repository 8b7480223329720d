package main

import (
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"
	"testing"
)

// Tables of callsites do not depend on whether call paths were recorded.
func TestCallPathsFold(t *testing.T) {
	for _, m := range mpis {
		t.Run(m.name, func(t *testing.T) {
			program := compileMPI(t, m, "../../../testdata/c/paths.c")
			dir := t.TempDir()
			without, with := filepath.Join(dir, "without.efg"), filepath.Join(dir, "with.efg")
			runOK(t, m, "-o", without, program)
			runOK(t, m, "-o", with, "--callpath", program)
			want, got := callsiteRows(t, without), callsiteRows(t, with)
			if len(want) < 3 || !maps.Equal(got, want) {
				t.Errorf("callsites with call paths:\n%v\nwithout:\n%v", got, want)
			}
		})
	}
}

// runOK records a program, the last argument, with the options before it.
func runOK(t *testing.T, m mpi, args ...string) {
	t.Helper()
	options, program := args[:len(args)-1], args[len(args)-1]
	if _, errOut, status := efgRun(t, nil, slices.Concat([]string{"run"}, options, []string{"--"}, m.launcher, []string{program})...); status != 0 {
		t.Fatalf("status %d: %s", status, errOut)
	}
}

type callsiteRow struct{ op, site string }

// callsiteRows are the numbers of calls and ranks in the report, by callsite.
func callsiteRows(t *testing.T, file string) map[callsiteRow][2]uint64 {
	t.Helper()
	out, errOut, status := efgRun(t, nil, "report", file, "--json")
	var doc struct {
		Callsites []struct {
			Op, Site     string
			Calls, Ranks uint64
		}
	}
	if err := json.Unmarshal([]byte(out), &doc); err != nil || status != 0 {
		t.Fatalf("status %d: %v: %s", status, err, errOut)
	}
	rows := map[callsiteRow][2]uint64{}
	for _, r := range doc.Callsites {
		key := callsiteRow{r.Op, r.Site}
		if _, twice := rows[key]; twice {
			t.Errorf("%s: %v is listed twice", filepath.Base(file), key)
		}
		rows[key] = [2]uint64{r.Calls, r.Ranks}
	}
	return rows
}
