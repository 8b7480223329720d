package generate

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/efg-tools/efg/signature"
)

// emitter writes the program.
type emitter struct {
	opt      *Options
	world    *worldProgram
	ranks    int
	threads  int    // the most that a process has
	place    *grid  // how the ranks are arranged; nil: not known yet
	recorded string // on how many ranks, if not on world
	procs    []*process
	classes  []*class
	all      []*call
	first    *call        // initializes MPI in all processes; nil: these differ
	parts    [][]stmt     // functions for sequences that recur
	written  []written    // the text of each call
	tables   bytes.Buffer // file-scope tables
	needs    map[string]bool
	taking   int                                  // the most handles that a call returns in an array
	picked   int                                  // the most handles of an array that is picked
	counts   map[signature.Kind]uint64            // handles, without extras
	extras   map[signature.Kind]map[uint64]uint64 // numbers of constants that take the place of a handle
	tableOf  map[string]string                    // names of tables, by content
	out      span                                 // of what is sent
	in       span                                 // of what is received by calls that return when it is there
	pool     map[poolKey]int64                    // offsets of the buffers of requests and windows
	pooled   int64
	scratch  int64 // elements of arrays that calls fill
	commands int   // the most programs that a call starts
	used     map[string]bool

	call  *call
	node  *node // the one that shows how the call is written
	depth int
	body  *bytes.Buffer
	pre   []string // statements before the call
	post  []string // and after it
	tick  bool     // the call uses its visit counter
	// declares: the statements declare a variable
	declares bool
}

// newEmitter returns the emitter of the program of processes. shared: classes of processes have calls in common.
func newEmitter(w *worldProgram, procs []*process, place *grid, opt *Options, shared bool) *emitter {
	e := &emitter{world: w, place: place, opt: opt, procs: procs, ranks: len(procs), classes: classes(procs), needs: map[string]bool{},
		counts: map[signature.Kind]uint64{}, extras: map[signature.Kind]map[uint64]uint64{}, tableOf: map[string]string{},
		pool: map[poolKey]int64{}, used: map[string]bool{}}
	e.all = callsOf(e.classes, shared)
	e.classes = joined(e.classes)
	e.first = e.begin()
	for _, c := range e.classes {
		c.name = c.function(e.ranks)
	}
	for _, p := range procs {
		e.threads = max(e.threads, len(p.others)+1)
		for kind, n := range p.handles.counts {
			e.counts[kind] = max(e.counts[kind], n)
		}
	}
	return e
}

// values are the values of a word on all ranks of the call.
func (e *emitter) values(word int) []*value {
	list := make([]*value, len(e.call.nodes))
	for i, n := range e.call.nodes {
		list[i] = &n.values[word]
	}
	return list
}

// alike reports whether all ranks of the call have one value.
func alike(list []*value) bool {
	for _, v := range list[1:] {
		if !v.equal(list[0]) {
			return false
		}
	}
	return true
}

// table adds a table to the program unless it is there, and returns its name.
func (e *emitter) table(ctype, name string, elems []string) string {
	content := "{" + wrap(strings.Join(elems, ", ")) + "};\n"
	key := ctype + content
	if known, ok := e.tableOf[key]; ok {
		return known
	}
	name = e.unique(name)
	e.tableOf[key] = name
	fmt.Fprintf(&e.tables, "static %s %s[] = %s", ctype, name, content)
	return name
}

// unique returns a name that nothing else in the program has.
func (e *emitter) unique(name string) string {
	for i := 1; ; i++ {
		s := name
		if i > 1 {
			s = fmt.Sprintf("%s_%d", name, i)
		}
		if !e.used[s] {
			e.used[s] = true
			return s
		}
	}
}

// wrap breaks a long list into lines.
func wrap(s string) string {
	const width = 92
	if len(s) <= 60 {
		return s
	}
	var b strings.Builder
	for len(s) > 0 {
		n := len(s)
		if n > width {
			n = strings.LastIndex(s[:width], ", ") + 2
			if n < 2 {
				n = len(s)
			}
		}
		b.WriteString("\n    " + strings.TrimRight(s[:n], " "))
		s = s[n:]
	}
	return b.String() + "\n"
}

// scalar is the expression of a word that is one number, printed by text.
func (e *emitter) scalar(name, ctype string, list []*value, text func(uint64) string) string {
	if alike(list) {
		if w, ok := list[0].constant(); ok {
			return text(w)
		}
		return e.varying(name, list[0].series, text)
	}
	words := make([]uint64, len(list))
	for i, v := range list {
		w, ok := v.constant()
		if !ok {
			return e.varyingByRank(name, list, text)
		}
		words[i] = w
	}
	if s, ok := e.byDistance(words); ok {
		return s
	}
	elems := make([]string, e.ranks)
	for i := range elems {
		elems[i] = "0"
	}
	for i, p := range e.call.procs {
		elems[p.rank] = text(words[i])
	}
	return e.table("const "+ctype, name+"_of", elems) + "[rank]"
}

// byDistance writes words as a distance from the rank.
func (e *emitter) byDistance(words []uint64) (string, bool) {
	if len(words) < 2 || slices.ContainsFunc(words, special) {
		return "", false
	}
	size := int64(e.ranks)
	distance := func(i int) int64 { return int64(words[i]) - int64(e.call.procs[i].rank) }
	plain, around := true, true
	first := (distance(0)%size + size) % size
	for i, w := range words {
		plain = plain && distance(i) == distance(0)
		around = around && (distance(i)%size+size)%size == first && int64(w) >= 0 && int64(w) < size
	}
	switch d := distance(0); {
	case plain && d == 0:
		return "rank", true
	case plain:
		return fmt.Sprintf("rank %+d", d), true
	case around:
		e.needs["size"] = true
		if first > size/2 {
			return fmt.Sprintf("(rank + size - %d) %% size", size-first), true
		}
		return fmt.Sprintf("(rank + %d) %% size", first), true
	}
	return "", false
}

// neighbour is the expression of ranks at one distance in the grid.
func (e *emitter) neighbour(list []*value) (string, bool) {
	words, ranks := make([]uint64, len(list)), make([]int, len(list))
	for i, v := range list {
		w, ok := v.constant()
		if !ok {
			return "", false
		}
		words[i], ranks[i] = w, e.call.procs[i].rank
	}
	if _, simple := e.byDistance(words); simple || equal(words) {
		return "", false
	}
	if e.place == nil {
		e.place = gridsOf(e.procs)[0]
	}
	way, _, ok := e.place.distanceOfAll(ranks, words)
	if !ok {
		return "", false
	}
	e.needs["neighbour"] = true
	return "neighbour((int[]){" + list64(way) + "})", true
}

// list64 are numbers, separated by commas.
func list64(numbers []int) string {
	parts := make([]string, len(numbers))
	for i, n := range numbers {
		parts[i] = fmt.Sprint(n)
	}
	return strings.Join(parts, ", ")
}

// varying is the expression of a series: in closed form, or the next of a table.
func (e *emitter) varying(name string, s series, text func(uint64) string) string {
	if len(s) == 1 && !special(s[0].Value) {
		e.tick = true
		r := s[0]
		switch {
		case r.Step == 1 && r.Value == 0:
			return e.counter()
		case r.Step == 1:
			return fmt.Sprintf("%s + %s", text(r.Value), e.counter())
		}
		return fmt.Sprintf("%s + %d * %s", text(r.Value), r.Step, e.counter())
	}
	e.needs["next"] = true
	cursor := e.unique(name + "_cursor")
	fmt.Fprintf(&e.tables, "static struct cursor %s = {.at = %s};\n", cursor, e.runs(name, s, text))
	return e.nextOf(name, "&"+cursor)
}

// nextOf is the next value of a cursor. A poll that is repeated passes the same each time.
func (e *emitter) nextOf(name, cursor string) string {
	text := "next(" + cursor + ")"
	if !e.node.repeats() {
		return text
	}
	e.declares = true
	variable := e.unique(name + "_now")
	e.pre = append(e.pre, "const long long "+variable+" = "+text+";")
	return variable
}

func (e *emitter) varyingByRank(name string, list []*value, text func(uint64) string) string {
	e.needs["next"] = true
	elems := make([]string, e.ranks)
	for i := range elems {
		elems[i] = "{.at = NULL}"
	}
	for i, p := range e.call.procs {
		s := list[i].series
		if w, ok := s.constant(); ok {
			s = series{{Value: w, Count: e.call.nodes[i].visits}}
		}
		elems[p.rank] = "{.at = " + e.runs(name, s, text) + "}"
	}
	cursor := e.unique(name + "_cursor")
	fmt.Fprintf(&e.tables, "static struct cursor %s[] = {%s};\n", cursor, wrap(strings.Join(elems, ", ")))
	return e.nextOf(name, "&"+cursor+"[rank]")
}

// runs adds a table of a series: see support/next.c.
func (e *emitter) runs(name string, s series, text func(uint64) string) string {
	var elems []string
	at := make([]int, 0, len(s)) // where each run begins in the table
	repeated := s.repeated()
	for i := 0; i < len(s); {
		at = append(at, len(elems))
		r := s[i]
		n := s.listed(i, repeated)
		switch {
		case r.Count == 0:
			elems = append(elems, fmt.Sprint(at[i-int(r.Back)]-len(elems)), fmt.Sprint(r.Times))
		case n > 0:
			values := s[i : i+n].expand()
			elems = append(elems, fmt.Sprint(len(values)))
			for _, w := range values {
				elems = append(elems, text(w))
			}
			for range n - 1 {
				at = append(at, -1) // no repeat goes back to there
			}
			i += n - 1
		default:
			elems = append(elems, "0", text(r.Value), fmt.Sprint(r.Step), fmt.Sprint(r.Count))
		}
		i++
	}
	return e.table("const long long", name+"_values", elems)
}

// counter is the variable that counts how often the call is made.
func (e *emitter) counter() string { return fmt.Sprintf("visits%s", e.suffix()) }

// suffix distinguishes what belongs to a call.
func (e *emitter) suffix() string { return fmt.Sprint(e.call.number) }

// handle is the expression of a handle.
func (e *emitter) handle(kind signature.Kind, word int, out bool) string {
	t := handleTypes[kind]
	list := e.values(word)
	if alike(list) {
		if w, ok := list[0].constant(); ok && special(w) && !out {
			return constantHandle(kind, w)
		}
	}
	index := e.scalar(e.node.proc.Words[word].Name, "int", list, func(w uint64) string { return fmt.Sprint(e.index(kind, w, out)) })
	return t.name + "[" + index + "]"
}

// constantHandle is the name of a predefined handle. Handles that are unknown or freed have
// become null.
func constantHandle(kind signature.Kind, w uint64) string {
	switch c := signature.ConstantOf(w); {
	case c != nil && c.Group != "pseudo":
		return c.Name
	case w == signature.Absent && kind == signature.Type: // not significant, but libraries look at it
		return "MPI_BYTE"
	case w == signature.Absent && kind == signature.Op:
		return "MPI_SUM"
	}
	return handleTypes[kind].null
}

// index is the number of a handle's variable. A constant among handles gets a variable, too.
func (e *emitter) index(kind signature.Kind, w uint64, out bool) uint64 {
	if !special(w) {
		return w
	}
	if out {
		w = signature.Absent
	}
	m := e.extras[kind]
	if m == nil {
		m = map[uint64]uint64{}
		e.extras[kind] = m
	}
	n, ok := m[w]
	if !ok {
		n = e.counts[kind] + uint64(len(m))
		m[w] = n
	}
	return n
}
