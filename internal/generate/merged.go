package generate

import (
	"maps"
	"slices"
)

// maxMerged bounds the calls of a run whose arguments are listed in the order of the calls.
const maxMerged = 1 << 24

// rare are the most calls that a node has which is merged with others.
const rare = 256

// withMerged returns the processes with merged nodes; nil if none has any.
func withMerged(procs []*process) []*process {
	total := uint64(0)
	for _, p := range procs {
		eachCall(p.body, 1, func(_ int, times uint64) { total += times })
	}
	if total > maxMerged {
		return nil
	}
	out := slices.Clone(procs)
	found := false
	for i, p := range procs {
		if m := p.merged(); m != nil {
			out[i], found = m, true
		}
	}
	if !found {
		return nil
	}
	return out
}

// merged returns the process with one node in place of several rare ones at a place of the recorded program: what
// they pass comes from tables, so that parts that only differ in that become equal. nil: there are none.
func (p *process) merged() *process {
	into := map[int]*node{} // by number
	byPlace := map[uint64][]*node{}
	var order []uint64
	for _, n := range p.list() {
		if n.visits > rare || n.ownsAny() || n.repeats() || n.left() {
			continue
		}
		key := p.written(n)
		if byPlace[key] == nil {
			order = append(order, key)
		}
		byPlace[key] = append(byPlace[key], n)
	}
	out := *p
	out.nodes = slices.Clone(p.nodes)
	for _, key := range order {
		list := byPlace[key]
		if len(list) < 2 {
			continue
		}
		together := *list[0]
		together.visits, together.gap = 0, 0
		for _, n := range list {
			together.visits += n.visits
			together.gap += n.gap * float64(n.visits)
			out.nodes[n.number] = nil
			into[n.number] = &together
		}
		together.gap /= float64(together.visits)
		out.nodes[together.number] = &together
	}
	if len(into) == 0 {
		return nil
	}
	if !p.mergeValues(into) {
		return nil
	}
	out.body = replaced(p.body, into)
	return &out
}

// ownsAny reports whether a node's calls own a buffer.
func (n *node) ownsAny() bool {
	for i := range n.spans {
		if n.owns(i) {
			return true
		}
	}
	return false
}

// mergeValues gives merged nodes their values, in the order of the calls. It returns false if a word has not one
// value for each call.
func (p *process) mergeValues(into map[int]*node) bool {
	cursors := map[int][]*valueCursor{}
	tables := map[*node][]*vecTable{}
	for number, to := range into {
		n := p.nodes[number]
		for i := range n.values {
			cursors[number] = append(cursors[number], &valueCursor{value: &n.values[i]})
		}
		if tables[to] == nil {
			for i := range n.values {
				t := &vecTable{index: map[uint64]int{}}
				if n.values[i].vecs != nil {
					t.vecs = [][]uint64{}
				}
				tables[to] = append(tables[to], t)
			}
		}
	}
	ok := true
	execute(p.body, func(number int) {
		to := into[number]
		if to == nil || !ok {
			return
		}
		for i, c := range cursors[number] {
			t := tables[to][i]
			w, more := c.next()
			ok = ok && more
			if c.value.vecs != nil && !special(w) {
				if t.vecs == nil {
					t.vecs = [][]uint64{}
				}
				w = t.number(c.value.vecs[w])
			}
			t.series = t.series.add(w)
		}
	})
	for to, list := range tables {
		to.values = make([]value, len(list))
		for i, t := range list {
			to.values[i] = t.value
			to.values[i].series = t.series.fold()
		}
	}
	for number, to := range into {
		spans := maps.Clone(to.spans)
		for i, s := range p.nodes[number].spans {
			spans[i] = spans[i].union(s)
		}
		to.spans = spans
	}
	return ok
}

// valueCursor goes through the words of a value.
type valueCursor struct {
	value *value
	words []uint64 // nil: one for all
	at    int
}

func (c *valueCursor) next() (uint64, bool) {
	if w, ok := c.value.series.constant(); ok {
		return w, true
	}
	if c.words == nil {
		c.words = c.value.series.expand()
	}
	if c.at == len(c.words) {
		return 0, false
	}
	c.at++
	return c.words[c.at-1], true
}

// execute calls f for each call of a body, in order.
func execute(body []stmt, f func(node int)) {
	for i := range body {
		s := &body[i]
		if s.body == nil {
			f(s.node)
			continue
		}
		for range s.times {
			execute(s.body, f)
		}
	}
}

// replaced is a body with merged nodes, with the loops that it then has.
func replaced(body []stmt, into map[int]*node) []stmt {
	out := slices.Clone(body)
	for i := range out {
		if s := &out[i]; s.body != nil {
			s.body = replaced(s.body, into)
		} else if to := into[s.node]; to != nil {
			s.node = to.number
		}
	}
	return (&folder{}).tidy(out)
}
