package loops

import (
	"fmt"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/seq"
)

// stepEffect is what a step means for a family.
type stepEffect struct {
	family, level, trial int
	beside               bool // an entry that does not lead to the header
}

// stepEffects returns the effects of the step between nodes u (-1 for the start) and v of the
// graph.
func (f *finder) stepEffects(u, v int) []stepEffect {
	var list []stepEffect
	for i := f.inner[v]; i >= 0; i = f.families[i].parent {
		if a := &f.families[i]; a.irreducible() && v != a.header && !f.contains(i, u) {
			list = append(list, stepEffect{family: i, beside: true})
		}
	}
	if i := f.headed[v]; i >= 0 {
		h := stepEffect{family: i, level: outside, trial: outside}
		if k, ok := f.families[i].latch[u]; ok {
			h.level, h.trial = f.families[i].level[k], f.families[i].trialOf(k)
		}
		list = append(list, h)
	}
	return list
}

// pass follows the stream along its branch runs, without expanding events.
type pass struct {
	f        *finder
	nodes    []passNode
	counters []counter
	sums     []sum        // of all counters
	near     cycleSkipper // for repeats within branch runs
	far      cycleSkipper // for repeats from run to run
	looked   int          // decisions in all
}

// passNode is a node on the path. After a deciding one, the next step is taken from its branch
// runs; after the others it is always the same.
type passNode struct {
	decides bool
	edges   []passEdge
	runs    seq.Iter
	counts  seq.Iter
	edge    int    // of the current run
	left    uint64 // steps left in it
	over    bool   // at the last node: there are no more runs
}

// passEdge leads to a node, and on by steps without effects to a node that decides or from
// which a step has an effect.
type passEdge struct {
	list        []stepEffect
	irreducible bool
	on          int
	fixed       uint64 // runs of this length to come
	count       uint64
}

// count counts the iterations of all families.
func (f *finder) count() ([]counter, error) {
	p := f.newPass()
	if f.start < 0 || len(f.families) == 0 {
		return p.counters, nil
	}
	if f.last < 0 {
		return nil, fmt.Errorf("%w: thread %d: the walk has no last node", efg.ErrGraph, f.stream.Thread)
	}
	if err := p.walk(); err != nil {
		return nil, fmt.Errorf("thread %d: %w", f.stream.Thread, err)
	}
	for i := range p.counters {
		p.counters[i].close()
	}
	return p.counters, nil
}

func (f *finder) newPass() *pass {
	p := &pass{f: f, nodes: make([]passNode, len(f.stream.Nodes)), counters: make([]counter, len(f.families))}
	p.makeCounters()
	for v := range p.nodes {
		p.open(v)
	}
	p.shorten()
	p.near.init(p, fewCycles)
	p.far.init(p, 1)
	return p
}

func (p *pass) makeCounters() {
	size := 0
	for i := range p.f.families {
		a := &p.f.families[i]
		size += a.levels*a.levels + len(a.trials)
	}
	p.sums = make([]sum, size)
	rest := p.sums
	for i := range p.counters {
		a, c := &p.f.families[i], &p.counters[i]
		c.n, c.settled = a.levels, a.settledLevels()
		c.sums, rest = rest[:a.levels*a.levels], rest[a.levels*a.levels:]
		c.trials, rest = rest[:len(a.trials)], rest[len(a.trials):]
	}
}

func (p *pass) open(v int) {
	from := &p.f.stream.Nodes[v]
	n := &p.nodes[v]
	n.decides = v == p.f.last || len(from.Edges) != 1
	n.runs, n.counts = from.Runs.Iter(), from.Counts.Iter()
	n.edges = make([]passEdge, len(from.Edges))
	for i, e := range from.Edges {
		list := p.f.stepEffects(p.f.at[v], p.f.at[e.To])
		n.edges[i] = passEdge{list: list, on: int(e.To), fixed: e.Fixed, count: e.Count}
		for _, h := range list {
			n.edges[i].irreducible = n.edges[i].irreducible || p.f.families[h.family].irreducible()
		}
	}
	if len(from.Edges) == 1 {
		n.left = from.Edges[0].Weight
	}
}

// silent reports whether nothing happens at a node: it has one step, without effects.
func (n *passNode) silent() bool { return !n.decides && len(n.edges[0].list) == 0 }

// shorten makes edges lead past silent nodes.
func (p *pass) shorten() {
	past := make([]int, len(p.nodes)) // where a silent node leads, plus 1; -1 while that is being found
	var way []int
	for v := range p.nodes {
		at := v
		for way = way[:0]; p.nodes[at].silent() && past[at] == 0; at = p.nodes[at].edges[0].on {
			past[at] = -1
			way = append(way, at)
		}
		if past[at] > 0 {
			at = past[at] - 1
		}
		for _, w := range way {
			past[w] = at + 1
		}
	}
	for v := range p.nodes {
		for i := range p.nodes[v].edges {
			if e := &p.nodes[v].edges[i]; past[e.on] > 0 {
				e.on = past[e.on] - 1
			}
		}
	}
}

// walk goes from decision to decision.
func (p *pass) walk() error {
	p.applyEffects(p.f.stepEffects(-1, p.f.start), 1)
	at, _, err := p.follow(p.f.stream.Start(), 1)
	for err == nil {
		n := &p.nodes[at]
		p.looked++
		p.near.at(p, at)
		if n.left == 0 {
			p.far.at(p, at)
			if err = p.nextRun(at); err != nil || n.over {
				return err
			}
		}
		e := &n.edges[n.edge]
		p.applyEffects(e.list, 1)
		n.left--
		to, irreducible, failed := p.follow(e.on, 1)
		if to == at && n.left > 0 && !irreducible && !e.irreducible {
			// It returns without a decision in between: the whole run at once.
			p.applyEffects(e.list, n.left)
			_, _, failed = p.follow(e.on, n.left)
			n.left = 0
		}
		at, err = to, failed
	}
	return err
}

// follow continues from a node to one that decides, n times, and reports whether an irreducible
// loop is involved.
func (p *pass) follow(at int, n uint64) (to int, irreducible bool, err error) {
	for steps := 0; !p.nodes[at].decides; steps++ {
		if steps > len(p.nodes) {
			return at, false, fmt.Errorf("%w: node %d: no way out of a circle", efg.ErrGraph, at)
		}
		e := &p.nodes[at].edges[0]
		p.applyEffects(e.list, n)
		irreducible = irreducible || e.irreducible
		at = e.on
	}
	return at, irreducible, nil
}

func (p *pass) applyEffects(list []stepEffect, n uint64) {
	for _, h := range list {
		if h.beside {
			p.counters[h.family].beside()
		} else {
			p.counters[h.family].arrive(h.level, h.trial, n)
		}
	}
}

// nextRun begins the next branch run at a node.
func (p *pass) nextRun(v int) error {
	n := &p.nodes[v]
	if len(n.edges) < 2 {
		n.over = true
		return nil
	}
	i, ok := n.runs.Next()
	if !ok {
		n.over = true
		if n.runs.Err() != nil {
			return n.runs.Err()
		}
		if v != p.f.last {
			return fmt.Errorf("%w: node %d: branch runs end early", efg.ErrGraph, v)
		}
		return nil
	}
	if i >= uint64(len(n.edges)) {
		return fmt.Errorf("%w: node %d: branch run of edge %d of %d", efg.ErrGraph, v, i, len(n.edges))
	}
	n.edge = int(i)
	e := &n.edges[i]
	n.left = e.count
	if e.fixed > 0 {
		e.fixed--
	} else if n.left, ok = n.counts.Next(); !ok || n.left == 0 {
		return fmt.Errorf("%w: node %d: run lengths end early: %v", efg.ErrGraph, v, n.counts.Err())
	}
	if n.left == 0 {
		return fmt.Errorf("%w: node %d: empty branch run", efg.ErrGraph, v)
	}
	return nil
}
