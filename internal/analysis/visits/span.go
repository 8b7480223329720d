package visits

import (
	"cmp"
	"slices"
	"unsafe"

	"github.com/efg-tools/efg/internal/analysis/regions"
)

// mostSpans bounds the visits of a thread that are kept apart: of more the shortest are joined. Tests
// change it.
var mostSpans = 1 << 19

// span is a visit, or several that are joined.
type span struct {
	begin, end  int64
	time        int64 // of the visits
	region      int32 // that most of the time is spent in
	visits      uint32
	depth       uint16
	mixed, open bool
}

func (s *span) within(from, to int64) bool { return s.begin < to && s.end >= from }

// part is the time within an interval; of visits that are joined it is taken to be spread evenly.
func (s *span) part(from, to int64) int64 {
	inside := min(s.end, to) - max(s.begin, from)
	if length := s.end - s.begin; s.time != length && length > 0 {
		return int64(float64(inside) * float64(s.time) / float64(length))
	}
	return inside
}

// track is the visits of a thread.
type track struct {
	rank   int
	thread uint32
	spans  []span
}

func memory(list []track) int {
	n := 100
	for i := range list {
		n += 100 + cap(list[i].spans)*int(unsafe.Sizeof(span{}))
	}
	return n
}

// collector notes the visits of a thread, event by event.
type collector struct {
	paths    *regions.Paths
	numbers  regions.Numbers
	follower *regions.Follower
	frame    int32
	open     []span // the outermost first
	done     []span
	pixel    int64 // what is shorter is joined
}

// step notes what the event that the follower was at last, which lasts from a to b, begins or ends.
func (c *collector) step(a, b int64) {
	frame := c.follower.Top()
	if frame == c.frame {
		return
	}
	c.frame = frame
	depth := c.follower.Depth(frame)
	if depth > len(c.open) {
		c.open = append(c.open, span{begin: a, region: c.numbers.Of(c.follower, frame, c.paths), visits: 1, depth: uint16(depth - 1)})
		return
	}
	c.close(depth, b, false)
}

// close ends the visits that are deeper than some depth.
func (c *collector) close(depth int, at int64, open bool) {
	for len(c.open) > depth {
		s := &c.open[len(c.open)-1]
		s.end, s.open = max(s.begin, at), open
		s.time = s.end - s.begin
		c.done = append(c.done, *s)
		c.open = c.open[:len(c.open)-1]
	}
	if len(c.done) >= mostSpans {
		c.thin()
	}
}

// thin joins the shortest visits until there are half as many.
func (c *collector) thin() {
	sortSpans(c.done)
	from, to := c.done[0].begin, c.done[0].end
	for i := range c.done {
		to = max(to, c.done[i].end)
	}
	for c.pixel = max(c.pixel, (to-from)/int64(mostSpans), 1); ; c.pixel *= 2 {
		list := join(c.done, from, to+1, c.pixel, regions.MaxDepth)
		if len(list) <= mostSpans/2 || c.pixel > to-from {
			c.done = list
			return
		}
	}
}

func (c *collector) finish(last int64) []span {
	c.close(0, last, true)
	sortSpans(c.done)
	return slices.Clip(c.done)
}

func sortSpans(list []span) {
	slices.SortFunc(list, func(a, b span) int { return cmp.Or(cmp.Compare(a.begin, b.begin), cmp.Compare(a.depth, b.depth)) })
}

// joiner joins visits of a depth that are shorter than a pixel.
type joiner struct {
	from, pixel int64
	last        int // index of the last one in the list, -1: there is none
	cell        int64
	now         span // what is joined; no visits: nothing
	parts       []part
}

// part is the time in a region.
type part struct {
	region int32
	time   int64
}

// join returns the visits of an interval, down to a depth. Those that begin in the same pixel and are
// shorter are one, and those of adjacent pixels, if most of their time is in the same region.
func join(list []span, from, to, pixel int64, depth int) []span {
	var out []span
	var joiners []joiner
	for i := range list {
		s := &list[i]
		if !s.within(from, to) || int(s.depth) >= depth {
			continue
		}
		for len(joiners) <= int(s.depth) {
			joiners = append(joiners, joiner{from: from, pixel: pixel, last: -1})
		}
		out = joiners[s.depth].add(out, s)
	}
	for i := range joiners {
		out = joiners[i].flush(out)
	}
	sortSpans(out)
	return out
}

func (j *joiner) add(out []span, s *span) []span {
	if s.end-s.begin >= j.pixel {
		out = append(j.flush(out), *s)
		j.last = -1
		return out
	}
	cell := max(0, s.begin-j.from) / j.pixel
	if j.now.visits == 0 || cell != j.cell {
		out = j.flush(out)
		j.cell, j.now, j.parts = cell, *s, append(j.parts[:0], part{s.region, s.time})
		return out
	}
	j.now.take(s)
	for i := range j.parts {
		if j.parts[i].region == s.region {
			j.parts[i].time += s.time
			return out
		}
	}
	j.parts = append(j.parts, part{s.region, s.time})
	return out
}

// take joins a visit with what began before it.
func (s *span) take(x *span) {
	s.end = max(s.end, x.end)
	s.time += x.time
	s.visits += x.visits
	s.mixed = s.mixed || x.mixed || x.region != s.region
	s.open = s.open || x.open
}

// flush appends what is joined to a list, or to the last one in it that is like it.
func (j *joiner) flush(out []span) []span {
	if j.now.visits == 0 {
		return out
	}
	most := j.parts[0]
	for _, p := range j.parts[1:] {
		if p.time > most.time {
			most = p
		}
	}
	j.now.region = most.region
	if j.last >= 0 && out[j.last].region == most.region && j.now.begin-out[j.last].end < j.pixel {
		out[j.last].take(&j.now)
	} else {
		j.last = len(out)
		out = append(out, j.now)
	}
	j.now.visits = 0
	return out
}
