package diff

import (
	"cmp"
	"maps"
	"slices"

	"github.com/efg-tools/efg/efg/runfile"
)

// Runs is how two runs differ.
type Runs struct {
	Timed [2]bool
	Ranks [2]int // processes
	Total [2]Totals
	// Running is the time in MPI of all processes in nanoseconds, excluding MPI_Init and
	// MPI_Finalize.
	Running   [2]uint64
	Classes   []ClassPair
	Structure []StructureChange
	Changes   []Change // by callsite, the most expensive first
}

// Match says in what respect the ranks of two matched classes are equal.
type Match string

const (
	GraphMatch Match = "graph" // arguments and order of calls
	ShapeMatch Match = "shape" // nodes except for arguments, and edges except for weights
	CallsMatch Match = "calls" // calls and the steps between them
	RankMatch  Match = "rank"  // only the ranks
	NoMatch    Match = "none"  // ranks that only one run has
)

// ClassPair are the ranks of both runs that are matched with each other.
type ClassPair struct {
	Match   Match
	Ranks   [2][]int // ascending
	Total   [2]Sums
	Running [2]uint64
	graph   [2]hash // of calls and steps
}

// StructureChange is a call, or a step from one call to another, that ranks make in one
// run and not in the other.
type StructureChange struct {
	Side       int // of the run that has it
	Op, Site   string
	To, ToSite string // of a step
	Ranks      int    // in that run
	from, to   call
}

// NewRuns compares processes of two runs. It calls progress, one call at a time, with the
// number of processes read so far.
func NewRuns(a, b *runfile.Run, procs [2][]int, progress func(done uint64)) (*Runs, error) {
	c, err := newComparison(a, b)
	if err != nil {
		return nil, err
	}
	var v [2]*survey
	count := counter(progress)
	for k := range v {
		if v[k], err = newSurvey(c.side[k], procs[k], count, true); err != nil {
			return nil, err
		}
	}
	r := &Runs{}
	for k := range v {
		r.Timed[k], r.Ranks[k] = v[k].timed, len(v[k].summaries)
		for i := range v[k].summaries {
			r.Total[k].addSummary(&v[k].summaries[i])
			r.Running[k] += v[k].summaries[i].running
		}
	}
	r.pairClasses(v)
	r.compareStructure(v)
	r.compareCalls(v)
	return r, nil
}

// Identical reports whether the runs have the same ranks with the same graphs and bytes:
// nothing differs except times.
func (r *Runs) Identical() bool {
	for i := range r.Classes {
		if c := &r.Classes[i]; c.Match != GraphMatch || !slices.Equal(c.Ranks[0], c.Ranks[1]) {
			return false
		}
	}
	return r.Total[0].Bytes == r.Total[1].Bytes && r.Total[0].Calls == r.Total[1].Calls
}

// pairing matches the processes of two runs that have no partner yet.
type pairing struct {
	list [2][]*summary
	keys map[*summary]hash // of graphs
	out  []ClassPair
}

// pairClasses matches processes by graph, then shape, then calls, then rank.
func (r *Runs) pairClasses(v [2]*survey) {
	p := &pairing{keys: map[*summary]hash{}}
	var all []*summary
	for k := range v {
		for i := range v[k].summaries {
			p.list[k] = append(p.list[k], &v[k].summaries[i])
		}
		all = append(all, p.list[k]...)
	}
	for i, key := range argumentKeys(all) {
		p.keys[all[i]] = key
	}
	p.by(GraphMatch, func(s *summary) hash { return p.keys[s] })
	p.by(ShapeMatch, func(s *summary) hash { return s.shape })
	p.by(CallsMatch, func(s *summary) hash { return s.calls })
	p.byRank()
	for k := range p.list {
		p.rest(k)
	}
	slices.SortStableFunc(p.out, func(x, y ClassPair) int {
		return cmp.Or(cmp.Compare(max(len(y.Ranks[0]), len(y.Ranks[1])), max(len(x.Ranks[0]), len(x.Ranks[1]))), cmp.Compare(x.first(), y.first()))
	})
	r.Classes = p.out
}

func (c *ClassPair) first() uint {
	first := ^uint(0)
	for _, ranks := range c.Ranks {
		if len(ranks) > 0 {
			first = min(first, uint(ranks[0]))
		}
	}
	return first
}

func (c *ClassPair) add(side int, s *summary) {
	c.Ranks[side] = append(c.Ranks[side], s.rank)
	c.Total[side].add(s)
	c.Running[side] += s.running
	c.graph[side] = s.calls
}

// by matches processes with equal keys.
func (p *pairing) by(match Match, key func(*summary) hash) {
	var there [2]map[hash]bool
	for k, list := range p.list {
		there[k] = map[hash]bool{}
		for _, s := range list {
			there[k][key(s)] = true
		}
	}
	at := map[hash]int{}
	for k, list := range p.list {
		p.list[k] = nil
		for _, s := range list {
			h := key(s)
			if !there[0][h] || !there[1][h] {
				p.list[k] = append(p.list[k], s)
				continue
			}
			if _, ok := at[h]; !ok {
				at[h] = len(p.out)
				p.out = append(p.out, ClassPair{Match: match})
			}
			p.out[at[h]].add(k, s)
		}
	}
}

// byRank matches processes with the same rank, and groups those whose calls and steps are equal
// in both runs.
func (p *pairing) byRank() {
	other := map[int]*summary{}
	for _, s := range p.list[1] {
		other[s.rank] = s
	}
	at := map[[2]hash]int{}
	var left []*summary
	for _, s := range p.list[0] {
		o := other[s.rank]
		if o == nil || s.rank < 0 {
			left = append(left, s)
			continue
		}
		delete(other, s.rank)
		key := [2]hash{s.calls, o.calls}
		if _, ok := at[key]; !ok {
			at[key] = len(p.out)
			p.out = append(p.out, ClassPair{Match: RankMatch})
		}
		p.out[at[key]].add(0, s)
		p.out[at[key]].add(1, o)
	}
	p.list[0] = left
	p.list[1] = slices.DeleteFunc(p.list[1], func(s *summary) bool { return other[s.rank] == nil })
}

// rest are the processes of a run that have no partner.
func (p *pairing) rest(side int) {
	at := map[hash]int{}
	for _, s := range p.list[side] {
		if _, ok := at[s.calls]; !ok {
			at[s.calls] = len(p.out)
			p.out = append(p.out, ClassPair{Match: NoMatch})
		}
		p.out[at[s.calls]].add(side, s)
	}
}

// compareStructure finds the calls and steps that only one run has: for matched ranks, those
// that their partners do not make; for others, those that no rank of the other run makes.
func (r *Runs) compareStructure(v [2]*survey) {
	var union [2]*callGraph
	for k := range v {
		union[k] = &callGraph{}
		for _, g := range v[k].steps {
			union[k].calls = append(union[k].calls, g.calls...)
			union[k].steps = append(union[k].steps, g.steps...)
		}
	}
	found := map[[3]any]*StructureChange{}
	for i := range r.Classes {
		c := &r.Classes[i]
		if c.Match != RankMatch && c.Match != NoMatch {
			continue
		}
		for k, ranks := range c.Ranks {
			if len(ranks) == 0 {
				continue
			}
			other := union[1-k]
			if c.Match == RankMatch {
				other = v[1-k].steps[c.graph[1-k]]
			}
			v[k].steps[c.graph[k]].without(other, func(from, to call) {
				key := [3]any{k, from, to}
				if found[key] == nil {
					found[key] = &StructureChange{Side: k, Op: from.op, Site: v[k].sites.text(from.site),
						To: to.op, ToSite: v[k].sites.text(to.site), from: from, to: to}
				}
				found[key].Ranks += len(ranks)
			})
		}
	}
	for s := range maps.Values(found) {
		r.Structure = append(r.Structure, *s)
	}
	slices.SortFunc(r.Structure, func(x, y StructureChange) int {
		return cmp.Or(cmp.Compare(min(1, len(x.To)), min(1, len(y.To))), cmp.Compare(y.Ranks, x.Ranks), cmp.Compare(x.Side, y.Side),
			cmp.Compare(x.Op, y.Op), cmp.Compare(x.Site, y.Site), cmp.Compare(x.To, y.To), cmp.Compare(x.ToSite, y.ToSite),
			x.from.compare(y.from), x.to.compare(y.to))
	})
}

// without calls f for the calls of a graph (with an empty second one) and for the steps that
// another graph does not have.
func (g *callGraph) without(o *callGraph, f func(from, to call)) {
	calls, steps := map[call]bool{}, map[[2]call]bool{}
	for _, c := range o.calls {
		calls[c] = true
	}
	for _, s := range o.steps {
		steps[s] = true
	}
	for _, c := range g.calls {
		if !calls[c] {
			f(c, call{})
		}
	}
	for _, s := range g.steps {
		if !steps[s] {
			f(s[0], s[1])
		}
	}
}

// compareCalls compares the calls at each callsite.
func (r *Runs) compareCalls(v [2]*survey) {
	changes := map[call]*Change{}
	for k := range v {
		for i, c := range v[k].list {
			if changes[c] == nil {
				changes[c] = &Change{Op: c.op, Site: v[k].sites.text(c.site), at: c}
			}
			changes[c].Side[k] = v[k].sums[i]
		}
	}
	for _, s := range r.Structure {
		changes[s.from].Structure++
	}
	for _, c := range changes {
		c.Distance = DistanceOf(&c.Side[0].Time, &c.Side[1].Time)
		if c.differs() {
			r.Changes = append(r.Changes, *c)
		}
	}
	slices.SortFunc(r.Changes, func(x, y Change) int { return weigh(&x, &y) })
}
