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
	out  []*group
}

// group is processes of both runs that are matched with each other.
type group struct {
	match   Match
	members [2]map[*summary]bool
}

func newGroup(match Match) *group {
	return &group{match, [2]map[*summary]bool{{}, {}}}
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
	for _, g := range p.out {
		if len(g.members[0])+len(g.members[1]) > 0 {
			r.Classes = append(r.Classes, g.sum())
		}
	}
	slices.SortStableFunc(r.Classes, func(x, y ClassPair) int {
		return cmp.Or(cmp.Compare(max(len(y.Ranks[0]), len(y.Ranks[1])), max(len(x.Ranks[0]), len(x.Ranks[1]))), cmp.Compare(x.first(), y.first()))
	})
}

// sum adds up the members of a group.
func (g *group) sum() ClassPair {
	c := ClassPair{Match: g.match}
	for k, members := range g.members {
		for _, s := range slices.SortedFunc(maps.Keys(members), func(x, y *summary) int {
			return cmp.Or(cmp.Compare(uint(x.rank), uint(y.rank)), cmp.Compare(x.proc, y.proc))
		}) {
			c.Ranks[k] = append(c.Ranks[k], s.rank)
			c.Total[k].add(s)
			c.Running[k] += s.running
			c.graph[k] = s.calls
		}
	}
	return c
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
				p.out = append(p.out, newGroup(match))
			}
			p.out[at[h]].members[k][s] = true
		}
	}
}

// byRank matches the processes that are left with those of the same rank in the other run, also
// with such as are in a group by now: only ranks that the other run does not have are left. It
// groups those whose calls and steps are equal in both runs.
func (p *pairing) byRank() {
	partners := p.partners()
	at := map[[2]hash]*group{}
	var alone [2][]*summary
	for len(p.list[0])+len(p.list[1]) > 0 {
		k := 0
		if len(p.list[0]) == 0 {
			k = 1
		}
		s := p.list[k][0]
		p.list[k] = p.list[k][1:]
		pair := partners[s.rank]
		if pair == nil {
			alone[k] = append(alone[k], s)
			continue
		}
		if pair.matched {
			continue
		}
		pair.matched = true
		key := [2]hash{pair.process[0].calls, pair.process[1].calls}
		g := at[key]
		if g == nil {
			g = newGroup(RankMatch)
			at[key] = g
			p.out = append(p.out, g)
		}
		for side, s := range pair.process {
			p.leave(pair.group[side], side, s)
			g.members[side][s] = true
		}
	}
	p.list = alone
}

// partners are the processes of a rank that both runs have.
type partners struct {
	process [2]*summary
	group   [2]*group // nil: in none
	matched bool      // by rank
}

// partners finds the ranks that both runs have exactly once.
func (p *pairing) partners() map[int]*partners {
	list := map[int]*partners{}
	counts := map[int][2]int{}
	note := func(side int, s *summary, g *group) {
		if list[s.rank] == nil {
			list[s.rank] = &partners{}
		}
		list[s.rank].process[side], list[s.rank].group[side] = s, g
		n := counts[s.rank]
		n[side]++
		counts[s.rank] = n
	}
	for k := range p.list {
		for _, s := range p.list[k] {
			note(k, s, nil)
		}
		for _, g := range p.out {
			for s := range g.members[k] {
				note(k, s, g)
			}
		}
	}
	maps.DeleteFunc(list, func(rank int, _ *partners) bool { return rank < 0 || counts[rank] != [2]int{1, 1} })
	return list
}

// leave removes a process from its group. What the group has of only one run is left again.
func (p *pairing) leave(g *group, side int, s *summary) {
	if g == nil {
		return
	}
	delete(g.members[side], s)
	if len(g.members[side]) == 0 {
		for o := range g.members[1-side] {
			p.list[1-side] = append(p.list[1-side], o)
		}
		g.members[1-side] = nil
	}
}

// rest are the processes of a run that have no partner.
func (p *pairing) rest(side int) {
	at := map[hash]*group{}
	for _, s := range p.list[side] {
		g := at[s.calls]
		if g == nil {
			g = newGroup(NoMatch)
			at[s.calls] = g
			p.out = append(p.out, g)
		}
		g.members[side][s] = true
	}
}

// compareStructure finds the calls and steps that only one run has: for matched ranks, those
// that their partners do not make; for others, those that no rank of the other run makes.
func (r *Runs) compareStructure(v [2]*survey) {
	type key struct {
		side     int
		from, to int32
	}
	found := map[key]*StructureChange{}
	in := [2][]int32{v[0].numbersIn(v[1]), v[1].numbersIn(v[0])}
	var union [2]*stepSet // made if it is needed
	for i := range r.Classes {
		c := &r.Classes[i]
		if c.Match != RankMatch && c.Match != NoMatch {
			continue
		}
		for k, ranks := range c.Ranks {
			if len(ranks) == 0 {
				continue
			}
			if c.Match == NoMatch && union[1-k] == nil {
				union[1-k] = v[1-k].union()
			}
			other := union[1-k]
			if c.Match == RankMatch {
				other = v[1-k].steps[c.graph[1-k]]
			}
			v[k].steps[c.graph[k]].without(other, in[k], func(from, to int32) {
				at := key{k, from, to}
				if found[at] == nil {
					found[at] = v[k].change(k, from, to)
				}
				found[at].Ranks += len(ranks)
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

// change is a call (if to is none), or a step, that only this side has.
func (v *survey) change(side int, from, to int32) *StructureChange {
	c := &StructureChange{Side: side, from: v.list[from]}
	c.Op, c.Site = c.from.op, v.sites.text(c.from.site)
	if to != none {
		c.to = v.list[to]
		c.To, c.ToSite = c.to.op, v.sites.text(c.to.site)
	}
	return c
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
