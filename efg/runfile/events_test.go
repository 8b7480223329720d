package runfile

import (
	"bytes"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/block"
	"github.com/efg-tools/efg/signature"
)

// blocksOfKind are the blocks of a kind in a file.
func blocksOfKind(t testing.TB, data []byte, kind block.Kind) (refs []block.Ref) {
	t.Helper()
	r, err := NewRun(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range r.blocks {
		if b.Kind == kind {
			refs = append(refs, b.Ref)
		}
	}
	return refs
}

// irregular are processes that resemble each other, but have no graph in common.
func irregular(t *testing.T, n int, seed int64) (procs []*efg.Process) {
	t.Helper()
	for rank := range n {
		procs = append(procs, builtProcess(t, rank, n, seed+int64(rank)))
	}
	return procs
}

// Graphs that are stored as events are those that were given.
func TestGraphsComeBackFromTheirEvents(t *testing.T) {
	rng := rand.New(rand.NewSource(1))
	long, defs := randomStream(t, rng, 20_000)
	for name, procs := range map[string][]*efg.Process{
		"calls":     killedRing(t, 6),
		"irregular": irregular(t, 6, 1),
		"long":      {{Size: 1, Defs: defs, Streams: []efg.Stream{*long}}},
	} {
		data := encode(t, procs, Meta{})
		if len(blocksOfKind(t, data, blockEvents)) == 0 {
			t.Errorf("%s: not stored as events", name)
		}
		got, want := openBytes(t, data), openBytes(t, encodeWith(t, procs, Meta{}, packing{openLimit: openLimit}))
		for i := range want.Procs {
			a, err := got.Process(i)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			b, err := want.Process(i)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if spelled(a) != spelled(b) {
				t.Errorf("%s: process %d differs", name, i)
			}
		}
	}
}

// A rank that resembles those before takes little: that is what events are for.
func TestSimilarRanksTakeLittle(t *testing.T) {
	size := func(n int) int {
		var procs []*efg.Process
		for rank := range n {
			rng := rand.New(rand.NewSource(3))
			var events [][]uint64
			for i := range 2000 {
				v := uint64(rng.Intn(60))
				if i%500 == rank {
					v = uint64(100 + rank) // all that differs
				}
				events = append(events, event(1, 2, v, v*v%7))
			}
			p := sampleProcess(0)
			p.Rank, p.Size, p.PID = rank, n, 0
			p.Streams = []efg.Stream{naiveStream(events)}
			procs = append(procs, p)
		}
		return len(encode(t, procs, Meta{}))
	}
	if one, two := size(1), size(2); 10*(two-one) > one {
		t.Errorf("the first rank takes %d bytes, the second one %d", one, two-one)
	}
}

// A graph that no order of events gives back is stored as columns.
func TestOtherGraphsAreColumns(t *testing.T) {
	s := naiveStream([][]uint64{event(1, 2), event(1, 3), event(1, 2), event(1, 4), event(1, 3)})
	s.Nodes[1], s.Nodes[2] = s.Nodes[2], s.Nodes[1] // not in the order of their first events
	for i := range s.Nodes {
		for k := range s.Nodes[i].Edges {
			if to := &s.Nodes[i].Edges[k].To; *to == 1 || *to == 2 {
				*to = 3 - *to
			}
		}
	}
	p := sampleProcess(0)
	p.Streams = []efg.Stream{s}
	data := encode(t, []*efg.Process{p}, Meta{})
	if n := len(blocksOfKind(t, data, blockEvents)); n > 0 {
		t.Errorf("%d event blocks", n)
	}
	got, err := openBytes(t, data).Process(0)
	if err != nil || !slices.Equal(got.Streams[0].Nodes[1].Words, s.Nodes[1].Words) {
		t.Errorf("%v, %v", got, err)
	}
}

// Nodes that were used long ago are found, too.
func TestEventsOfManyNodes(t *testing.T) {
	p := manyNodes(2*maxRank+50, 3000)
	data := encode(t, []*efg.Process{p}, Meta{})
	if len(blocksOfKind(t, data, blockEvents)) == 0 {
		t.Fatal("there is no event block")
	}
	got, err := openBytes(t, data).Process(0)
	if err != nil || spelled(got) != spelled(p) {
		t.Errorf("another graph, or %v", err)
	}
}

// Files of some ranks of a large world are merged with many others: they are quick to read.
func TestPartsOfLargeWorldsArePlain(t *testing.T) {
	procs := irregular(t, 6, 1)
	for _, size := range []int{6, 100, eventStreams + 1} {
		for _, p := range procs {
			p.Size = size
		}
		r := openBytes(t, encode(t, procs, Meta{}))
		if plain := r.features&(featureEvents|featureMixed) == 0; plain != (size > eventStreams) {
			t.Errorf("6 of %d ranks: features %#x", size, r.features)
		}
	}
}

// A block that was changed is refused or gives other graphs; it never breaks the reader.
func TestChangedEventBlocks(t *testing.T) {
	paths := []*efg.Process{pathProcess(t, 0, 2, 1), pathProcess(t, 1, 2, 2)}
	for name, data := range map[string][]byte{
		"calls":      encode(t, irregular(t, 3, 9), Meta{}),
		"call paths": encode(t, paths, Meta{CallPath: 9}),
	} {
		r := openBytes(t, data)
		ref := blocksOfKind(t, data, blockEvents)[0]
		t.Run(name, func(t *testing.T) {
			changedEvents(t, data[ref.Offset+1:ref.Offset+ref.Length-8], r.features)
		})
	}
}

func changedEvents(t *testing.T, code []byte, features uint32) {
	if _, err := decodeEvents(code, features); err != nil {
		t.Fatal(err)
	}
	refused := 0
	for i := 0; i < len(code); i += max(len(code)/150, 1) {
		changed := bytes.Clone(code)
		changed[i] ^= 1 << (i % 8)
		if _, err := decodeEvents(changed, features); err != nil {
			refused++
		}
		// the last bytes may be missing: only the block's checksum notices
		if _, err := decodeEvents(code[:i], features); err == nil && i < len(code)-4 {
			t.Errorf("%d of %d bytes are read", i, len(code))
		}
	}
	if refused == 0 {
		t.Error("no change was noticed")
	}
	if _, err := decodeEvents(append(bytes.Clone(code), 1, 2, 3, 4, 5, 6), features); err == nil || !strings.Contains(err.Error(), "bytes after") {
		t.Errorf("with more bytes: %v", err)
	}
}

// Call paths are those that were given, whatever else is among the definitions; ranks that define the same
// paths in another order take little.
func TestCallPathsInEventBlocks(t *testing.T) {
	one, other := pathProcess(t, 0, 3, 1), pathProcess(t, 2, 3, 1)
	// A path below a definition that is none, and offsets that are none.
	for _, words := range [][]uint64{
		{one.Defs[1].Word, 5, signature.ConstBit}, {one.Defs[0].Word, 1 << 61, signature.ConstBit}, {one.Defs[0].Word, 5, one.Defs[1].Word},
		{one.Defs[0].Word, 5, 77}, {one.Defs[0].Word, 5, signature.ConstBit, 7}, {99, 5},
	} {
		d := efg.Def{Kind: efg.DefSite, Words: words}
		d.Word = d.Identity()
		one.Defs = append(one.Defs, d)
	}
	procs := []*efg.Process{one, other}
	for _, p := range procs {
		for i := range p.Streams {
			p.Streams[i].Nodes[0].Stats = nil // statistics are not shared then
		}
	}
	data := encode(t, procs, Meta{CallPath: 9})
	r := openBytes(t, data)
	if r.features&featurePathCode == 0 || len(blocksOfKind(t, data, blockEvents)) == 0 {
		t.Fatalf("features %#x", r.features)
	}
	for i, want := range procs {
		got, err := r.Process(i)
		if err != nil {
			t.Fatal(err)
		}
		if spelled(got) != spelled(want) {
			t.Errorf("process %d differs", i)
		}
	}
	if old := encode(t, procs, Meta{}); len(data) >= len(old) {
		t.Errorf("%d bytes, %d when paths are coded as other definitions", len(data), len(old))
	}
}

func FuzzEvents(f *testing.F) {
	var b bytes.Buffer
	if err := EncodeRun(&b, []*efg.Process{sampleProcess(0), sampleProcess(1)}, Meta{}); err != nil {
		f.Fatal(err)
	}
	for _, ref := range blocksOfKind(f, b.Bytes(), blockEvents) {
		f.Add(b.Bytes()[ref.Offset+1:ref.Offset+ref.Length-8], uint32(0))
		f.Add(b.Bytes()[ref.Offset+1:ref.Offset+ref.Length-8], uint32(featurePathCode))
		f.Add(b.Bytes()[ref.Offset+1:ref.Offset+ref.Length-8], uint32(featurePathCode|featurePathGraphs))
	}
	f.Fuzz(func(t *testing.T, code []byte, features uint32) {
		groups, err := decodeEvents(code, features)
		if err != nil {
			return
		}
		for _, p := range groups {
			if p.kind == recordDefs {
				if _, err := p.definitions(0); err != nil {
					t.Fatalf("definitions that cannot be read: %v", err)
				}
			} else if _, err := p.eventGraph(0); err != nil {
				t.Fatalf("a graph that cannot be walked: %v", err)
			}
		}
	})
}

// Graphs are those that were given if the lists of their processes are not in the event block, too.
func TestCallPathsWithoutTheirLists(t *testing.T) {
	r := openBytes(t, encode(t, []*efg.Process{pathProcess(t, 0, 3, 1), pathProcess(t, 2, 3, 1)}, Meta{CallPath: 9}))
	for _, without := range []bool{false, true} {
		var groups []eventGroup
		for n := range r.groups {
			p, err := r.group(n)
			if err != nil {
				t.Fatal(err)
			}
			switch {
			case p.kind == recordGraph:
				groups = append(groups, eventGroup{p, slices.Repeat([]int{-1}, int(p.members))})
			case p.kind == recordDefs && !without:
				groups = append(groups, eventGroup{readGroup: p})
			}
		}
		if _, err := encodeChecked(groups, r.features); err != nil {
			t.Errorf("without lists %v: %v", without, err)
		}
	}
}
