package runfile

import (
	"encoding/binary"
	"math"
	"math/bits"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/block"
	"github.com/efg-tools/efg/signature"
)

// Call paths multiply nodes, most of which have few events. Nodes that differ in their call paths alone
// share statistics, as they would have had without paths; each has its share of the sums, to within a small
// part of all such times of the stream. See FORMAT.md, "Shared statistics".

// sharedKinds is the number of different nodes at a callsite from which on they all share statistics: without
// paths, a recorder would have demoted what they differ in.
const sharedKinds = 16

// sharePrecision is the number of bits of the part of a stream's shared times that a share may be off.
const sharePrecision = 10

// sharing divides the nodes of a stream among statistics.
type sharing struct {
	groups [][]int // nodes, in order; groups are in the order of their first nodes
	counts []uint64
}

// newSharing divides the nodes of a stream of a process with these definitions.
func newSharing(nodes []efg.Node, defs []efg.Def) *sharing {
	callsites, _ := efg.FoldPaths(defs, 1)
	alike, site := make([]string, len(nodes)), make([]string, len(nodes))
	kinds := map[string]int{}
	seen := map[string]bool{}
	for i := range nodes {
		alike[i], site[i] = sharingKeys(&nodes[i], callsites)
		if !seen[alike[i]] {
			seen[alike[i]] = true
			kinds[site[i]]++
		}
	}
	s := &sharing{counts: efg.VisitsOf(nodes)}
	number := map[string]int{}
	for i := range nodes {
		s.counts[i] += nodes[i].Counted
		key := alike[i]
		if kinds[site[i]] > sharedKinds {
			key = site[i]
		}
		g, ok := number[key]
		if !ok {
			g = len(s.groups)
			number[key] = g
			s.groups = append(s.groups, nil)
		}
		s.groups[g] = append(s.groups[g], i)
	}
	return s
}

// sharingKeys are equal for nodes that differ in their call paths alone, and for nodes of one callsite and object.
func sharingKeys(n *efg.Node, callsites map[uint64]uint64) (alike, site string) {
	var b []byte
	for k, w := range n.Words {
		if c, ok := callsites[w]; ok && k == 1 {
			w = c
		}
		b = binary.LittleEndian.AppendUint64(b, w)
	}
	site = string(b[:8*signature.FirstWord])
	return string(binary.LittleEndian.AppendUint64(b, n.Mask)), site
}

// intervals are those of statistics.
func intervals(st *efg.Stats) [2]*efg.Interval { return [2]*efg.Interval{&st.Dur, &st.Gap} }

// merged returns the statistics of each group, nil where there are none; ok is false if the nodes cannot
// share statistics.
func (s *sharing) merged(nodes []efg.Node) (all []*efg.Stats, ok bool) {
	if len(s.groups) == len(nodes) {
		return nil, false
	}
	all = make([]*efg.Stats, len(s.groups))
	for g, members := range s.groups {
		if len(members) == 1 {
			all[g] = nodes[members[0]].Stats
			continue
		}
		all[g] = &efg.Stats{}
		for _, k := range members {
			if st := nodes[k].Stats; st == nil || st.Count == 0 || st.Count != s.counts[k] || !addStats(all[g], nodes[k].Stats) {
				return nil, false
			}
		}
		if !canShare(all[g]) {
			return nil, false
		}
	}
	return all, true
}

// addStats adds statistics of other events; it reports whether they can be added.
func addStats(to, from *efg.Stats) bool {
	first := to.Count == 0
	to.Count += from.Count
	for i, v := range intervals(from) {
		into := intervals(to)[i]
		if first {
			into.Min = v.Min
		}
		into.Min, into.Max = min(into.Min, v.Min), max(into.Max, v.Max)
		if into.Sum += v.Sum; into.Sum >= maxSharedSum || v.Sum >= maxSharedSum {
			return false
		}
		for b, n := range v.Bins {
			if into.Bins[b] += n; into.Bins[b] < n {
				return false
			}
		}
	}
	return true
}

// maxSharedSum bounds sums that are shared, and those of all of a stream: 73 years.
const maxSharedSum = 1 << 61

// canShare reports whether statistics can be those of several nodes: they do not contradict themselves.
func canShare(st *efg.Stats) bool {
	for _, v := range intervals(st) {
		over, least := bits.Mul64(st.Count, v.Min)
		if !fits(v, st.Count) || over > 0 || v.Sum < least || v.Sum > product(st.Count, v.Max) {
			return false
		}
	}
	return st.Count > 0
}

// product is a × b, or the largest number if it is too large.
func product(a, b uint64) uint64 {
	over, p := bits.Mul64(a, b)
	if over > 0 {
		return math.MaxUint64
	}
	return p
}

// precisions are by how much shares of durations, and of gaps, may be off.
func (s *sharing) precisions(all []*efg.Stats) (p [2]uint64) {
	for g, members := range s.groups {
		for i := range p {
			if len(members) > 1 {
				p[i] += intervals(all[g])[i].Sum
			}
		}
	}
	return [2]uint64{max(p[0]>>sharePrecision, 1), max(p[1]>>sharePrecision, 1)}
}

// share divides a sum among the nodes of a group, one after the other.
type share struct {
	unit     uint64
	sum      uint64 // what is left of it
	events   uint64 // of the nodes that have none yet
	min, max uint64
	ahead    int64 // what nodes have in excess so far; only a writer knows
}

// typical is the share of a node of so many events if all events take the same time.
func (s *share) typical(events uint64) uint64 {
	hi, lo := bits.Mul64(s.sum, events)
	q, _ := bits.Div64(hi, lo, s.events)
	return q
}

// at is the share of a node that has v units more than the typical one.
func (s *share) at(events uint64, v int64) uint64 {
	x := s.typical(events)
	if v >= 0 {
		over := product(uint64(v), s.unit)
		x += min(over, math.MaxUint64-x)
	} else {
		x -= min(product(-uint64(v), s.unit), x)
	}
	rest := s.events - events
	low := max(product(events, s.min), s.sum-min(s.sum, product(rest, s.max)))
	high := min(product(events, s.max), s.sum-product(rest, s.min))
	return min(max(x, low), high)
}

// closest returns the units for which the nodes so far have together what they should, as closely as possible.
func (s *share) closest(events, sum uint64) int64 {
	d := int64(sum) - s.ahead - int64(s.typical(events))
	half := int64(s.unit / 2)
	if d < 0 {
		half = -half
	}
	first := (d + half) / int64(s.unit)
	best, least := first, int64(math.MaxInt64)
	for _, v := range [...]int64{first, first - 1, first + 1} {
		off := int64(s.at(events, v)) - (int64(sum) - s.ahead)
		if off = max(off, -off); off < least {
			best, least = v, off
		}
	}
	return best
}

// take takes a node's share.
func (s *share) take(events uint64, v int64) uint64 {
	x := s.at(events, v)
	s.sum -= x
	s.events -= events
	return x
}

// shares returns the shares of all nodes but each group's last one, of the durations and of the gaps.
func (s *sharing) shares(nodes []efg.Node, all []*efg.Stats) (list [2][]uint64) {
	units := s.precisions(all)
	for g, members := range s.groups {
		var x [2]share
		for i, v := range intervals(all[g]) {
			x[i] = share{unit: units[i], sum: v.Sum, events: all[g].Count, min: v.Min, max: v.Max}
		}
		for _, k := range members[:len(members)-1] {
			for i, v := range intervals(nodes[k].Stats) {
				units := x[i].closest(s.counts[k], v.Sum)
				x[i].ahead += int64(x[i].take(s.counts[k], units)) - int64(v.Sum)
				list[i] = append(list[i], block.Zigzag(units))
			}
		}
	}
	return list
}

// takeShares gives the nodes of a stream their shares of the groups' statistics.
func (s *sharing) takeShares(b *block.Block, nodes []efg.Node, all []*efg.Stats) {
	units := s.precisions(all)
	for g, members := range s.groups {
		if len(members) == 1 {
			nodes[members[0]].Stats = all[g]
			continue
		}
		if b.Err != nil || !s.agrees(b, members, all[g]) {
			return
		}
		list := make([]efg.Stats, len(members))
		for i, v := range intervals(all[g]) {
			x := share{unit: units[i], sum: v.Sum, events: all[g].Count, min: v.Min, max: v.Max}
			left := v.Bins
			for j, k := range members {
				own := intervals(&list[j])[i]
				own.Min, own.Max = v.Min, v.Max
				own.Bins = shareBins(&left, s.counts[k], x.events)
				if j == len(members)-1 {
					own.Sum = x.sum
					break
				}
				own.Sum = x.take(s.counts[k], block.Unzigzag(b.Get(statShares+i)))
			}
		}
		for j, k := range members {
			list[j].Count, list[j].Shared = s.counts[k], true
			nodes[k].Stats = &list[j]
		}
	}
}

// agrees reports whether statistics can be those of these nodes.
func (s *sharing) agrees(b *block.Block, members []int, st *efg.Stats) bool {
	if st == nil || !canShare(st) {
		b.Failf("statistics that nodes cannot share")
		return false
	}
	left := st.Count
	for _, k := range members {
		if s.counts[k] == 0 || s.counts[k] > left {
			b.Failf("statistics of %d events, which %d nodes have not", st.Count, len(members))
			return false
		}
		left -= s.counts[k]
	}
	if left > 0 {
		b.Failf("statistics of %d more events than nodes have that share them", left)
	}
	return left == 0
}

// shareBins takes the bins of so many events out of those that are left, evenly.
func shareBins(left *[len(efg.Interval{}.Bins)]uint32, events, of uint64) (own [len(efg.Interval{}.Bins)]uint32) {
	before, taken := uint64(0), uint64(0)
	for b := range left {
		before += uint64(left[b])
		hi, lo := bits.Mul64(before, events)
		lo, carry := bits.Add64(lo, of/2, 0)
		upTo, _ := bits.Div64(hi+carry, lo, of)
		own[b] = uint32(upTo - taken)
		taken = upTo
	}
	for b := range left {
		left[b] -= own[b]
	}
	return own
}
