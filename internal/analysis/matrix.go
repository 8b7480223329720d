package analysis

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/efg-tools/efg/efg/runfile"
)

// ErrTooLarge is wrapped by the error about a run that has too many ranks for a
// matrix.
var ErrTooLarge = errors.New("too many ranks for a matrix")

// Cell is what one process sends to another.
type Cell struct{ Bytes, Messages uint64 }

func (c *Cell) add(o Cell) {
	c.Bytes += o.Bytes
	c.Messages += o.Messages
}

// Entry is a cell that is not empty.
type Entry struct {
	From, To int // ranks
	Cell
}

// Fan is what a process sends to each other member of a communicator, or only to those after it
// if Higher is set.
type Fan struct {
	From   int
	Many   *Members
	Higher bool
	Cell   // to each
}

// MatrixOptions select what a matrix includes besides point-to-point messages.
type MatrixOptions struct{ OneSided, Collectives bool }

// Matrix holds which process sent how much to which. It is sparse: collectives over large
// communicators are kept as fans.
type Matrix struct {
	Size    int     // all ranks are less than Size
	Entries []Entry // by sender, then receiver
	Fans    []Fan   // by sender
	// Outside is the traffic to and from unknown processes: those of other worlds, and
	// neighbours that are not recorded.
	Outside Cell
	// Unmatched are the receivers where the recorded sends and receives differ in
	// number.
	Unmatched []Unmatched
	// Order has the rank at each place; nil: by rank.
	Order  []int
	places []int // of each rank
}

// Unmatched compares the point-to-point messages that were sent to a rank with
// the receives that it posted.
type Unmatched struct {
	Rank           int
	Sent, Received uint64
}

type pair struct{ from, to int }

type fanKey struct {
	from   int
	many   uint64
	higher bool
}

type matrixBuilder struct {
	MatrixOptions
	mu       sync.Mutex
	cells    map[pair]Cell // of senders other than the process itself
	matrix   Matrix
	ranks    int // processes of the run
	taken    int // rows so far
	received rankSums
	sent     rankSums // by the rank that they went to
	shared   map[uint64]*Members
}

// rankSums has a sum for each rank. A rank that the run does not have may be any number.
type rankSums struct {
	dense  []uint64
	others map[int]uint64
}

func newRankSums(ranks int) rankSums { return rankSums{make([]uint64, ranks), map[int]uint64{}} }

func (s *rankSums) add(rank int, n uint64) {
	if rank < len(s.dense) {
		s.dense[rank] += n
	} else {
		s.others[rank] += n
	}
}

func (s *rankSums) of(rank int) uint64 {
	if rank < len(s.dense) {
		return s.dense[rank]
	}
	return s.others[rank]
}

// NewMatrix makes the matrix of a run.
func NewMatrix(run *runfile.Run, opt MatrixOptions, progress ...Progress) (*Matrix, error) {
	b := &matrixBuilder{
		MatrixOptions: opt, cells: map[pair]Cell{}, ranks: len(run.Procs), shared: map[uint64]*Members{},
		received: newRankSums(len(run.Procs)), sent: newRankSums(len(run.Procs)),
	}
	var procs []int
	first := FirstRanks(run.Procs)
	for i, p := range run.Procs {
		procs = append(procs, i)
		b.matrix.Size = max(b.matrix.Size, p.Rank+1, first[i]+p.Size)
	}
	if err := EachUntimed(run, procs, b.process, progress...); err != nil {
		return nil, err
	}
	return b.finish()
}

// rowBuilder collects the flows of one process.
type rowBuilder struct {
	opt     MatrixOptions
	cells   map[pair]Cell
	fans    map[fanKey]*Fan
	outside Cell
	sent    map[int]uint64
}

func (r *rowBuilder) add(f *Flow) {
	if f.Kind == OneSided && !r.opt.OneSided || f.Kind == Collective && !r.opt.Collectives {
		return
	}
	cell := Cell{f.Bytes * f.Times, f.Times}
	switch {
	case f.Many != nil:
		key := fanKey{f.From, f.Many.key, f.Higher}
		if r.fans[key] == nil {
			r.fans[key] = &Fan{From: f.From, Many: f.Many, Higher: f.Higher}
		}
		r.fans[key].add(cell)
		return
	case f.From < 0 || f.To < 0:
		r.outside.add(cell)
		return
	case f.Kind == PointToPoint:
		r.sent[f.To] += f.Times
	}
	c := r.cells[pair{f.From, f.To}]
	c.add(cell)
	r.cells[pair{f.From, f.To}] = c
}

func (b *matrixBuilder) process(p *Process) error {
	r := &rowBuilder{opt: b.MatrixOptions, cells: map[pair]Cell{}, fans: map[fanKey]*Fan{}, sent: map[int]uint64{}}
	received := uint64(0)
	for i := range p.streams {
		if err := p.Flows(i, r.add); err != nil {
			return err
		}
		n, err := p.receives(i)
		if err != nil {
			return err
		}
		received += n
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.take(p.Data.Rank, r)
	if p.Data.Rank >= 0 {
		b.received.add(p.Data.Rank, received)
	}
	for to, n := range r.sent {
		b.sent.add(to, n)
	}
	return nil
}

// receives counts the receives of a stream.
func (p *Process) receives(i int) (total uint64, err error) {
	s := p.streams[i]
	for k := range s.Nodes {
		err := s.effects(k, func(c *instance) error {
			if c.plan != nil && c.plan.kind == pointToPoint {
				var t transfer
				c.transfer(&t)
				total += t.Receives * c.times
			}
			return nil
		})
		if err != nil {
			return 0, err
		}
	}
	return total, nil
}

// take adds the row of a process. What others sent it (MPI_Get) is summed first.
func (b *matrixBuilder) take(rank int, r *rowBuilder) {
	m := &b.matrix
	b.taken++
	if len(m.Entries)+len(r.cells) > cap(m.Entries) { // as much as is expected altogether
		per := len(m.Entries)/b.taken + 1
		m.Entries = slices.Grow(m.Entries, len(r.cells)+min(len(m.Entries)+1024, per*max(0, b.ranks-b.taken)))
	}
	m.Outside.add(r.outside)
	for at, c := range r.cells {
		if at.from == rank {
			m.Entries = append(m.Entries, Entry{at.from, at.to, c})
			continue
		}
		sum := b.cells[at]
		sum.add(c)
		b.cells[at] = sum
	}
	for _, f := range r.fans {
		if f.From < 0 {
			m.Outside.add(Cell{f.Bytes * uint64(f.Many.Size()), f.Messages * uint64(f.Many.Size())})
			continue
		}
		if b.shared[f.Many.key] == nil {
			b.shared[f.Many.key] = f.Many
		}
		f.Many = b.shared[f.Many.key]
		m.Fans = append(m.Fans, *f)
	}
}

func (b *matrixBuilder) finish() (*Matrix, error) {
	m := &b.matrix
	for at, c := range b.cells {
		m.Entries = append(m.Entries, Entry{at.from, at.to, c})
	}
	sortEntries(m.Entries)
	m.Entries = joinEntries(m.Entries)
	for _, e := range m.Entries {
		m.Size = max(m.Size, e.From+1, e.To+1)
	}
	if m.Size > maxRanks {
		return nil, fmt.Errorf("%w: %d ranks, at most %d", ErrTooLarge, m.Size, maxRanks)
	}
	slices.SortFunc(m.Fans, func(x, y Fan) int {
		return cmp.Or(cmp.Compare(x.From, y.From), cmp.Compare(x.Many.key, y.Many.key), cmp.Compare(truth(x.Higher), truth(y.Higher)))
	})
	for rank := range m.Size {
		if s, r := b.sent.of(rank), b.received.of(rank); s != r {
			m.Unmatched = append(m.Unmatched, Unmatched{rank, s, r})
		}
	}
	return m, nil
}

func truth(b bool) int {
	if b {
		return 1
	}
	return 0
}

func sortEntries(list []Entry) {
	slices.SortFunc(list, func(x, y Entry) int {
		return cmp.Or(cmp.Compare(x.From, y.From), cmp.Compare(x.To, y.To))
	})
}

// joinEntries combines adjacent entries of the same pair.
func joinEntries(list []Entry) []Entry {
	out := list[:0]
	for _, e := range list {
		if n := len(out); n > 0 && out[n-1].From == e.From && out[n-1].To == e.To {
			out[n-1].add(e.Cell)
			continue
		}
		out = append(out, e)
	}
	return out
}

// Each calls f for all nonempty cells by sender and receiver, with fans expanded. Traffic to
// unknown processes is left out.
func (m *Matrix) Each(f func(e Entry) error) error {
	entries, fans := m.Entries, m.Fans
	row := map[int]Cell{}
	for from := range m.Size {
		if len(fans) == 0 || fans[0].From != from {
			for ; len(entries) > 0 && entries[0].From == from; entries = entries[1:] {
				if err := f(entries[0]); err != nil {
					return err
				}
			}
			continue
		}
		clear(row)
		for ; len(entries) > 0 && entries[0].From == from; entries = entries[1:] {
			row[entries[0].To] = entries[0].Cell
		}
		for ; len(fans) > 0 && fans[0].From == from; fans = fans[1:] {
			fans[0].spread(row)
		}
		tos := make([]int, 0, len(row))
		for to := range row {
			tos = append(tos, to)
		}
		slices.Sort(tos)
		for _, to := range tos {
			if err := f(Entry{from, to, row[to]}); err != nil {
				return err
			}
		}
	}
	return nil
}

// spread adds a fan to its sender's row.
func (f *Fan) spread(row map[int]Cell) {
	behind := !f.Higher
	for i := range f.Many.Size() {
		to := f.Many.At(i)
		if to == f.From {
			behind = true
			continue
		}
		if to != outside && behind {
			c := row[to]
			c.add(f.Cell)
			row[to] = c
		}
	}
}

// Receivers returns the number of processes that a fan reaches, including unknown ones.
func (f *Fan) Receivers() int {
	n := f.Many.Size()
	i := f.Many.index(f.From)
	switch {
	case i < 0:
		return n
	case f.Higher:
		return n - i - 1
	}
	return n - 1
}

// index is the position of a rank, -1 if it is not a member.
func (m *Members) index(rank int) int { return m.group.index(rank - m.first) }

// Expanded returns an upper bound of the number of cells that Each visits.
func (m *Matrix) Expanded() uint64 {
	n := uint64(len(m.Entries))
	for i := range m.Fans {
		n += uint64(m.Fans[i].Receivers())
	}
	return n
}

// Totals sums the matrix: all, and what each rank sends and receives.
func (m *Matrix) Totals() (all Cell, sent, received []Cell) {
	sent, received = make([]Cell, m.Size), make([]Cell, m.Size)
	for _, e := range m.Entries {
		sent[e.From].add(e.Cell)
		received[e.To].add(e.Cell)
	}
	m.fanTotals(sent, received)
	for _, c := range sent {
		all.add(c)
	}
	return all, sent, received
}
