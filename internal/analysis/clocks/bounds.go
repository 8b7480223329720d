package clocks

import (
	"cmp"
	"slices"
)

// passage says that something that began at sent, by the clock of one machine, was over on
// another one at received, by its own: that was not before.
type passage struct{ sent, received int64 }

// delay is how long it took if the clocks agreed.
func (p passage) delay() int64 { return p.received - p.sent }

// passages are the tightest from one machine to another. Time is divided into equal bins,
// and what matters to straight lines is kept in each: the lower convex hull of the delays.
type passages struct {
	count  uint64
	origin int64
	width  int64 // of a bin
	bins   []hull
}

const (
	firstWidth = 1 << 16 // ns
	mostBins   = 256
)

func (p *passages) add(x passage) {
	if p.count == 0 {
		p.origin, p.width = x.sent, firstWidth
	}
	p.count++
	at := max(0, x.sent-p.origin)
	for at/p.width >= mostBins {
		p.widen()
	}
	for int64(len(p.bins)) <= at/p.width {
		p.bins = append(p.bins, nil)
	}
	p.bins[at/p.width].add(x)
}

// widen joins pairs of bins.
func (p *passages) widen() {
	half := p.bins[:0]
	for i := 0; i < len(p.bins); i += 2 {
		h := p.bins[i]
		if i+1 < len(p.bins) {
			for _, x := range p.bins[i+1] {
				h.add(x)
			}
		}
		half = append(half, h)
	}
	clear(p.bins[len(half):])
	p.bins = half
	p.width *= 2
}

// list returns what is kept.
func (p *passages) list() []passage {
	var out []passage
	if p == nil {
		return nil
	}
	for i := range p.bins {
		p.bins[i].reduce()
		out = append(out, p.bins[i]...)
	}
	return out
}

// hull are passages from which the lower convex hull of the delays is taken from time to time.
type hull []passage

const (
	// pendingPassages is how long a hull may get before it is reduced, mostPassages how many
	// are kept of it.
	pendingPassages = 32
	mostPassages    = 16
)

func (h *hull) add(x passage) {
	if *h = append(*h, x); len(*h) >= pendingPassages {
		h.reduce()
	}
}

func (h *hull) reduce() {
	list := *h
	slices.SortFunc(list, func(a, b passage) int {
		return cmp.Or(cmp.Compare(a.sent, b.sent), cmp.Compare(a.received, b.received))
	})
	n := 0
	for _, x := range list {
		if n > 0 && list[n-1].sent == x.sent {
			continue // with a longer delay
		}
		for n > 1 && !below(list[n-2], list[n-1], x) {
			n--
		}
		list[n] = x
		n++
	}
	for n > mostPassages {
		n = leaveOut(list[:n])
	}
	*h = list[:n]
}

// below reports whether b is below the line from a to c.
func below(a, b, c passage) bool {
	return float64(b.delay()-a.delay())*float64(c.sent-a.sent) < float64(c.delay()-a.delay())*float64(b.sent-a.sent)
}

// leaveOut removes every other passage of a hull but for the first, the last, and the shortest,
// and returns how many there are left.
func leaveOut(list []passage) int {
	shortest := slices.MinFunc(list, func(a, b passage) int { return cmp.Compare(a.delay(), b.delay()) })
	n := 0
	for i, x := range list {
		if i%2 == 0 || i == len(list)-1 || x == shortest {
			list[n] = x
			n++
		}
	}
	return n
}
