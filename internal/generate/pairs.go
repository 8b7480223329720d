package generate

import "container/heap"

// pairing replaces pairs of symbols that recur in sequences by new symbols, the most frequent first, until none
// recurs: recursive pairing after Larsson and Moffat. Pairs of one symbol with itself are left: they are loops.
type pairing struct {
	symbols    []int // of all sequences; gap where a pair has taken the place of two
	next, prev []int // positions
	places     map[[2]int]*pair
	queue      pairQueue
	rules      [][2]int // what the symbols from first on stand for
	first      int
}

const gap = -1

// pair are two symbols that follow each other.
type pair struct {
	of     [2]int
	places []int // some may be gone
	count  int
	queued int // its count when it was put in the queue; 0: it is not there
	index  int // in the queue
}

// pairQueue is a heap, with the most frequent pair first.
type pairQueue []*pair

func (q pairQueue) Len() int { return len(q) }

func (q pairQueue) Less(i, j int) bool {
	a, b := q[i], q[j]
	switch {
	case a.queued != b.queued:
		return a.queued > b.queued
	case a.of[0] != b.of[0]:
		return a.of[0] < b.of[0]
	}
	return a.of[1] < b.of[1]
}

func (q pairQueue) Swap(i, j int) {
	q[i], q[j] = q[j], q[i]
	q[i].index, q[j].index = i, j
}

// Push is part of heap.Interface.
func (q *pairQueue) Push(x any) {
	p := x.(*pair)
	p.index = len(*q)
	*q = append(*q, p)
}

// Pop is part of heap.Interface.
func (q *pairQueue) Pop() any {
	last := len(*q) - 1
	p := (*q)[last]
	*q = (*q)[:last]
	return p
}

// pairs replaces pairs in sequences of symbols that are less than first. It returns the sequences, and what the
// symbols from first on stand for.
func pairs(sequences [][]int, first int) ([][]int, [][2]int) {
	p := &pairing{places: map[[2]int]*pair{}, first: first}
	starts := make([]int, len(sequences))
	for i, s := range sequences {
		starts[i] = len(p.symbols)
		p.symbols = append(append(p.symbols, s...), gap) // what ends a sequence pairs with nothing
	}
	p.next, p.prev = make([]int, len(p.symbols)), make([]int, len(p.symbols))
	for i := range p.symbols {
		p.next[i], p.prev[i] = i+1, i-1
	}
	for i := range p.symbols {
		p.add(i)
	}
	for len(p.queue) > 0 {
		best := p.queue[0]
		if best.queued != best.count {
			p.requeue()
			continue
		}
		heap.Pop(&p.queue)
		p.replace(best)
	}
	out := make([][]int, len(sequences))
	for i, at := range starts {
		for ; p.symbols[at] != gap; at = p.next[at] {
			out[i] = append(out[i], p.symbols[at])
		}
	}
	return out, p.rules
}

// requeue puts the first of the queue where its count belongs.
func (p *pairing) requeue() {
	if first := p.queue[0]; first.count < 2 {
		first.queued = 0
		heap.Pop(&p.queue)
	} else {
		first.queued = first.count
		heap.Fix(&p.queue, 0)
	}
}

// at is the pair at a position, false if there is none that may be replaced.
func (p *pairing) at(i int) ([2]int, bool) {
	if i < 0 || i+1 >= len(p.symbols) || p.symbols[i] == gap {
		return [2]int{}, false
	}
	of := [2]int{p.symbols[i], p.symbols[p.next[i]]}
	return of, of[1] != gap && of[0] != of[1]
}

// add notes the pair at a position.
func (p *pairing) add(i int) {
	of, ok := p.at(i)
	if !ok {
		return
	}
	q := p.places[of]
	if q == nil {
		q = &pair{of: of}
		p.places[of] = q
	}
	q.places = append(q.places, i)
	if q.count++; q.count >= 2 && q.queued == 0 {
		q.queued = q.count
		heap.Push(&p.queue, q)
	} else if q.queued > 0 && q.count > q.queued {
		q.queued = q.count
		heap.Fix(&p.queue, q.index)
	}
}

// remove forgets the pair at a position.
func (p *pairing) remove(i int) {
	if of, ok := p.at(i); ok {
		p.places[of].count--
	}
}

// replace puts a new symbol in place of a pair, everywhere.
func (p *pairing) replace(q *pair) {
	symbol := p.first + len(p.rules)
	p.rules = append(p.rules, q.of)
	delete(p.places, q.of)
	for _, i := range q.places {
		if of, ok := p.at(i); !ok || of != q.of {
			continue
		}
		second := p.next[i]
		before, after := p.prev[i], p.next[second]
		p.remove(before)
		p.remove(second)
		p.symbols[i], p.symbols[second] = symbol, gap
		p.next[i] = after
		if after < len(p.prev) {
			p.prev[after] = i
		}
		p.add(before)
		p.add(i)
	}
}
