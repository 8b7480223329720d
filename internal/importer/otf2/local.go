package otf2

import (
	"cmp"
	"math"
	"slices"
)

// local are the definitions of a location: what its numbers stand for, and how its clock is to be
// corrected.
type local struct {
	maps    map[byte]idMap // by what they map
	offsets []clockOffset
}

// Numbers of what mappings are of.
const (
	mapString    = 0
	mapAttribute = 1
	mapRegion    = 3
	mapGroup     = 4
	mapComm      = 6
	mapWindow    = 8
	mapSource    = 9
	mapContext   = 10
	mapFile      = 12
	mapHandle    = 13
)

// idMap maps the numbers of a location to global ones: all, or those that differ.
type idMap struct {
	dense  []uint64
	sparse map[uint64]uint64
}

func (m idMap) global(id uint64) uint64 {
	if id < uint64(len(m.dense)) {
		return m.dense[id]
	}
	if to, ok := m.sparse[id]; ok {
		return to
	}
	return id
}

// clockOffset is what is to be added to a time near it.
type clockOffset struct {
	time   uint64
	offset int64
}

const (
	localMappingTable = 5
	localClockOffset  = 6
)

// readLocal reads the definitions of a location.
func (a *Archive) readLocal(location uint64) (*local, error) {
	path, shown := a.local(location, ".def")
	c, err := openChunks(path, shown, a.definitionChunk)
	if err != nil {
		return nil, err
	}
	defer c.close()
	l := &local{maps: map[byte]idMap{}}
	for {
		kind, ok := c.more()
		if !ok {
			break
		}
		r := c.record(c.length())
		switch {
		case r.err != nil:
		case kind == localMappingTable:
			l.mapping(&r)
		case kind == localClockOffset:
			l.offsets = append(l.offsets, clockOffset{r.full(), int64(r.u64())})
		}
		if r.err != nil {
			return nil, r.err
		}
	}
	slices.SortFunc(l.offsets, func(x, y clockOffset) int { return cmp.Compare(x.time, y.time) })
	return l, c.err
}

func (l *local) mapping(r *cursor) {
	of := r.byte()
	n, mode := r.u64(), r.byte()
	const dense = 0
	size := uint64(1) // bytes of an entry, at least
	if mode != dense {
		size = 2
	}
	if n > uint64(r.left())/size {
		r.failf("a map of %d numbers in %d bytes", n, r.left())
		return
	}
	var m idMap
	if mode == dense {
		m.dense = make([]uint64, n)
		for i := range m.dense {
			m.dense[i] = r.u64()
		}
	} else {
		m.sparse = make(map[uint64]uint64, n)
		for range n {
			from := r.u64()
			m.sparse[from] = r.u64()
		}
	}
	l.maps[of] = m
}

// correct returns a corrected time: between two offsets along a straight line, beyond them along
// the nearest one.
func (l *local) correct(time uint64) uint64 {
	n := len(l.offsets)
	if n == 0 {
		return time
	}
	i, _ := slices.BinarySearchFunc(l.offsets, time, func(o clockOffset, t uint64) int { return cmp.Compare(o.time, t) })
	i = min(max(i-1, 0), max(n-2, 0))
	first := l.offsets[i]
	slope := 0.0
	if i+1 < n && l.offsets[i+1].time > first.time {
		slope = float64(l.offsets[i+1].offset-first.offset) / float64(l.offsets[i+1].time-first.time)
	}
	shift := slope * float64(int64(time-first.time))
	if math.Abs(shift) > math.MaxInt64/4 {
		shift = 0
	}
	at := int64(time) + first.offset + int64(math.Round(shift))
	return uint64(max(at, 0))
}
