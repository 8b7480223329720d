package phases

import (
	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/internal/analysis"
)

// arrival is when a process reached a call that ends a phase, in nanoseconds since the run
// began.
type arrival struct {
	kind kind
	at   int64
}

// follow iterates over the events of a stream whose times were recorded one by one, and
// replaces the times derived from statistics.
func follow(p *efg.Process, s *efg.Stream, nodes []analysis.Node, c *cuts, own map[kind]*share) ([]arrival, error) {
	clock, err := s.ClockFrom(0)
	if err != nil {
		return nil, err
	}
	for _, x := range own {
		x.mpi, x.app, x.meeting, x.setup, x.divided = 0, 0, 0, 0, 0
	}
	begin := int64(s.Trace.BeginMono()) + p.Clock
	var came []arrival
	var mpi, app, setup float64
	from, last := boundary{}, uint64(0)
	w := s.Walk(p.Defs)
	for w.Next() {
		k := w.Node()
		start, end, err := clock.Next(uint32(k))
		if err != nil {
			return nil, err
		}
		switch n := &nodes[k]; {
		case n.Depth > 0:
			continue // in the time of the call around it
		case !n.Setup():
			mpi += float64(end - start)
			app += float64(end - last)
		case n.Proc.Ends:
			app += float64(start - last)
			setup += float64(end - start)
		default:
			setup += float64(end - start)
		}
		last = end
		if !c.end(k, w.Words) {
			continue
		}
		id := kind{from, c.boundary(&s.Nodes[k])}
		if x := own[id]; x != nil {
			x.mpi += mpi
			x.app += app
			x.setup += setup
			x.meeting += float64(end - start)
		}
		came = append(came, arrival{id, begin + int64(start)})
		mpi, app, setup, from = 0, 0, 0, id.until
	}
	if x := own[kind{from, boundary{}}]; x != nil {
		x.mpi += mpi
		x.app += app
		x.setup += setup
	}
	return came, w.Err()
}

// arrivals are the first and last arrival at each call that ends a phase, in order, and the
// rank that arrived last.
type arrivals struct {
	kinds       []kind
	first, last []int64
	rank        []int32
	count       []int32
}

// add adds the arrivals of a rank. All ranks make these calls in the same order.
func (a *arrivals) add(rank int, came []arrival) {
	for i, c := range came {
		if i == len(a.kinds) {
			a.kinds = append(a.kinds, c.kind)
			a.first, a.last = append(a.first, c.at), append(a.last, c.at)
			a.rank, a.count = append(a.rank, int32(rank)), append(a.count, 1)
			continue
		}
		a.count[i]++
		a.first[i] = min(a.first[i], c.at)
		if c.at > a.last[i] || c.at == a.last[i] && int32(rank) < a.rank[i] {
			a.last[i], a.rank[i] = c.at, int32(rank)
		}
	}
}

// dilate sums the arrivals by rows. Calls that not all ranks made are left out.
func (b *builder) dilate() {
	a := &b.arrivals
	for i, k := range a.kinds {
		row := b.rows[k]
		if row == nil || int(a.count[i]) < b.report.Ranks {
			continue
		}
		if row.Dilation == nil {
			row.Dilation = &Dilation{Max: -1}
		}
		d, took := row.Dilation, a.last[i]-a.first[i]
		d.Count++
		d.Sum += took
		if took > d.Max {
			d.Max, d.MaxRank, d.MaxPhase = took, int(a.rank[i]), uint64(i)
		}
	}
}
