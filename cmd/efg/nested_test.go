package main

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// Calls that functions of the program make inside others: reports have the time of a procedure with and without them,
// efg generate says that it leaves them out.
func TestCallsInsideCalls(t *testing.T) {
	for _, m := range mpis {
		t.Run(m.name, func(t *testing.T) {
			dir := t.TempDir()
			file := filepath.Join(dir, "a.efg")
			runOK(t, m, "-o", file, compileMPI(t, m, "../../../testdata/c/callbacks.c"))
			out, errOut, status := efgRun(t, nil, "sql", file, "select count(*) from events where depth > 0", "--format", "csv")
			inside := strings.Fields(out)
			if status != 0 || len(inside) != 2 || inside[1] == "0" {
				t.Fatalf("status %d: %s%s", status, out, errOut)
			}
			_, errOut, status = efgRun(t, nil, "generate", file, "-o", filepath.Join(dir, "generated"))
			if want := fmt.Sprintf("efg: left out: %s calls that functions of the program made inside MPI calls", inside[1]); status != 0 || !strings.Contains(errOut, want) {
				t.Errorf("status %d: %s\nwant %s", status, errOut, want)
			}
			testInnerTimes(t, file)
		})
	}
}

// testInnerTimes compares the column "with inner" of a report with the times of the events, by procedure.
func testInnerTimes(t *testing.T, file string) {
	t.Helper()
	rows, errOut, status := efgRun(t, nil, "sql", file, "select op, sum(t1 - t0) from events group by op", "--format", "csv")
	if status != 0 {
		t.Fatal(errOut)
	}
	want := map[string]float64{}
	for line := range strings.Lines(rows) {
		op, sum, _ := strings.Cut(strings.TrimSpace(line), ",")
		want[op], _ = strconv.ParseFloat(sum, 64)
	}
	text, errOut, status := efgRun(t, nil, "report", file, "--by", "procedure", "--wide")
	_, table, found := strings.Cut(text, "\nprocedure ")
	head, table, _ := strings.Cut(table, "\n")
	if columns := severalSpaces.Split(strings.TrimSpace(head), -1); status != 0 || !found || columns[2] != "with inner" {
		t.Fatalf("status %d: columns %q: %s%s", status, columns, errOut, text)
	}
	more := 0
	for line := range strings.Lines(table) {
		cells := severalSpaces.Split(strings.TrimSpace(line), -1)
		if len(cells) < 5 {
			break
		}
		time, withInner := parseNanoseconds(t, cells[2]), parseNanoseconds(t, cells[3])
		if off := withInner - want[cells[0]]; max(off, -off) > want[cells[0]]/100+2000 {
			t.Errorf("%s: %s with inner calls, %f ns by events", cells[0], cells[3], want[cells[0]])
		}
		if withInner > time {
			more++
		}
	}
	if more < 3 {
		t.Errorf("%d procedures have calls inside:\n%s", more, text)
	}
}

var severalSpaces = regexp.MustCompile(` {2,}`)

// parseNanoseconds reads a time as it is written in tables.
func parseNanoseconds(t *testing.T, text string) float64 {
	t.Helper()
	number, unit, _ := strings.Cut(text, " ")
	v, err := strconv.ParseFloat(number, 64)
	scale := map[string]float64{"ns": 1, "µs": 1e3, "ms": 1e6, "s": 1e9}[unit]
	if err != nil || scale == 0 {
		t.Fatalf("%q is no time", text)
	}
	return v * scale
}
