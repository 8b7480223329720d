package text

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/efg/seq"
)

// fixtures are texts of recorded programs, one at each name.
func fixtures(tb testing.TB) map[string]string {
	tb.Helper()
	paths, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(paths) < 5 {
		tb.Fatalf("%v: %v", paths, err)
	}
	texts := map[string]string{}
	for _, path := range paths {
		b, err := os.ReadFile(path)
		if err != nil {
			tb.Fatal(err)
		}
		texts[filepath.Base(path)] = string(b)
	}
	return texts
}

// assemble returns the run file of a text.
func assemble(tb testing.TB, name, text string) []byte {
	tb.Helper()
	f, err := Parse(name, strings.NewReader(text))
	if err != nil {
		tb.Fatal(err)
	}
	var b bytes.Buffer
	if err := runfile.EncodeRun(&b, f.Procs, f.Meta); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

func open(tb testing.TB, data []byte) *runfile.Run {
	tb.Helper()
	r, err := runfile.NewRun(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		tb.Fatal(err)
	}
	return r
}

func dump(tb testing.TB, r *runfile.Run) string {
	tb.Helper()
	var b strings.Builder
	if err := Dump(&b, r); err != nil {
		tb.Fatal(err)
	}
	return b.String()
}

// The texts yield valid files with the recorded events; these yield the texts, which yield the
// same bytes again.
func TestRecordedPrograms(t *testing.T) {
	for name, text := range fixtures(t) {
		data := assemble(t, name, text)
		r := open(t, data)
		if err := runfile.Validate(r); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for i := range r.Procs {
			p, err := r.Process(i)
			if err != nil {
				t.Fatal(err)
			}
			for j := range p.Streams {
				if err := p.Streams[j].Verify(p.Defs); err != nil {
					t.Errorf("%s: rank %d: %v", name, p.Rank, err)
				}
			}
		}
		again := dump(t, r)
		if again != text {
			t.Errorf("%s: the text of its file differs: %s", name, firstDifference(again, text))
		}
	}
}

func firstDifference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			return g[i] + "\nwant\n" + w[i]
		}
	}
	return "one is longer"
}

// Files of many processes have sums in place of hashes, and the symbols of long sequences are
// unchanged.
func TestManyProcessesAndLongSequences(t *testing.T) {
	sizes := map[string]int{"exact": 3, "sums": 300}
	for name, size := range sizes {
		var procs []*efg.Process
		for rank := range size {
			procs = append(procs, longProcess(rank, size, rank%2 == 0 && rank < 4))
		}
		var b bytes.Buffer
		if err := runfile.EncodeRun(&b, procs, runfile.Meta{Tool: "test", Time: "off"}); err != nil {
			t.Fatal(err)
		}
		text := dump(t, open(t, b.Bytes()))
		if strings.Contains(text, " sum ") != (name == "sums") || !strings.Contains(text, "tokens") || !strings.Contains(text, "marks") {
			t.Errorf("%s: %.2000s", name, text)
		}
		if !bytes.Equal(assemble(t, name, text), b.Bytes()) {
			t.Errorf("%s: other bytes", name)
		}
	}
}

// longProcess is a process of a loop whose argument varies between ids and constants, a few
// million times if long is set.
func longProcess(rank, size int, long bool) *efg.Process {
	n := uint64(1000)
	if long {
		n = 5 << 20
	}
	values := seq.NewWriter(false)
	for i := range n {
		values.Push([]uint64{1 << 63, 5, 1<<62 | 1<<24}[i%3])
	}
	s := efg.Stream{Events: n, Hash: uint64(rank + 1), End: efg.EndFinalized}
	s.Nodes = []efg.Node{{
		Words: []uint64{4<<24 | 0xffff, 7, 0, 0}, Mask: 8, Attrs: []efg.Attr{{Values: values.Seq()}},
		Edges: []efg.Edge{{To: 0, Weight: n - 1, Count: n - 1, Fixed: 1}},
	}}
	return &efg.Process{Rank: rank, Size: size, World: 1, Start: int64(1000 + rank), Streams: []efg.Stream{s}}
}

// Sequences that do not fold are in parts, in the file and in the text.
func TestSequencesInParts(t *testing.T) {
	p := longProcess(0, 1, false)
	values, x := seq.NewWriter(false), uint64(1)
	n := uint64(200_000)
	for range n {
		x = x*6364136223846793005 + 1442695040888963407
		values.Push([]uint64{1 << 63, 1<<62 | 1<<24 | x>>61, x >> 50}[x>>40%3])
	}
	s := &p.Streams[0]
	s.Events, s.Nodes[0].Attrs[0].Values = n, values.Seq()
	s.Nodes[0].Edges[0].Weight, s.Nodes[0].Edges[0].Count = n-1, n-1
	var b bytes.Buffer
	if err := runfile.EncodeRun(&b, []*efg.Process{p}, runfile.Meta{}); err != nil {
		t.Fatal(err)
	}
	text := dump(t, open(t, b.Bytes()))
	if strings.Count(text, "    part ") < 3 {
		t.Errorf("not in parts: %.1000s", text)
	}
	if !bytes.Equal(assemble(t, "parts", text), b.Bytes()) {
		t.Error("other bytes")
	}
}

// The times of each event are preserved, also those of long streams, which are in parts.
func TestTraceInParts(t *testing.T) {
	defs := &efg.Definitions{}
	b := efg.NewBuilder(0, efg.DefaultDemote, defs)
	const events = 300_000
	for i := range uint64(events) {
		words := []uint64{4<<24 | 0xffff, 7 + i*i%7, 0, i % 5}
		if err := b.Add(efg.Input{Words: words}); err != nil {
			t.Fatal(err)
		}
	}
	s, err := b.Stream()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.AddCheckpoints(defs.List, events/3); err != nil {
		t.Fatal(err)
	}
	s.Trace = &efg.Trace{Begin: 1 << 40}
	for i := range s.Nodes {
		s.Nodes[i].Times = &efg.Times{}
	}
	x := uint64(1)
	for w := s.Walk(defs.List); w.Next(); {
		x = x*6364136223846793005 + 1442695040888963407
		s.Nodes[w.Node()].Times.Gap.Append(x >> 54)
		s.Nodes[w.Node()].Times.Dur.Append(x >> 24 & 0xfffff)
	}
	if err := s.Quantize(100, efg.DefaultBound); err != nil {
		t.Fatal(err)
	}
	cut := *s
	endTimes(t, &cut, defs.List, s.Events*2/3)
	cut.Thread = 1
	anchors := []efg.Anchor{{Tick: 7, Mono: 99, Real: 94, Width: 3}, {Tick: 1 << 41, Mono: 1 << 40, Real: 1<<40 - 2, Width: 4}}
	p := &efg.Process{Size: 1, Mono: -5, Start: 9, Anchors: anchors, Host: "h", Defs: defs.List, Streams: []efg.Stream{*s, cut}}
	var data bytes.Buffer
	if err := runfile.EncodeRun(&data, []*efg.Process{p}, runfile.Meta{Time: "trace"}); err != nil {
		t.Fatal(err)
	}
	text := dump(t, open(t, data.Bytes()))
	for _, part := range []string{" mono -5\n", " anchor 7 99 94 3\n", "  trace error 100 bound 1000 begin 1099511627776\n", "  trace error 100 bound 1000 begin 1099511627776 untimed ", "marks"} {
		if !strings.Contains(text, part) {
			t.Errorf("without %q: %.1000s", part, text)
		}
	}
	if !bytes.Equal(assemble(t, "trace", text), data.Bytes()) {
		t.Error("other bytes")
	}
}

// endTimes takes the times of all but the first n events of a stream away.
func endTimes(t *testing.T, s *efg.Stream, defs []efg.Def, n uint64) {
	t.Helper()
	visits := make([]uint64, len(s.Nodes))
	w := s.Walk(defs)
	for range n {
		w.Next()
		visits[w.Node()]++
	}
	s.Nodes = slices.Clone(s.Nodes)
	for i := range s.Nodes {
		times, err := s.Nodes[i].Times.Prefix(visits[i])
		if err != nil {
			t.Fatal(err)
		}
		s.Nodes[i].Times = times
	}
	trace := *s.Trace
	trace.Untimed = s.Events - n
	s.Trace = &trace
}

// Errors are reported with their position.
func TestErrors(t *testing.T) {
	good := "efg-text 1\nmeta status 3\nsite 0x5 \"a.c:1\" \"f\"\nprocess 0 of 2 world 1 pid 3 start 4\n host \"h\"\n" +
		" def 0 string \"x\"\n thread 0 exit events 2 dropped 0 hash 0x1\n" +
		"  node 0 MPI_Init site=0 w2=0\n   edge 1 weight 1\n  node 1 MPI_Barrier site=1 comm=MPI_COMM_WORLD\n"
	if _, err := Parse("t", strings.NewReader(good)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ from, to, want string }{
		{good, "", "t:1:1: not a dump of a run file"},
		{"efg-text 1", "efg-text 2", "t:1:1: not a dump of a run file"},
		{"status 3", "status x", `t:2:13: "x" is no value`},
		{"meta status", "meta staatus", `t:2:6: "staatus" is no metadata`},
		{"status 3", "status 3 4", `t:2:15: "4" after the end`},
		{`"a.c:1" "f"`, `"a.c:1" f`, "t:3:18: want a function in quotation marks"},
		{`"a.c:1" "f"`, `"a.c:1" "f`, "t:3:18: a string without its second quotation mark"},
		{"process 0", "process -2", "t:4:9: rank -2"},
		{"of 2 world 1", "of 2", `t:4:16: "pid" in place of world`},
		{"start 4", "start", "t:4:35: the line ends before start"},
		{"process 0 of 2 world 1 pid 3 start 4\n", "\n", "t:5:2: no process before this line"},
		{"def 0 string", "def 1 string", "t:6:6: definition 1: the next one is 0"},
		{"def 0 string", "def 0 strong", `t:6:8: "strong" is no kind of a definition`},
		{"0 exit", "0 gone", `t:7:11: "gone": a thread ends in one of`},
		{"MPI_Barrier", "MPI_Barriere", `t:10:10: no MPI procedure "MPI_Barriere"`},
		{"comm=MPI_COMM_WORLD", "comm=MPI_COMM_WURLD", `t:10:29: "MPI_COMM_WURLD" is no number, constant, definition or id`},
		{"comm=MPI_COMM_WORLD", "com=MPI_COMM_WORLD", `t:10:29: "com=MPI_COMM_WORLD": want comm=`},
		{"site=1 comm=MPI_COMM_WORLD", "site=1", "t:10:28: the line ends before comm="},
		{"comm=MPI_COMM_WORLD", "comm=d1", "t:10:29: d1: there are 1 definitions so far"},
		{"edge 1 weight 1", "edge 2 weight 1", "t:8:1: node 0: edge 0 to node 2"},
		{"edge 1 weight 1", "edge 1 weight 1 count", "t:9:25: the line ends before count"},
		{"events 2", "events 3", "t:7:1: node -1: 3 events"},
		{"edge 1 weight 1\n", "edge 1 weight 1\n runs 2\n : 0 x\n", `t:11:6: "x" is no number`},
		{"edge 1 weight 1\n", "edge 1 weight 1\n runs 2\n : 0 <0:1>\n", `t:11:6: "<0:1>": want <LEVEL:DISTANCExLENGTH>`},
		{"edge 1 weight 1\n", "edge 1 weight 1\n runs 2\n : 0 <0:5000x>\n", "t:10:1: broken sequence: repeat of level 0 and distance 5000"},
		{"edge 1 weight 1\n", "edge 1 weight 1\n runs 9\n : 0 <0:5x>\n", "t:10:1: broken sequence: repeat before the start"},
		{"edge 1 weight 1\n", "edge 1 weight 1\n times 1 dur 1 2 3 40:1 gap 0 0 0 -\n", `t:10:20: "40:1": want BIN:EVENTS`},
		{"edge 1 weight 1\n", "edge 1 weight 1\n attr comm 3\n", "t:10:7: comm: no word of this kind left"},
		{"  node 0", "  trace error 5 bound 9 begin 1\n  node 0", "t:8:23: error of 5 parts of 10000"},
		{"  node 0", "  trace error 500 bound 9 begin 1\n  node 0", "t:9:1: node 0: broken times: not of all 1 events"},
		{"edge 1 weight 1\n", "edge 1 weight 1\n trace error 500 bound 9 begin 1\n", "t:10:2: no thread without nodes before this line"},
		{"edge 1 weight 1\n", "edge 1 weight 1\n gap/dur 5/5\n", "t:10:2: no node of a thread with a trace before this line"},
		{"  node 0 MPI_Init site=0 w2=0\n", "  trace error 500 bound 9 begin 1\n  node 0 MPI_Init site=0 w2=0\n gap/dur -5/999\n", `t:10:10: "-5/999": want GAP/DURATION`},
		{"  node 0 MPI_Init site=0 w2=0\n", "  trace error 500 bound 9 begin 1\n  node 0 MPI_Init site=0 w2=0\n gap/dur 5\n", `t:10:10: "5": want GAP/DURATION`},
		{" host \"h\"\n", " host \"h\"\n anchor 1 2 3\n", `t:6:13: "1 2 3": want TICK MONO REAL WIDTH`},
		{"  node 0 MPI_Init site=0 w2=0\n", "  trace error 500 bound 9 begin 1\n  node 0 MPI_Init site=0 w2=0\n gap/dur 5/5x\n", `t:10:10: "5/5x": want GAP/DURATION`},
		{"comm=MPI_COMM_WORLD\n", "comm=MPI_COMM_WORLD\n  entered MPI_Barrier site=1 comm=0\n", `t:11:11: "MPI_Barrier" in place of since`},
		{"comm=MPI_COMM_WORLD\n", "comm=MPI_COMM_WORLD\n  entered since 3 MPI_Barrier site=1 comm=*\n", "t:11:38: a call in progress has no word that is open"},
		{"comm=MPI_COMM_WORLD\n", "comm=MPI_COMM_WORLD\n  entered since 3 MPI_Barrier site=1\n", "t:11:37: the line ends before comm="},
		{"comm=MPI_COMM_WORLD\n", "comm=MPI_COMM_WORLD\n  entered since 3 0x3080057 site=1 comm=1\n", "t:7:1: node -1: call in progress"},
		{"comm=MPI_COMM_WORLD\n", "comm=MPI_COMM_WORLD\n" + strings.Repeat("  entered since 3 MPI_Barrier site=1 comm=0\n", 2), "t:12:3: the thread is in a call already"},
		{"  node 0", "  entered since 3 MPI_Barrier site=1 comm=0\n  edge 0 weight 1\n  node 0", "t:9:3: no node before this line"},
		{"edge 1", "egde 1", `t:9:4: "egde" is no kind of line`},
		{"edge 1", ": 1", "t:9:4: no sequence before this line"},
	} {
		bad := strings.Replace(good, c.from, c.to, 1)
		_, err := Parse("t", strings.NewReader(bad))
		var place *Error
		if !errors.As(err, &place) || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%q: %v, want %s", c.to, err, c.want)
		}
	}
}

// Words, tokens and numbers are preserved.
func TestWordsAndTokens(t *testing.T) {
	w := newWords()
	w.add(efg.Def{Kind: efg.DefComm, Word: 0x2badcafe01 << 24})
	w.add(efg.Def{Kind: efg.DefString, Word: 0x1234567890abcdef >> 2})
	for _, v := range []uint64{
		0, 1, 1<<64 - 1, 1<<63 - 1, 1 << 63, 1<<63 | 5, 1<<63 | 1<<61, 1<<62 | 3<<50 | 4<<24 | 5, 1<<63 - 2, 3 << 62, 1 << 53, 1<<61 + 3,
		0x2badcafe01 << 24, 0x2badcafe01<<24 | 77, 0x1234567890abcdef >> 2, 0x1234567890abcdef,
	} {
		if got, err := w.parse(w.text(v)); err != nil || got != v {
			t.Errorf("%#x: %q: %#x, %v", v, w.text(v), got, err)
		}
		for kind := range uint64(8) {
			token := v<<3 | kind
			if got, err := parseToken(tokenText(token)); err != nil || got != token {
				t.Errorf("token %#x: %q: %#x, %v", token, tokenText(token), got, err)
			}
		}
	}
}

// The page shows the content of a text.
func TestPageShowsAText(t *testing.T) {
	page, err := os.ReadFile("../../docs/text.md")
	if err != nil {
		t.Fatal(err)
	}
	_, example, _ := strings.Cut(string(page), "\n    process ")
	example, _, _ = strings.Cut("    process "+example, "\n\n")
	rest := fixtures(t)["farm.txt"]
	for line := range strings.Lines(example) {
		line = strings.TrimRight(strings.TrimPrefix(line, "    "), "\n")
		if strings.TrimSpace(line) == "…" {
			continue
		}
		_, after, ok := strings.Cut(rest, "\n"+line+"\n")
		if !ok {
			t.Fatalf("the text has no line %q here", line)
		}
		rest = "\n" + after
	}
}
