package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/efg-tools/efg/internal/jsondoc"
	"github.com/efg-tools/efg/internal/live"
	"github.com/efg-tools/efg/internal/network"
)

// jsonForm is what a command writes for other programs.
type jsonForm struct {
	command string // on recorded.efg and other.efg, which are recorded runs, or stuck, which are segments
	schema  string // "" for lines without one
	pages   string // of docs, which describe the fields
	into    any    // what the object is decoded into; nil if the type is not exported
}

var jsonForms = []jsonForm{
	{"info recorded.efg --all --json", "efg-info/1", "reading", &jsondoc.Info{}},
	{"report recorded.efg --json", "efg-report/1", "report", &jsondoc.Report{}},
	{"report recorded.efg --tree --json", "efg-calltree/1", "callpaths report", &jsondoc.CallTree{}},
	{"report recorded.efg --counters --json", "efg-counters/1", "counters report", &jsondoc.Counters{}},
	{"matrix recorded.efg --collectives --one-sided --json", "efg-matrix/1", "report", &jsondoc.Matrix{}},
	{"matrix recorded.efg --from 0-1 --json", "efg-matrix/1", "report", &jsondoc.Matrix{}},
	{"matrix recorded.efg --bins 2 --json", "efg-matrix-bins/1", "report", &jsondoc.MatrixBins{}},
	{"check faulty.efg --json", "efg-check/1", "check", &jsondoc.Check{}},
	{"phases recorded.efg --json", "efg-phases/1", "phases", &jsondoc.Phases{}},
	{"efficiency recorded.efg --json --windows 2", "efg-efficiency/1", "efficiency", &jsondoc.Efficiency{}},
	{"waits recorded.efg --json", "efg-waits/1", "waits", &jsondoc.Waits{}},
	{"whatif recorded.efg --json", "efg-whatif/1", "whatif", &jsondoc.Whatif{}},
	{"whatif recorded.efg --json --balance", "efg-whatif/1", "whatif", &jsondoc.Whatif{}},
	{"measure-network --json --pairs 1 -- mpiexec.mpich -n 2", "efg-network/1", "whatif", &network.Network{}},
	{"clocks recorded.efg --json", "efg-clocks/1", "clocks", &jsondoc.Clocks{}},
	{"loops recorded.efg --json", "efg-loops/1", "loops report", &jsondoc.Loops{}},
	{"timeline recorded.efg --json --slices 100000", "efg-timeline/1", "timeline", &jsondoc.Timeline{}},
	{"diff recorded.efg --ranks 0,1 --json", "efg-diff-pair/1", "diff", &jsondoc.Pair{}},
	{"diff recorded.efg --json", "efg-diff-ranks/1", "diff", &jsondoc.Overview{}},
	{"diff recorded.efg faulty.efg --json", "efg-diff-runs/1", "diff", &jsondoc.RunsDiff{}},
	{"fleet recorded.efg faulty.efg --json", "efg-fleet/1", "fleet", &jsondoc.Fleet{}},
	{"graph recorded.efg --format json", "efg-graph/1", "graph report", &jsondoc.Graph{}},
	{"graph recorded.efg --format json --collapse", "efg-graph/1", "graph report", &jsondoc.Graph{}},
	{"where stuck --json", "efg-where/1", "where", &live.JobState{}},
	{"top stuck --json --interval 20ms", "efg-top/1", "daemon", &live.Frame{}},
	{"runs --store . --json", "efg-runs/1", "daemon", &jsondoc.RunList{}},
	{"reconstruct recorded.efg", "", "jsonl", nil},
	{"reconstruct stuck.efg", "", "jsonl", nil},
	{"query recorded.efg SELECT|MESSAGES", "", "query jsonl", nil},
	{"query recorded.efg SELECT|SENDS", "", "query jsonl", nil},
	{"query recorded.efg SELECT|TOPOLOGY", "", "query", nil},
	{"sql recorded.efg --format json select|*|from|nodes", "", "sql", nil},
	{"sql recorded.efg --format json select|*|from|edges", "", "sql", nil},
	{"sql recorded.efg --format json select|*|from|events|limit|500", "", "sql", nil},
	{"sql recorded.efg --format json select|*|from|ranks", "", "sql", nil},
	{"sql recorded.efg --format json select|*|from|communicators", "", "sql", nil},
}

// TestJSON compares what commands write for other programs with the pages that describe it: the
// name and version of the schema, and each field, including those that happen to be absent.
func TestJSON(t *testing.T) {
	docs, err := filepath.Abs(filepath.Join("..", "..", "docs"))
	if err != nil {
		t.Fatal(err)
	}
	listed := codeWords(t, docs, "formats")
	recordForms(t)
	for _, form := range jsonForms {
		t.Run(strings.ReplaceAll(form.command, "/", "-"), func(t *testing.T) {
			args := strings.Split(form.command, " ")
			for i := range args {
				args[i] = strings.ReplaceAll(args[i], "|", " ")
			}
			out, errOut, status := efgRun(t, nil, args...)
			if status > 1 && status != statusHangs || errOut != "" {
				t.Fatalf("status %d, %s", status, errOut)
			}
			fields := map[string]bool{}
			form.read(t, out, fields)
			documented := codeWords(t, docs, form.pages)
			for _, f := range slices.Sorted(maps.Keys(fields)) {
				if !documented[f] {
					t.Errorf("no word of the field %q in %s.md", f, form.pages)
				}
			}
			if form.schema != "" && !(documented[form.schema] && listed[form.schema]) {
				t.Errorf("no word of %q in %s.md, or formats.md", form.schema, form.pages)
			}
		})
	}
}

// recordForms records the runs for the commands.
func recordForms(t *testing.T) {
	t.Helper()
	testdata := filepath.Join("..", "..", "..", "testdata", "c")
	loops, faults := compileMPI(t, mpis[1], filepath.Join(testdata, "loops.c")), compileMPI(t, mpis[1], filepath.Join(testdata, "faults.c"))
	stuck := compileMPI(t, mpis[1], filepath.Join(testdata, "stuck.c"))
	t.Chdir(t.TempDir())
	launch := []string{"--", "timeout", "600", "mpiexec.mpich", "-n", "4"}
	for _, line := range [][]string{
		slices.Concat([]string{"run", "--time", "trace", "--counters", "page-faults,task-clock", "-o", "recorded.efg"}, launch, []string{loops}),
		slices.Concat([]string{"run", "--time", "trace", "-o", "faulty.efg"}, launch, []string{faults, "lost"}),
	} {
		if out, errOut, status := efgRun(t, nil, line...); status != 0 {
			t.Fatalf("%q: status %d, %s%s", line, status, out, errOut)
		}
	}
	if err := os.Mkdir("stuck", 0o755); err != nil {
		t.Fatal(err)
	}
	hangIn(t, "stuck", "mpiexec.mpich", "-n", "4", stuck, "pair")
	segments, err := live.Segments("stuck")
	if err != nil {
		t.Fatal(err)
	}
	if out, errOut, status := efgRun(t, nil, append([]string{"merge", "-o", "stuck.efg"}, segments...)...); status != 0 {
		t.Fatalf("status %d, %s%s", status, out, errOut)
	}
}

// read collects the fields of objects, checks their schema, and that they have no fields
// besides those of their type.
func (form *jsonForm) read(t *testing.T, out string, fields map[string]bool) {
	t.Helper()
	objects := 0
	for d := json.NewDecoder(strings.NewReader(out)); ; objects++ {
		var raw json.RawMessage
		err := d.Decode(&raw)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		var object map[string]any
		if err := json.Unmarshal(raw, &object); err != nil {
			t.Fatal(err)
		}
		if got, _ := object["schema"].(string); got != form.schema {
			t.Errorf("schema %q, want %q", got, form.schema)
		}
		collectFields(object, fields)
		if form.into == nil {
			continue
		}
		strict := json.NewDecoder(bytes.NewReader(raw))
		strict.DisallowUnknownFields()
		if err := strict.Decode(form.into); err != nil {
			t.Error(err)
		}
		collectTags(reflect.TypeOf(form.into), fields, map[reflect.Type]bool{})
	}
	if objects == 0 {
		t.Error("no object")
	}
}

// callFields are members whose names are those of the MPI standard.
var callFields = map[string]bool{"args": true, "out": true}

// collectFields collects the names of members, and of members of these.
func collectFields(v any, fields map[string]bool) {
	switch v := v.(type) {
	case map[string]any:
		for k, member := range v {
			fields[k] = true
			if !callFields[k] {
				collectFields(member, fields)
			}
		}
	case []any:
		for _, e := range v {
			collectFields(e, fields)
		}
	}
}

// collectTags collects the names that a type has in JSON.
func collectTags(t reflect.Type, fields map[string]bool, seen map[reflect.Type]bool) {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		collectTags(t.Elem(), fields, seen)
	case reflect.Struct:
		if seen[t] || t.PkgPath() == "time" {
			return
		}
		seen[t] = true
		for i := range t.NumField() {
			f := t.Field(i)
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if name == "-" || !f.IsExported() && !f.Anonymous {
				continue
			}
			if name != "" {
				fields[name] = true
			}
			collectTags(f.Type, fields, seen)
		}
	}
}

var (
	code  = regexp.MustCompile("`[^`\n]+`")
	words = regexp.MustCompile(`efg-[a-z-]+/[0-9]+|[A-Za-z_][A-Za-z_0-9]*`)
)

// codeWords are the words in code of pages of docs.
func codeWords(t *testing.T, docs, pages string) map[string]bool {
	t.Helper()
	found := map[string]bool{}
	for _, page := range strings.Fields(pages) {
		text, err := os.ReadFile(filepath.Join(docs, page+".md"))
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range code.FindAllString(string(text), -1) {
			for _, w := range words.FindAllString(c, -1) {
				found[w] = true
			}
		}
	}
	return found
}
