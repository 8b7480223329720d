package analysis

import (
	"cmp"
	"slices"

	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/analysis/topology"
)

// RankOrder says in which order ranks are shown.
type RankOrder string

const (
	ByRank     RankOrder = "rank"
	ByHost     RankOrder = "host"     // those of a host together
	ByTopology RankOrder = "topology" // those that send each other messages together
)

// RankOrders are all orders.
var RankOrders = []string{string(ByRank), string(ByHost), string(ByTopology)}

// Arrange sets the order of the ranks of a matrix. Blocks and bins are then of places in this
// order.
func (m *Matrix) Arrange(run *runfile.Run, order RankOrder) {
	m.Order = nil
	switch order {
	case ByHost:
		m.Order = m.byHost(run)
	case ByTopology:
		m.Order = topology.Order(m.receivers())
	}
	m.findPlaces()
}

// byHost has the ranks of a host together, the hosts by their first ranks, and ranks that are not
// recorded last.
func (m *Matrix) byHost(run *runfile.Run) []int {
	first := map[string]int{}
	host := make([]int, m.Size) // of each rank: the first rank of its host
	for i := range host {
		host[i] = m.Size
	}
	for _, p := range run.Procs {
		if p.Rank < 0 || p.Rank >= m.Size {
			continue
		}
		if r, known := first[p.Host]; !known || p.Rank < r {
			first[p.Host] = p.Rank
		}
	}
	for _, p := range run.Procs {
		if p.Rank >= 0 && p.Rank < m.Size {
			host[p.Rank] = first[p.Host]
		}
	}
	order := make([]int, m.Size)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(x, y int) int { return cmp.Compare(host[x], host[y]) })
	return order
}

// receivers lists, for each rank, those that it sends to, without collectives that go to many.
func (m *Matrix) receivers() [][]int {
	to := make([][]int, m.Size)
	for _, e := range m.Entries {
		to[e.From] = append(to[e.From], e.To)
	}
	return to
}

// findPlaces inverts the order.
func (m *Matrix) findPlaces() {
	m.places = nil
	if m.Order == nil {
		return
	}
	m.places = make([]int, len(m.Order))
	for at, rank := range m.Order {
		m.places[rank] = at
	}
}

// RankAt returns the rank at a place.
func (m *Matrix) RankAt(place int) int {
	if m.Order == nil {
		return place
	}
	return m.Order[place]
}

// place returns where a rank is.
func (m *Matrix) place(rank int) int {
	if m.places == nil {
		return rank
	}
	return m.places[rank]
}

// Receives reports whether a rank is among the receivers of a block.
func (m *Matrix) Receives(rank int, b Block) bool { return b.To.Has(m.place(rank)) }

// Ranks returns the ranks of a range of places, in order.
func (m *Matrix) Ranks(r Range) []int {
	list := make([]int, 0, r.Size())
	for at := r.First; at <= r.Last; at++ {
		list = append(list, m.RankAt(at))
	}
	return list
}
