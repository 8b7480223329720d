package analysis

import (
	"bufio"
	"io"
)

// Encode writes a matrix for DecodeMatrix.
func (m *Matrix) Encode(w io.Writer) error {
	b := numberWriter{bufio.NewWriter(w)}
	for _, n := range []uint64{uint64(m.Size), m.Outside.Bytes, m.Outside.Messages, uint64(len(m.Entries)), uint64(len(m.Fans)), uint64(len(m.Unmatched)), uint64(len(m.Order))} {
		b.put(n)
	}
	b.column(len(m.Entries), func(i int) uint64 { return uint64(m.Entries[i].From) })
	b.column(len(m.Entries), func(i int) uint64 { return uint64(m.Entries[i].To - m.Entries[i].From) })
	b.column(len(m.Entries), func(i int) uint64 { return m.Entries[i].Bytes })
	b.column(len(m.Entries), func(i int) uint64 { return m.Entries[i].Messages })
	m.encodeFans(b)
	b.column(len(m.Unmatched), func(i int) uint64 { return uint64(m.Unmatched[i].Rank) })
	b.column(len(m.Unmatched), func(i int) uint64 { return m.Unmatched[i].Sent })
	b.column(len(m.Unmatched), func(i int) uint64 { return m.Unmatched[i].Received })
	b.column(len(m.Order), func(i int) uint64 { return uint64(m.Order[i]) })
	return b.Flush()
}

// encodeFans writes the groups of members that fans have, each once, and then the fans.
func (m *Matrix) encodeFans(b numberWriter) {
	number := map[uint64]uint64{} // of members, by key
	var list []*Members
	for i := range m.Fans {
		if many := m.Fans[i].Many; number[many.key] == 0 {
			list = append(list, many)
			number[many.key] = uint64(len(list))
		}
	}
	b.put(uint64(len(list)))
	for _, many := range list {
		b.put(uint64(many.first))
		b.put(uint64(len(many.group.spans)))
		for _, s := range many.group.spans {
			b.put(uint64(s.first))
			b.put(uint64(s.count))
			b.put(uint64(s.stride))
		}
	}
	b.column(len(m.Fans), func(i int) uint64 { return uint64(m.Fans[i].From) })
	b.column(len(m.Fans), func(i int) uint64 { return number[m.Fans[i].Many.key] - 1 })
	b.column(len(m.Fans), func(i int) uint64 { return uint64(truth(m.Fans[i].Higher)) })
	b.column(len(m.Fans), func(i int) uint64 { return m.Fans[i].Bytes })
	b.column(len(m.Fans), func(i int) uint64 { return m.Fans[i].Messages })
}

// maxCoded bounds the number of entries of a decoded matrix.
const maxCoded = 1 << 40

// DecodeMatrix reads what Encode has written.
func DecodeMatrix(r io.Reader) (*Matrix, error) {
	b := newNumberReader(r)
	m := &Matrix{Size: b.count(maxRanks), Outside: Cell{b.get(), b.get()}}
	entries, fans, unmatched, places := b.count(maxCoded), b.count(maxCoded), b.count(maxRanks), b.count(maxRanks)
	from, to, bytes, messages := b.column(entries), b.column(entries), b.column(entries), b.column(entries)
	if b.err != nil {
		return nil, b.err
	}
	m.Entries = make([]Entry, entries)
	for i := range m.Entries {
		m.Entries[i] = Entry{int(from[i]), int(from[i] + to[i]), Cell{bytes[i], messages[i]}}
	}
	m.decodeFans(b, fans)
	rank, sent, received := b.column(unmatched), b.column(unmatched), b.column(unmatched)
	if b.err != nil {
		return nil, b.err
	}
	for i := range rank {
		m.Unmatched = append(m.Unmatched, Unmatched{int(rank[i]), sent[i], received[i]})
	}
	return m, m.decodeOrder(b, places)
}

// decodeOrder reads the order, which must have each rank once.
func (m *Matrix) decodeOrder(b *numberReader, n int) error {
	list := b.column(n)
	if b.err != nil || n == 0 {
		return b.err
	}
	if n != m.Size {
		return errNumbers
	}
	seen := make([]bool, n)
	m.Order = make([]int, n)
	for i, rank := range list {
		if rank >= uint64(n) || seen[rank] {
			return errNumbers
		}
		seen[rank] = true
		m.Order[i] = int(rank)
	}
	m.findPlaces()
	return nil
}

func (m *Matrix) decodeFans(b *numberReader, n int) {
	var list []*Members
	for range b.count(maxCoded) {
		if b.err != nil {
			return
		}
		first := int(b.get())
		var words []uint64
		for range 3 * b.count(maxRanks) {
			if words = append(words, b.get()); b.err != nil {
				return
			}
		}
		g := parseGroup(words)
		list = append(list, newMembers(&g, first))
	}
	from, many, higher, bytes, messages := b.column(n), b.column(n), b.column(n), b.column(n), b.column(n)
	if b.err != nil {
		return
	}
	for i := range from {
		if many[i] >= uint64(len(list)) {
			b.err = errNumbers
			return
		}
		m.Fans = append(m.Fans, Fan{int(from[i]), list[many[i]], higher[i] == 1, Cell{bytes[i], messages[i]}})
	}
}
