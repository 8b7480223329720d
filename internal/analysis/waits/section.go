package waits

import (
	"cmp"
	"slices"

	"github.com/efg-tools/efg/internal/analysis/loops"
)

// sectionSum adds up what a loop or a kind of phases has.
type sectionSum struct {
	costSum
	path, total, waiting int64
}

// sectionSums are those of the loops or phases with an index, -1 for none of them.
type sectionSums map[int32]*sectionSum

func (s sectionSums) at(i int32) *sectionSum {
	if s[i] == nil {
		s[i] = &sectionSum{costSum: *newCostSum()}
	}
	return s[i]
}

// bySection divides costs and the critical path, which must be known, among loops, phases and regions;
// waiting is by section.
func (d *delays) bySection(waiting []int64) ([]LoopRow, []PhaseRow, []RegionRow) {
	byLoop, byPhase, byRegion := sectionSums{}, sectionSums{}, sectionSums{}
	each := func(section int32, f func(s *sectionSum)) {
		x := d.b.sections.At(section)
		f(byLoop.at(x.Loop))
		f(byPhase.at(x.Phase))
		f(byRegion.at(x.Region))
	}
	for _, c := range d.costs.inOrder() {
		each(c.section, func(s *sectionSum) { s.add(d, c.cause, &c.value.cost) })
	}
	for section, t := range d.onPath {
		each(section, func(s *sectionSum) { s.path += t })
	}
	for section, t := range d.totals.sections {
		each(int32(section), func(s *sectionSum) { s.total += t })
	}
	for section, t := range waiting {
		if t > 0 {
			each(int32(section), func(s *sectionSum) { s.waiting += t })
		}
	}
	return d.loopRows(byLoop), d.phaseRows(byPhase), d.regionRows(byRegion)
}

func (d *delays) loopRows(sums sectionSums) []LoopRow {
	var list []LoopRow
	for i, s := range sums {
		if s.empty() {
			continue
		}
		name := loops.Name{}
		if i >= 0 {
			name = d.b.sections.Loops[i]
		}
		list = append(list, LoopRow{name, s.times(d)})
	}
	slices.SortFunc(list, func(x, y LoopRow) int {
		return cmp.Or(cmp.Compare(y.Short+y.Long, x.Short+x.Long), cmp.Compare(y.Path, x.Path), cmp.Compare(x.Loop.Number, y.Loop.Number),
			cmp.Compare(x.Loop.Op, y.Loop.Op), cmp.Compare(x.Loop.Site, y.Loop.Site))
	})
	return list
}

func (d *delays) phaseRows(sums sectionSums) []PhaseRow {
	var list []PhaseRow
	for i, s := range sums {
		if s.empty() {
			continue
		}
		row := PhaseRow{Row: int(i) + 1, SectionTimes: s.times(d)}
		if i >= 0 {
			p := &d.b.sections.Phases[i]
			row.From, row.Until = Place(p.From), Place(p.Until)
		}
		list = append(list, row)
	}
	slices.SortFunc(list, func(x, y PhaseRow) int { return cmp.Compare(uint(x.Row-1), uint(y.Row-1)) })
	return list
}

func (d *delays) regionRows(sums sectionSums) []RegionRow {
	paths := d.b.sections.Regions.List()
	if len(paths) < 2 {
		return nil
	}
	var list []RegionRow
	for i, s := range sums {
		if !s.empty() || s.waiting > 0 {
			list = append(list, RegionRow{paths[i].Names, s.waiting, s.times(d)})
		}
	}
	slices.SortFunc(list, func(x, y RegionRow) int { return slices.Compare(x.Region, y.Region) })
	return list
}

// empty: nothing is waited for or on the critical path there.
func (s *sectionSum) empty() bool { return s.short+s.long < 0.5 && s.path == 0 }

func (s *sectionSum) times(d *delays) SectionTimes {
	return SectionTimes{
		Short: int64(s.short + 0.5), Long: int64(s.long + 0.5), Ranks: sortedTimes(s.ranks), Path: s.path,
		Mean: float64(s.total) / float64(max(len(d.b.trace.Processes), 1)),
	}
}
