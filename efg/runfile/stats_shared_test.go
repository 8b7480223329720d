package runfile

import (
	"fmt"
	"math"
	"math/big"
	"math/rand"
	"testing"

	"github.com/efg-tools/efg/efg"
)

// sumsOf adds up what a table of callsites shows of a stream.
func sumsOf(s *efg.Stream, defs []efg.Def) map[string]string {
	callsites, _ := efg.FoldPaths(defs, 1)
	type row struct {
		count uint64
		v     [2]efg.Interval
	}
	rows := map[string]*row{}
	for i := range s.Nodes {
		n := &s.Nodes[i]
		_, key := sharingKeys(n, callsites)
		r := rows[key]
		if r == nil {
			r = &row{v: [2]efg.Interval{{Min: math.MaxUint64}, {Min: math.MaxUint64}}}
			rows[key] = r
		}
		r.count += n.Stats.Count
		for k, v := range intervals(n.Stats) {
			x := &r.v[k]
			x.Sum, x.Min, x.Max = x.Sum+v.Sum, min(x.Min, v.Min), max(x.Max, v.Max)
			for b := range v.Bins {
				x.Bins[b] += v.Bins[b]
			}
		}
	}
	out := map[string]string{}
	for key, r := range rows {
		out[key] = fmt.Sprint(r.count, r.v)
	}
	return out
}

// With call paths, what all nodes of a callsite have together is exact; the sums of each node are within
// a part of all that is shared; and what was read is written again as it was.
func TestSharedStatistics(t *testing.T) {
	var procs []*efg.Process
	for rank := range 3 {
		procs = append(procs, pathProcess(t, rank, 3, int64(rank)))
	}
	data := encode(t, procs, Meta{CallPath: 9})
	r := openBytes(t, data)
	var read []*efg.Process
	for i, want := range procs {
		got, err := r.Process(i)
		if err != nil {
			t.Fatal(err)
		}
		read = append(read, got)
		for j := range want.Streams {
			checkShares(t, &got.Streams[j], &want.Streams[j], want.Defs)
		}
	}
	again := encode(t, read, Meta{CallPath: 9})
	if string(again) != string(data) {
		t.Errorf("written again, %d bytes became other %d", len(data), len(again))
	}
	if err := openBytes(t, data).validateTimes(); err != nil {
		t.Error(err)
	}
}

func checkShares(t *testing.T, got, want *efg.Stream, defs []efg.Def) {
	t.Helper()
	before, after := sumsOf(want, defs), sumsOf(got, defs)
	for key := range before {
		if before[key] != after[key] {
			t.Errorf("a callsite has %s, not %s", after[key], before[key])
		}
	}
	sharing := newSharing(want.Nodes, defs)
	all, ok := sharing.merged(want.Nodes)
	if !ok || len(all) == len(want.Nodes) {
		t.Fatalf("%d nodes do not share statistics", len(want.Nodes))
	}
	off := sharing.precisions(all)
	for i := range want.Nodes {
		a, b := got.Nodes[i].Stats, want.Nodes[i].Stats
		if a.Count != b.Count {
			t.Errorf("node %d has %d events, not %d", i, a.Count, b.Count)
		}
		for k, v := range intervals(a) {
			if d := int64(v.Sum - intervals(b)[k].Sum); d > int64(off[k]) || -d > int64(off[k]) {
				t.Errorf("node %d: a sum is off by %d, more than %d", i, d, off[k])
			}
		}
	}
}

// Shares are those of exact arithmetic, whatever the numbers.
func TestSharesOfLargeNumbers(t *testing.T) {
	rng := rand.New(rand.NewSource(1))
	random := func() uint64 { return rng.Uint64() >> rng.Intn(64) }
	for range 20_000 {
		s := share{unit: max(random(), 1), events: max(random()>>28, 2), min: random() >> 30, max: random()}
		s.max = max(s.max, s.min)
		least, most := product(s.events, s.min), product(s.events, s.max)
		s.sum = min(max(random(), least), most)
		if least == math.MaxUint64 {
			continue
		}
		events := 1 + random()%(s.events-1)
		v := int64(random())
		if rng.Intn(2) == 0 {
			v = -v
		}
		if got, want := s.at(events, v), exactShare(&s, events, v); want.Cmp(new(big.Int).SetUint64(got)) != 0 {
			t.Fatalf("%+v: %d events, %d units: %d, want %s", s, events, v, got, want)
		}
	}
}

func exactShare(s *share, events uint64, v int64) *big.Int {
	b := func(v uint64) *big.Int { return new(big.Int).SetUint64(v) }
	mul := func(x, y *big.Int) *big.Int { return new(big.Int).Mul(x, y) }
	sub := func(x, y *big.Int) *big.Int { return new(big.Int).Sub(x, y) }
	larger := func(x, y *big.Int) *big.Int {
		if x.Cmp(y) > 0 {
			return x
		}
		return y
	}
	smaller := func(x, y *big.Int) *big.Int {
		if x.Cmp(y) < 0 {
			return x
		}
		return y
	}
	x := new(big.Int).Div(mul(b(s.sum), b(events)), b(s.events))
	x.Add(x, mul(big.NewInt(v), b(s.unit)))
	rest := b(s.events - events)
	x = larger(x, larger(mul(b(events), b(s.min)), sub(b(s.sum), mul(rest, b(s.max)))))
	return smaller(x, smaller(mul(b(events), b(s.max)), sub(b(s.sum), mul(rest, b(s.min)))))
}

// A file whose shared statistics are not those of its nodes is refused.
func TestSharedStatisticsOfOtherNodes(t *testing.T) {
	p, other := pathProcess(t, 0, 1, 1), pathProcess(t, 0, 1, 2)
	for i := range p.Streams {
		for k := range p.Streams[i].Nodes {
			p.Streams[i].Nodes[k].Stats.Count = 1 // as if there were no sharing
		}
	}
	r := openBytes(t, encode(t, []*efg.Process{other}, Meta{CallPath: 9}))
	kept, err := r.times.find(r, r.stats[0].block)
	if err != nil {
		t.Fatal(err)
	}
	b := kept.block.Again()
	nodes := append([]efg.Node(nil), p.Streams[0].Nodes...)
	if r.takeStats(b, nodes, p.Defs); b.Err == nil {
		t.Error("statistics of other nodes are read")
	}
}
