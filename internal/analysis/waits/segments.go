package waits

import "slices"

// PathSegment is a stretch of time in which the critical path is on a rank, ns since the run began.
type PathSegment struct {
	Rank       int
	Begin, End int64
}

// MostSegments bounds the segments of a path. Of a longer one, the time is divided into as many equal parts, each
// of which is on the rank that has most of it.
const MostSegments = 2000

// segments follows the path back from its end. Nothing on it is waiting: each part begins when the one
// before it ends.
func (d *delays) segments(last *history) []PathSegment {
	var list []PathSegment
	end := last.last
	for n := last.nodeOf(last.path, last.next); n != nil; n = n.before {
		begin := end
		for _, r := range n.regions {
			begin -= r.time
		}
		rank := d.b.trace.Processes[n.process].Rank
		switch k := len(list) - 1; {
		case begin == end:
		case k >= 0 && list[k].Rank == rank:
			list[k].Begin = begin
		default:
			list = append(list, PathSegment{rank, begin, end})
		}
		end = begin
	}
	slices.Reverse(list)
	return coarse(list, MostSegments)
}

// coarse divides a path of more than so many segments into equal parts.
func coarse(list []PathSegment, most int) []PathSegment {
	if len(list) <= most {
		return list
	}
	begin, length := list[0].Begin, list[len(list)-1].End-list[0].Begin
	at := func(i int) int64 { return begin + int64(float64(length)*float64(i)/float64(most)) }
	out := make([]PathSegment, 0, most)
	for i, k := 0, 0; i < most; i++ {
		from, to := at(i), at(i+1)
		times, rank := map[int]int64{}, list[k].Rank
		for ; k < len(list); k++ {
			s := &list[k]
			times[s.Rank] += min(s.End, to) - max(s.Begin, from)
			if times[s.Rank] > times[rank] {
				rank = s.Rank
			}
			if s.End >= to {
				break
			}
		}
		k = min(k, len(list)-1)
		if n := len(out) - 1; n >= 0 && out[n].Rank == rank {
			out[n].End = to
		} else if to > from {
			out = append(out, PathSegment{rank, from, to})
		}
	}
	return out
}
