package waits

import (
	"cmp"
	"slices"
)

// Region is where time is spent: in a call, or computing between two calls, of which From is ""
// before the first one. Both are "" for waits whose cause is not known.
type Region struct {
	From, At Place
	Call     bool // in the call At
}

// Cause is what waits are due to: a region in which late ranks took longer than those that
// waited for them. Times are in ns.
type Cause struct {
	Region
	// Short is the waiting for the late ranks themselves, Long that which these waits caused
	// in turn.
	Short, Long int64
	Ranks       []RankTime // the late ones, by both together
}

// PathRow is the part of the critical path in a region. Times are in ns.
type PathRow struct {
	Region
	Time int64
	// Mean is the mean time of the ranks in the region. The difference is the critical imbalance:
	// what could be gained at most if all ranks shared the work.
	Mean float64
}

// Path is the critical path: what determined the end of the run.
type Path struct {
	Time  int64 // without MPI_Init and MPI_Finalize, ns
	Setup int64 // the part in these, ns
	Rows  []PathRow
	// Ranks is the time of the path on each rank, the longest first.
	Ranks []RankTime
	Hops  int // from a rank to another
}

// regionTexts are the texts of the regions.
func (d *delays) regionTexts(places []Place) []Region {
	list := make([]Region, len(d.list))
	for i, key := range d.list {
		switch {
		case i == unexplained:
		case key.from == inCall:
			list[i] = Region{At: places[key.at], Call: true}
		default:
			list[i] = Region{From: places[key.from], At: places[key.at]}
		}
	}
	return list
}

// causes are what waits are due to, the most expensive first.
func (d *delays) causes(texts []Region) []Cause {
	type sum struct {
		short, long float64
		ranks       map[int]int64
	}
	sums := map[int32]*sum{}
	for c, x := range d.costs {
		s := sums[c.region]
		if s == nil {
			s = &sum{ranks: map[int]int64{}}
			sums[c.region] = s
		}
		s.short += x.short
		s.long += x.long
		if c.process >= 0 {
			s.ranks[d.b.trace.Processes[c.process].Rank] += int64(x.short + x.long)
		}
	}
	var list []Cause
	for r, s := range sums {
		list = append(list, Cause{texts[r], int64(s.short + 0.5), int64(s.long + 0.5), sortedTimes(s.ranks)})
	}
	slices.SortFunc(list, func(x, y Cause) int {
		return cmp.Or(cmp.Compare(y.Short+y.Long, x.Short+x.Long), compareRegions(&x.Region, &y.Region))
	})
	return list
}

func compareRegions(x, y *Region) int {
	return cmp.Or(comparePlaces(x.At, y.At), comparePlaces(x.From, y.From))
}

// setup reports whether a region is a call that begins or ends MPI.
func (d *delays) setup(region int32) bool {
	key := d.list[region]
	if key.from != inCall {
		return false
	}
	p := d.b.sites.Proc(key.at)
	return p != nil && p.Setup()
}

// path adds up the critical path: back from the last call of the run.
func (d *delays) path(texts []Region) Path {
	var last *history
	for i := range d.histories {
		h := &d.histories[i]
		if h.polling {
			d.endPolls(h)
		}
		if h.site != 0 && (last == nil || h.last > last.last) {
			last = h
		}
	}
	var p Path
	if last == nil {
		return p
	}
	times, ranks := make([]int64, len(d.list)), map[int]int64{}
	process := int32(-1)
	for n := last.nodeOf(last.path, last.next); n != nil; n = n.before {
		if n.process != process && process >= 0 {
			p.Hops++
		}
		process = n.process
		for _, r := range n.regions {
			if d.setup(r.region) {
				p.Setup += r.time
				continue
			}
			times[r.region] += r.time
			ranks[d.b.trace.Processes[process].Rank] += r.time
			p.Time += r.time
		}
	}
	for r, t := range times {
		if t > 0 {
			p.Rows = append(p.Rows, PathRow{texts[r], t, float64(d.totals[r]) / float64(max(len(d.b.trace.Processes), 1))})
		}
	}
	slices.SortFunc(p.Rows, func(x, y PathRow) int {
		return cmp.Or(cmp.Compare(y.Time, x.Time), compareRegions(&x.Region, &y.Region))
	})
	p.Ranks = sortedTimes(ranks)
	return p
}
