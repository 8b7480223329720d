package efg_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/signature"
)

// part is a part of a random program: a call, or a loop over parts.
type part struct {
	node  int
	value func(n int) uint64 // of a varying argument, by the number of the call
	times []int              // iterations of the loop, in turn
	body  []*part
	turn  int
}

// randomPart makes a random part. With plain 6 some arguments vary; the larger plain is, the
// fewer.
func randomPart(r *rand.Rand, depth, plain int) *part {
	if depth == 0 || r.IntN(3) == 0 {
		p := &part{node: r.IntN(12)}
		switch m := 2 + r.IntN(30); plain {
		case 0:
			p.value = func(n int) uint64 { return uint64(n % m) }
		case 1:
			p.value = func(n int) uint64 { return uint64(n) }
		case 2:
			p.value = func(int) uint64 { return r.Uint64N(uint64(m)) }
		}
		return p
	}
	p := &part{}
	for range 1 + r.IntN(3) {
		p.times = append(p.times, 1+r.IntN(40))
	}
	for range 1 + r.IntN(4) {
		p.body = append(p.body, randomPart(r, depth-1, plain))
	}
	return p
}

func (p *part) run(call func(node int, value uint64), count map[*part]int) {
	if p.body == nil {
		v := uint64(0)
		if p.value != nil {
			v = p.value(count[p])
			count[p]++
		}
		call(p.node, v)
		return
	}
	n := p.times[p.turn%len(p.times)]
	p.turn++
	for range n {
		for _, q := range p.body {
			q.run(call, count)
		}
	}
}

// recordParts records a random program of at most that many events.
func recordParts(t *testing.T, r *rand.Rand, most, plain int) (*efg.Stream, []efg.Def) {
	var defs efg.Definitions
	b := efg.NewBuilder(0, efg.DefaultDemote, &defs)
	send := signature.ProcByName("MPI_Send")
	n := 0
	call := func(node int, value uint64) {
		if n++; n > most {
			return
		}
		w := make([]uint64, len(send.Words))
		w[0] = uint64(signature.MakeHeader(send.ID, signature.C, false, len(w), 0))
		w[1], w[4] = uint64(100+node), value
		if err := b.Add(efg.Input{Words: w}); err != nil {
			t.Fatal(err)
		}
	}
	count := map[*part]int{}
	for range 1 + r.IntN(3) {
		randomPart(r, 1+r.IntN(4), plain).run(call, count)
	}
	s, err := b.Stream()
	if err != nil {
		t.Fatal(err)
	}
	return s, defs.List
}

// expand expands steps.
func expand(f *efg.FoldedWalk, steps []efg.Step, each func(*efg.Step)) (count int) {
	for i := range steps {
		count++
		if steps[i].Times == 0 {
			each(&steps[i])
			continue
		}
		for k := range steps[i].Times {
			n := expand(f, steps[i].Body, each)
			if k == 0 {
				count += n
			}
		}
	}
	return count
}

// foldEqualsWalk checks that a folded walk, expanded, equals the walk.
func foldEqualsWalk(t *testing.T, s *efg.Stream, defs []efg.Def, mask uint64) (steps int) {
	t.Helper()
	masks := make([]uint64, len(s.Nodes))
	for i := range masks {
		masks[i] = mask
	}
	w := s.Walk(defs)
	f := efg.NewFoldedWalk(s, defs, masks)
	n := uint64(0)
	err := f.Each(func(list []efg.Step) error {
		steps += expand(f, list, func(at *efg.Step) {
			if !w.Next() {
				t.Fatalf("more than %d events: %v", n, w.Err())
			}
			want := slices.Clone(w.Words())
			for i := range want {
				if s.Nodes[w.Node()].Mask&^mask>>i&1 != 0 {
					want[i] = 0
				}
			}
			if w.Node() != at.Node || !slices.Equal(want, f.Words(at)) {
				t.Fatalf("event %d: node %d %x, want %d %x", n, at.Node, f.Words(at), w.Node(), want)
			}
			n++
		})
		return nil
	})
	if err != nil || n != s.Events {
		t.Fatalf("%d of %d events: %v", n, s.Events, err)
	}
	return steps
}

// A folded walk, expanded, equals the walk: random programs with nested loops, with and without
// varying arguments, also after a run file has packed them.
func TestFoldIsTheWalk(t *testing.T) {
	events, steps := uint64(0), 0
	for seed := range uint64(300) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			plain := 6 + 1000*int(seed%2)
			s, defs := recordParts(t, rand.New(rand.NewPCG(seed, 11)), 20000, plain)
			n := foldEqualsWalk(t, s, defs, 0)
			if plain > 6 {
				events += s.Events
				steps += n
			}
			foldEqualsWalk(t, s, defs, ^uint64(0))
			run := encoded(t, s, defs)
			p, err := run.Process(0)
			if err != nil {
				t.Fatal(err)
			}
			foldEqualsWalk(t, &p.Streams[0], p.Defs, 0)
			foldEqualsWalk(t, &p.Streams[0], p.Defs, ^uint64(0))
		})
	}
	if uint64(4*steps) > events {
		t.Errorf("%d events in %d steps", events, steps)
	}
}

func encoded(t *testing.T, s *efg.Stream, defs []efg.Def) *runfile.Run {
	t.Helper()
	var file bytes.Buffer
	if err := runfile.EncodeRun(&file, []*efg.Process{{Size: 1, Streams: []efg.Stream{*s}, Defs: defs}}, runfile.Meta{}); err != nil {
		t.Fatal(err)
	}
	run, err := runfile.NewRun(bytes.NewReader(file.Bytes()), int64(file.Len()))
	if err != nil {
		t.Fatal(err)
	}
	return run
}

// Three times as many events in nested loops take no more steps.
func TestFoldOfManyEvents(t *testing.T) {
	first := foldedLoops(t, 100_000)
	if more := foldedLoops(t, 300_000); more > first+first/10 || first > 2000 {
		t.Errorf("%d steps, then %d", first, more)
	}
}

func foldedLoops(t *testing.T, iterations int) int {
	var defs efg.Definitions
	b := efg.NewBuilder(0, efg.DefaultDemote, &defs)
	for i := range iterations {
		for range 5 {
			add(t, b, 1)
		}
		add(t, b, 2)
		if i%10 == 9 {
			add(t, b, 3)
		}
		if i%1000 == 999 {
			add(t, b, 4)
		}
	}
	s, err := b.Stream()
	if err != nil {
		t.Fatal(err)
	}
	return foldEqualsWalk(t, s, defs.List, 0)
}

func add(t *testing.T, b *efg.Builder, site uint64) {
	p := signature.ProcByName("MPI_Barrier")
	w := make([]uint64, len(p.Words))
	w[0], w[1] = uint64(signature.MakeHeader(p.ID, signature.C, false, len(w), 0)), site
	if err := b.Add(efg.Input{Words: w}); err != nil {
		t.Fatal(err)
	}
}

// loopsInLoop records an outer loop around a number of loops of 7 calls.
func loopsInLoop(t *testing.T, loops int) (*efg.Stream, []efg.Def) {
	var defs efg.Definitions
	b := efg.NewBuilder(0, efg.DefaultDemote, &defs)
	for range 40 {
		for l := range loops {
			for call := range 7 * 5 {
				add(t, b, uint64(100+7*l+call%7))
			}
		}
	}
	s, err := b.Stream()
	if err != nil {
		t.Fatal(err)
	}
	return s, defs.List
}

// allocated is the total number of bytes that a folded walk allocates.
func allocated(t *testing.T, s *efg.Stream, defs []efg.Def) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f := efg.NewFoldedWalk(s, defs, make([]uint64, len(s.Nodes)))
	if err := f.Each(func([]efg.Step) error { return nil }); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// The memory of a folded walk grows with the graph, however many loops there are: the marks of
// a loop only record what is in the loop.
func TestFoldOfManyLoops(t *testing.T) {
	s, defs := loopsInLoop(t, 200)
	first := allocated(t, s, defs)
	if steps := foldEqualsWalk(t, s, defs, 0); uint64(4*steps) > s.Events {
		t.Errorf("%d steps for %d nodes, %d events", steps, len(s.Nodes), s.Events)
	}
	s, defs = loopsInLoop(t, 1500)
	if more := allocated(t, s, defs); more > 10*first || more > 200<<20 {
		t.Errorf("%d bytes for 1400 nodes, %d for %d", first, more, len(s.Nodes))
	}
}

// If nothing repeats, in loops that cannot be distinguished, memory is bounded too, and nothing
// is lost when marks are dropped.
func TestFoldOfTangle(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	var defs efg.Definitions
	b := efg.NewBuilder(0, efg.DefaultDemote, &defs)
	const sites = 500
	for i := range 30_000 {
		if i%100 == 0 {
			for range 60 {
				add(t, b, uint64(100+i%sites))
				add(t, b, uint64(101+i%sites))
			}
		}
		add(t, b, uint64(100+r.IntN(sites)))
	}
	s, err := b.Stream()
	if err != nil {
		t.Fatal(err)
	}
	steps := foldEqualsWalk(t, s, defs.List, 0)
	if steps > 40_000 {
		t.Errorf("%d steps of %d events: the loops were not folded", steps, s.Events)
	}
}
