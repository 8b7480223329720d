package runfile

import (
	"errors"
	"fmt"
	"slices"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/block"
)

// A block of counters has what was counted at the nodes of the processes of a statistics block.
// Meta.Counters names the counters.

// Columns of a block of counters.
const (
	countState  = iota // how many counters, and then the state of each of them, of each process
	countNodes         // of a stream
	countSets          // the columns of each counter
	countNumber = 0    // of events: difference from the stream's node before
	countForm   = 1
	countCall   = 2 // the columns of a tally: of the calls, and of what was before them
	countBefore = countCall + tallyColumns
	countEach   = countBefore + tallyColumns
)

// Columns of a tally.
const (
	tallyMin     = iota
	tallyRange   // above min
	tallySum     // difference from the typical one
	tallyBins    // those from the minimum's up to the one before the maximum's
	tallyColumns = iota
)

// Forms of a counter's values at a node.
const (
	countCompact = iota // bins outside minimum and maximum are empty, and they sum to the count
	countWhole          // unchanged
	countForms
)

// countersOfBatch returns the block of counters of a batch's processes.
func countersOfBatch(batch []placed, names []string) ([]byte, error) {
	var cols block.Columns
	cols.Put(countState, uint64(len(names)))
	for i := range batch {
		counters, streams, err := batch[i].source.counted()
		if err != nil {
			return nil, err
		}
		at := countersByName(counters, names)
		for c, k := range at {
			if k < 0 {
				cols.Put(countState, 0)
				continue
			}
			cols.Put(countState, uint64(counters[k].State))
			if !counters[k].Read() {
				at[c] = -1
			}
		}
		for _, nodes := range streams {
			putCounters(&cols, nodes, at)
		}
	}
	return block.Append(nil, blockCounters, cols, 0), nil
}

// countersByName finds the counters of a process that the names say, -1: it does not have it.
func countersByName(counters []efg.Counter, names []string) []int {
	at := make([]int, len(names))
	for i, name := range names {
		at[i] = slices.IndexFunc(counters, func(c efg.Counter) bool { return c.Text() == name })
	}
	return at
}

// putCounters adds the counters of a stream's nodes.
func putCounters(cols *block.Columns, nodes []efg.Node, at []int) {
	if !slices.ContainsFunc(at, func(k int) bool { return k >= 0 }) {
		return
	}
	cols.Put(countNodes, uint64(len(nodes)))
	for c, k := range at {
		if k < 0 {
			continue
		}
		set, last := countSets+c*countEach, uint64(0)
		for i := range nodes {
			var v efg.NodeCounter
			if k < len(nodes[i].Counters) {
				v = nodes[i].Counters[k]
			}
			cols.Put(set+countNumber, block.Zigzag(int64(v.Count-last)))
			if last = v.Count; v.Count == 0 {
				continue
			}
			form := uint64(countCompact)
			if !tallyFits(&v.Call, v.Count) || !tallyFits(&v.Before, v.Count) {
				form = countWhole
			}
			cols.Put(set+countForm, form)
			putTally(cols, set+countCall, &v.Call, v.Count, form)
			putTally(cols, set+countBefore, &v.Before, v.Count, form)
		}
	}
}

// tallyFits reports whether the bins count n values between Min and Max.
func tallyFits(t *efg.Tally, n uint64) bool {
	lo, hi := efg.TallyBin(t.Min), efg.TallyBin(t.Max)
	if t.Min > t.Max || n == 1 && (t.Min != t.Max || t.Sum != t.Min) {
		return false
	}
	total := uint64(0)
	for i, c := range t.Bins {
		if c != 0 && (i < lo || i > hi) {
			return false
		}
		total += uint64(c)
	}
	return total == n
}

// typicalTally is the sum of n values, one of which is the minimum, one the maximum, and the others
// in the middle of their bins.
func typicalTally(t *efg.Tally, n uint64) uint64 {
	lo, hi := efg.TallyBin(t.Min), efg.TallyBin(t.Max)
	if lo == hi {
		return t.Min + t.Max + (n-2)*(t.Min+(t.Max-t.Min)/2)
	}
	sum := t.Min + t.Max
	for i := lo; i <= hi; i++ {
		others := uint64(t.Bins[i])
		if i == lo || i == hi {
			others--
		}
		sum += others * middle(i)
	}
	return sum
}

// middle is the middle of a bin.
func middle(bin int) uint64 {
	if bin < 2 {
		return uint64(bin)
	}
	return 3 << (bin - 2)
}

func putTally(cols *block.Columns, at int, t *efg.Tally, n, form uint64) {
	cols.Put(at+tallyMin, t.Min)
	if form == countWhole {
		cols.Put(at+tallyRange, t.Max)
		cols.Put(at+tallySum, t.Sum)
		for _, c := range t.Bins {
			cols.Put(at+tallyBins, uint64(c))
		}
		return
	}
	if n == 1 {
		return
	}
	cols.Put(at+tallyRange, t.Max-t.Min)
	for i := efg.TallyBin(t.Min); i < efg.TallyBin(t.Max); i++ {
		cols.Put(at+tallyBins, uint64(t.Bins[i]))
	}
	cols.Put(at+tallySum, block.Zigzag(int64(t.Sum-typicalTally(t, n))))
}

// takeNumber reads how many counters there are.
func (r *Run) takeNumber(b *block.Block) {
	if n := b.Get(countState); n != uint64(len(r.Meta.Counters)) {
		b.Failf("%d counters, the run has %d", n, len(r.Meta.Counters))
	}
}

// takeStates reads the states of a process's counters.
func takeStates(b *block.Block, names []string) []efg.Counter {
	list := make([]efg.Counter, len(names))
	for i := range list {
		list[i] = efg.ParseCounter(names[i])
		list[i].State = efg.CounterState(b.Below(countState, uint64(efg.CounterStates), "state"))
	}
	return list
}

// takeCounters reads the counters of a stream's nodes; if nodes is nil, it skips them.
func takeCounters(b *block.Block, counters []efg.Counter, nodes []efg.Node) {
	if !slices.ContainsFunc(counters, efg.Counter.Read) {
		return
	}
	n := b.Get(countNodes)
	if nodes != nil && n != uint64(len(nodes)) {
		b.Failf("counters of %d nodes, there are %d", n, len(nodes))
		return
	}
	for i := range nodes {
		nodes[i].Counters = make([]efg.NodeCounter, len(counters))
	}
	for c := range counters {
		if !counters[c].Read() {
			continue
		}
		set, last := countSets+c*countEach, uint64(0)
		for i := uint64(0); i < n && b.Err == nil; i++ {
			var v efg.NodeCounter
			last += uint64(block.Unzigzag(b.Get(set + countNumber)))
			if v.Count = last; v.Count > 0 {
				form := b.Below(set+countForm, countForms, "form")
				takeTally(b, set+countCall, &v.Call, v.Count, form)
				takeTally(b, set+countBefore, &v.Before, v.Count, form)
			}
			if nodes != nil {
				nodes[i].Counters[c] = v
			}
		}
	}
}

func takeTally(b *block.Block, at int, t *efg.Tally, n, form uint64) {
	t.Min = b.Get(at + tallyMin)
	if form == countWhole {
		t.Max, t.Sum = b.Get(at+tallyRange), b.Get(at+tallySum)
		for i := range t.Bins {
			t.Bins[i] = uint32(b.Get(at + tallyBins))
		}
		return
	}
	t.Max, t.Sum = t.Min, t.Min
	if n == 1 {
		t.Bins[efg.TallyBin(t.Min)] = 1
		return
	}
	t.Max += b.Get(at + tallyRange)
	left := n
	for i := efg.TallyBin(t.Min); i < efg.TallyBin(t.Max); i++ {
		c := b.Get(at + tallyBins)
		t.Bins[i] = uint32(c)
		left -= c
	}
	t.Bins[efg.TallyBin(t.Max)] = uint32(left)
	t.Sum = uint64(block.Unzigzag(b.Get(at+tallySum))) + typicalTally(t, n)
}

// findCounters finds the blocks of counters: one for each of statistics.
func (r *Run) findCounters() error {
	for n := range r.blocks {
		if r.blocks[n].Kind == blockCounters {
			r.counters = append(r.counters, n)
		}
	}
	if r.features&featureCounters == 0 {
		r.Meta.Counters = nil
		if len(r.counters) > 0 {
			return errors.New("blocks of counters in a file without them")
		}
		return nil
	}
	if n := len(r.Meta.Counters); n == 0 || n > efg.MaxCounters {
		return fmt.Errorf("%d counters", n)
	}
	if len(r.counters) != len(r.stats) {
		return fmt.Errorf("%d blocks of counters, %d of statistics", len(r.counters), len(r.stats))
	}
	return nil
}

// readCounters reads the counters of process i.
func (r *Run) readCounters(i int, p *efg.Process) error {
	k := r.statsOf(i)
	if k < 0 || len(r.counters) == 0 {
		return nil
	}
	kept, err := r.counted.find(r, r.counters[k])
	if err != nil {
		return err
	}
	b, at := kept.open(r.stats[k].first, i)
	if at == r.stats[k].first {
		r.takeNumber(b)
	}
	for ; at < i; at++ {
		counters := takeStates(b, r.Meta.Counters)
		for range r.Procs[at].Streams {
			takeCounters(b, counters, nil)
		}
	}
	p.Counters = takeStates(b, r.Meta.Counters)
	for j := range p.Streams {
		takeCounters(b, p.Counters, p.Streams[j].Nodes)
	}
	if b.Err == nil {
		kept.reach(i+1, b)
	}
	return b.Err
}

// readSums reads statistics and counters of process i.
func (r *Run) readSums(i int, p *efg.Process) error {
	if err := r.readTimes(i, p.Streams, p.Defs); err != nil {
		return err
	}
	return r.readCounters(i, p)
}

// validateCounters checks that blocks of counters have no unused values.
func (r *Run) validateCounters() error {
	for k, n := range r.counters {
		b, err := r.read(n)
		if err != nil {
			return err
		}
		r.takeNumber(b)
		for i := r.stats[k].first; i < r.stats[k].first+r.stats[k].procs; i++ {
			counters := takeStates(b, r.Meta.Counters)
			for range r.Procs[i].Streams {
				takeCounters(b, counters, nil)
			}
		}
		if err := b.Close(); err != nil {
			return err
		}
	}
	return nil
}

// counted returns the process's counters, and all nodes of each stream.
func (s *memorySource) counted() ([]efg.Counter, [][]efg.Node, error) {
	nodes, _, err := s.times()
	return s.proc.Counters, nodes, err
}

func (s *fileSource) counted() ([]efg.Counter, [][]efg.Node, error) {
	if len(s.run.counters) == 0 {
		return nil, nil, nil
	}
	p, err := s.run.Summed(s.proc)
	if err != nil {
		return nil, nil, s.failed(err)
	}
	return (&memorySource{proc: p}).counted()
}
