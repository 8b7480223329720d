package diff

import "github.com/efg-tools/efg/signature"

// none stands for a node that does not exist.
const none = -1

// matching says which nodes of two streams correspond to each other.
type matching struct {
	a, b *stream
	to   []int // node of b by node of a, or none
	from []int // node of a by node of b, or none
}

func match(a, b *stream) *matching {
	m := &matching{a: a, b: b, to: make([]int, len(a.nodes)), from: make([]int, len(b.nodes))}
	for i := range m.to {
		m.to[i] = none
	}
	for i := range m.from {
		m.from[i] = none
	}
	if m.alike() {
		for i := range m.to {
			m.pair(i, i)
		}
		return m
	}
	for _, key := range []func(*stream, int) hash{nearKey, farKey, maskKey, callKey} {
		m.round(key)
	}
	return m
}

// alike reports whether the graphs have equal calls and masks, node by node.
func (m *matching) alike() bool {
	if len(m.to) != len(m.from) {
		return false
	}
	for i := range m.to {
		x, y := &m.a.nodes[i], &m.b.nodes[i]
		if x.call != y.call || x.Mask != y.Mask || x.header().Counted() != y.header().Counted() {
			return false
		}
	}
	return true
}

func (m *matching) pair(i, k int) { m.to[i], m.from[k] = k, i }

// round matches the unmatched nodes that have equal keys, in order.
func (m *matching) round(key func(*stream, int) hash) {
	left := map[hash][]int{}
	for k := range m.from {
		if m.from[k] == none {
			h := key(m.b, k)
			left[h] = append(left[h], k)
		}
	}
	for i := range m.to {
		if m.to[i] != none {
			continue
		}
		h := key(m.a, i)
		if list := left[h]; len(list) > 0 {
			m.pair(i, list[0])
			left[h] = list[1:]
		}
	}
}

func (n *node) header() signature.Header { return signature.Header(n.Words[0]) }

func nearKey(s *stream, i int) hash { return s.signature(i, false) }
func farKey(s *stream, i int) hash  { return s.signature(i, true) }

func maskKey(s *stream, i int) hash { return callKey(s, i).add(s.nodes[i].Words[0], s.nodes[i].Mask) }

// callKey distinguishes polls of which only the number is recorded from others.
func callKey(s *stream, i int) hash {
	n := &s.nodes[i]
	counted := uint64(0)
	if n.header().Counted() {
		counted = 1
	}
	return hashOf(counted, n.call.site).add(signature.HashString(n.call.op))
}

// signature is the key of all words of a node that are not demoted.
func (s *stream) signature(i int, far bool) hash {
	n := &s.nodes[i]
	h := maskKey(s, i)
	for k := 2; k < len(n.Words); k++ {
		if n.Mask>>k&1 != 0 {
			continue
		}
		f := n.constant(s.process, k)
		if far {
			f.near = f.far
		}
		h = h.add(f.near)
	}
	return h
}

// constant is the form of a word that is not demoted.
func (n *node) constant(p *process, i int) form {
	return n.word(p, i, n.Words[i], p.vecs[n.Words[i]])
}
