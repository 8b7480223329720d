package gxl

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/efg/text"
	"github.com/efg-tools/efg/internal/export"
	"github.com/efg-tools/efg/internal/testing/sim"
	"github.com/efg-tools/efg/internal/testing/testrun"
	"github.com/efg-tools/efg/reconstruct"
	"github.com/efg-tools/efg/signature"
)

// all selects the whole run.
func all(r *runfile.Run) export.Selection {
	sel := export.Selection{Thread: -1}
	for i := range r.Procs {
		sel.Procs = append(sel.Procs, i)
	}
	return sel
}

func write(tb testing.TB, r *runfile.Run, sel export.Selection) string {
	tb.Helper()
	var b strings.Builder
	if err := Write(&b, r, sel, nil); err != nil {
		tb.Fatal(err)
	}
	return b.String()
}

func read(doc string) (*export.Run, error) {
	run := &export.Run{}
	return run, Read("doc", strings.NewReader(doc), run.Add, nil)
}

// again is the run file made from a document.
func again(tb testing.TB, doc string) []byte {
	tb.Helper()
	run, err := read(doc)
	if err != nil {
		tb.Fatal(err)
	}
	return testrun.Encode(tb, run.Procs, run.Meta)
}

// Documents of recorded programs are valid GXL, instances of the metamodel that they hold, and
// yield the same bytes again.
func TestRecordedPrograms(t *testing.T) {
	for name, data := range testrun.Texts(t, "../../../efg/text/testdata") {
		t.Run(name, func(t *testing.T) {
			r := testrun.Decode(t, data)
			doc := write(t, r, all(r))
			root := parseTree(t, doc)
			validate(t, root)
			conform(t, root)
			if !bytes.Equal(again(t, doc), data) {
				t.Error("the document makes another file")
			}
		})
	}
}

// Simulated runs come back, too, with sums in place of hashes if there are many processes.
func TestSimulatedPrograms(t *testing.T) {
	for _, c := range []sim.Config{
		{Program: "halo", Ranks: 8, Steps: 5, Stats: true},
		{Program: "mesh", Ranks: 4, Steps: 20, Seed: 3},
		{Program: "farm", Ranks: 5, Steps: 9, Seed: 4},
		{Program: "random", Ranks: 3, Steps: 300, Seed: 5, Stats: true},
		{Program: "halo", Ranks: 300, Steps: 1, Null: true},
	} {
		t.Run(fmt.Sprintf("%s %d", c.Program, c.Ranks), func(t *testing.T) {
			data := testrun.SimulatedFile(t, c)
			r := testrun.Decode(t, data)
			doc := write(t, r, all(r))
			if c.Ranks < 100 {
				root := parseTree(t, doc)
				validate(t, root)
				conform(t, root)
			}
			if !bytes.Equal(again(t, doc), data) {
				t.Error("the document makes another file")
			}
		})
	}
}

// lines are the events of a process as JSON Lines, with the numbers of events
// counted from 0.
func lines(tb testing.TB, r *runfile.Run, i int, from, to uint64) []string {
	tb.Helper()
	run, err := reconstruct.NewRun(r)
	if err != nil {
		tb.Fatal(err)
	}
	p, err := run.Process(i)
	if err != nil {
		tb.Fatal(err)
	}
	var out []string
	for j := range p.Streams() {
		for e, err := range p.Events(j, reconstruct.Options{From: from, To: to}) {
			if err != nil {
				tb.Fatal(err)
			}
			e.Seq -= from
			out = append(out, string(e.AppendJSON(nil)))
			e.Seq += from
		}
	}
	return out
}

var (
	requestName = regexp.MustCompile(`"(?:req|msg|info|errhandler|keyval|session):[0-9:.]+"`)
	issued      = regexp.MustCompile(`"request":"(req:[0-9:.]+)"`)
	results     = regexp.MustCompile(`"out":\{.*\},"site"`)
)

// renamed names requests in the order in which they are issued, and those that were issued
// earlier "?". It removes the results of events that complete one of the latter.
func renamed(list []string) []string {
	names := map[string]string{}
	out := make([]string, len(list))
	for i, line := range list {
		op, _, _ := strings.Cut(line[strings.Index(line, `"op":"`)+6:], `"`)
		if p := signature.ProcByName(op); p != nil && p.Issues != "" {
			if m := issued.FindStringSubmatch(line); m != nil {
				names[`"`+m[1]+`"`] = fmt.Sprintf(`"req %d"`, i)
			}
		}
		line = requestName.ReplaceAllStringFunc(line, func(s string) string {
			if n, ok := names[s]; ok {
				return n
			}
			return `"?"`
		})
		if strings.Contains(line, `"?"`) {
			line = results.ReplaceAllString(line, `"site"`)
		}
		out[i] = line
	}
	return out
}

// sameNames demands that operations and requests of a window have the names of the whole
// document, and that what a call completes is the same: by an edge or, if it lies before the
// window, by name.
func sameNames(t *testing.T, window, whole *element, from uint64) {
	t.Helper()
	inWhole := operations(whole)
	for name, got := range operations(window) {
		want := inWhole[name]
		if want == nil || got.request != want.request || len(got.completes)+len(got.requests) != len(want.completes)+len(want.requests) {
			t.Errorf("from %d: %s: %+v, in the whole %+v", from, name, got, want)
			continue
		}
		for _, c := range got.completes {
			if !slices.Contains(want.completes, c) {
				t.Errorf("from %d: %s completes %s, in the whole %q", from, name, c, want.completes)
			}
		}
		for _, q := range got.requests {
			if !slices.ContainsFunc(want.completes, func(c string) bool { return inWhole[c].request == q || inWhole[c].request == "" }) && !slices.Contains(want.requests, q) {
				t.Errorf("from %d: %s completes %s, in the whole %q", from, name, q, want.completes)
			}
		}
	}
}

// shownAs is what a document says about an operation: its request, and the operations, or
// requests, that it completes.
type shownAs struct {
	request             string
	completes, requests []string
}

// operations are those of a document, by TraceableUnitID.
func operations(root *element) map[string]*shownAs {
	names, found := map[string]string{}, map[string]*shownAs{}
	trace := root.children[1]
	for _, n := range trace.children {
		id := n.attr("TraceableUnitID")
		if n.name != "node" || id == nil || n.attr("MPOperationName") == nil {
			continue
		}
		o := &shownAs{}
		names[n.attrs["id"]] = id.text
		found[id.text] = o
		if q := n.attr("Request"); q != nil {
			o.request = q.text
		}
		if q := n.attr("Requests"); q != nil {
			for _, name := range q.children {
				o.requests = append(o.requests, name.text)
			}
		}
	}
	for _, e := range trace.children {
		if class := e.kind(); e.name == "edge" && (class == "waitsFor" || class == "tests") {
			o := found[names[e.attrs["from"]]]
			o.completes = append(o.completes, names[e.attrs["to"]])
		}
	}
	return found
}

// Windows hold the events between two numbers, with their original times; after an import their
// requests have other names.
func TestWindows(t *testing.T) {
	for name, data := range testrun.Texts(t, "../../../efg/text/testdata") {
		if name == "threads" {
			continue // threads wait for each other's requests
		}
		r := testrun.Decode(t, data)
		for _, w := range [][2]uint64{{0, 5}, {3, 40}, {17, 60}, {30, 0}, {1 << 40, 0}} {
			sel := all(r)
			sel.From, sel.To = w[0], w[1]
			doc := write(t, r, sel)
			root := parseTree(t, doc)
			validate(t, root)
			conform(t, root)
			sameNames(t, root, parseTree(t, write(t, r, all(r))), w[0])
			window := testrun.Decode(t, again(t, doc))
			if err := runfile.Validate(window); err != nil {
				t.Errorf("%s %v: %v", name, w, err)
			}
			for i := range r.Procs {
				got, want := renamed(lines(t, window, i, 0, 0)), renamed(lines(t, r, i, w[0], w[1]))
				if len(got) != len(want) {
					t.Fatalf("%s %v: rank %d: %d events, want %d", name, w, i, len(got), len(want))
				}
				for k := range got {
					if got[k] != want[k] {
						t.Fatalf("%s %v: rank %d: event %d\n%swant\n%s", name, w, i, k, got[k], want[k])
					}
				}
			}
		}
	}
}

// Ranks and threads can be selected.
func TestSelection(t *testing.T) {
	r := testrun.Decode(t, testrun.Texts(t, "../../../efg/text/testdata")["threads"])
	sel := all(r)
	sel.Procs, sel.Thread = []int{1}, 0
	part := testrun.Decode(t, again(t, write(t, r, sel)))
	if len(part.Procs) != 1 || len(part.Procs[0].Streams) != 1 || part.Procs[0].Rank != 1 {
		t.Fatalf("%+v", part.Procs)
	}
	if got, want := part.Procs[0].Streams[0].Events, r.Procs[1].Streams[0].Events; got != want {
		t.Errorf("%d events, want %d", got, want)
	}
}

// Errors are reported with their position.
func TestErrors(t *testing.T) {
	r := testrun.Decode(t, testrun.Texts(t, "../../../efg/text/testdata")["fail"])
	sel := all(r)
	sel.Procs = sel.Procs[:1]
	good := write(t, r, sel)
	again(t, good)
	for _, c := range []struct{ from, to, want string }{
		{good, "", "not GXL: the document is empty"},
		{good, "<html></html>", `not GXL: the document is a "html"`},
		{good, "<gxl></gxl>", "no processes"},
		{"</gxl>", "", "not XML: unexpected EOF"},
		{"</node>", "</nodes>", "not XML: element <node> closed by </nodes>"},
		{`"efg.version"><int>1<`, `"efg.version"><int>7<`, "written by a newer version of efg: form 7"},
		{`"kind"><string>module<`, `"kind"><string>modul<`, `"modul" is no kind of a definition`},
		{`<attr name="rank"><int>0`, `<attr name="rank"><int>x`, `attribute rank: "x" is not an integer`},
		{`<attr name="rank"><int>0</int>`, `<attr name="rank"><bool>x</bool>`, `attribute rank: "bool" in place of int`},
		{`<attr name="word"><string>0x`, `<attr name="word"><string>x`, "is not a number of 64 bits"},
		{`<attr name="word">`, `<attr name="wurd">`, "no attribute word"},
		{`<attr name="hash"><string>0x`, `<attr name="hash"><string>0x1`, "is not a number of 64 bits"},
		{`<string>MPI_COMM_WORLD</string>`, `<string>MPI_COMM_WURLD</string>`, ""},
		{`#efg.Process"`, `#efg.Procass"`, "nothing before"},
		{`"efg.signature"><string>0.0.1<`, `"efg.signature"><string>0.0.2<`, "event 1: no node 2"},
		{`"efg.signature"><string>0.0.1<`, `"efg.signature"><string>0.1<`, "is no signature"},
		{`"efg.signature"><string>0.0.1<`, `"efg.signature"><string>0.7.1<`, "is not one of the process"},
		{`"efg.signature"`, `"other.signature"`, "event 0: node 1"},
		{`"end"><string>`, `"end"><string>gone`, "is no end of a thread"},
		{`\x00`, `\q`, "has wrong escapes"},
	} {
		bad := strings.Replace(good, c.from, c.to, 1)
		_, err := read(bad)
		var place *text.Error
		if bad == good || c.want != "" && (!errors.As(err, &place) || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n")) {
			t.Errorf("%q for %q: %v, want %s", c.to, c.from, err, c.want)
		}
	}
}

// endless is an endless document.
type endless struct{ s string }

func (e endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = e.s[i%len(e.s)]
	}
	return len(p), nil
}

// Endless documents are rejected, whatever they contain.
func TestEndlessDocuments(t *testing.T) {
	for _, s := range []string{"<", "<a>", "x", "<!--", "<a ", "&"} {
		if err := Read("doc", endless{s}, new(export.Run).Add, nil); err == nil {
			t.Errorf("%q", s)
		}
	}
}
