package analysis

import (
	"cmp"
	"slices"
)

// eachGroup calls f for the fans of the same members and kind, in the order of
// their senders in the group.
func (m *Matrix) eachGroup(f func(fans []Fan, index []int)) {
	type group struct {
		many   uint64
		higher bool
	}
	type place struct {
		fan, index int
	}
	groups := map[group][]place{}
	var order []group
	for i := range m.Fans {
		g := group{m.Fans[i].Many.key, m.Fans[i].Higher}
		if groups[g] == nil {
			order = append(order, g)
		}
		groups[g] = append(groups[g], place{i, m.Fans[i].Many.index(m.Fans[i].From)})
	}
	for _, g := range order {
		list := groups[g]
		slices.SortStableFunc(list, func(x, y place) int { return cmp.Compare(x.index, y.index) })
		fans, index := make([]Fan, len(list)), make([]int, len(list))
		for k, p := range list {
			fans[k], index[k] = m.Fans[p.fan], p.index
		}
		f(fans, index)
	}
}

// fanTotals adds the fans to what ranks send and receive. A group takes time proportional to
// its members and senders.
func (m *Matrix) fanTotals(sent, received []Cell) {
	m.eachGroup(func(fans []Fan, index []int) {
		var all Cell // of the senders so far
		for i := range fans {
			all.add(fans[i].Cell)
		}
		total := all
		many := fans[0].Many
		known := m.knownMembers(many)
		before := Cell{} // of the senders before member i
		k := 0
		for k < len(fans) && index[k] < 0 {
			before.add(fans[k].Cell)
			k++
		}
		for i := range many.Size() {
			to, own := many.At(i), Cell{}
			if k < len(fans) && index[k] == i {
				own = fans[k].Cell
				k++
			}
			if to == outside || to >= m.Size {
				continue
			}
			if fans[0].Higher {
				received[to].add(before)
			} else {
				received[to].add(Cell{total.Bytes - own.Bytes, total.Messages - own.Messages})
			}
			before.add(own)
		}
		for i := range fans {
			n := uint64(known.receivers(&fans[i], index[i]))
			sent[fans[i].From].add(Cell{fans[i].Bytes * n, fans[i].Messages * n})
		}
	})
}

// known counts, for each member of a group, the members up to it that are not of another world.
type known []int

func (m *Matrix) knownMembers(many *Members) known {
	k := make(known, many.Size()+1)
	for i := range many.Size() {
		k[i+1] = k[i]
		if to := many.At(i); to != outside && to < m.Size {
			k[i+1]++
		}
	}
	return k
}

func (k known) receivers(f *Fan, index int) int {
	n := k[len(k)-1]
	switch {
	case index < 0:
		return n
	case f.Higher:
		return n - k[index+1]
	}
	return n - (k[index+1] - k[index])
}
