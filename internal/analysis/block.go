package analysis

import "errors"

// Range is ranks from First to Last; of a matrix, places in its order.
type Range struct{ First, Last int }

// Size returns the number of ranks.
func (r Range) Size() int { return r.Last - r.First + 1 }

// Has reports whether a rank is in a range.
func (r Range) Has(rank int) bool { return r.First <= rank && rank <= r.Last }

// Block is a part of a matrix: what ranks of From send to ranks of To.
type Block struct{ From, To Range }

// All returns the block of the whole matrix.
func (m *Matrix) All() Block {
	return Block{Range{0, m.Size - 1}, Range{0, m.Size - 1}}
}

// ErrNoRanks: a block has ranks that are not in the matrix.
var ErrNoRanks = errors.New("no such ranks")

// Valid reports whether a block lies in a matrix.
func (m *Matrix) Valid(b Block) bool {
	within := func(r Range) bool { return r.First >= 0 && r.First <= r.Last && r.Last < m.Size }
	return within(b.From) && within(b.To)
}

// maxCut limits the cells that are examined one by one when fans are cut.
const maxCut = 50_000_000

// ErrManyPairs: collectives within a block reach too many pairs to list them.
var ErrManyPairs = errors.New("too many pairs to list; sum ranks, or select fewer")

// Cut returns the matrix with only the cells of a block. Fans become entries. Traffic to
// unknown processes is left out.
func (m *Matrix) Cut(b Block) (*Matrix, error) {
	if !m.Valid(b) {
		return nil, ErrNoRanks
	}
	cut := &Matrix{Size: m.Size, Order: m.Order, places: m.places}
	for _, e := range m.Entries {
		if b.From.Has(m.place(e.From)) && b.To.Has(m.place(e.To)) {
			cut.Entries = append(cut.Entries, e)
		}
	}
	cells := 0
	for i := range m.Fans {
		if f := &m.Fans[i]; b.From.Has(m.place(f.From)) {
			if cells += b.To.Size(); cells > maxCut {
				return nil, ErrManyPairs
			}
			cut.addFan(f, b.To)
		}
	}
	sortEntries(cut.Entries)
	cut.Entries = joinEntries(cut.Entries)
	for _, u := range m.Unmatched {
		if b.To.Has(m.place(u.Rank)) {
			cut.Unmatched = append(cut.Unmatched, u)
		}
	}
	return cut, nil
}

// addFan adds what a fan sends to the ranks at some places.
func (m *Matrix) addFan(f *Fan, places Range) {
	from := f.Many.index(f.From)
	for at := places.First; at <= places.Last; at++ {
		to := m.RankAt(at)
		i := f.Many.index(to)
		if i < 0 || to == f.From || f.Higher && i < from {
			continue
		}
		m.Entries = append(m.Entries, Entry{f.From, to, f.Cell})
	}
}
