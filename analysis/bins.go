package analysis

// Bins is a matrix of at most so many rows and columns: bytes and messages between
// groups of Width ranks that follow each other.
type Bins struct {
	Ranks, Width, Size int
	Bytes, Messages    [][]uint64 // by sender, then receiver
}

// Bin adds up a matrix into at most most rows and columns. Fans are not expanded: the
// work is that of their members for each row.
func (m *Matrix) Bin(most int) *Bins {
	b := &Bins{Ranks: m.Size, Width: max(1, (m.Size+most-1)/most)}
	b.Size = (m.Size + b.Width - 1) / b.Width
	b.Bytes, b.Messages = make([][]uint64, b.Size), make([][]uint64, b.Size)
	for i := range b.Bytes {
		b.Bytes[i], b.Messages[i] = make([]uint64, b.Size), make([]uint64, b.Size)
	}
	for _, e := range m.Entries {
		b.Bytes[e.From/b.Width][e.To/b.Width] += e.Bytes
		b.Messages[e.From/b.Width][e.To/b.Width] += e.Messages
	}
	m.eachGroup(func(fans []Fan, index []int) { b.addFans(fans, index) })
	return b
}

// addFans adds fans of the same members in the order of the senders: count holds
// the receivers of the next one, by column.
func (b *Bins) addFans(fans []Fan, index []int) {
	many, higher := fans[0].Many, fans[0].Higher
	count := make([]uint64, b.Size)
	take := func(i int, n uint64) {
		if to := many.At(i); to != outside && to < b.Ranks {
			count[to/b.Width] += n
		}
	}
	for i := range many.Size() {
		take(i, 1)
	}
	next := 0 // members that are not among the receivers any more, if higher
	for k := range fans {
		for ; higher && next <= index[k]; next++ {
			take(next, ^uint64(0))
		}
		if !higher && index[k] >= 0 {
			take(index[k], ^uint64(0))
		}
		from := fans[k].From / b.Width
		for i, n := range count {
			b.Bytes[from][i] += n * fans[k].Bytes
			b.Messages[from][i] += n * fans[k].Messages
		}
		if !higher && index[k] >= 0 {
			take(index[k], 1)
		}
	}
}
