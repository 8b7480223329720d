package runfile

import (
	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/block"
)

// trail is what a coder of statistics remembers of a node and those like it in earlier streams.
type trail struct {
	root      uint64 // the first of them
	form      uint64 // + 1
	count     uint64
	intervals [2]intervalTrail
}

// maxSeen bounds of how many an average is.
const maxSeen = 7

// intervalTrail is what was seen of the durations, or of the gaps. Averages are in sixteenths.
type intervalTrail struct {
	seen   [timeCodes]int   // how many
	level  [timeCodes]int64 // average cell; of sums, how far above the typical one's
	spread [timeCodes]int64 // average size of the differences from what was expected
	drift  [timeCodes]uint64
	bins   [len(efg.Interval{}.Bins)]uint64
}

// usual is what was seen of all nodes so far: how far maxima are above minima, and sums above typical ones.
type usual [timeCodes]int64

const sixteenth = 4 // as bits

// trailOf starts the trail of statistics that are like others, numbered from 1, or of new ones.
func (s *statsCoder) trailOf(like uint64) *trail {
	if len(s.free) == 0 {
		s.free = make([]trail, 16)
	}
	t := &s.free[0]
	s.free = s.free[1:]
	if like > 0 {
		*t = *s.trails[like-1]
	} else {
		t.root = uint64(len(s.trails))
	}
	s.trails = append(s.trails, t)
	return t
}

// toward moves an average towards a value, given how many values it is of.
func toward(average *int64, v int64, of int) { *average += (v<<sixteenth - *average) / int64(of+1) }

// nearest is the integer nearest to an average.
func nearest(average int64) int64 { return (average + 1<<(sixteenth-1)) >> sixteenth }

// note remembers that a value was d cells above the expected one.
func (v *intervalTrail) note(code int, level, d int64) {
	toward(&v.level[code], level, v.seen[code])
	toward(&v.spread[code], coarseGrid.cell(block.Zigzag(d)), min(v.seen[code], 3))
	v.seen[code] = min(v.seen[code]+1, maxSeen)
	v.drift[code] = 1
	switch {
	case d < -1:
		v.drift[code] = 0
	case d > 1:
		v.drift[code] = 2
	}
}

// add adds numbers of events in bins.
func (v *intervalTrail) add(bins *[len(efg.Interval{}.Bins)]uint32) {
	for b, n := range bins {
		v.bins[b] = min(v.bins[b]+uint64(n), 1<<40)
	}
}

// weights are how many events are expected in each bin from low to high, relative to each other, if most are in one; all is their sum.
func (v *intervalTrail) weights(low, high, most int) (w [len(efg.Interval{}.Bins)]uint64, all uint64) {
	for b := low; b <= high; b++ {
		all += v.bins[b]
	}
	guess := all + 64
	all = 0
	for b := low; b <= high; b++ {
		w[b] = 16*v.bins[b] + guess>>min(2*max(b-most, most-b), 5) + 1
		all += w[b]
	}
	return w, all
}

// most is the bin from low to high with the most events so far, -1 if there are none.
func (v *intervalTrail) most(low, high int) int {
	m := -1
	for b := low; b <= high; b++ {
		if v.bins[b] > 0 && (m < 0 || v.bins[b] > v.bins[m]) {
			m = b
		}
	}
	return m
}
