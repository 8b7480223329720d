package mix

import "sync"

// slot is what was seen after a context.
type slot struct {
	value uint64
	// mark has the context's lowest 32 bits but the last four, which say how often the value
	// was right; 0: nothing was seen.
	mark uint32
	at   uint32 // 1 + place, 0: free; not set in a table of all places
}

const sureMask = sureLevels - 1

func (s *slot) of(context uint64) bool { return s.mark != 0 && (s.mark^uint32(context))&^sureMask == 0 }

func (s *slot) sure() uint8 { return uint8(s.mark & sureMask) }

// size is that of a table that has a place for each value of a number of bits, while it is smaller
// than that: most coders use few of its places, and to copy all of them, or touch them for the first
// time, would take longer than what they code. Which values share a place does not depend on it.
type size struct {
	shift uint // from 64 bits to those of a place
	fold  uint // last bits of a place that are not in the position where the search for it begins
	used  int  // places, while they are not all there
}

// A new table has places for all values but the last firstFold bits, and at least 1 << firstBits. The
// largest that does not have all places, 1 << lastBits, grows to all at once: larger ones between would
// save little memory, and searching them takes time.
const (
	firstFold = 4
	firstBits = 10
	lastBits  = 15
)

func newSize(bits int) size {
	return size{shift: uint(64 - bits), fold: uint(min(max(bits-firstBits, 0), firstFold))}
}

func (s *size) len() int { return 1 << (64 - s.shift - s.fold) }

// enlarge makes the table twice as large, or gives it all places.
func (s *size) enlarge() {
	if s.fold--; s.len() > 1<<lastBits {
		s.fold = 0
	}
}

// lacks reports whether the table must grow before it takes n places more.
func (s *size) lacks(n int) bool { return s.fold > 0 && s.used+n > s.len()/4*3 }

// memory is that of closed coders, for reuse.
var memory struct{ slots, chances, places, trusts sync.Pool }

// take returns n elements from a pool, or new ones. If empty is set they are zero.
func take[T any](pool *sync.Pool, n int, empty bool) []T {
	if t, ok := pool.Get().(*[]T); ok && cap(*t) >= n {
		out := (*t)[:n]
		if empty {
			clear(out)
		}
		return out
	}
	return make([]T, n)
}

// put returns elements to a pool.
func put[T any](pool *sync.Pool, list []T) {
	if list != nil {
		pool.Put(&list)
	}
}

// copyOf copies elements to some of a pool.
func copyOf[T any](pool *sync.Pool, list []T) []T {
	if list == nil {
		return nil
	}
	out := take[T](pool, len(list), false)
	copy(out, list)
	return out
}

// contexts is a table of slots. One that has all its places has each at its own position.
type contexts struct {
	slots []slot
	size
}

func newContexts(bits int) contexts {
	t := contexts{size: newSize(bits)}
	t.slots = take[slot](&memory.slots, t.len(), true)
	return t
}

func (t *contexts) copy() contexts { return contexts{copyOf(&memory.slots, t.slots), t.size} }

// find returns the slot of a context. One that has no place is empty.
func (t *contexts) find(context uint64) *slot {
	if t.fold != 0 {
		return t.probe(context)
	}
	return &t.slots[context>>(t.shift&63)]
}

// probe is find for a table that does not have all places.
//
//go:noinline
func (t *contexts) probe(context uint64) *slot { return t.at(uint32(context >> t.shift)) }

// at returns the slot of a place, or a free one.
func (t *contexts) at(place uint32) *slot {
	for i := place >> t.fold; ; i++ {
		if s := &t.slots[i&uint32(len(t.slots)-1)]; s.at == place+1 || s.at == 0 {
			return s
		}
	}
}

// put returns the slot of a context, which has a place from now on.
func (t *contexts) put(context uint64) *slot {
	if t.fold != 0 {
		return t.add(context)
	}
	return &t.slots[context>>(t.shift&63)]
}

// add is put for a table that does not have all places.
//
//go:noinline
func (t *contexts) add(context uint64) *slot {
	place := uint32(context >> t.shift)
	s := t.at(place)
	if s.at != 0 {
		return s
	}
	if t.lacks(1) {
		if t.grow(); t.fold == 0 {
			return &t.slots[place]
		}
		s = t.at(place)
	}
	t.used++
	s.at = place + 1
	return s
}

func (t *contexts) grow() {
	old := t.slots
	t.enlarge()
	t.slots = take[slot](&memory.slots, t.len(), true)
	for i := range old {
		switch s := &old[i]; {
		case s.at == 0:
		case t.fold == 0:
			t.slots[s.at-1] = *s
		default:
			*t.at(s.at - 1) = *s
		}
	}
	put(&memory.slots, old)
}

func (t *contexts) close() {
	put(&memory.slots, t.slots)
	t.slots = nil
}

// chances is a table of chances. One that has all its places has each at its own position.
type chances struct {
	list   []chance
	places []uint32 // 1 + the place at each position, 0: free; nil: the table has all places
	size
}

func newChances(bits int) chances {
	t := chances{size: newSize(bits)}
	t.make()
	return t
}

// make makes the table, which is empty.
func (t *chances) make() {
	t.list, t.places = take[chance](&memory.chances, t.len(), false), nil
	if t.fold > 0 {
		t.places = take[uint32](&memory.places, t.len(), true)
		return
	}
	for i := range t.list {
		t.list[i] = evens
	}
}

func (t *chances) copy() chances {
	return chances{copyOf(&memory.chances, t.list), copyOf(&memory.places, t.places), t.size}
}

// position is where the chance of a place is, in a table that does not have all places and has room.
func (t *chances) position(place uint32) uint32 {
	mask := uint32(len(t.list) - 1)
	for i := place >> t.fold; ; i++ {
		switch t.places[i&mask] {
		case place + 1:
			return i & mask
		case 0:
			t.used++
			t.places[i&mask], t.list[i&mask] = place+1, evens
			return i & mask
		}
	}
}

func (t *chances) grow() {
	list, places := t.list, t.places
	t.enlarge()
	t.used = 0
	t.make()
	for i, p := range places {
		switch {
		case p == 0:
		case t.places == nil:
			t.list[p-1] = list[i]
		default:
			t.list[t.position(p-1)] = list[i]
		}
	}
	put(&memory.chances, list)
	put(&memory.places, places)
}

func (t *chances) close() {
	put(&memory.chances, t.list)
	put(&memory.places, t.places)
	t.list, t.places = nil, nil
}
