package otf2

import (
	"bytes"
	"path/filepath"
	"testing"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/export"
	writer "github.com/efg-tools/efg/internal/export/otf2"
	"github.com/efg-tools/efg/internal/importer"
	"github.com/efg-tools/efg/internal/testing/testrun"
)

// Call paths come back however they begin, and also where functions or places on them are unknown.
func TestPathsThatBeginElsewhere(t *testing.T) {
	inner := importer.PathCall{Place: "a.c:15", Function: "inlined in caller"}
	names := importer.NewNames()
	p := importer.NewProcess(&efg.Process{Size: 1, PID: 1, Start: 1, Mono: 1}, names, importer.Times{Each: true})
	object := func(members ...importer.Member) *importer.Value {
		return &importer.Value{Kind: importer.Object, Members: members}
	}
	var want []string
	for i, c := range []struct {
		start string
		first importer.PathCall
		text  string
	}{
		{"", importer.PathCall{Place: "a.c:12", Function: "main"}, `["main a.c:12","inlined in caller a.c:15"]`},
		{importer.PathUnknown, importer.PathCall{Place: "a.c:12", Function: "main"}, `["unknown","main a.c:12","inlined in caller a.c:15"]`},
		{importer.PathCut, importer.PathCall{Place: "a.c:12", Function: "main"}, `["...","main a.c:12","inlined in caller a.c:15"]`},
		{importer.PathUnknown, importer.PathCall{Place: "liba.so+0x10"}, `["unknown","liba.so+0x10","inlined in caller a.c:15"]`},
		{"", importer.PathCall{Place: "b.c:7"}, `["b.c:7","inlined in caller a.c:15"]`},
		{"", importer.PathCall{Place: "unknown"}, `["unknown","inlined in caller a.c:15"]`},
		{"", importer.PathCall{Place: "unknown", Function: "..."}, `["... unknown","inlined in caller a.c:15"]`},
	} {
		d := importer.Described{Op: "MPI_Barrier", Start: uint64(10 + 10*i), End: uint64(15 + 10*i), Timed: true, Out: object()}
		d.Args = object(importer.Member{Name: "comm", Value: importer.Value{Kind: importer.Text, Text: "MPI_COMM_WORLD"}})
		d.Site = p.PathSite([]importer.PathCall{c.first, inner}, c.start)
		if err := p.Thread(0).AddDescribed(&d); err != nil {
			t.Fatal(err)
		}
		want = append(want, `"path":`+c.text)
	}
	data, err := p.Finish()
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "a.efg")
	meta := runfile.Meta{Time: runfile.TraceTime(0, 0), CallPath: 64, Sites: names.Sites}
	if err := runfile.WriteRun(name, []*efg.Process{data}, meta); err != nil {
		t.Fatal(err)
	}
	run := testrun.Open(t, name)
	given := lines(t, run)
	for i, line := range bytes.Split(bytes.TrimSpace(given), []byte("\n")) {
		if i >= len(want) || !bytes.Contains(line, []byte(want[i])) {
			t.Errorf("call %d: %s\nwant %v", i, line, want)
		}
	}
	again, _ := imported(t, archived(t, run, &export.Job{RawClock: true, What: []string{writer.Arguments, writer.Callsites}}))
	compareLines(t, lines(t, again), given)
}

// Contexts that form a ring, or are not defined, are the unknown beginning of a path.
func TestPathsOfBrokenContexts(t *testing.T) {
	d := &Definitions{
		CallingContexts: map[uint64]CallingContext{0: {0, 0, 0}, 1: {0, 0, 7}, 2: {9, 9, Undefined}},
		Regions:         map[uint64]Region{0: {Name: "f"}}, SourceLines: map[uint64]SourceLine{0: {"a.c", 3}},
	}
	r := &reader{archive: &Archive{Definitions: d}}
	for id, want := range map[uint64]int{0: importer.MaxPath, 1: 1, 2: 0, 3: 0} {
		calls, start := r.path(id)
		if len(calls) != want || start != importer.PathUnknown {
			t.Errorf("context %d: %d calls, %q", id, len(calls), start)
		}
	}
}
