package runfile

import (
	"math/bits"
	"slices"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/block"
	"github.com/efg-tools/efg/signature"
)

// A statistics block holds the times of the processes of several ranks.

// Columns of a statistics block.
const (
	statForm   = iota                        // of a node
	statCount                                // difference from the previous count
	statTimes                                // the columns of an interval: of the durations, and of the gaps
	statStream = statTimes + intervalColumns // nodes of a stream
	statGroups = statStream + 1              // groups that these share statistics in, 0: each has its own
	statShares = statGroups + 1              // of nodes that share statistics: of the durations, and of the gaps
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

// statsOfBatch returns the statistics block of a batch's processes, an empty one if none
// of them has times.
func statsOfBatch(batch []placed, opt statsOptions) (rawBlock, error) {
	if from := wholeBlock(batch); from != nil && opt.shared == (from.run.features&featureShared != 0) && from.run.copiesStats(from.proc) {
		raw, err := from.run.statsBlock(from.run.statsOf(from.proc))
		return raw, from.failed(err)
	}
	if !slices.ContainsFunc(batch, func(p placed) bool { return p.source.hasTimes() }) {
		return rawBlock{}, nil
	}
	var streams []*codedStream
	likes := newLikes()
	for i := range batch {
		times, defs, err := batch[i].source.times()
		if err != nil {
			return rawBlock{}, err
		}
		for _, nodes := range times {
			streams = append(streams, streamStats(nodes, defs, opt, likes))
		}
	}
	if !slices.ContainsFunc(streams, (*codedStream).timed) {
		return rawBlock{}, nil
	}
	return statsOfStreams(streams, opt.shared), nil
}

// codedStats is the maximum number of streams and statistics in a block that is a code: it is slow to decode, and what
// a decoder remembers of each takes memory.
const codedStats = 1 << 14

// statsOfStreams returns the statistics block of streams.
func statsOfStreams(streams []*codedStream, shared bool) rawBlock {
	n, w := 0, statsWriter{shared: shared}
	for _, t := range streams {
		n += 1 + len(t.list)
	}
	if n <= codedStats {
		return rawBlock{blockStatsCode, block.AppendCode(nil, blockStatsCode, encodeStats(streams, shared))}
	}
	for _, t := range streams {
		w.put(t)
	}
	return rawBlock{blockStats, block.Append(nil, blockStats, w.cols, 0)}
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

// copiesStats reports whether the statistics block of a process means the same in a file that is written now.
func (r *Run) copiesStats(proc int) bool {
	kind := r.blocks[r.stats[r.statsOf(proc)].block].Kind
	return kind != blockStatsCode || r.features&featureShortStats != 0
}

// readStatsCode reads a statistics block that is a code, and also returns its bytes.
func (r *Run) readStatsCode(n int) ([]byte, *block.Block, error) {
	at := r.blocks[n].Ref
	code, err := block.ReadCode(r.r, at, r.section(n))
	if err != nil {
		return nil, nil, err
	}
	cols, err := decodeStats(code, r.features)
	if err != nil {
		return nil, nil, &CorruptError{Section: r.section(n), Offset: at.Offset, Cause: err}
	}
	return block.AppendCode(nil, at.Kind, code), block.New(r.section(n), cols), nil
}

// statsBlock returns the k-th statistics block as it is in the file, if it has
// the times of the existing nodes.
func (r *Run) statsBlock(k int) (rawBlock, error) {
	at := &r.stats[k]
	raw, b, err := r.readRaw(at.block)
	if err != nil {
		return rawBlock{}, err
	}
	for i := at.first; i < at.first+at.procs; i++ {
		for j := range r.Procs[i].Streams {
			nodes, err := r.nodesOf(i, j)
			if err != nil {
				return rawBlock{}, err
			}
			if n := b.Peek(statStream); n != nodes {
				b.Failf("statistics of %d nodes, there are %d", n, nodes)
			}
			r.takeStats(b, nil, nil)
		}
	}
	return rawBlock{r.blocks[at.block].Kind, raw}, b.Close()
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

// statsOptions say how statistics are stored.
type statsOptions struct {
	shared  bool // nodes that differ in their call paths share them
	rounded bool // see FORMAT.md, "Rounded statistics"
}

// streamStats returns the statistics of a stream of a process with these definitions.
func streamStats(nodes []efg.Node, defs []efg.Def, opt statsOptions, likes *likes) *codedStream {
	t := &codedStream{nodes: uint64(len(nodes)), list: ownStats(nodes)}
	first := func(i int) *efg.Node { return &nodes[i] }
	if opt.shared {
		sharing := newSharing(nodes, defs)
		if all, ok := sharing.merged(nodes); ok {
			t.groups, t.list = uint64(len(all)), all
			t.shares = sharing.shares(nodes, all)
			first = func(i int) *efg.Node { return &nodes[sharing.groups[i][0]] }
		}
	}
	t.rounding = roundingOf(t.list)
	if opt.rounded && t.rounding == 0 {
		t.list = roundStats(t.list)
		t.rounding = roundingOf(t.list)
	}
	t.likes = likes.of(len(t.list), first)
	return t
}

// timed reports whether a node has times.
func (t *codedStream) timed() bool {
	return slices.ContainsFunc(t.list, func(st *efg.Stats) bool { return st != nil })
}

// likes finds similar nodes of a block.
type likes struct {
	number map[likeKey]uint64
	total  uint64
}

// likeKey is what similar nodes have in common: procedure, callsite and object, and how many like that are
// before it in its stream.
type likeKey struct {
	words [signature.FirstWord]uint64
	nth   int
}

func newLikes() *likes { return &likes{number: map[likeKey]uint64{}} }

// of returns which of the earlier nodes those of a stream are like, counted from 1, or 0. Each of their statistics is of
// a node.
func (l *likes) of(n int, node func(int) *efg.Node) []uint64 {
	list := make([]uint64, n)
	nth := map[likeKey]int{}
	for i := range list {
		key := likeKey{}
		copy(key.words[:], node(i).Words)
		nth[key]++
		key.nth = nth[key]
		list[i] = l.number[key]
		l.total++
		l.number[key] = l.total
	}
	return list
}

// statsWriter makes the columns of a statistics block.
type statsWriter struct {
	cols   block.Columns
	shared bool
}

func (s *statsWriter) put(t *codedStream) {
	s.cols.Put(statStream, t.nodes)
	if s.shared {
		s.cols.Put(statGroups, t.groups)
	}
	s.list(t.list)
	for i, list := range t.shares {
		for _, v := range list {
			s.cols.Put(statShares+i, v)
		}
	}
}

// ownStats are the statistics of each node.
func ownStats(nodes []efg.Node) []*efg.Stats {
	list := make([]*efg.Stats, len(nodes))
	for i := range nodes {
		list[i] = nodes[i].Stats
	}
	return list
}

func (s *statsWriter) list(stats []*efg.Stats) {
	last := uint64(0)
	for _, st := range stats {
		if st == nil {
			s.cols.Put(statForm, statNone)
			continue
		}
		form := formOf(st)
		s.cols.Put(statForm, form)
		s.cols.Put(statCount, block.Zigzag(int64(st.Count-last)))
		last = st.Count
		s.interval(&st.Dur, st.Count, form)
		s.interval(&st.Gap, st.Count, form)
	}
}

// formOf is the form of a node's statistics.
func formOf(st *efg.Stats) uint64 {
	switch {
	case st == nil:
		return statNone
	case !fits(&st.Dur, st.Count) || !fits(&st.Gap, st.Count):
		return statWhole
	case st.Count == 1:
		return statSingle
	}
	return statCompact
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

// takeStats reads the statistics of the nodes of a stream of a process with these definitions; if nodes is
// nil, it skips them.
func (r *Run) takeStats(b *block.Block, nodes []efg.Node, defs []efg.Def) {
	n := b.Get(statStream)
	if nodes != nil && n != uint64(len(nodes)) {
		b.Failf("statistics of %d nodes, there are %d", n, len(nodes))
		return
	}
	groups := uint64(0)
	if r.features&featureShared != 0 {
		groups = b.Get(statGroups)
	}
	switch {
	case b.Err != nil:
	case groups == 0:
		for i, st := range takeList(b, n, nodes != nil) {
			nodes[i].Stats = st
		}
	case groups >= n:
		b.Failf("%d nodes share statistics in %d groups", n, groups)
	case nodes == nil:
		takeList(b, groups, false)
		for i := uint64(0); i < n-groups && b.Err == nil; i++ {
			b.Get(statShares)
			b.Get(statShares + 1)
		}
	default:
		s := newSharing(nodes, defs)
		if groups != uint64(len(s.groups)) {
			b.Failf("nodes share statistics in %d groups, not %d", len(s.groups), groups)
			return
		}
		s.takeShares(b, nodes, takeList(b, groups, true))
	}
}

// takeList reads n statistics; it returns them if they are to be kept. Those of nodes without times are nil.
func takeList(b *block.Block, n uint64, keep bool) []*efg.Stats {
	var list []*efg.Stats
	room := make([]efg.Stats, 1)
	if keep {
		list, room = make([]*efg.Stats, n), make([]efg.Stats, n)
	}
	last := uint64(0)
	for i := uint64(0); i < n && b.Err == nil; i++ {
		form := b.Below(statForm, statForms, "form")
		if form == statNone {
			continue
		}
		last += uint64(block.Unzigzag(b.Get(statCount)))
		st := &room[0]
		if keep {
			st = &room[i]
			list[i] = st
		}
		*st = efg.Stats{Count: last}
		takeInterval(b, &st.Dur, st.Count, form)
		takeInterval(b, &st.Gap, st.Count, form)
	}
	return list
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
