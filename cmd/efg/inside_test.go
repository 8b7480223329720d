package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/efg-tools/efg/internal/jsondoc"
)

// A run file has the calls that a killed program was in inside each other, and all that show such calls show these.
func TestKilledInsideCall(t *testing.T) {
	for _, m := range mpis {
		t.Run(m.name, func(t *testing.T) {
			program := compileMPI(t, m, "../../../testdata/c/inside.c")
			file := filepath.Join(t.TempDir(), "inside.efg")
			if _, errOut, status := efgRun(t, nil, slices.Concat([]string{"run", "-o", file, "--"}, m.launcher, []string{program, "end"})...); status == 0 {
				t.Fatal(errOut)
			}
			throughText(t, file)
			for _, format := range []string{"mtf", "gxl"} {
				again := filepath.Join(t.TempDir(), format)
				for _, args := range [][]string{{"export", file, "--format", format, "-o", again + ".out"}, {"import", again + ".out", "-o", again + ".efg"}} {
					if _, errOut, status := efgRun(t, nil, args...); status != 0 {
						t.Fatalf("efg %q: status %d: %s", args, status, errOut)
					}
				}
				want, err1 := os.ReadFile(file)
				got, err2 := os.ReadFile(again + ".efg")
				if err1 != nil || err2 != nil || !bytes.Equal(got, want) {
					t.Errorf("%s makes %d other bytes, not %d (%v, %v)", format, len(got), len(want), err1, err2)
				}
			}
			checkUnfinishedSlices(t, file)
			out, _, _ := efgRun(t, nil, "info", file, "--json")
			var info jsondoc.Info
			if err := json.Unmarshal([]byte(out), &info); err != nil {
				t.Fatal(err)
			}
			for i := range info.Streams {
				checkInside(t, info.Streams[i].InCall)
			}
			if len(info.Streams) != 2 {
				t.Errorf("%d threads", len(info.Streams))
			}
			for command, want := range map[string]string{
				"info FILE": "; inside it: MPI_Recv(", "check FILE": ", inside it MPI_Recv(", "reconstruct FILE --format text": "entered, not returned  receive inside.c:",
				"reconstruct FILE --format jsonl": `,"inner":{"op":"MPI_Recv","args":{"count":1,`, "where FILE": "MPI_Recv", "dump FILE": "  inside since ",
			} {
				out, errOut, _ := efgRun(t, nil, strings.Fields(strings.Replace(command, "FILE", file, 1))...)
				if !strings.Contains(out, want) {
					t.Errorf("%s: no %q: %s%s", command, want, out, errOut)
				}
			}
		})
	}
}

// checkInside demands that a call in progress has one inside it, which came later.
func checkInside(t *testing.T, c *jsondoc.Call) {
	t.Helper()
	if c == nil || c.Inner == nil || c.Inner.Inner != nil {
		t.Fatalf("%+v", c)
	}
	if c.Op != "MPI_Reduce_local" || c.Inner.Op != "MPI_Recv" || !strings.Contains(c.Inner.Site, "inside.c:") || !slices.Contains(c.Inner.Args, "tag=7") || c.Since == nil || c.Inner.Since == nil || !c.Inner.Since.After(*c.Since) {
		t.Errorf("%+v, inside it %+v", c, c.Inner)
	}
}

// checkUnfinishedSlices demands that a trace for viewers has the calls that both ranks were in, one inside the other, to the end of the run.
func checkUnfinishedSlices(t *testing.T, file string) {
	t.Helper()
	exported := func(format string) []byte {
		name := filepath.Join(t.TempDir(), format)
		if _, errOut, status := efgRun(t, nil, "export", file, "--format", format, "-o", name); status != 0 {
			t.Fatal(errOut)
		}
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		return content
	}
	var trace struct {
		TraceEvents []struct {
			Ph, Name string
			PID      int
			TS, Dur  float64
			Args     struct {
				Returned *bool
				Args     struct{ Tag *int }
			}
		}
	}
	if err := json.Unmarshal(exported("chrome"), &trace); err != nil {
		t.Fatal(err)
	}
	found := map[int][]string{}
	for i, e := range trace.TraceEvents {
		if e.Ph != "X" || e.Args.Returned == nil {
			continue
		}
		if found[e.PID] = append(found[e.PID], e.Name); e.Name == "MPI_Recv" {
			around := trace.TraceEvents[i-1]
			if e.Args.Args.Tag == nil || *e.Args.Args.Tag != 7 || around.TS > e.TS || around.TS+around.Dur < e.TS+e.Dur-0.01 || e.Dur < 1e5 {
				t.Errorf("%+v in %+v", e, around)
			}
		}
	}
	if len(found) != 2 {
		t.Errorf("calls of %d ranks had not returned", len(found))
	}
	for rank, names := range found {
		if !slices.Equal(names, []string{"MPI_Reduce_local", "MPI_Recv"}) {
			t.Errorf("rank %d: %v", rank, names)
		}
	}
	if n := bytes.Count(exported("perfetto"), []byte("returned")); n != 2 { // interned for each track
		t.Errorf("Perfetto: %d tracks have calls that had not returned", n)
	}
}
