package mtf

// item is an event of a class (count 0), or count occurrences of a pattern, one after another.
type item struct {
	n     uint32 // number of the class or of the pattern
	count uint64
}

// patternFinder finds the patterns in a sequence of events as they are added: what occurs twice in a
// row becomes an occurrence of a pattern, and so do sequences of occurrences. The work per
// event is bounded; memory grows with what does not repeat.
type patternFinder struct {
	items    []item
	before   []int32        // by item, the position of the last equal one; -1 if there is none
	last     map[item]int32 // position of the last one
	occurs   []int32        // positions of occurrences of patterns
	patterns [][]item
	index    map[string]uint32 // number of a pattern
	key      []byte
}

const (
	longest    = 1 << 12 // maximum number of items of a new pattern
	candidates = 16      // maximum number of positions compared
)

func newPatternFinder() *patternFinder {
	return &patternFinder{last: map[item]int32{}, index: map[string]uint32{}}
}

// push appends an event of a class.
func (f *patternFinder) push(class uint32) {
	f.append(item{n: class})
	for f.extend() || f.begin() {
	}
}

func (f *patternFinder) append(it item) {
	at := int32(len(f.items))
	before, ok := f.last[it]
	if !ok {
		before = -1
	}
	f.items, f.before, f.last[it] = append(f.items, it), append(f.before, before), at
	if it.count > 0 {
		f.occurs = append(f.occurs, at)
	}
}

// cut removes the last n items.
func (f *patternFinder) cut(n int) {
	for range n {
		at := len(f.items) - 1
		it, before := f.items[at], f.before[at]
		if before < 0 {
			delete(f.last, it)
		} else {
			f.last[it] = before
		}
		if it.count > 0 {
			f.occurs = f.occurs[:len(f.occurs)-1]
		}
		f.items, f.before = f.items[:at], f.before[:at]
	}
}

// extend makes the last items another occurrence of the pattern before them.
func (f *patternFinder) extend() bool {
	n := len(f.items)
	for k := len(f.occurs) - 1; k >= 0 && k >= len(f.occurs)-candidates; k-- {
		at := int(f.occurs[k])
		it := f.items[at]
		body := f.patterns[it.n]
		if len(body) != n-1-at || !equal(body, f.items[at+1:]) {
			continue
		}
		f.cut(n - at)
		it.count++
		f.append(it)
		return true
	}
	return false
}

// begin makes the last items, if they equal those before them, two occurrences of
// a pattern.
func (f *patternFinder) begin() bool {
	n := len(f.items)
	at := f.before[n-1]
	for k := 0; k < candidates && at >= 0; k, at = k+1, f.before[at] {
		size := n - 1 - int(at)
		if size > longest || 2*size > n {
			return false
		}
		if body := f.items[n-size:]; equal(body, f.items[n-2*size:n-size]) {
			p := f.pattern(body)
			f.cut(2 * size)
			f.append(item{p, 2})
			return true
		}
	}
	return false
}

func equal(a, b []item) bool {
	if len(a) != len(b) {
		return false
	}
	for i := len(a) - 1; i >= 0; i-- {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// pattern returns the number of the pattern with this body.
func (f *patternFinder) pattern(body []item) uint32 {
	f.key = f.key[:0]
	for _, it := range body {
		for v := range 4 {
			f.key = append(f.key, byte(it.n>>(8*v)))
		}
		for v := range 8 {
			f.key = append(f.key, byte(it.count>>(8*v)))
		}
	}
	p, ok := f.index[string(f.key)]
	if !ok {
		p = uint32(len(f.patterns))
		f.index[string(f.key)] = p
		f.patterns = append(f.patterns, append([]item(nil), body...))
	}
	return p
}

// patternExpander iterates over the events that items stand for.
type patternExpander struct {
	patterns [][]item
	stack    []frame
}

// frame is a list that is being iterated left+1 times.
type frame struct {
	items []item
	at    int
	left  uint64
}

func newPatternExpander(items []item, patterns [][]item) *patternExpander {
	return &patternExpander{patterns, []frame{{items: items}}}
}

// next returns the class of the next event; false at the end. Patterns refer only to earlier
// ones, so the iteration ends.
func (u *patternExpander) next() (class uint32, ok bool) {
	for len(u.stack) > 0 {
		top := &u.stack[len(u.stack)-1]
		if top.at == len(top.items) {
			if top.left == 0 || len(top.items) == 0 {
				u.stack = u.stack[:len(u.stack)-1]
				continue
			}
			top.at, top.left = 0, top.left-1
		}
		it := top.items[top.at]
		top.at++
		if it.count == 0 {
			return it.n, true
		}
		u.stack = append(u.stack, frame{items: u.patterns[it.n], left: it.count - 1})
	}
	return 0, false
}
