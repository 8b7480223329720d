package analysis

// Bins is a block of a matrix with at most this many rows and columns: bytes and messages
// between groups of Width ranks that follow each other in the matrix's order.
type Bins struct {
	Block
	Matrix          *Matrix
	Width           int
	Rows, Columns   int
	Bytes, Messages [][]uint64 // by sender, then receiver
}

// Bin sums a block that is Valid into at most most rows and columns. Fans are not expanded: the
// cost is the number of members per row of senders.
func (m *Matrix) Bin(block Block, most int) *Bins {
	parts := func(n, width int) int { return (n + width - 1) / width }
	b := &Bins{Block: block, Matrix: m, Width: max(1, parts(max(block.From.Size(), block.To.Size()), most))}
	b.Rows, b.Columns = parts(block.From.Size(), b.Width), parts(block.To.Size(), b.Width)
	b.Bytes, b.Messages = make([][]uint64, b.Rows), make([][]uint64, b.Rows)
	for i := range b.Bytes {
		b.Bytes[i], b.Messages[i] = make([]uint64, b.Columns), make([]uint64, b.Columns)
	}
	for _, e := range m.Entries {
		from, to := m.place(e.From), m.place(e.To)
		if b.From.Has(from) && b.To.Has(to) {
			i, j := b.row(from), b.column(to)
			b.Bytes[i][j] += e.Bytes
			b.Messages[i][j] += e.Messages
		}
	}
	m.eachGroup(func(fans []Fan, index []int) { b.addFans(fans, index) })
	return b
}

// row is that of a sender's place.
func (b *Bins) row(from int) int { return (from - b.From.First) / b.Width }

// column is that of a receiver's place.
func (b *Bins) column(to int) int { return (to - b.To.First) / b.Width }

// Total sums all bins.
func (b *Bins) Total() (all Cell) {
	for i := range b.Bytes {
		for j, n := range b.Bytes[i] {
			all.add(Cell{n, b.Messages[i][j]})
		}
	}
	return all
}

// addFans adds fans of the same members in the order of the senders: count holds
// the receivers of the next one, by column.
func (b *Bins) addFans(fans []Fan, index []int) {
	many, higher := fans[0].Many, fans[0].Higher
	count := make([]uint64, b.Columns)
	take := func(i int, n uint64) {
		to := many.At(i)
		if to == outside {
			return
		}
		if at := b.Matrix.place(to); b.To.Has(at) {
			count[b.column(at)] += n
		}
	}
	for i := range many.Size() {
		take(i, 1)
	}
	next := 0 // members that are no longer among the receivers, if higher is set
	for k := range fans {
		for ; higher && next <= index[k]; next++ {
			take(next, ^uint64(0))
		}
		at := b.Matrix.place(fans[k].From)
		if !b.From.Has(at) {
			continue
		}
		if !higher && index[k] >= 0 {
			take(index[k], ^uint64(0))
		}
		from := b.row(at)
		for i, n := range count {
			b.Bytes[from][i] += n * fans[k].Bytes
			b.Messages[from][i] += n * fans[k].Messages
		}
		if !higher && index[k] >= 0 {
			take(index[k], 1)
		}
	}
}
