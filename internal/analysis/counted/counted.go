// Package counted sums what hardware and kernel counted (efg run --counters) by callsite: in calls,
// and in the computation before them.
package counted

import (
	"cmp"
	"errors"
	"slices"
	"sync"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/analysis"
	"github.com/efg-tools/efg/reconstruct"
)

// ErrNone: the run has no counters.
var ErrNone = errors.New("nothing was counted (efg run --counters does so)")

// Names of the counters that more is known about.
const (
	Instructions = "instructions"
	Cycles       = "cycles"
)

// Counter is a counter of a run.
type Counter struct {
	efg.Counter // State has what is so in any process
	// Missing and Multiplexed are in how many processes it was not read in all threads, and counted
	// only a part of the time.
	Missing, Multiplexed int
}

// Row sums the calls at a callsite over ranks.
type Row struct {
	Op, Site string
	Calls    uint64
	Setup    bool // they begin or end MPI
	Counters []efg.NodeCounter
}

// Table is what was counted in a run.
type Table struct {
	Ranks    int
	Counters []Counter
	Rows     []Row // the largest sums of the first counter first
	// Total sums all rows. As with times, the calls that begin and end MPI are not among the calls, and
	// what is before those that begin it is not among the computation.
	Total []Sums
	// Useful is the time of the computation that Total has, ns, all ranks together.
	Useful uint64
}

// Sums are sums over many nodes.
type Sums struct{ Calls, Before uint64 }

// Find is the number of a counter that was read, -1 if there is none of this name.
func (t *Table) Find(name string) int {
	return slices.IndexFunc(t.Counters, func(c Counter) bool { return c.Name == name && c.Read() })
}

// Whole reports whether a counter was read in all processes all the time.
func (t *Table) Whole(i int) bool {
	return i >= 0 && t.Counters[i].Missing == 0 && t.Counters[i].Multiplexed == 0
}

// IPC are the instructions of a cycle; ok is false if that is not known.
func IPC(instructions, cycles uint64) (ipc float64, ok bool) {
	if cycles == 0 {
		return 0, false
	}
	return float64(instructions) / float64(cycles), true
}

type key struct {
	op   string
	site uint64
}

type builder struct {
	names *reconstruct.Names
	known map[uint64]bool // callsites that names knows
	mu    sync.Mutex
	rows  map[key]*Row
	table Table
}

// New sums what some processes of a run counted.
func New(run *runfile.Run, procs []int, progress ...analysis.Progress) (*Table, error) {
	switch {
	case len(run.Meta.Counters) > 0:
	case len(run.Meta.EnergyOf()) > 0: // and nothing else
		return &Table{Ranks: len(procs)}, nil
	default:
		return nil, ErrNone
	}
	sites, err := run.Sites()
	if err != nil {
		return nil, err
	}
	b := &builder{names: reconstruct.NewNames(nil, sites), known: map[uint64]bool{}, rows: map[key]*Row{}}
	for _, s := range sites {
		b.known[s.Word] = true
	}
	b.table.Ranks = len(procs)
	b.table.Total = make([]Sums, len(run.Meta.Counters))
	for _, text := range run.Meta.Counters {
		b.table.Counters = append(b.table.Counters, Counter{Counter: efg.ParseCounter(text)})
	}
	if err := analysis.EachSummed(run, procs, b.process, progress...); err != nil {
		return nil, err
	}
	return b.finish(), nil
}

func (b *builder) process(p *analysis.Process) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.states(p.Data.Counters)
	for i := range p.Data.Streams {
		nodes, err := p.Nodes(i)
		if err != nil {
			return err
		}
		for k := range nodes {
			b.node(p, &nodes[k], p.Data.Streams[i].Nodes[k].Counters)
		}
	}
	return nil
}

func (b *builder) states(list []efg.Counter) {
	for i := range b.table.Counters {
		c, state := &b.table.Counters[i], efg.CounterState(0)
		if i < len(list) {
			state = list[i].State
		}
		c.State |= state
		if state&efg.CounterRead == 0 || state&efg.CounterFailed != 0 {
			c.Missing++
		}
		if state&efg.CounterMultiplexed != 0 {
			c.Multiplexed++
		}
	}
}

func (b *builder) node(p *analysis.Process, n *analysis.Node, list []efg.NodeCounter) {
	begins := n.Proc != nil && n.Proc.Begins
	if n.Stats != nil && !begins {
		b.table.Useful += n.Stats.Gap.Sum
	}
	at := key{n.Op, n.Site}
	row := b.rows[at]
	if row == nil {
		row = &Row{Op: n.Op, Setup: n.Setup(), Counters: make([]efg.NodeCounter, len(b.table.Counters))}
		row.Site = b.siteText(p, n.Site)
		b.rows[at] = row
	}
	row.Calls += n.Visits
	for i := range min(len(list), len(row.Counters)) {
		c := &list[i]
		if c.Count == 0 {
			continue
		}
		row.Counters[i].AddOf(c)
		if !n.Setup() {
			b.table.Total[i].Calls += c.Call.Sum
		}
		if !begins {
			b.table.Total[i].Before += c.Before.Sum
		}
	}
}

// siteText names a callsite: one whose place is not known by its module.
func (b *builder) siteText(p *analysis.Process, site uint64) string {
	if b.known[site] {
		return b.names.Site(site)
	}
	return reconstruct.NewNames(p.Data.Defs, nil).Site(site)
}

func (b *builder) finish() *Table {
	t := &b.table
	merged := map[[2]string]*Row{}
	for _, r := range b.rows {
		same := merged[[2]string{r.Op, r.Site}]
		if same == nil {
			merged[[2]string{r.Op, r.Site}] = r
			continue
		}
		same.Calls += r.Calls
		for i := range same.Counters {
			same.Counters[i].AddOf(&r.Counters[i])
		}
	}
	for _, r := range merged {
		t.Rows = append(t.Rows, *r)
	}
	slices.SortFunc(t.Rows, func(x, y Row) int {
		return cmp.Or(cmp.Compare(y.total(), x.total()), cmp.Compare(x.Op, y.Op), cmp.Compare(x.Site, y.Site))
	})
	return t
}

// total is what rows are ordered by.
func (r *Row) total() uint64 {
	if r.Setup {
		return 0
	}
	for i := range r.Counters {
		if c := &r.Counters[i]; c.Count > 0 {
			return c.Call.Sum + c.Before.Sum
		}
	}
	return 0
}
