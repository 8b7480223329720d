package runfile

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"fmt"
	"io"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/block"
	"github.com/efg-tools/efg/signature"
)

// otherReader is testdata/reader, a reader in another language that was written from FORMAT.md. It runs until the tests
// end, because it takes seconds to learn from the examples of mixed blocks.
type otherReader struct {
	mu     sync.Mutex
	cmd    *exec.Cmd
	names  io.Writer
	shown  *bufio.Scanner
	failed bytes.Buffer // what it says when it fails
}

var startReader = sync.OnceValues(func() (*otherReader, error) {
	r := &otherReader{cmd: exec.Command("python3", "-B", "testdata/reader/read.py")}
	r.cmd.Stderr = &r.failed
	in, err := r.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := r.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	r.names, r.shown = in, bufio.NewScanner(out)
	r.shown.Buffer(nil, 1<<24)
	if err := r.cmd.Start(); err != nil {
		return nil, err
	}
	var schema strings.Builder
	for _, p := range signature.Procs() {
		fmt.Fprintf(&schema, "%d ", p.ID)
		for i := signature.FirstWord; i < len(p.Words); i++ {
			schema.WriteByte("sivl"[p.Words[i].Form])
		}
		schema.WriteByte('\n')
	}
	_, err = fmt.Fprintln(in, schema.String())
	return r, err
})

// independently returns what the other reader shows of a run file.
func independently(t *testing.T, data []byte) string {
	t.Helper()
	r, err := startReader()
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "run.efg")
	if err := os.WriteFile(name, data, 0o600); err != nil {
		t.Fatal(err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, err := fmt.Fprintln(r.names, name); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for r.shown.Scan() {
		if r.shown.Text() == "." {
			return b.String()
		}
		b.WriteString(r.shown.Text() + "\n")
	}
	t.Fatalf("%v, %v: %s", r.shown.Err(), r.cmd.Wait(), r.failed.String())
	return ""
}

// shown is what the independent reader should print.
func shown(t *testing.T, data []byte) string {
	t.Helper()
	r, err := NewRun(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	sites, err := r.StoredSites()
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(sites, func(a, b Site) int { return int(min(max(int64(a.Word)-int64(b.Word), -1), 1)) })
	for _, s := range sites {
		fmt.Fprintf(&b, "site %x '%s' '%s'\n", s.Word, s.Place, s.Func)
	}
	for i, info := range r.Procs {
		p, err := r.Process(i)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "process %d of %d in %d: pid %d, start %d, '%s' '%s' '%s'\n", p.Rank, p.Size, p.World, p.PID, p.Start,
			p.Host, p.MPI, strings.Join(p.Command, `\x00`))
		if a := p.Anchors; len(a) > 0 {
			fmt.Fprintf(&b, "anchors ((%d, %d, %d, %d), (%d, %d, %d, %d))\n", a[0].Tick, a[0].Mono, a[0].Real, a[0].Width,
				a[1].Tick, a[1].Mono, a[1].Real, a[1].Width)
		}
		if p.Gone != 0 {
			fmt.Fprintf(&b, "gone after %d ns\n", p.Gone)
		}
		for _, d := range p.Defs {
			fmt.Fprintf(&b, "definition %d %x %x %s\n", d.Kind, d.Word, d.Words, hex.EncodeToString(d.Data))
		}
		showStates(&b, p.Counters)
		for j := range p.Streams {
			s := &p.Streams[j]
			fmt.Fprintf(&b, "thread %d: end %d, %d events, %d dropped, %d words\n", s.Thread, s.End, s.Events, s.Dropped, info.Streams[j].Words)
			if r.exact {
				fmt.Fprintf(&b, "hash %x\n", s.Hash)
			}
			for _, c := range s.Pending.Calls() {
				fmt.Fprintf(&b, "in call since %d: %s\n", c.Since, strings.Trim(fmt.Sprintf("%x", c.Words), "[]"))
			}
			showStream(t, &b, s, p.Defs)
		}
	}
	return b.String()
}

func showStream(t *testing.T, b *strings.Builder, s *efg.Stream, defs []efg.Def) {
	t.Helper()
	w := s.Walk(defs)
	for w.Next() {
		b.WriteString(strings.Trim(fmt.Sprintf("%x", w.Words()), "[]") + "\n")
	}
	if err := w.Err(); err != nil {
		t.Fatal(err)
	}
	if s.Trace != nil {
		showTrace(t, b, s, defs)
	}
	for i := range s.Nodes {
		if st := s.Nodes[i].Stats; st != nil {
			fmt.Fprintf(b, "times of node %d: %d", i, st.Count)
			for _, v := range []*efg.Interval{&st.Dur, &st.Gap} {
				fmt.Fprintf(b, "; %d %d %d %s", v.Sum, v.Min, v.Max, strings.Trim(fmt.Sprint(v.Bins), "[]"))
			}
			b.WriteByte('\n')
		}
	}
	showCounters(b, s)
}

func showTrace(t *testing.T, b *strings.Builder, s *efg.Stream, defs []efg.Def) {
	t.Helper()
	s.Trace.Clock = efg.MachineClock{} // ticks
	c, err := efg.NewClock(s)
	if err != nil {
		t.Fatal(err)
	}
	w := s.Walk(defs)
	for range s.TimedEvents() {
		w.Next()
		start, end, err := c.Next(uint32(w.Node()))
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(b, "%d to %d", s.Trace.Begin+start, s.Trace.Begin+end)
		for _, v := range c.Values() {
			text := " -"
			if v.Counted {
				text = fmt.Sprintf(" %d/%d", v.Before, v.Call)
			}
			b.WriteString(text)
		}
		b.WriteString("\n")
	}
}

const builtEvents = 150

// builtProcess is a process of a ring with receives from any source, tags that grow, requests,
// random sizes, arrays and datatypes.
func builtProcess(t *testing.T, rank, size int, seed int64) *efg.Process {
	t.Helper()
	return builtWith(t, rank, size, seed, func(_ *rand.Rand, _ *efg.Definitions, site efg.Def) uint64 { return site.Word })
}

// pathProcess is like builtProcess, with call paths.
func pathProcess(t *testing.T, rank, size int, seed int64) *efg.Process {
	t.Helper()
	p := builtWith(t, rank, size, seed, randomPath)
	rng := rand.New(rand.NewSource(seed))
	for i := range p.Streams {
		visits := efg.VisitsOf(p.Streams[i].Nodes)
		for k := range visits {
			p.Streams[i].Nodes[k].Stats = randomTimes(rng, visits[k])
		}
	}
	return p
}

// randomTimes are statistics of so many calls.
func randomTimes(rng *rand.Rand, events uint64) *efg.Stats {
	st := &efg.Stats{Count: events}
	for _, v := range []*efg.Interval{&st.Dur, &st.Gap} {
		v.Min = 1 << 60
		for range events {
			ns := uint64(rng.Int63()) >> (20 + rng.Intn(44))
			v.Sum, v.Min, v.Max = v.Sum+ns, min(v.Min, ns), max(v.Max, ns)
			v.Bins[binOf(ns)]++
		}
	}
	return st
}

// pathMeta is the metadata of a run of such processes: each callsite has a place.
func pathMeta(procs []*efg.Process) Meta {
	m := Meta{Time: "stats", CallPath: 6}
	for _, p := range procs {
		for i := range p.Defs {
			if d := &p.Defs[i]; d.Kind == efg.DefSite {
				m.Sites = append(m.Sites, Site{Word: d.Word, Place: fmt.Sprintf("app.c:%d", d.Words[1]), Func: "f"})
			}
		}
	}
	return m
}

// randomPath defines a path of up to five calls that ends at a callsite. Now and then it is cut, or unknown below.
func randomPath(rng *rand.Rand, defs *efg.Definitions, site efg.Def) uint64 {
	parent := signature.ConstBit | uint64(rng.Intn(8)/7)
	if rng.Intn(20) == 0 {
		d := efg.Def{Kind: efg.DefSite, Words: []uint64{site.Words[0], uint64(rng.Intn(3)) << 12}}
		d.Word = d.Identity()
		defs.Add(d)
		parent = d.Word
	}
	depth := rng.Intn(5)
	for i := range depth + 1 {
		d := efg.Def{Kind: efg.DefSite, Words: []uint64{site.Words[0], uint64(rng.Intn(2+i))<<8 | uint64(i)<<4, parent}}
		if i == depth {
			d.Words[1] = site.Words[1]
		}
		d.Word = d.Identity()
		defs.Add(d)
		parent = d.Word
	}
	return parent
}

// builtWith is a process whose callsites have the words that callsite returns.
func builtWith(t *testing.T, rank, size int, seed int64, callsite func(*rand.Rand, *efg.Definitions, efg.Def) uint64) *efg.Process {
	t.Helper()
	rng := rand.New(rand.NewSource(seed))
	defs := &efg.Definitions{}
	module := efg.Def{Kind: efg.DefModule, Data: fmt.Appendf(nil, "/bin/app%d\x00", rank%2)}
	module.Word = module.Identity()
	comm := efg.Def{Kind: efg.DefComm, Word: 0x2badcafe01 << 24, Words: []uint64{signature.ConstBit | 3, 1, uint64(size), 3, 0, uint64(size), 1}}
	for _, d := range []efg.Def{module, comm} {
		defs.Add(d)
	}
	var types []uint64
	for i := range uint64(20) {
		d := efg.Def{Kind: efg.DefType, Words: []uint64{signature.ConstBit | 7, 8 * i, i}}
		d.Word = d.Identity()
		defs.Add(d)
		types = append(types, d.Word)
	}
	p := &efg.Process{Rank: rank, Size: size, World: 7, PID: 100 + rank, Host: "node", MPI: "MPI", Command: []string{"app"}, Start: int64(rank)}
	for thread := range uint32(2) {
		b := efg.NewBuilder(thread, efg.DefaultDemote, defs)
		for i := range builtEvents {
			build(t, b, defs, thread, rng, module.Word, comm.Word, types, i, rank, size, callsite)
		}
		s, err := b.Stream()
		if err != nil {
			t.Fatal(err)
		}
		for i := range s.Nodes {
			v := efg.Interval{Sum: uint64(3000 * i), Min: 5, Max: uint64(2000 * i)}
			v.Bins[binOf(v.Min)]++
			v.Bins[binOf(v.Max)]++
			s.Nodes[i].Stats = &efg.Stats{Count: 2, Dur: v, Gap: efg.Interval{Sum: 9, Min: 4, Max: 5}}
		}
		if thread == 1 && rank%3 < 2 {
			s.Pending = builtCall(s, rank, size)
			for i := range rank / 4 % 3 {
				s.Pending.Inside(builtCall(s, rank+i+1, size))
			}
		}
		p.Streams = append(p.Streams, *s)
	}
	p.Defs = defs.List
	return p
}

// builtCall is a call in progress: like one of a node of the stream, on its communicator or one
// of the family, with another peer, and with a request.
func builtCall(s *efg.Stream, rank, size int) *efg.Pending {
	n := &s.Nodes[rank%2]
	c := &efg.Pending{Words: append([]uint64(nil), n.Words...), Since: uint64(rank*rank) * 1000}
	for k := signature.FirstWord; k < len(c.Words); k++ {
		if isPeer(c.Words[0], k) {
			c.Words[k] = uint64((rank + 2) % size)
		}
	}
	c.Words[len(c.Words)-1] = signature.ID{Thread: s.Thread, Node: 1, Slot: 3}.Word()
	return c
}

// build adds an event.
func build(t *testing.T, b *efg.Builder, defs *efg.Definitions, thread uint32, rng *rand.Rand, module, comm uint64, types []uint64, i, rank, size int, callsite func(*rand.Rand, *efg.Definitions, efg.Def) uint64) {
	t.Helper()
	names := []string{"MPI_Send", "MPI_Irecv", "MPI_Waitall", "MPI_Allreduce"}
	name := names[i%3]
	if rng.Intn(9) == 0 {
		name = names[3]
	}
	p := signature.ProcByName(name)
	site := efg.Def{Kind: efg.DefSite, Words: []uint64{module, uint64(p.ID)}}
	site.Word = site.Identity()
	defs.Add(site)
	word := callsite(rng, defs, site)
	e := efg.Input{Words: make([]uint64, len(p.Words))}
	copy(e.Words, []uint64{uint64(signature.MakeHeader(p.ID, 0, false, len(p.Words), 0)), word, comm + uint64(i/100)})
	slot := false
	for k := signature.FirstWord; k < len(p.Words); k++ {
		switch w := p.Words[k]; {
		case w.Form == signature.SlotForm:
			slot = true
		case w.Form == signature.IdentForm:
			e.Words[k] = types[rng.Intn(1+i*len(types)/builtEvents)]
		case w.Form == signature.VecForm:
			elems := []uint64{uint64(rng.Intn(3)), signature.ID{Thread: thread, Node: 1, Slot: uint32(i % 5)}.Word(), uint64(i)}
			e.Words[k] = signature.Ident(signature.Hash(elems...))
			e.Vecs = append(e.Vecs, efg.VecContent{Word: k, Elems: elems})
		case isPeer(e.Words[0], k):
			e.Words[k] = uint64((rank + 1 + i%2) % size)
		case rng.Intn(3) == 0:
			e.Words[k] = -uint64(rng.Intn(2 + i/10))
		default:
			e.Words[k] = uint64(i / 7)
		}
	}
	if !slot {
		if err := b.Add(e); err != nil {
			t.Fatal(err)
		}
		return
	}
	id, err := b.AddNew(e)
	if err != nil {
		t.Fatal(err)
	}
	if i%4 > 0 {
		b.Free(id)
	}
}

// manyNodes is a process that comes to that many nodes of one procedure, and then back to them in no order.
func manyNodes(nodes, again int) *efg.Process {
	rng := rand.New(rand.NewSource(9))
	var events [][]uint64
	for i := range nodes + again {
		n := i
		if i >= nodes {
			n = rng.Intn(nodes)
		}
		events = append(events, event(1, 2, uint64(n*n)))
	}
	p := sampleProcess(0)
	p.Streams = []efg.Stream{naiveStream(events)}
	return p
}

// A reader written from FORMAT.md reads the same as this one.
func TestIndependentReader(t *testing.T) {
	sample := sampleProcess(0)
	files := map[string][]byte{}
	add := func(name string, procs []*efg.Process, meta Meta) {
		files[name+", plain"] = encodeWith(t, procs, meta, packing{openLimit: openLimit})
		if events := eventsOf(procs); events <= 6000 { // a reader in Python takes a millisecond for each
			files[name] = encode(t, procs, meta)
		}
	}
	add("nothing", nil, Meta{})
	add("one", []*efg.Process{sample}, sampleMeta(sample))
	add("four", []*efg.Process{sampleProcess(3), sampleProcess(2), sampleProcess(1), sample}, sampleMeta(sample))
	for _, n := range []int{1, 6, 300} {
		var procs []*efg.Process
		for rank := range n {
			if n < 300 || rank%100 == 0 {
				procs = append(procs, builtProcess(t, rank, n, int64(rank%5)))
			}
		}
		procs[0].World++
		add(fmt.Sprintf("of %d", n), procs, Meta{Time: "stats"})
	}
	paths := []*efg.Process{pathProcess(t, 0, 3, 1), pathProcess(t, 1, 3, 2), pathProcess(t, 2, 3, 1)}
	paths[2].Streams[1].Nodes[0].Stats.Count++ // nodes of this stream share no statistics
	add("with call paths", paths, pathMeta(paths))
	add("of killed processes", goneRing(t), Meta{Time: "stats"})
	add("of many nodes", []*efg.Process{manyNodes(600, 900)}, Meta{})
	long, defs := disorder(t, rand.New(rand.NewSource(1)), 25_000)
	add("long", []*efg.Process{{Size: 1, Defs: defs, Streams: []efg.Stream{*long}}}, Meta{})
	rng := rand.New(rand.NewSource(2))
	for name, events := range map[string]int{"traced": 300, "traced in parts": 60_000} {
		var procs []*efg.Process
		for rank := range 6 {
			s, defs := randomStream(t, rng, events)
			if err := s.AddCheckpoints(defs, uint64(events/3)); err != nil {
				t.Fatal(err)
			}
			if rank != 1 {
				traced(t, rng, s, defs)
			}
			if rank > 2 { // of none, of some in the second part, of all but one
				endTimes(t, s, defs, []uint64{0, s.Events / 2, s.Events - 1}[rank-3])
			}
			p := &efg.Process{Rank: rank, Size: 6, Mono: 1 << 60, Host: "a", Defs: defs, Streams: []efg.Stream{*s}}
			if rank != 2 {
				at := uint64(1<<50 + rank)
				p.Anchors = []efg.Anchor{{Tick: 2 * at, Mono: at, Real: int64(at) + 1<<60 - 3, Width: 99}, {Tick: 2*at + 1<<40, Mono: at + 1<<39, Real: int64(at) + 1<<60 + 1<<39, Width: 98}}
			}
			procs = append(procs, p)
		}
		add(name, procs, Meta{Time: TraceTime(500, 0)})
		procs[1].Gone, procs[5].Gone = 12, 1<<61-1
		add(name+", with killed processes", procs, Meta{Time: TraceTime(500, 0)})
	}
	used := map[int]bool{}
	for name, data := range files {
		noteEncodings(t, data, used)
		want, got := strings.Split(shown(t, data), "\n"), strings.Split(independently(t, data), "\n")
		for i := range max(len(got), len(want)) {
			if i >= len(got) || i >= len(want) || got[i] != want[i] {
				t.Errorf("%s: line %d differs:\n%s\nwant\n%s", name, i, got[min(i, len(got)-1)], want[min(i, len(want)-1)])
				break
			}
		}
	}
	for encoding := range block.Encodings {
		if !used[encoding] {
			t.Errorf("no column has encoding %d", encoding)
		}
	}
}

// goneRing is a ring of killed processes, of which two are known to have been gone.
func goneRing(t *testing.T) []*efg.Process {
	t.Helper()
	procs := killedRing(t, 6)
	procs[1].Gone, procs[4].Gone = 7, 1<<40
	return procs
}

func eventsOf(procs []*efg.Process) (n uint64) {
	for _, p := range procs {
		for i := range p.Streams {
			n += p.Streams[i].Events
		}
	}
	return n
}

// noteEncodings adds the encodings of a file's columns.
func noteEncodings(t *testing.T, data []byte, used map[int]bool) {
	t.Helper()
	r, err := NewRun(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	for _, ref := range r.blocks {
		if ref.Kind == blockEvents || ref.Kind == blockStatsCode || block.IsMixed(data[ref.Offset]) {
			continue
		}
		c := &block.Cursor{Buf: data[ref.Offset+1:]}
		for columns := c.Uvarint(); columns > 0; columns-- {
			if head := c.Uvarint(); head > 0 {
				used[int(head&7)] = true
				c.Uvarint()
			} else {
				columns -= c.Uvarint()
			}
		}
	}
}

func showStates(b *strings.Builder, counters []efg.Counter) {
	if len(counters) == 0 {
		return
	}
	b.WriteString("counters")
	for i := range counters {
		fmt.Fprintf(b, " %d", counters[i].State)
	}
	b.WriteByte('\n')
}

func showCounters(b *strings.Builder, s *efg.Stream) {
	for i := range s.Nodes {
		for k := range s.Nodes[i].Counters {
			c := &s.Nodes[i].Counters[k]
			if c.Count == 0 {
				continue
			}
			fmt.Fprintf(b, "counter %d of node %d: %d", k, i, c.Count)
			for _, v := range []*efg.Tally{&c.Call, &c.Before} {
				fmt.Fprintf(b, "; %d %d %d %s", v.Sum, v.Min, v.Max, strings.Trim(fmt.Sprint(v.Bins), "[]"))
			}
			b.WriteByte('\n')
		}
	}
}
