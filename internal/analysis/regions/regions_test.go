package regions_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/internal/analysis"
	"github.com/efg-tools/efg/internal/analysis/regions"
	"github.com/efg-tools/efg/signature"
)

// program is a random program: what is done at each event, in order.
type program struct {
	rand *rand.Rand
	most int
	list []event
}

// event is a call (op 0), or begins (1) or ends (2) a region; name 0 is none.
type event struct{ op, site, name int }

// part does something, perhaps several times, perhaps within a region.
func (p *program) part(depth, faults int) {
	r := p.rand
	switch kind := r.IntN(6); {
	case len(p.list) >= p.most:
	case depth == 0 || kind == 0:
		p.list = append(p.list, event{0, r.IntN(5), 0})
	case kind < 3:
		name, site := 1+r.IntN(4), r.IntN(3)
		vary := r.IntN(8) == 0
		for i := range 1 + r.IntN(3) {
			if vary { // more names than a callsite keeps
				name = 1 + i*7 + r.IntN(60)
			}
			p.list = append(p.list, event{1, site, name})
			p.part(depth-1, faults)
			p.list = append(p.list, p.end(name, site, faults)...)
		}
	default:
		turns, n := 1+r.IntN(60), 1+r.IntN(3)
		seed := r.Uint64()
		for range turns {
			q := *p
			if kind > 3 { // each turn is the same
				q.rand = rand.New(rand.NewPCG(seed, 1))
			}
			for range n {
				q.part(depth-1, faults)
			}
			p.list = q.list
		}
	}
}

// end ends a region, sometimes wrongly.
func (p *program) end(name, site, faults int) []event {
	switch p.rand.IntN(max(faults, 5)) {
	case 0:
		return []event{{2, site, 0}}
	case 1:
		if faults > 0 {
			return nil
		}
	case 2:
		if faults > 0 {
			return []event{{2, site, 1 + p.rand.IntN(6)}}
		}
	case 3:
		if faults > 0 {
			return []event{{2, site, name}, {2, site, name}}
		}
	}
	return []event{{2, site, name}}
}

// record makes a stream of the program.
func (p *program) record(t *testing.T) *efg.Process {
	var defs efg.Definitions
	b := efg.NewBuilder(0, efg.DefaultDemote, &defs)
	for _, e := range p.list {
		proc := signature.ProcByName([]string{"MPI_Pcontrol", "efg_region_begin", "efg_region_end"}[e.op])
		w := make([]uint64, len(proc.Words))
		w[0] = uint64(signature.MakeHeader(proc.ID, signature.C, false, len(w), 0))
		w[1] = uint64(100 + 10*e.op + e.site)
		if e.op > 0 {
			w[3] = nameWord(&defs, e.name)
		}
		if err := b.Add(efg.Input{Words: w}); err != nil {
			t.Fatal(err)
		}
	}
	s, err := b.Stream()
	if err != nil {
		t.Fatal(err)
	}
	s.End = efg.EndFinalized
	return &efg.Process{Size: 1, Defs: defs.List, Streams: []efg.Stream{*s}}
}

func nameWord(defs *efg.Definitions, name int) uint64 {
	if name == 0 {
		return signature.Absent
	}
	word := signature.Ident(signature.Hash(uint64(name)))
	defs.Add(efg.Def{Kind: efg.DefString, Word: word, Data: fmt.Appendf(nil, "r%d", name)})
	return word
}

// naive is what a reader of each event, one after the other, finds: how often what is done in
// which regions, and the texts of faults.
type naive struct {
	visits map[string]uint64
	faults map[string]uint64
}

func (n *naive) follow(list []event) {
	type region struct{ name, site int }
	var open []region
	fault := func(format string, args ...any) { n.faults[fmt.Sprintf(format, args...)]++ }
	for _, e := range list {
		path := ""
		for _, r := range open {
			path += fmt.Sprintf("/r%d", r.name)
		}
		n.visits[fmt.Sprintf("%s %d %d", path, e.op, e.site)]++
		switch {
		case e.op == 1:
			open = append(open, region{e.name, e.site})
			continue
		case e.op == 0:
			continue
		case len(open) == 0 && e.name == 0:
			fault("%d ended a region, and none was open", e.site)
			continue
		case len(open) == 0:
			fault("%d ended the region \"r%d\", and none was open", e.site, e.name)
			continue
		}
		around := len(open) - 1
		if e.name != 0 {
			for around >= 0 && open[around].name != e.name {
				around--
			}
		}
		if around < 0 {
			around = len(open) - 1
			fault("%d ended the region \"r%d\" by the name \"r%d\"", e.site, open[around].name, e.name)
		}
		for _, r := range open[around+1:] {
			fault("%d began the region \"r%d\", which was never ended", r.site, r.name)
		}
		open = open[:around]
	}
	for _, r := range open {
		fault("%d began the region \"r%d\", which was never ended", r.site, r.name)
	}
}

// What is found without looking at each event is what is found by doing so.
func TestRegionsAreThoseOfEachEvent(t *testing.T) {
	for seed := range uint64(400) {
		p := &program{rand: rand.New(rand.NewPCG(seed, 2)), most: 3000}
		for range 1 + p.rand.IntN(3) {
			p.part(1+p.rand.IntN(6), []int{0, 6, 40}[seed%3])
		}
		want := naive{map[string]uint64{}, map[string]uint64{}}
		want.follow(p.list)
		data := p.record(t)
		got := naive{map[string]uint64{}, map[string]uint64{}}
		if deep := got.read(t, data); deep {
			continue
		}
		if !maps.Equal(got.visits, want.visits) {
			t.Fatalf("seed %d: visits are\n%v, want\n%v", seed, sorted(got.visits), sorted(want.visits))
		}
		if !maps.Equal(got.faults, want.faults) {
			t.Fatalf("seed %d: faults are\n%v, want\n%v", seed, sorted(got.faults), sorted(want.faults))
		}
	}
}

// read follows the regions of a process; it reports whether they are too deep.
func (n *naive) read(t *testing.T, data *efg.Process) bool {
	p, err := analysis.NewProcess(data, 0)
	if err != nil {
		t.Fatal(err)
	}
	x, err := regions.Follow(p, 0)
	if err != nil {
		t.Fatal(err)
	}
	if x == nil {
		for k, v := range p.Visits(0) {
			n.visits[fmt.Sprintf(" 0 %d", data.Streams[0].Nodes[k].Words[1]-100)] += v
		}
		return false
	}
	for at, v := range x.Visits {
		path := ""
		for _, name := range x.Path(at.Frame) {
			path += "/" + name
		}
		site := data.Streams[0].Nodes[at.Node].Words[1] - 100
		n.visits[fmt.Sprintf("%s %d %d", path, site/10, site%10)] += v
	}
	for i := range x.Faults {
		f := &x.Faults[i]
		n.faults[fmt.Sprintf("%d %s", (data.Streams[0].Nodes[f.Node].Words[1]-100)%10, x.FaultText(f))] += f.Count
	}
	return x.Lost
}

func sorted(m map[string]uint64) (list []string) {
	for _, k := range slices.Sorted(maps.Keys(m)) {
		list = append(list, fmt.Sprintf("\n%d %s", m[k], k))
	}
	return list
}

// Regions that are begun without end take no more memory and time than what is kept of them.
func TestRegionsWithoutEnd(t *testing.T) {
	p := &program{}
	for range 200_000 {
		p.list = append(p.list, event{1, 0, 1}, event{0, 0, 0})
	}
	for range 199_990 {
		p.list = append(p.list, event{0, 1, 0}, event{2, 0, 0})
	}
	data := p.record(t)
	a, err := analysis.NewProcess(data, 0)
	if err != nil {
		t.Fatal(err)
	}
	x, err := regions.Follow(a, 0)
	if err != nil {
		t.Fatal(err)
	}
	if !x.Lost || len(x.Frames) > 300 {
		t.Errorf("%d frames, lost %t; want about 256, and some lost", len(x.Frames), x.Lost)
	}
	sum := uint64(0)
	for _, v := range x.Visits {
		sum += v
	}
	if want := uint64(len(p.list)); sum != want {
		t.Errorf("%d visits, want %d", sum, want)
	}
	if len(x.Faults) != 1 || x.Faults[0].Count != 10 {
		t.Errorf("faults are %+v", x.Faults)
	}
}
