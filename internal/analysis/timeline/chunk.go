package timeline

import (
	"cmp"
	"container/list"
	"slices"
	"sync"
	"unsafe"
)

// chunkBits: a chunk has 2^chunkBits cells.
const (
	chunkBits  = 12
	chunkCells = 1 << chunkBits
)

// place says which chunk of a stream: the cells of a level from number index<<chunkBits.
type place struct {
	stream int // number in the run
	level  uint8
	index  int64
}

// span is the start and the end of the chunk.
func (p place) span() (from, to int64) {
	shift := p.level + chunkBits
	return p.index << shift, (p.index + 1) << shift
}

// half is the place of the first or second half, one level finer.
func (p place) half(second int64) place {
	return place{p.stream, p.level - 1, 2*p.index + second}
}

// chunk says how long a stream was in which procedures, by cells.
type chunk struct {
	from, until int64 // the part of the chunk's time that was recorded
	entries     []entry
	missing     []cells // cells that were not computed; such chunks are not kept
}

// entry is the time in a procedure. Entries are in the order of cell and procedure.
type entry struct {
	cell, proc uint16
	ns         uint64
}

// cells is a range; until is exclusive.
type cells struct{ from, until int }

func unknown() *chunk { return &chunk{missing: []cells{{0, chunkCells}}} }

// join makes a chunk from its two halves.
func join(a, b *chunk) *chunk {
	c := &chunk{from: a.from, until: a.until}
	if a.from == a.until {
		c.from, c.until = b.from, b.until
	} else if b.from < b.until {
		c.until = b.until
	}
	for half, h := range []*chunk{a, b} {
		at := half * chunkCells / 2
		for _, m := range h.missing {
			c.missing = append(c.missing, cells{at + m.from/2, at + (m.until+1)/2})
		}
		first := len(c.entries)
		for _, e := range h.entries {
			c.entries = append(c.entries, entry{uint16(at) + e.cell/2, e.proc, e.ns})
		}
		c.entries = c.entries[:first+len(addUp(c.entries[first:]))]
	}
	c.entries = slices.Clip(c.entries)
	return c
}

// addUp sorts entries and sums those of one procedure in one cell.
func addUp(list []entry) []entry {
	slices.SortFunc(list, func(x, y entry) int { return cmp.Or(cmp.Compare(x.cell, y.cell), cmp.Compare(x.proc, y.proc)) })
	n := 0
	for i, e := range list {
		if i > 0 && n > 0 && list[n-1].cell == e.cell && list[n-1].proc == e.proc {
			list[n-1].ns += e.ns
			continue
		}
		list[n] = e
		n++
	}
	return list[:n]
}

// cache keeps the most recently used chunks.
type cache struct {
	mu     sync.Mutex
	bytes  int
	limit  int
	chunks map[place]*list.Element
	recent list.List // elements of kept, the most recently used first
}

type kept struct {
	place place
	chunk *chunk
}

func newCache(limit int) *cache { return &cache{limit: limit, chunks: map[place]*list.Element{}} }

// overhead is the approximate size of a chunk without its entries.
const overhead = 300

func (c *chunk) memory() int { return overhead + cap(c.entries)*int(unsafe.Sizeof(entry{})) }

func (k *cache) get(p place) *chunk {
	k.mu.Lock()
	defer k.mu.Unlock()
	e := k.chunks[p]
	if e == nil {
		return nil
	}
	k.recent.MoveToFront(e)
	return e.Value.(*kept).chunk
}

func (k *cache) put(p place, c *chunk) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.chunks[p] != nil {
		return
	}
	k.chunks[p] = k.recent.PushFront(&kept{p, c})
	k.bytes += c.memory()
	for k.bytes > k.limit && k.recent.Len() > 1 {
		last := k.recent.Remove(k.recent.Back()).(*kept)
		delete(k.chunks, last.place)
		k.bytes -= last.chunk.memory()
	}
}
