package runfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/block"
	"github.com/efg-tools/efg/efg/seq"
	"github.com/efg-tools/efg/internal/token"
	"github.com/efg-tools/efg/signature"
)

// testID is set in the high bits of id words.
const testID = uint64(1) << 62

// naiveStream makes a graph from events without demotion, the obvious way.
func naiveStream(events [][]uint64) efg.Stream {
	s := efg.Stream{Events: uint64(len(events)), Hash: 1234, End: efg.EndFinalized}
	number := map[string]int{}
	type run struct {
		to  int
		len uint64
	}
	var runs [][]run
	last := -1
	for _, w := range events {
		key := fmt.Sprint(w)
		n, ok := number[key]
		if !ok {
			n = len(s.Nodes)
			number[key] = n
			s.Nodes = append(s.Nodes, efg.Node{Words: w})
			runs = append(runs, nil)
		}
		if last >= 0 {
			if r := runs[last]; len(r) > 0 && r[len(r)-1].to == n {
				r[len(r)-1].len++
			} else {
				runs[last] = append(r, run{n, 1})
			}
		}
		last = n
	}
	for i := range s.Nodes {
		n := &s.Nodes[i]
		edge := map[int]int{}
		counts := seq.NewWriter(false)
		branches := seq.NewWriter(false)
		for _, r := range runs[i] {
			e, ok := edge[r.to]
			if !ok {
				e = len(n.Edges)
				edge[r.to] = e
				n.Edges = append(n.Edges, efg.Edge{To: uint32(r.to), Count: r.len})
			}
			if x := &n.Edges[e]; x.Varies() || x.Count != r.len {
				counts.Push(r.len)
			} else {
				x.Fixed++
			}
			n.Edges[e].Weight += r.len
			branches.Push(uint64(e))
		}
		if counts.Len() > 0 {
			n.Counts = counts.Seq()
		}
		if len(n.Edges) > 1 {
			n.Runs = branches.Seq()
		}
	}
	return s
}

// event makes a signature of the given words after the header.
func event(words ...uint64) []uint64 {
	n := uint64(len(words) + 1)
	return append([]uint64{7 | n<<24}, words...)
}

func sampleProcess(rank int) *efg.Process {
	site := efg.Def{Kind: efg.DefSite, Word: 0x1234567890abcdef >> 2, Words: []uint64{77, 0x4711}}
	vec := efg.Def{Kind: efg.DefVec, Words: []uint64{1, 2, testID | 3<<50 | 4<<24 | 5, signature.ConstBit | 9}}
	vec.Word = vec.Identity()
	str := efg.Def{Kind: efg.DefString, Data: []byte("hello")}
	str.Word = str.Identity()
	comm := efg.Def{Kind: efg.DefComm, Word: 0x2badcafe01 << 24, Words: []uint64{signature.ConstBit | 3, 1, 4, 3, 0, 4, 1}}
	module := efg.Def{Kind: efg.DefModule, Word: 77, Data: []byte("/bin/app\x00aabb")}
	var events [][]uint64
	for i := range uint64(40) {
		events = append(events, event(site.Word, comm.Word+2, i%3, vec.Word))
		if i%4 == 0 {
			events = append(events, event(site.Word, signature.ConstBit|5, ^uint64(0), str.Word))
		}
	}
	events = append(events, event(1, 0, 1<<61, testID|1<<50|2<<24|7, signature.ConstBit|1<<60))
	s := naiveStream(events)
	s.Nodes[0].Stats = &efg.Stats{Count: 3, Dur: efg.Interval{Sum: 10, Min: 1, Max: 8}}
	s.Nodes[0].Stats.Gap.Bins[31] = 2
	s.Nodes[1].Mask = 1 << 4
	s.Nodes[1].Words = append([]uint64(nil), s.Nodes[1].Words...)
	s.Nodes[1].Words[4] = 0
	lengths, elems := seq.NewWriter(true), seq.NewWriter(true)
	for range 10 {
		lengths.Push(2 << 1)
		elems.Push(6)
		elems.Push(uint64(rank))
	}
	s.Nodes[1].Attrs = []efg.Attr{{Values: lengths.Seq(), Elems: elems.Seq()}}
	second := efg.Stream{Thread: 1, Events: 0, End: efg.EndOpen, Nodes: []efg.Node{}}
	if rank%2 == 1 {
		second.Pending = &efg.Pending{Words: event(site.Word, comm.Word+1, uint64(rank), signature.ConstBit), Since: uint64(rank)}
	}
	return &efg.Process{
		Rank: rank, Size: 4, World: 99, PID: 1000 + rank, Host: "node", Command: []string{"app", "", "x y"},
		MPI: "Some MPI 1.2", Start: 1e18, Defs: []efg.Def{module, site, vec, str, comm},
		Streams: []efg.Stream{s, second},
	}
}

func sampleMeta(p *efg.Process) Meta {
	return Meta{
		Tool: "efg test", Command: []string{"mpiexec", "app"}, Started: 5, Ended: 6, Status: 137, Time: "stats",
		Sites: []Site{{Word: p.Defs[1].Word, Place: "app.c:12", Func: "main"}},
	}
}

func encode(t testing.TB, procs []*efg.Process, meta Meta) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := EncodeRun(&b, procs, meta); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func encodeWith(t testing.TB, procs []*efg.Process, meta Meta, how packing) []byte {
	t.Helper()
	sources := make([]source, len(procs))
	for i, p := range procs {
		sources[i] = &memorySource{proc: p}
	}
	meta.Sites = findSites(meta.Sites, procs)
	var b bytes.Buffer
	if _, err := packWith(&b, sources, meta, false, how); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// spelled is everything about a process, with its sequences expanded.
func spelled(p *efg.Process) string {
	var b strings.Builder
	seq := func(s *seq.Seq) {
		if s == nil {
			return
		}
		fmt.Fprintf(&b, " [%d:", s.Len())
		it := s.Iter()
		for v, ok := it.Next(); ok; v, ok = it.Next() {
			fmt.Fprintf(&b, " %#x", v)
		}
		fmt.Fprintf(&b, "] %v", it.Err())
	}
	fmt.Fprintf(&b, "rank %d of %d in %d: %d %s %q %s %d\n", p.Rank, p.Size, p.World, p.PID, p.Host, p.Command, p.MPI, p.Start)
	for _, d := range p.Defs {
		fmt.Fprintf(&b, "%d %#x %x %q\n", d.Kind, d.Word, d.Words, d.Data)
	}
	for i := range p.Streams {
		s := &p.Streams[i]
		fmt.Fprintf(&b, "thread %d: %d %d %d %d\n", s.Thread, s.Events, s.Hash, s.Dropped, s.End)
		if s.Pending != nil {
			fmt.Fprintf(&b, "in call since %d: %x\n", s.Pending.Since, s.Pending.Words)
		}
		for j := range s.Nodes {
			n := &s.Nodes[j]
			fmt.Fprintf(&b, "%x %#x %+v", n.Words, n.Mask, n.Edges)
			seq(n.Runs)
			seq(n.Counts)
			for _, a := range n.Attrs {
				seq(a.Values)
				seq(a.Elems)
			}
			if n.Stats != nil {
				fmt.Fprintf(&b, " %+v", *n.Stats)
			}
			b.WriteByte('\n')
		}
	}
	return b.String()
}

func TestRunFileRoundTrip(t *testing.T) {
	procs := []*efg.Process{sampleProcess(2), sampleProcess(0), sampleProcess(1)}
	procs[1].Rank = -1
	meta := sampleMeta(procs[0])
	path := filepath.Join(t.TempDir(), "a.efg")
	if err := WriteRun(path, procs, meta); err != nil {
		t.Fatal(err)
	}
	r, err := OpenRun(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if err := Validate(r); err != nil {
		t.Error(err)
	}
	if !reflect.DeepEqual(r.Meta, meta) {
		t.Errorf("metadata %+v, want %+v", r.Meta, meta)
	}
	for i, want := range []*efg.Process{procs[2], procs[0], procs[1]} { // rank 1, 2, unknown
		got, err := r.Process(i)
		if err != nil {
			t.Fatal(err)
		}
		if g, w := spelled(got), spelled(want); g != w {
			t.Errorf("process %d:\n%s\nwant\n%s", i, g, w)
		}
	}
}

// Ranks of later worlds follow those of earlier ones; worlds that look the same are
// distinguished. Writing what was read changes nothing.
func TestRanksOfSeveralWorlds(t *testing.T) {
	var procs []*efg.Process
	for i, p := range []struct {
		rank, size, start int
		world             uint64
	}{
		{0, 2, 30, 8}, {0, 3, 10, 7}, {2, 3, 12, 7}, {1, 2, 31, 8}, {-1, 0, 50, 0},
		{0, 1, 41, 0}, {0, 1, 40, 0},
	} {
		q := sampleProcess(0)
		q.PID, q.Rank, q.Size, q.World, q.Start = i, p.rank, p.size, p.world, int64(p.start)
		procs = append(procs, q)
	}
	want := "0:1 2:2 3:0 4:3 5:6 6:5 -1:4 "
	for range 2 {
		data := encode(t, procs, Meta{})
		r, err := NewRun(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			t.Fatal(err)
		}
		if err := Validate(r); err != nil {
			t.Error(err)
		}
		got := ""
		procs = nil
		for i, p := range r.Procs {
			got += fmt.Sprintf("%d:%d ", p.Rank, p.PID)
			q, err := r.Process(i)
			if err != nil {
				t.Fatal(err)
			}
			procs = append(procs, q)
		}
		if got != want {
			t.Errorf("ranks and processes %s, want %s", got, want)
		}
	}
}

func TestRunFileOfNothing(t *testing.T) {
	b := encode(t, nil, Meta{})
	r, err := NewRun(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	if err := Validate(r); err != nil {
		t.Error(err)
	}
}

func TestEqualGraphsAreStoredOnce(t *testing.T) {
	a, b, c := sampleProcess(0), sampleProcess(0), sampleProcess(2)
	b.Rank, c.Rank = 1, 2
	data := encode(t, []*efg.Process{a, b, c}, Meta{})
	r, err := NewRun(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	g := func(i int) int { return r.Procs[i].Streams[0].group }
	if g(0) != g(1) || g(0) != g(2) || r.Procs[0].defs != r.Procs[2].defs {
		t.Errorf("equal graphs and lists of definitions are stored twice")
	}
	if len(r.groups) != 3 { // the second thread's graph is empty
		t.Errorf("%d groups", len(r.groups))
	}
}

// countingReader counts the bytes read.
type countingReader struct {
	io.ReaderAt
	n int
}

func (c *countingReader) ReadAt(b []byte, off int64) (int, error) {
	c.n += len(b)
	return c.ReaderAt.ReadAt(b, off)
}

func TestOneRankIsReadWithoutTheOthers(t *testing.T) {
	var procs []*efg.Process
	rng := rand.New(rand.NewSource(1))
	for rank := range 1000 {
		p := sampleProcess(rank)
		var events [][]uint64
		for range 300 {
			events = append(events, event(1, 2, uint64(rng.Intn(40))))
		}
		p.Streams[0] = naiveStream(events)
		procs = append(procs, p)
	}
	data := encode(t, procs, Meta{})
	c := &countingReader{ReaderAt: bytes.NewReader(data)}
	r, err := NewRun(c, int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Process(100); err != nil {
		t.Fatal(err)
	}
	if c.n > len(data)/5 {
		t.Errorf("read %d of %d bytes for one rank of 1000", c.n, len(data))
	}
}

func TestOpenRunErrors(t *testing.T) {
	good := encode(t, []*efg.Process{sampleProcess(0)}, Meta{})
	newer := bytes.Clone(good)
	newer[8] = runVersion + 1
	features := bytes.Clone(good)
	features[8], features[15] = runVersion, 0x80
	for _, c := range []struct {
		name string
		data []byte
		want error
	}{
		{"empty", nil, ErrNotEFG},
		{"text", []byte("hello, this is no run file at all\n"), ErrNotEFG},
		{"newer", newer, ErrNewerVersion},
		{"unknown features", features, ErrNewerVersion},
		{"header only", good[:12], ErrTruncated},
		{"half", good[:len(good)/2], ErrTruncated},
		{"last byte missing", good[:len(good)-1], ErrTruncated},
		{"no file", nil, os.ErrNotExist},
	} {
		path := filepath.Join(t.TempDir(), "x.efg")
		if c.name != "no file" {
			if err := os.WriteFile(path, c.data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		_, err := OpenRun(path)
		if !errors.Is(err, c.want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
	}
	if _, err := OpenRun(t.TempDir()); !errors.Is(err, ErrNotEFG) {
		t.Errorf("directory: %v", err)
	}
}

// Every single changed byte must be detected.
func TestChangedBytesAreNoticed(t *testing.T) {
	p := sampleProcess(0)
	good := encode(t, []*efg.Process{p}, sampleMeta(p))
	for i := range good {
		bad := bytes.Clone(good)
		bad[i] ^= 0x40
		r, err := NewRun(bytes.NewReader(bad), int64(len(bad)))
		if err == nil {
			err = Validate(r)
		}
		if err == nil {
			t.Fatalf("byte %d: not noticed", i)
		}
	}
}

func TestWriteRunLeavesNothingBehindOnError(t *testing.T) {
	dir := t.TempDir()
	p := sampleProcess(0)
	p.Streams[0].Nodes[0].Words = nil
	if err := WriteRun(filepath.Join(dir, "a.efg"), []*efg.Process{p}, Meta{}); err == nil {
		t.Fatal("a node without words was written")
	}
	if files, _ := os.ReadDir(dir); len(files) != 0 {
		t.Errorf("left behind: %v", files)
	}
	if err := WriteRun(filepath.Join(dir, "no", "a.efg"), nil, Meta{}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing directory: %v", err)
	}
}

func TestLongCommandLineIsCut(t *testing.T) {
	args := make([]string, 3000)
	for i := range args {
		args[i] = strings.Repeat("x", 1000)
	}
	data := encode(t, nil, Meta{Command: args})
	r, err := NewRun(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	if c := r.Meta.Command; len(c) < 100 || c[len(c)-1] != "..." {
		t.Errorf("%d arguments", len(c))
	}
}

// countedNode adds a node of seven counted polls.
func countedNode(s *efg.Stream) *efg.Node {
	s.Nodes = append(s.Nodes, efg.Node{Words: []uint64{1<<19 | 4<<24, 5, 0, 0}, Counted: 7})
	return &s.Nodes[len(s.Nodes)-1]
}

func TestCountedPollsAreValid(t *testing.T) {
	s := sampleProcess(0).Streams[0]
	countedNode(&s).Mask = 1 << 3
	if node, err := efg.CheckStream(&s); err != nil {
		t.Errorf("node %d: %v", node, err)
	}
}

func TestValidateFindsBrokenGraphs(t *testing.T) {
	ones := func(n int) *seq.Seq {
		w := seq.NewWriter(false)
		for range n {
			w.Push(1)
		}
		return w.Seq()
	}
	for name, spoil := range map[string]func(*efg.Stream){
		"weight":       func(s *efg.Stream) { s.Nodes[2].Edges[0].Weight++ },
		"events":       func(s *efg.Stream) { s.Events++ },
		"runs missing": func(s *efg.Stream) { s.Nodes[0].Runs = nil },
		"runs":         func(s *efg.Stream) { s.Nodes[0].Runs = ones(3) },
		"attributes":   func(s *efg.Stream) { s.Nodes[1].Attrs[0].Values = ones(3) },
		"elements":     func(s *efg.Stream) { s.Nodes[1].Attrs[0].Elems = ones(3) },
		"mask":         func(s *efg.Stream) { s.Nodes[1].Mask = 1 },
		"masked word":  func(s *efg.Stream) { s.Nodes[1].Words[4] = 1 },
		"same nodes":   func(s *efg.Stream) { s.Nodes[3].Words = s.Nodes[2].Words },
		"no nodes":     func(s *efg.Stream) { s.Nodes = nil },
		"words":        func(s *efg.Stream) { s.Nodes[3].Words = s.Nodes[3].Words[:4] },
		"counts":       func(s *efg.Stream) { s.Nodes[0].Counts = ones(2) },
		"fixed":        func(s *efg.Stream) { s.Nodes[0].Edges[0].Fixed++ },
		"end":          func(s *efg.Stream) { s.End = 9 },
		"times":        func(s *efg.Stream) { s.Nodes[0].Stats.Count = 1 << 40 },
		"edge to no":   func(s *efg.Stream) { s.Nodes[2].Edges[0].To = 1 << 20 },
		"no polls":     func(s *efg.Stream) { countedNode(s).Counted = 0 },
		"polls":        func(s *efg.Stream) { s.Nodes[0].Counted = 1 },
		"edge to poll": func(s *efg.Stream) { countedNode(s); s.Nodes[2].Edges[0].To = uint32(len(s.Nodes) - 1) },
		"poll's edge":  func(s *efg.Stream) { countedNode(s).Edges = s.Nodes[2].Edges },
		"poll's words": func(s *efg.Stream) { n := countedNode(s); n.Mask, n.Attrs = 1<<3, s.Nodes[1].Attrs },
		"poll's times": func(s *efg.Stream) { countedNode(s).Stats = &efg.Stats{Count: 8} },
		"double edge":  func(s *efg.Stream) { s.Nodes[0].Edges[1].To = s.Nodes[0].Edges[0].To },
	} {
		s := sampleProcess(0).Streams[0]
		if _, err := efg.CheckStream(&s); err != nil {
			t.Fatal(err)
		}
		spoil(&s)
		if _, err := efg.CheckStream(&s); err == nil {
			t.Errorf("%s: not found", name)
		}
	}
}

func TestTokensRoundTrip(t *testing.T) {
	defs := []efg.Def{{Kind: efg.DefString, Word: 0x123456789abcdef}, {Kind: efg.DefComm, Word: 0x3fffff00aa << 24}}
	words := []uint64{
		0, 1, ^uint64(0), 1 << 53, 1 << 61, 1<<62 - 1, signature.ConstBit, signature.ConstBit | 1<<32, signature.ConstBit | 1<<61,
		testID, testID | (1<<62 - 1), 3 << 62, 0x123456789abcdef, 0x3fffff00aa << 24, 0x3fffff00aa<<24 | signature.SequenceMask,
		1 << 24, 0xffffff, testID | 3<<50 | 900<<24 | 63, testID | 3<<50 | 1<<24 | 64, testID | 2<<50 | 1<<24 | 64,
	}
	rng := rand.New(rand.NewSource(2))
	for range 1000 {
		words = append(words, rng.Uint64()>>rng.Intn(64))
	}
	for _, rank := range []int64{-1, 0, 4, 7} {
		c := &wordContext{defs: newDefIndex(defs), thread: 3, node: 5, rank: rank, size: 8}
		wide := 0
		for _, w := range words {
			tok, ok := c.Token(w)
			if !ok {
				wide++
			} else if got := c.Word(tok); got != w {
				t.Errorf("%#x came back as %#x", w, got)
			}
			if tok, ok := c.Relative(w); ok {
				if got := c.Word(tok); got != w {
					t.Errorf("rank %d: %d came back as %d", rank, w, got)
				}
			}
		}
		if wide > len(words)/10 {
			t.Errorf("%d of %d words have no token", wide, len(words))
		}
	}
}

// In a ring all peers are alike.
func TestRelativePeersOfARing(t *testing.T) {
	for size := int64(1); size < 6; size++ {
		for d := -(size - 1) / 2; d <= size/2; d++ {
			for rank := range size {
				c := &wordContext{rank: rank, size: size}
				peer := (rank + d + size) % size
				if tok, ok := c.Relative(uint64(peer)); !ok || tok != token.Of(token.Relative, block.Zigzag(d)) {
					t.Errorf("rank %d of %d, peer %d: %#x, %v", rank, size, peer, tok, ok)
				}
			}
		}
	}
}
