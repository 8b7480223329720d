package runfile

import (
	"cmp"
	"slices"
)

// maxRanked is the number of callsites of a block that are kept in order.
const maxRanked = 1 << 14

// siteOrder has the callsites of a block in the order of their offsets.
type siteOrder struct {
	ofModule map[uint64][]rankedSite
	size     int
}

type rankedSite struct{ offset, number uint64 }

func (r rankedSite) compare(other rankedSite) int {
	return cmp.Or(cmp.Compare(r.offset, other.offset), cmp.Compare(r.number, other.number))
}

func (o *siteOrder) add(s callsite, number uint64) {
	if o.size == maxRanked {
		return
	}
	o.size++
	r := rankedSite{s.offset, number}
	i, _ := slices.BinarySearchFunc(o.ofModule[s.module], r, rankedSite.compare)
	o.ofModule[s.module] = slices.Insert(o.ofModule[s.module], i, r)
}

// rank is the number of callsites in the module before one of them; -1 if it is not kept.
func (o *siteOrder) rank(s callsite, number uint64) int {
	if i, ok := slices.BinarySearchFunc(o.ofModule[s.module], rankedSite{s.offset, number}, rankedSite.compare); ok {
		return i
	}
	return -1
}

// between is how many callsites after one of a module another one is, 0 if that is not known.
func (o *pathOrder) between(from, to uint64) int64 {
	if from == 0 || to == 0 || o.sites[from-1].module != o.sites[to-1].module {
		return 0
	}
	a, b := o.order.rank(o.sites[from-1], from), o.order.rank(o.sites[to-1], to)
	if a < 0 || b < 0 {
		return 0
	}
	return int64(b - a)
}

// beyond is the callsite that is so many after another one; 0 if there is none.
func (o *pathOrder) beyond(from uint64, distance int64) uint64 {
	s := o.sites[from-1]
	list, at := o.order.ofModule[s.module], int64(o.order.rank(s, from))
	if at < 0 || distance < -at || distance >= int64(len(list))-at {
		return 0
	}
	return list[at+distance].number
}
