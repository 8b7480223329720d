package runfile

import (
	"math/bits"
	"slices"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/block"
)

// A statistics block holds the times of the processes of several ranks.

// Columns of a statistics block.
const (
	statForm   = iota                        // of a node
	statCount                                // difference from the previous count
	statTimes                                // the columns of an interval: of the durations, and of the gaps
	statStream = statTimes + intervalColumns // nodes of a stream
)

// Columns of an interval.
const (
	intervalSum     = iota // difference from the typical one
	intervalMin            // of the single event, if there is only one, in place of all three
	intervalMax            // above min
	intervalBins           // 4 columns, by the number of events left: below 4, 16, 128, and more
	intervalColumns = intervalBins + 4
)

// Forms of a node's statistics.
const (
	statNone    = iota
	statSingle  // of one event: the minimum is sufficient
	statCompact // bins outside minimum and maximum are empty, and they sum to the count
	statWhole   // unchanged
	statForms
)

// statsBlock is a block with the times of several processes.
type statsBlock struct {
	first, procs int
	block        int
}

// statsOfBatch returns the statistics block of a batch's processes, nil if none
// of them has times.
func statsOfBatch(batch []placed) ([]byte, error) {
	if from := wholeBlock(batch); from != nil {
		raw, err := from.run.statsBytes(from.run.statsOf(from.proc))
		return raw, from.failed(err)
	}
	if !slices.ContainsFunc(batch, func(p placed) bool { return p.source.hasTimes() }) {
		return nil, nil
	}
	var s statsWriter
	for i := range batch {
		times, err := batch[i].source.times()
		if err != nil {
			return nil, err
		}
		for _, nodes := range times {
			s.stream(nodes)
		}
	}
	if !s.any {
		return nil, nil
	}
	return block.Append(nil, blockStats, s.cols, 0), nil
}

// wholeBlock returns the first of these processes if they are exactly those whose times are in
// one block of a run file. The block depends only on them, so it can be copied.
func wholeBlock(batch []placed) *fileSource {
	first, ok := batch[0].source.(*fileSource)
	if !ok || !first.hasTimes() {
		return nil
	}
	at := &first.run.stats[first.run.statsOf(first.proc)]
	if at.first != first.proc || at.procs != len(batch) {
		return nil
	}
	for i := range batch {
		s, ok := batch[i].source.(*fileSource)
		if !ok || s.run != first.run || s.proc != first.proc+i {
			return nil
		}
	}
	return first
}

// statsBytes returns the bytes of the k-th statistics block as they are in the file, if they
// are the times of the existing nodes.
func (r *Run) statsBytes(k int) ([]byte, error) {
	at := &r.stats[k]
	raw, b, err := r.readRaw(at.block)
	if err != nil {
		return nil, err
	}
	for i := at.first; i < at.first+at.procs; i++ {
		for j := range r.Procs[i].Streams {
			nodes, err := r.nodesOf(i, j)
			if err != nil {
				return nil, err
			}
			if n := b.Peek(statStream); n != nodes {
				b.Failf("statistics of %d nodes, there are %d", n, nodes)
			}
			takeStats(b, nil)
		}
	}
	return raw, b.Close()
}

// nodesOf is the number of nodes of Procs[i].Streams[j] according to the graph, not to the
// index.
func (r *Run) nodesOf(i, j int) (uint64, error) {
	p, err := r.groupOf(r.Procs[i].Streams[j].group, recordGraph)
	if err != nil {
		return 0, err
	}
	return p.shape[0], nil
}

// statsWriter makes a statistics block.
type statsWriter struct {
	cols block.Columns
	any  bool // a node has times
}

func (s *statsWriter) stream(nodes []efg.Node) {
	s.cols.Put(statStream, uint64(len(nodes)))
	last := uint64(0)
	for i := range nodes {
		st := nodes[i].Stats
		if st == nil {
			s.cols.Put(statForm, statNone)
			continue
		}
		s.any = true
		form := uint64(statCompact)
		switch {
		case !fits(&st.Dur, st.Count) || !fits(&st.Gap, st.Count):
			form = statWhole
		case st.Count == 1:
			form = statSingle
		}
		s.cols.Put(statForm, form)
		s.cols.Put(statCount, block.Zigzag(int64(st.Count-last)))
		last = st.Count
		s.interval(&st.Dur, st.Count, form)
		s.interval(&st.Gap, st.Count, form)
	}
}

// binOf is the bin that counts a time.
func binOf(ns uint64) int {
	return min(bits.Len64(ns|8)-4, len(efg.Interval{}.Bins)-1)
}

// fits reports whether the bins count the times of n events between Min and Max.
func fits(v *efg.Interval, n uint64) bool {
	lo, hi := binOf(v.Min), binOf(v.Max)
	if v.Min > v.Max || n == 0 || n == 1 && (v.Sum != v.Min || v.Max != v.Min) {
		return false
	}
	total := uint64(0)
	for i, c := range v.Bins {
		if c != 0 && (i < lo || i > hi) {
			return false
		}
		total += uint64(c)
	}
	return total == n
}

// binColumn is the column of a bin before which left events remain.
func binColumn(left uint64) int {
	switch {
	case left < 4:
		return statTimes + intervalBins
	case left < 16:
		return statTimes + intervalBins + 1
	case left < 128:
		return statTimes + intervalBins + 2
	}
	return statTimes + intervalBins + 3
}

// typicalSum is the sum of n times, one of which is the minimum, one the maximum, and the
// others in the middle of their bins.
func typicalSum(v *efg.Interval, n uint64) uint64 {
	lo, hi := binOf(v.Min), binOf(v.Max)
	if lo == hi {
		return v.Min + v.Max + (n-2)*(v.Min+(v.Max-v.Min)/2)
	}
	sum := v.Min + v.Max
	for i := lo; i <= hi; i++ {
		others := uint64(v.Bins[i])
		if i == lo || i == hi {
			others--
		}
		sum += others * 3 << (i + 2)
	}
	return sum
}

func (s *statsWriter) interval(v *efg.Interval, n, form uint64) {
	s.cols.Put(statTimes+intervalMin, v.Min)
	if form == statWhole {
		s.cols.Put(statTimes+intervalSum, v.Sum)
		s.cols.Put(statTimes+intervalMax, v.Max)
		for _, c := range v.Bins {
			s.cols.Put(statTimes+intervalBins+3, uint64(c))
		}
		return
	}
	if form == statSingle {
		return
	}
	s.cols.Put(statTimes+intervalSum, block.Zigzag(int64(v.Sum-typicalSum(v, n))))
	s.cols.Put(statTimes+intervalMax, v.Max-v.Min)
	left := n
	for i := binOf(v.Min); i < binOf(v.Max); i++ {
		s.cols.Put(binColumn(left), uint64(v.Bins[i]))
		left -= uint64(v.Bins[i])
	}
}

// takeStats reads the statistics of a stream's nodes; if nodes is nil, it skips them.
func takeStats(b *block.Block, nodes []efg.Node) {
	n := b.Get(statStream)
	if nodes != nil && n != uint64(len(nodes)) {
		b.Failf("statistics of %d nodes, there are %d", n, len(nodes))
		return
	}
	last := uint64(0)
	room := make([]efg.Stats, max(1, len(nodes)))
	for i := uint64(0); i < n && b.Err == nil; i++ {
		form := b.Below(statForm, statForms, "form")
		if form == statNone {
			continue
		}
		last += uint64(block.Unzigzag(b.Get(statCount)))
		st := &room[0]
		if nodes != nil {
			st = &room[i]
			nodes[i].Stats = st
		}
		*st = efg.Stats{Count: last}
		takeInterval(b, &st.Dur, st.Count, form)
		takeInterval(b, &st.Gap, st.Count, form)
	}
}

func takeInterval(b *block.Block, v *efg.Interval, n, form uint64) {
	v.Min = b.Get(statTimes + intervalMin)
	if form == statWhole {
		v.Sum, v.Max = b.Get(statTimes+intervalSum), b.Get(statTimes+intervalMax)
		for i := range v.Bins {
			v.Bins[i] = uint32(b.Get(statTimes + intervalBins + 3))
		}
		return
	}
	if form == statSingle {
		v.Sum, v.Max = v.Min, v.Min
		v.Bins[binOf(v.Min)] = 1
		return
	}
	sum := uint64(block.Unzigzag(b.Get(statTimes + intervalSum)))
	v.Max = v.Min + b.Get(statTimes+intervalMax)
	left := n
	for i := binOf(v.Min); i < binOf(v.Max); i++ {
		c := b.Get(binColumn(left))
		v.Bins[i] = uint32(c)
		left -= c
	}
	v.Bins[binOf(v.Max)] = uint32(left)
	v.Sum = sum + typicalSum(v, n)
}
