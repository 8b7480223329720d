package generate

import (
	"encoding/binary"
	"slices"
)

// symbol is a statement of a grammar: a call, or a sequence of symbols that is executed a number of times.
type symbol struct {
	call  int // if there is no body
	times uint64
	body  []int
}

// grammar are bodies of statements in which sequences that recur are one symbol.
type grammar struct {
	symbols []symbol
	known   map[string]int
	roots   [][]int
	part    []bool // symbols that are functions of the program
	size    []int  // lines of a symbol that is written out
	refs    []int  // how often a symbol is written
}

// newGrammar returns the grammar of bodies. lines are those of each call's text.
func newGrammar(bodies [][]stmt, lines []int) *grammar {
	g := &grammar{known: map[string]int{}}
	for k := range lines {
		g.symbols = append(g.symbols, symbol{call: k, times: 1})
	}
	for _, b := range bodies {
		g.roots = append(g.roots, g.sequence(b))
	}
	for g.pair(); g.collapse(); {
		g.pair()
	}
	g.choose(lines)
	return g
}

// sequence are the symbols of statements.
func (g *grammar) sequence(body []stmt) []int {
	out := make([]int, len(body))
	for i := range body {
		if s := &body[i]; s.body == nil {
			out[i] = s.node
		} else {
			out[i] = g.loop(s.times, g.sequence(s.body))
		}
	}
	return out
}

// loop is the symbol of a loop.
func (g *grammar) loop(times uint64, body []int) int {
	key := loopKey(times, body)
	s, ok := g.known[key]
	if !ok {
		s = len(g.symbols)
		g.known[key] = s
		g.symbols = append(g.symbols, symbol{times: times, body: body})
	}
	return s
}

func loopKey(times uint64, body []int) string {
	key := binary.AppendUvarint(nil, times)
	for _, s := range body {
		key = binary.AppendUvarint(key, uint64(s))
	}
	return string(key)
}

// pair puts symbols in place of pairs that recur.
func (g *grammar) pair() {
	sequences := slices.Clone(g.roots)
	for i := range g.symbols {
		sequences = append(sequences, g.symbols[i].body)
	}
	sequences, rules := pairs(sequences, len(g.symbols))
	copy(g.roots, sequences)
	for i, body := range sequences[len(g.roots):] {
		g.symbols[i].body = body
	}
	for _, r := range rules {
		g.symbols = append(g.symbols, symbol{times: 1, body: r[:]})
	}
}

// collapse makes loops of symbols that follow themselves, and reports whether there were any.
func (g *grammar) collapse() bool {
	g.known = map[string]int{}
	for i := range g.symbols {
		if s := &g.symbols[i]; s.times > 1 && len(s.body) == 1 {
			g.known[loopKey(s.times, s.body)] = i
		}
	}
	before := len(g.symbols)
	found := false
	for i := range g.roots {
		found = g.roll(&g.roots[i]) || found
	}
	for i := range before {
		body := g.symbols[i].body
		found = g.roll(&body) || found
		g.symbols[i].body = body
	}
	return found
}

// roll makes loops in a sequence.
func (g *grammar) roll(sequence *[]int) bool {
	var out []int
	for i := 0; i < len(*sequence); {
		repeated, times := g.unrolled((*sequence)[i])
		n := i + 1
		for ; n < len(*sequence); n++ {
			next, more := g.unrolled((*sequence)[n])
			if next != repeated {
				break
			}
			times += more
		}
		if n > i+1 {
			out = append(out, g.loop(times, []int{repeated}))
		} else {
			out = append(out, (*sequence)[i])
		}
		i = n
	}
	shorter := len(out) < len(*sequence)
	*sequence = out
	return shorter
}

// unrolled returns what a loop of one symbol repeats, and how often; of others, the symbol itself.
func (g *grammar) unrolled(s int) (repeated int, times uint64) {
	if t := &g.symbols[s]; t.times > 1 && len(t.body) == 1 {
		return t.body[0], t.times
	}
	return s, 1
}

// fewestSaved is how many lines shorter a function makes the program at least.
const fewestSaved = 4

// worth reports whether a sequence of so many lines is a function if it occurs so often.
func worth(size, refs int) bool {
	const frame = 4 // its head, braces and an empty line
	return (refs-1)*size-refs-frame >= fewestSaved
}

// choose decides which symbols become functions: at first all, then not those that are too short, from those that
// contain no others on, so that others become longer.
func (g *grammar) choose(lines []int) {
	order := g.order()
	g.part = make([]bool, len(g.symbols))
	for _, s := range order {
		g.part[s] = g.symbols[s].body != nil
	}
	g.size = make([]int, len(g.symbols))
	for changed := true; changed; {
		g.count(order)
		changed = false
		for _, s := range slices.Backward(order) {
			g.size[s] = g.lines(s, lines)
			if g.part[s] && !worth(g.size[s], g.refs[s]) {
				g.part[s], changed = false, true
			}
		}
	}
}

// count counts how often each symbol is written.
func (g *grammar) count(order []int) {
	g.refs = make([]int, len(g.symbols))
	for _, root := range g.roots {
		for _, s := range root {
			g.refs[s]++
		}
	}
	for _, s := range order {
		written := g.refs[s]
		if g.part[s] {
			written = 1
		}
		for _, c := range g.symbols[s].body {
			g.refs[c] += written
		}
	}
}

// lines is how many lines a symbol takes where it is written out, once those that it contains are measured.
func (g *grammar) lines(s int, calls []int) int {
	t := &g.symbols[s]
	if t.body == nil {
		return calls[t.call]
	}
	n := 0
	if t.times > 1 {
		n = 2
	}
	for _, c := range t.body {
		if g.part[c] {
			n++
		} else {
			n += g.size[c]
		}
	}
	return n
}

// order are the symbols that occur, each before those it contains.
func (g *grammar) order() []int {
	var out []int
	done := make([]bool, len(g.symbols))
	var visit func(s int)
	visit = func(s int) {
		if done[s] {
			return
		}
		done[s] = true
		for _, c := range slices.Backward(g.symbols[s].body) {
			visit(c)
		}
		out = append(out, s)
	}
	for _, root := range slices.Backward(g.roots) {
		for _, s := range slices.Backward(root) {
			visit(s)
		}
	}
	slices.Reverse(out)
	return out
}

// parts returns the functions, each after those that it calls, and the bodies in terms of them.
func (g *grammar) parts() (parts, bodies [][]stmt) {
	number := map[int]int{}
	for _, s := range slices.Backward(g.order()) {
		if !g.part[s] {
			continue
		}
		body := g.symbols[s].body
		if g.symbols[s].times > 1 {
			parts = append(parts, []stmt{{times: g.symbols[s].times, body: g.statements(body, number)}})
		} else {
			parts = append(parts, g.statements(body, number))
		}
		number[s] = len(parts)
	}
	for _, root := range g.roots {
		bodies = append(bodies, g.statements(root, number))
	}
	return parts, bodies
}

// statements are those of a sequence. number are the functions, from 1 on.
func (g *grammar) statements(sequence []int, number map[int]int) []stmt {
	var out []stmt
	for _, s := range sequence {
		switch t := &g.symbols[s]; {
		case g.part[s]:
			out = append(out, stmt{part: number[s]})
		case t.body == nil:
			out = append(out, stmt{node: t.call})
		case t.times > 1:
			out = append(out, loop(g.statements(t.body, number), t.times)...)
		default:
			out = append(out, g.statements(t.body, number)...)
		}
	}
	return out
}
