package main

import (
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"
	"strings"
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
			if out, errOut, status := efgRun(t, nil, "diff", without, with, "--fail-on", "calls>0%"); status != 0 {
				t.Errorf("diff with and without call paths: status %d: %s\n%s", status, errOut, out)
			}
		})
	}
}

// --site-depth shortens paths to what recording them with that depth gives.
func TestSiteDepth(t *testing.T) {
	m := mpis[0]
	program := compileMPI(t, m, "../../../testdata/c/paths.c")
	dir := t.TempDir()
	full := filepath.Join(dir, "full.efg")
	runOK(t, m, "-o", full, "--callpath", program)
	whole := callsiteRows(t, full, "--site-depth", "0")
	for _, depth := range []string{"2", "3", "5"} {
		short := filepath.Join(dir, depth+".efg")
		runOK(t, m, "-o", short, "--callpath="+depth, program)
		want, got := callsiteRows(t, short, "--site-depth", "0"), callsiteRows(t, full, "--site-depth", depth)
		if !maps.Equal(got, want) || len(got) >= len(whole) {
			t.Errorf("depth %s:\n%v\nrecorded:\n%v\nof %d whole paths", depth, got, want, len(whole))
		}
		for _, command := range [][]string{{"loops"}, {"waits"}, {"phases"}, {"diff"}} {
			out, errOut, status := efgRun(t, nil, append(command, full, "--site-depth", depth)...)
			if status != 0 || command[0] != "diff" && !strings.Contains(out, " ← ") {
				t.Errorf("%v: status %d: %s\n%s", command, status, errOut, out)
			}
		}
	}
	for key := range whole {
		calls := strings.Split(key.site, " ← ")
		first, _, _ := strings.Cut(calls[len(calls)-1], " ")
		if !slices.Contains([]string{"main", "work", "at_exit"}, first) {
			t.Errorf("%v does not begin where the program or the thread does", key)
		}
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
func callsiteRows(t *testing.T, file string, options ...string) map[callsiteRow][2]uint64 {
	t.Helper()
	out, errOut, status := efgRun(t, nil, append([]string{"report", file, "--json"}, options...)...)
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
		before, twice := rows[key]
		if twice && len(options) == 0 {
			t.Errorf("%s: %v is listed twice", filepath.Base(file), key)
		}
		rows[key] = [2]uint64{before[0] + r.Calls, r.Ranks} // lines of a library may have several calls
	}
	return rows
}
