package runfile

import (
	"fmt"
	"math"
	"math/bits"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/block"
	"github.com/efg-tools/efg/efg/mix"
)

// The statistics of a few processes as a code: each value is expected near what the same node of earlier streams
// had. FORMAT.md, "Statistics as a code", specifies this.

// statsTable is the number of bits of the table of a coder of statistics, shortTable that of one of short codes.
const (
	statsTable = 15
	shortTable = 13
)

// modelledRest is how many of the bits that a number's cell does not say are modelled in short codes. Those after them
// are as often 0 as 1.
const modelledRest = 1

// Kinds of values. Those of the gaps follow those of the durations.
const (
	codeMin    = iota
	codeSingle // of a single event: minimum, maximum and sum
	codeMax
	codeSum
	timeCodes
	codeBin = iota - 1
	codeMost
	intervalCodes

	codeLike  = 2 * intervalCodes
	codeForm  = codeLike + 1
	codeCount = codeLike + 2
	codeShare = codeLike + 3
)

// First values of contexts.
const (
	statsNumber = 1 + iota
	statsRest
	statsRound
	statsLike
	statsForm
	statsCount
	statsTime
	statsBin
	statsMost
	statsShare
)

// What numbers of kind statsNumber are.
const (
	numberStreams = iota
	numberNodes
	numberGroups
	numberRounding
	numberTime
	numberBin
	numberExamples
)

// codedStream holds the statistics of a stream.
type codedStream struct {
	nodes, groups uint64 // groups 0: each node has its own
	rounding      rounding
	list          []*efg.Stats
	likes         []uint64 // of each of the list: which of all statistics before it in the block is similar, from 1 on; 0: none
	shares        [2][]uint64
}

// statsCoder codes the streams of a block.
type statsCoder struct {
	c        *mix.Coder
	shared   bool
	short    bool        // FORMAT.md, "Short codes"
	left     int         // how many more values there may be
	count    int         // of streams and statistics so far
	made     []efg.Stats // not used yet
	free     []trail
	trails   []*trail
	last     *trail // of the statistics before
	usual    [2]usual
	rounding rounding
	err      error
}

// encodeStats returns the code of the statistics of streams.
func encodeStats(streams []*codedStream, shared bool) []byte {
	s := &statsCoder{c: shortStart().Encoder(), shared: shared, short: true, left: math.MaxInt}
	defer s.c.Close()
	s.streams(streams)
	return s.c.Finish()
}

// decodeStats returns the columns of a statistics block with this code, of a file with these features.
func decodeStats(code []byte, features uint32) (block.Columns, error) {
	s := &statsCoder{shared: features&featureShared != 0, short: features&featureShortStats != 0, left: block.MaxValues(len(code))}
	start := statsStart
	if s.short {
		start = shortStart
	}
	s.c = start().Decoder(code)
	defer s.c.Close()
	w := &statsWriter{shared: s.shared}
	for _, t := range s.streams(nil) {
		w.put(t)
	}
	if s.err == nil && s.c.Rest() > 0 {
		s.failf("%d bytes left over", s.c.Rest())
	}
	return w.cols, s.err
}

func (s *statsCoder) failf(format string, args ...any) {
	if s.err == nil {
		s.err = fmt.Errorf(format, args...)
	}
}

// streams codes streams, or decodes them.
func (s *statsCoder) streams(list []*codedStream) []*codedStream {
	n := s.number(numberStreams, uint64(len(list)))
	for i := uint64(0); i < n && s.room(1); i++ {
		if !s.c.Encoding() {
			list = append(list, &codedStream{})
		}
		s.stream(list[i])
	}
	return list
}

// forget begins another block: no statistics are like those before.
func (s *statsCoder) forget() { s.trails, s.usual = nil, [2]usual{} }

// more counts streams and statistics.
func (s *statsCoder) more() {
	if s.count++; s.count > codedStats {
		s.failf("more than %d streams and statistics", codedStats)
	}
}

// room reports whether there may be n more values.
func (s *statsCoder) room(n int) bool {
	if s.left -= n; s.left < 0 || s.c.Overrun() {
		s.failf("the code ends early")
	}
	return s.err == nil
}

func (s *statsCoder) number(what, v uint64) uint64 {
	return s.c.Number(mix.Hash(statsNumber, what), v)
}

func (s *statsCoder) stream(t *codedStream) {
	s.more()
	t.nodes = s.number(numberNodes, t.nodes)
	n := t.nodes
	if s.shared {
		if t.groups = s.number(numberGroups, t.groups); t.groups > 0 {
			n = t.groups
		}
	}
	t.rounding = rounding(s.number(numberRounding, uint64(t.rounding)))
	if t.rounding > maxRounding || t.groups > 0 && t.groups >= t.nodes {
		s.failf("%d nodes, %d groups, rounding %d", t.nodes, t.groups, t.rounding)
	}
	s.rounding, s.last = t.rounding, &trail{}
	expected, before := uint64(1), uint64(0)
	for i := uint64(0); i < n && s.room(9); i++ {
		if !s.c.Encoding() {
			t.list, t.likes = append(t.list, nil), append(t.likes, 0)
		}
		before = s.like(before, expected, t.likes[i])
		if t.likes[i] = before + expected; t.likes[i] > uint64(len(s.trails)) {
			s.failf("statistics %d are like %d", len(s.trails)+1, t.likes[i])
			return
		}
		if t.likes[i] > 0 {
			expected = t.likes[i] + 1
		}
		if s.more(); s.err != nil {
			return
		}
		at := s.trailOf(t.likes[i])
		t.list[i] = s.stats(at, t.list[i])
		s.last = at
	}
	if t.groups > 0 {
		s.allShares(t)
	}
}

// like codes which other statistics are similar, as the difference from those expected; before is the difference of the
// statistics before.
func (s *statsCoder) like(before, expected, like uint64) uint64 {
	return s.c.Value(codeLike, []mix.Guess{{Context: mix.Hash(statsLike, 1, before)}, {Context: mix.Hash(statsLike, 2)}},
		mix.Hash(statsLike, 3), before, like-expected)
}

func (s *statsCoder) allShares(t *codedStream) {
	for i := range t.shares {
		for k := uint64(0); k < t.nodes-t.groups && s.room(1); k++ {
			if !s.c.Encoding() {
				t.shares[i] = append(t.shares[i], 0)
			}
			contexts := []uint64{mix.Hash(statsShare, uint64(i))}
			t.shares[i][k] = s.spread(codeShare, contexts, t.shares[i][k])
		}
	}
}

// stats codes the statistics of a node.
func (s *statsCoder) stats(at *trail, st *efg.Stats) *efg.Stats {
	form := s.form(at, st)
	if form == statNone || s.err != nil {
		return nil
	}
	if !s.c.Encoding() {
		st = s.newStats()
	}
	st.Count = s.events(at, st.Count)
	for i, v := range intervals(st) {
		switch form {
		case statSingle:
			v.Min = s.time(at, i, codeSingle, 1, 0, v.Min)
			v.Sum, v.Max, v.Bins[binOf(v.Min)] = v.Min, v.Min, 1
		case statCompact:
			s.interval(at, i, v, st.Count)
		case statWhole:
			s.whole(v)
		}
	}
	return st
}

// newStats makes statistics, of several in one piece of memory: there are very many.
func (s *statsCoder) newStats() *efg.Stats {
	if len(s.made) == 0 {
		s.made = make([]efg.Stats, 16)
	}
	st := &s.made[0]
	s.made = s.made[1:]
	return st
}

func (s *statsCoder) form(at *trail, st *efg.Stats) uint64 {
	form := s.c.Value(codeForm, []mix.Guess{
		{Context: mix.Hash(statsForm, 1, at.form)},
		{Context: mix.Hash(statsForm, 2, s.last.form)},
	}, mix.Hash(statsForm, 3), 0, formOf(st))
	if form >= statForms {
		s.failf("form %d", form)
	}
	at.form = form + 1
	return form
}

func (s *statsCoder) events(at *trail, n uint64) uint64 {
	at.count = s.c.Value(codeCount, []mix.Guess{
		{Context: mix.Hash(statsCount, 1, at.count)},
		{Context: mix.Hash(statsCount, 2, at.root)},
		{Context: mix.Hash(statsCount, 3, s.last.count)},
		{Value: at.count, Sure: 1},
		{Value: s.last.count, Sure: 1},
	}, mix.Hash(statsCount, 4), s.last.count, n)
	return at.count
}

// whole codes an interval that contradicts itself.
func (s *statsCoder) whole(v *efg.Interval) {
	if !s.room(len(v.Bins)) {
		return
	}
	for _, x := range [...]*uint64{&v.Sum, &v.Min, &v.Max} {
		*x = s.number(numberTime, *x)
	}
	for b := range v.Bins {
		v.Bins[b] = uint32(s.number(numberBin, uint64(v.Bins[b])))
	}
}

// interval codes an interval of n events.
func (s *statsCoder) interval(at *trail, i int, v *efg.Interval, n uint64) {
	v.Min = s.time(at, i, codeMin, n, 0, v.Min)
	v.Max = s.time(at, i, codeMax, n, timeGrid.cell(v.Min), v.Max)
	if v.Max < v.Min || n < 2 {
		s.failf("%d times from %d to %d", n, v.Min, v.Max)
	}
	if s.err != nil || !s.room(binOf(v.Max)-binOf(v.Min)) {
		return
	}
	s.bins(at, i, v, n)
	typical := timeGrid.cell(typicalSum(v, n))
	v.Sum = s.time(at, i, codeSum, n, typical, v.Sum)
}

// bins codes how many of n events are in which bin.
func (s *statsCoder) bins(at *trail, i int, v *efg.Interval, n uint64) {
	low, high := binOf(v.Min), binOf(v.Max)
	if low == high {
		v.Bins[low] = uint32(n)
		return
	}
	most := s.most(at, i, v, low, high)
	weights, rest := at.intervals[i].weights(low, high, most)
	grid := s.rounding.events()
	left, before := n, int64(0)
	for b := low; b <= high && s.err == nil; b++ {
		if b == most {
			continue
		}
		h, l := bits.Mul64(left, weights[b])
		expected, _ := bits.Div64(h, l, rest)
		c, cell := uint64(v.Bins[b]), grid.cell(expected)
		x, end := uint64(cell)<<1|uint64(i), block.Bit(b == low)+2*block.Bit(b == high)
		contexts := append(make([]uint64, 0, mix.Contexts), mix.Hash(statsBin, uint64(grid), 1, x, end))
		if !s.short {
			contexts = append(contexts, mix.Hash(statsBin, uint64(grid), 2, x, block.Bit(at.intervals[i].seen[codeMin] > 1), size(n)),
				mix.Hash(statsBin, uint64(grid), 3, x, end, uint64(before)))
		}
		contexts = append(contexts, mix.Hash(statsBin, uint64(grid), 4, uint64(b-most), size(n), end))
		if !s.short {
			contexts = append(contexts, mix.Hash(statsBin, uint64(grid), 5, at.root, uint64(i), uint64(b)))
		}
		d := s.difference(i, codeBin, grid.cell(c)-cell, contexts)
		before = d
		if c = s.inCell(grid, cell+d, i, codeBin, c); c > left {
			s.failf("%d of %d events in a bin", c, left)
		}
		v.Bins[b] = uint32(c)
		left -= c
		rest -= weights[b]
	}
	v.Bins[most] = uint32(left)
	at.intervals[i].add(&v.Bins)
}

// most codes the bin with most events.
func (s *statsCoder) most(at *trail, i int, v *efg.Interval, low, high int) int {
	t := &at.intervals[i]
	most := mostEvents(&v.Bins)
	expected := uint64(t.most(low, high) - low)
	k := low + int(s.byte(i*intervalCodes+codeMost, []uint64{
		mix.Hash(statsMost, 1, uint64(i), expected, uint64(high-low)),
		mix.Hash(statsMost, 2, uint64(i), uint64(high-low)),
		mix.Hash(statsMost, 3, uint64(i), expected),
	}, uint64(max(most-low, 0))))
	if k > high {
		s.failf("most events in bin %d, above %d", k, high)
		return low
	}
	return k
}

// time codes a time of an interval of n events. Where nothing is known, it is expected relative to the cell base.
func (s *statsCoder) time(at *trail, i, code int, n uint64, base int64, v uint64) uint64 {
	t := &at.intervals[i]
	expected := nearest(s.usual[i][code]) + base
	if t.seen[code] > 0 {
		if expected = nearest(t.level[code]); code == codeSum {
			expected += base
		}
	}
	known, spread := uint64(min(t.seen[code], 3)), uint64(t.spread[code]>>sixteenth)
	f := uint64(i*intervalCodes + code)
	contexts := make([]uint64, 0, mix.Contexts)
	if !s.short {
		contexts = append(contexts, mix.Hash(statsTime, 1, f, known, spread), mix.Hash(statsTime, 2, f, min(known, 1), size(n)),
			mix.Hash(statsTime, 3, f, at.root))
	}
	contexts = append(contexts, mix.Hash(statsTime, 4, f, known, spread, s.last.intervals[i].drift[code]), mix.Hash(statsTime, 5, f))
	d := s.difference(i, code, timeGrid.cell(v)-expected, contexts)
	cell := expected + d
	level := cell
	if code == codeSum {
		level -= base
	}
	t.note(code, level, d)
	toward(&s.usual[i][code], cell-base, 3)
	return s.inCell(timeGrid, cell, i, code, v)
}

// difference codes by how many cells a value differs from the expected one.
func (s *statsCoder) difference(i, code int, d int64, contexts []uint64) int64 {
	return block.Unzigzag(s.spread(i*intervalCodes+code, contexts, block.Zigzag(d)))
}

// spread codes a number as a byte, the number of its cell, and its position there.
func (s *statsCoder) spread(kind int, contexts []uint64, v uint64) uint64 {
	cell := int64(s.byte(kind, contexts, uint64(coarseGrid.cell(v))))
	if cell > coarseGrid.last() {
		s.failf("cell %d", cell)
		return 0
	}
	x := coarseGrid.least(cell)
	return s.bits(x, v, coarseGrid.shift(x), 0)
}

// inCell codes the position of a number in its cell. If the statistics are rounded it is mostly known.
func (s *statsCoder) inCell(g grid, cell int64, i, code int, v uint64) uint64 {
	if cell < 0 || cell > g.last() {
		s.failf("cell %d", cell)
		return 0
	}
	x := g.least(cell)
	shift := g.shift(x)
	known := s.rounding.bits(code, shift)
	if known == 0 {
		return s.bits(x, v, shift, 0)
	}
	round := uint64(0)
	if code == codeMax {
		round = 1<<known - 1
	}
	if s.c.Bit(mix.Hash(statsRound, uint64(i), uint64(code)), v&(1<<known-1) == round) {
		return s.bits(x, v, shift, known) | round
	}
	return s.bits(x, v, shift, 0)
}

// byte codes a byte that is mostly small.
func (s *statsCoder) byte(kind int, contexts []uint64, v uint64) uint64 {
	if s.short {
		return s.c.Short(kind, contexts, v)
	}
	return s.c.Byte(kind, contexts, v)
}

// bits codes bits of v, from the one below from down to the one with the number to, and adds them to x.
func (s *statsCoder) bits(x, v uint64, from, to int) uint64 {
	plain := 0
	if s.short {
		plain = max(from-to-modelledRest, 0)
	}
	for b := from - 1; b >= to+plain; b-- {
		if s.c.Bit(mix.Hash(statsRest, uint64(min(from-b, 4))), v>>b&1 != 0) {
			x |= 1 << b
		}
	}
	return x | s.c.Plain(plain, v>>to)<<to
}

// size is the length of a number of events in bits.
func size(n uint64) uint64 { return uint64(min(bits.Len64(n), 12)) }
