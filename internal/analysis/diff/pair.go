package diff

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/analysis"
	"github.com/efg-tools/efg/reconstruct"
)

// Totals are calls, what they moved (sent, received, read and written) and how long
// they took.
type Totals struct {
	Calls, Errors, Bytes uint64
	Time                 analysis.Times
}

func (t *Totals) add(o *Totals) {
	t.Calls += o.Calls
	t.Errors += o.Errors
	t.Bytes += o.Bytes
	t.Time.Merge(&o.Time)
}

func (t *Totals) addNode(n *analysis.Node) {
	t.Calls += n.Visits
	if n.Error != 0 {
		t.Errors += n.Visits
	}
	t.Bytes += n.Volume.Sent + n.Volume.Received + n.Volume.Read + n.Volume.Written
	if n.Stats != nil {
		t.Time.Add(n.Stats.Count, &n.Stats.Dur)
	}
}

// Rank is a process of a run.
type Rank struct {
	Run  *runfile.Run
	Proc int // Run.Procs
}

// Change is how the calls of a procedure at a callsite differ between two sides.
type Change struct {
	Op, Site string // "function file:line"
	Side     [2]Totals
	Distance
	// Structure counts the differences of the graphs at this call.
	Structure int
	at        call
}

// TimeChange returns by how many nanoseconds the second side is slower.
func (c *Change) TimeChange() float64 {
	return float64(c.Side[1].Time.Sum) - float64(c.Side[0].Time.Sum)
}

func (c *Change) differs() bool {
	a, b := &c.Side[0], &c.Side[1]
	return c.Structure > 0 || a.Calls != b.Calls || a.Errors != b.Errors || a.Bytes != b.Bytes || a.Time != b.Time
}

// weigh orders changes: by time, then bytes, then calls, then structure. MPI_Init and
// MPI_Finalize come last.
func weigh(x, y *Change) int {
	apart := func(a, b uint64) uint64 { return max(a, b) - min(a, b) }
	last := func(c *Change) int {
		if analysis.Running(c.Op) {
			return 0
		}
		return 1
	}
	return cmp.Or(
		cmp.Compare(last(x), last(y)),
		cmp.Compare(math.Abs(y.TimeChange()), math.Abs(x.TimeChange())),
		cmp.Compare(apart(y.Side[0].Bytes, y.Side[1].Bytes), apart(x.Side[0].Bytes, x.Side[1].Bytes)),
		cmp.Compare(apart(y.Side[0].Calls, y.Side[1].Calls), apart(x.Side[0].Calls, x.Side[1].Calls)),
		cmp.Compare(y.Structure, x.Structure), cmp.Compare(x.Op, y.Op), cmp.Compare(x.Site, y.Site), x.at.compare(y.at),
	)
}

// Pair is how two ranks differ.
type Pair struct {
	Ranks   [2]int
	Timed   [2]bool
	Total   [2]Totals
	Threads []Thread
	Items   []Item   // differences in structure, the most expensive first
	Changes []Change // the most expensive first
}

// Equal reports whether nothing differs except times.
func (p *Pair) Equal() bool {
	for i := range p.Threads {
		if t := &p.Threads[i]; t.Arguments != nil || t.Calls != nil {
			return false
		}
	}
	return len(p.Items) == 0 && p.Total[0].Calls == p.Total[1].Calls && p.Total[0].Bytes == p.Total[1].Bytes
}

// Thread is how the streams of a thread differ.
type Thread struct {
	Thread       uint32
	There        [2]bool
	Events       [2]uint64
	Nodes, Edges [2]int
	// Calls is where the sequences of calls diverge; Arguments is where the calls, their
	// arguments or their results do. They are nil if nothing diverges.
	Calls, Arguments *Divergence
}

// Divergence is the first event that differs.
type Divergence struct {
	Event uint64    // number, from 0
	Text  [2]string // the events; "" where the stream has ended
}

// NewPair compares two ranks.
func NewPair(a, b Rank) (*Pair, error) {
	c, err := newComparison(a.Run, b.Run)
	if err != nil {
		return nil, err
	}
	x, err := c.side[0].process(a)
	if err != nil {
		return nil, err
	}
	y, err := c.side[1].process(b)
	if err != nil {
		return nil, err
	}
	return pairOf(x, y, false)
}

// comparison holds two runs whose callsites have comparable keys; both may be the same run.
type comparison struct{ side [2]*side }

// side is a run.
type side struct {
	run   *runfile.Run
	sites *siteNames
	first []int // see analysis.FirstRanks
}

func newSide(run *runfile.Run) (*side, error) {
	sites, err := newSiteNames(run)
	return &side{run, sites, analysis.FirstRanks(run.Procs)}, err
}

func newComparison(a, b *runfile.Run) (*comparison, error) {
	x, err := newSide(a)
	if err != nil || a == b {
		return &comparison{[2]*side{x, x}}, err
	}
	y, err := newSide(b)
	if err == nil {
		y.sites.follow(x.sites)
	}
	return &comparison{[2]*side{x, y}}, err
}

func (s *side) process(r Rank) (*process, error) {
	data, err := s.run.Process(r.Proc)
	if err != nil {
		return nil, err
	}
	p, err := analysis.NewProcess(data, s.first[r.Proc])
	if err != nil {
		return nil, err
	}
	return newProcess(p, s.sites)
}

// pairBuilder collects the differences of two processes.
type pairBuilder struct {
	pair  Pair
	side  [2]*process
	calls map[call]*Change
	text  [2]*reconstruct.Process
	brief bool // without items
}

func pairOf(a, b *process, brief bool) (*Pair, error) {
	p := &pairBuilder{side: [2]*process{a, b}, calls: map[call]*Change{}, brief: brief}
	for k, q := range p.side {
		p.pair.Ranks[k] = q.Data.Rank
		p.text[k] = reconstruct.NewProcess(q.Data, reconstruct.NamesOf(q.Data, q.sites.list))
		p.addCalls(k)
	}
	threads := map[uint32]bool{}
	for _, q := range p.side {
		for t := range q.threads {
			threads[t] = true
		}
	}
	for _, t := range slices.Sorted(maps.Keys(threads)) {
		if err := p.thread(t); err != nil {
			return nil, err
		}
	}
	return p.finish(), nil
}

// addCalls sums the calls of a side.
func (p *pairBuilder) addCalls(k int) {
	for _, s := range p.side[k].streams {
		for i := range s.nodes {
			n := &s.nodes[i]
			c := p.change(n.call, p.side[k])
			c.Side[k].addNode(n.facts)
			p.pair.Total[k].addNode(n.facts)
		}
	}
	p.pair.Timed[k] = p.pair.Total[k].Time.Count > 0
}

func (p *pairBuilder) change(at call, from *process) *Change {
	c := p.calls[at]
	if c == nil {
		c = &Change{Op: at.op, Site: from.sites.text(at.site), at: at}
		p.calls[at] = c
	}
	return c
}

// thread compares the streams of a thread.
func (p *pairBuilder) thread(number uint32) error {
	t := Thread{Thread: number}
	var s [2]*stream
	for k, q := range p.side {
		if s[k] = q.threads[number]; s[k] == nil {
			continue
		}
		t.There[k], t.Events[k], t.Nodes[k] = true, s[k].Events, len(s[k].Nodes)
		for i := range s[k].Nodes {
			t.Edges[k] += len(s[k].Nodes[i].Edges)
		}
	}
	if s[0] != nil && s[1] != nil {
		if err := p.streams(&t, match(s[0], s[1])); err != nil {
			return err
		}
	} else if !p.brief {
		p.missing(s)
	}
	p.pair.Threads = append(p.pair.Threads, t)
	return nil
}

// streams compares two streams.
func (p *pairBuilder) streams(t *Thread, m *matching) error {
	calls, all := p.structure(m)
	at, err := m.part(calls, true)
	if err != nil {
		return err
	}
	if t.Calls, err = p.divergence(m, at); err != nil {
		return err
	}
	if at, err = m.part(all, false); err != nil {
		return err
	}
	t.Arguments, err = p.divergence(m, at)
	return err
}

// divergence describes the event at which streams diverge.
func (p *pairBuilder) divergence(m *matching, at uint64) (*Divergence, error) {
	if at == never {
		return nil, nil
	}
	out := &Divergence{Event: at}
	for k, s := range []*stream{m.a, m.b} {
		if at >= s.Events {
			continue
		}
		for e, err := range p.text[k].Events(s.index(), reconstruct.Options{From: at, To: at + 1}) {
			if err != nil {
				return nil, err
			}
			out.Text[k] = string(e.AppendCall(nil))
		}
	}
	return out, nil
}

// index is the number of the stream in its process.
func (s *stream) index() int { return slices.Index(s.process.streams, s) }

func (p *pairBuilder) finish() *Pair {
	for _, c := range p.calls {
		c.Distance = DistanceOf(&c.Side[0].Time, &c.Side[1].Time)
		if c.differs() {
			p.pair.Changes = append(p.pair.Changes, *c)
		}
	}
	slices.SortFunc(p.pair.Changes, func(x, y Change) int { return weigh(&x, &y) })
	slices.SortStableFunc(p.pair.Items, weighItems)
	return &p.pair
}
