package waits

import (
	"cmp"
	"maps"
	"slices"

	"github.com/efg-tools/efg/internal/analysis/loops"
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
	Ranks       []RankTime  // the late ones, by both together
	Loop        *loops.Name // where most of it is; nil if that is no loop
}

// PathRow is the part of the critical path in a region. Times are in ns.
type PathRow struct {
	Region
	Time int64
	// Mean is the mean time of the ranks in the region. The difference is the critical imbalance:
	// what could be gained at most if all ranks shared the work.
	Mean float64
	Loop *loops.Name // where most of it is; nil if that is no loop
}

// SectionTimes are what a part of the program has of the waiting that is caused and of the critical
// path, ns.
type SectionTimes struct {
	Short, Long int64      // waiting, as in Cause
	Ranks       []RankTime // that cause it
	Path        int64      // the critical path
	Mean        float64    // of the ranks' times there, without waiting
}

// LoopRow is what a loop has, without the loops in it.
type LoopRow struct {
	Loop loops.Name // Number is "" for calls in no loop
	SectionTimes
}

// PhaseRow is what a kind of phases has.
type PhaseRow struct {
	Row         int   // the number of the row in the report about phases, from 1; 0: calls whose phase is unknown
	From, Until Place // Op is "" for the beginning and the end of the recording
	SectionTimes
}

// RegionRow is what a region has, without the regions in it.
type RegionRow struct {
	Region  []string // names, the outermost first; none: outside of all regions
	Waiting int64    // of calls in it, whatever causes it
	SectionTimes
}

// Path is the critical path: what determined the end of the run.
type Path struct {
	Time  int64 // without MPI_Init and MPI_Finalize, ns
	Setup int64 // the part in these, ns
	Rows  []PathRow
	// Ranks is the time of the path on each rank, the longest first.
	Ranks []RankTime
	Hops  int // from a rank to another
	// Segments are the ranks that it is on one after another, with MPI_Init and MPI_Finalize.
	Segments []PathSegment
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
	sums := map[int32]*costSum{}
	for _, c := range d.costs.inOrder() {
		s := sums[c.region]
		if s == nil {
			s = newCostSum()
			sums[c.region] = s
		}
		s.add(d, c.cause, &c.value.cost)
	}
	var list []Cause
	for _, r := range slices.Sorted(maps.Keys(sums)) { // causes may be equal in all that they are sorted by
		s := sums[r]
		list = append(list, Cause{texts[r], int64(s.short + 0.5), int64(s.long + 0.5), sortedTimes(s.ranks), d.mostIn(s.sections)})
	}
	slices.SortStableFunc(list, func(x, y Cause) int {
		return cmp.Or(cmp.Compare(y.Short+y.Long, x.Short+x.Long), compareRegions(&x.Region, &y.Region))
	})
	return list
}

// costSum adds up costs.
type costSum struct {
	short, long float64
	ranks       map[int]int64
	sections    map[int32]float64
}

func newCostSum() *costSum { return &costSum{ranks: map[int]int64{}, sections: map[int32]float64{}} }

func (s *costSum) add(d *delays, c cause, x *cost) {
	s.short += x.short
	s.long += x.long
	s.sections[c.section] += x.short + x.long
	if c.process >= 0 {
		s.ranks[d.b.trace.Processes[c.process].Rank] += int64(x.short + x.long)
	}
}

// mostIn is the loop where more than half of some times by section are.
func (d *delays) mostIn(times map[int32]float64) *loops.Name {
	sum, byLoop := 0.0, map[int32]float64{}
	for section, t := range times {
		byLoop[d.b.sections.At(section).Loop] += t
		sum += t
	}
	for loop, t := range byLoop {
		if loop >= 0 && 2*t > sum {
			return &d.b.sections.Loops[loop]
		}
	}
	return nil
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
		h.forgetComputed()
		if h.site != 0 && (last == nil || h.last > last.last) {
			last = h
		}
	}
	var p Path
	if last == nil {
		return p
	}
	times, ranks := make([]int64, len(d.list)), map[int]int64{}
	in := make([]map[int32]float64, len(d.list))
	d.onPath = map[int32]int64{}
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
			if in[r.region] == nil {
				in[r.region] = map[int32]float64{}
			}
			in[r.region][r.section] += float64(r.time)
			d.onPath[r.section] += r.time
			ranks[d.b.trace.Processes[process].Rank] += r.time
			p.Time += r.time
		}
	}
	for r, t := range times {
		if t > 0 {
			p.Rows = append(p.Rows, PathRow{texts[r], t, float64(d.totals.regions[r]) / float64(max(len(d.b.trace.Processes), 1)), d.mostIn(in[r])})
		}
	}
	slices.SortFunc(p.Rows, func(x, y PathRow) int {
		return cmp.Or(cmp.Compare(y.Time, x.Time), compareRegions(&x.Region, &y.Region))
	})
	p.Ranks, p.Segments = sortedTimes(ranks), d.segments(last)
	return p
}
