package seq

import (
	"slices"
	"unsafe"
)

const (
	minRepeat   = 3 // shorter matches are passed on as literals
	activate    = 8 // symbols a level passes on before there is one above
	firstWindow = 8
	fullCredit  = 2  // windows of literals before a level falls asleep
	longestNap  = 32 // windows
)

// Writer folds values into a sequence as they are appended: constant amortised time per value,
// bounded window. It is the Go counterpart of hook/shim/core_seq.c; both produce the same code
// for the same values.
type Writer struct {
	n      uint64
	delta  bool
	prev   uint64
	code   []byte
	window [Levels]uint32
	levels [Levels]writeLevel
}

type writeLevel struct {
	d, m       uint64 // running match: distance, length
	pos        uint64 // symbols seen
	handed     uint32 // symbols passed on
	sinceGrown uint32
	credit     int      // below 0: repeats do not pay, fall asleep
	nap        uint32   // symbols to let through the next time it sleeps
	asleep     uint32   // symbols still to let through without looking at them
	ring       []symbol // nil if not active
	last       []uint32 // position of the last pair with this hash
}

// NewWriter returns an empty sequence; delta stores differences.
func NewWriter(delta bool) *Writer { return NewWindowWriter(delta, recorderWindow) }

// NewWindowWriter returns an empty sequence with window as the maximum distance of repeats.
func NewWindowWriter(delta bool, window [Levels]uint32) *Writer {
	w := &Writer{delta: delta, window: window}
	w.levels[0].open(firstWindow)
	return w
}

// Memory estimates the number of bytes of the writer.
func (w *Writer) Memory() int {
	n := int(unsafe.Sizeof(*w)) + len(w.code)
	for i := range w.levels {
		n += int(unsafe.Sizeof(symbol{}))*len(w.levels[i].ring) + 4*len(w.levels[i].last)
	}
	return n
}

// Size is the number of bytes of code so far, without repeats in progress.
func (w *Writer) Size() int { return len(w.code) }

// Len is the number of values pushed.
func (w *Writer) Len() uint64 { return w.n }

// Push appends a value.
func (w *Writer) Push(v uint64) {
	x := v
	if w.delta {
		diff := v - w.prev
		x = diff<<1 ^ uint64(int64(diff)>>63)
		w.prev = v
	}
	w.push(0, symbol{value: x})
	w.n++
}

// Seq returns the sequence so far.
func (w *Writer) Seq() *Seq {
	code := slices.Clone(w.code)
	for l := Levels - 1; l >= 0; l-- {
		if lv := &w.levels[l]; lv.m > 0 {
			code = appendSymbol(code, symbol{value: lv.m, kind: uint32(lv.d)<<2 | uint32(l+1)})
		}
	}
	s, err := New(w.n, w.delta, code)
	if err != nil {
		panic("seq: sequence writer made bad code: " + err.Error())
	}
	return s
}

func (l *writeLevel) open(window int) {
	l.ring = make([]symbol, window)
	l.last = make([]uint32, 2*window)
	l.credit = window * fullCredit
}

func (l *writeLevel) at(pos uint64) symbol { return l.ring[pos&uint64(len(l.ring)-1)] }

func (l *writeLevel) remember(y symbol) {
	l.ring[l.pos&uint64(len(l.ring)-1)] = y
	l.pos++
}

func (l *writeLevel) pairSlot(a, b symbol) *uint32 {
	const p1, p2 = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F
	h := (a.value*p1+uint64(a.kind))*p2 + b.value*p1 + uint64(b.kind)
	h = (h ^ h>>32) * p2
	return &l.last[uint32(h>>40)&uint32(len(l.last)-1)]
}

func (l *writeLevel) indexPair(pos uint64) {
	*l.pairSlot(l.at(pos-1), l.at(pos)) = uint32(pos)
}

// findDistance looks for the last occurrence of the two newest symbols.
func (l *writeLevel) findDistance() uint64 {
	pos := l.pos - 1
	a, b := l.at(pos-1), l.at(pos)
	d := uint64(uint32(pos) - *l.pairSlot(a, b))
	if d == 0 || d >= uint64(len(l.ring))-1 || d >= pos {
		return 0
	}
	if l.at(pos-d) == b && l.at(pos-d-1) == a {
		return d
	}
	return 0
}

func (l *writeLevel) grow() {
	old := *l
	l.open(2 * len(old.ring))
	from := uint64(0)
	if old.pos > uint64(len(old.ring)) {
		from = old.pos - uint64(len(old.ring))
	}
	l.pos = from
	for p := from; p < old.pos; p++ {
		l.remember(old.at(p))
	}
	for p := from + 1; p < l.pos; p++ {
		l.indexPair(p)
	}
	l.sinceGrown = 0
}

// push passes symbol y to level n.
func (w *Writer) push(n int, y symbol) {
	l := &w.levels[n]
	if l.asleep != 0 {
		l.asleep--
		w.code = appendSymbol(w.code, y)
		return
	}
	if l.d != 0 && l.at(l.pos-l.d) == y {
		l.remember(y)
		l.m++
		return
	}
	w.endMatch(n)
	w.handOn(n+1, y)
	l.remember(y)
	if l.pos >= 2 {
		if d := l.findDistance(); d != 0 {
			l.d = d
		}
		l.indexPair(l.pos - 1)
	}
	if l.sinceGrown >= uint32(len(l.ring)) && uint32(len(l.ring)) < w.window[n] {
		l.grow()
		return
	}
	if l.credit--; l.credit < 0 {
		w.fallAsleep(n)
	}
}

// fallAsleep: repeats have not paid at level n lately; let symbols through without looking at
// them for a while, twice as long as last time, then start afresh.
func (w *Writer) fallAsleep(n int) {
	l := &w.levels[n]
	window := uint32(len(l.ring))
	if l.nap == 0 {
		l.nap = window
	} else {
		l.nap = min(2*l.nap, window*longestNap)
	}
	l.asleep = l.nap
	l.credit = int(window) * fullCredit
	l.forget()
	for up := n + 1; up < Levels && w.levels[up].ring != nil; up++ {
		w.endMatch(up)
		w.levels[up].forget()
	}
}

func (l *writeLevel) forget() {
	l.pos, l.d = 0, 0
	clear(l.last)
}

// earn keeps a level awake for a repeat of m symbols.
func (l *writeLevel) earn(m uint64) {
	window := uint64(len(l.ring))
	l.credit = min(l.credit+int(min(m, window)), int(window)*fullCredit)
	if m >= window {
		l.nap = 0
	}
}

// endMatch passes on the running match of level n.
func (w *Writer) endMatch(n int) {
	l := &w.levels[n]
	m := l.m
	l.m = 0
	if m >= minRepeat {
		for p := l.pos - min(m, l.d); p < l.pos; p++ {
			l.indexPair(p)
		}
		l.earn(m)
		w.handOn(n+1, symbol{value: m, kind: uint32(l.d)<<2 | uint32(n+1)})
		return
	}
	for p := l.pos - m; p < l.pos; p++ {
		l.indexPair(p)
		w.handOn(n+1, l.at(p))
	}
}

// handOn passes a symbol that leaves level n-1 to level n, or to the code.
func (w *Writer) handOn(n int, y symbol) {
	below := &w.levels[n-1]
	active := n < Levels && w.levels[n].ring != nil
	if n < Levels && !active && below.handed >= activate {
		w.levels[n].open(firstWindow)
		active = true
	}
	below.handed++
	below.sinceGrown++
	if active {
		w.push(n, y)
		return
	}
	w.code = appendSymbol(w.code, y)
}
