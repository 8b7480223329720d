package generate

import (
	"fmt"
	"slices"

	"github.com/efg-tools/efg/signature"
)

// class are processes that one function of the program stands for: they make the same calls in
// the same order. What they pass may differ.
type class struct {
	procs []*process // in the order of their ranks
	name  string
	body  []stmt // in terms of the program's calls
	// threads are the bodies of threads other than the first
	threads [][]stmt
}

// like is the process that shows what all do.
func (c *class) like() *process { return c.procs[0] }

// classes groups processes.
func classes(procs []*process) []*class {
	var list []*class
	byKey := map[uint64]*class{}
	for _, p := range procs {
		key := p.shape()
		c := byKey[key]
		if c == nil {
			c = &class{}
			byKey[key] = c
			list = append(list, c)
		}
		c.procs = append(c.procs, p)
	}
	return list
}

// shape is equal for processes of one class.
func (p *process) shape() uint64 {
	key := bodyKey(nil, p.body)
	for _, t := range p.others {
		key = append(bodyKey(key, t.body), uint64(t.start))
		if t.stays {
			key = append(key, 1)
		}
	}
	for _, n := range p.list() {
		key = append(key, uint64(n.number), uint64(n.header))
		for i := range n.values {
			key = append(key, absence(n, i))
		}
		if len(p.others) > 0 {
			key = append(key, uint64(len(n.awaits)))
			if n.awaited {
				key = append(key, 1)
			}
		}
	}
	return signature.Hash(key...)
}

// bodyKey appends what is equal for equal bodies.
func bodyKey(key []uint64, body []stmt) []uint64 {
	key = append(key, uint64(len(body)))
	for i := range body {
		s := &body[i]
		key = append(key, uint64(s.node), s.times)
		if s.body != nil {
			key = bodyKey(key, s.body)
		}
	}
	return key
}

// absence tells arguments that decide how a call is written: those that are absent, constants in
// place of buffers or arrays, also of arrays that the call fills with errors.
func absence(n *node, i int) uint64 {
	q := n.param(i)
	if q == nil || n.proc.Words[i].Out && q.Kind != signature.ErrCodes {
		return 0
	}
	if w, ok := n.values[i].constant(); ok && special(w) && (q.Kind == signature.ErrCodes || q.Kind == signature.Buf || q.Len != nil || q.Kind == signature.Str) {
		return w
	}
	return 0
}

// function is the name of a class's function.
func (c *class) function(world int) string {
	first, last := c.procs[0].rank, c.procs[len(c.procs)-1].rank
	switch {
	case len(c.procs) == world:
		return "run"
	case len(c.procs) == 1:
		return fmt.Sprintf("run_rank_%d", first)
	case last-first+1 == len(c.procs):
		return fmt.Sprintf("run_ranks_%d_to_%d", first, last)
	}
	return fmt.Sprintf("run_ranks_like_%d", first)
}

// condition is the C expression that holds on the ranks of a class.
func (c *class) condition() string {
	ranks := make([]int, len(c.procs))
	for i, p := range c.procs {
		ranks[i] = p.rank
	}
	slices.Sort(ranks)
	text := ""
	for i := 0; i < len(ranks); {
		j := i
		for j+1 < len(ranks) && ranks[j+1] == ranks[j]+1 {
			j++
		}
		if text != "" {
			text += " || "
		}
		if i == j {
			text += fmt.Sprintf("rank == %d", ranks[i])
		} else {
			text += fmt.Sprintf("(rank >= %d && rank <= %d)", ranks[i], ranks[j])
		}
		i = j + 1
	}
	return text
}
