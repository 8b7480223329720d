package generate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/efg-tools/efg/signature"
)

// written is the text of a call.
type written struct {
	statements []string
	function   string // the name of a function that has them; "": they are written where the call is made
	// alone: they are no part of a longer function
	alone bool
}

// write writes a call.
func (e *emitter) write(c *call) written {
	if c.text != "" {
		return written{statements: []string{c.text}}
	}
	e.call, e.node = c, c.like()
	n := e.node
	e.pre, e.post, e.tick, e.declares = nil, nil, false, false
	if n.late {
		e.awaits()
	}
	if ns := e.gap(); ns > 0 {
		e.needs["compute"] = true
		e.pre = append(e.pre, fmt.Sprintf("compute(%s);", seconds(ns)))
	}
	if !n.late {
		e.awaits()
	}
	var args []string
	for i := range n.proc.Params {
		q := &n.proc.Params[i]
		if !n.header.Large() && !q.InSmall() {
			continue
		}
		args = append(args, e.argument(i))
	}
	name := n.proc.Name
	if n.header.ByPMPI() {
		name = "P" + name
	}
	if n.header.Large() && n.proc.HasLarge {
		name += "_c"
	}
	if n.proc.Annotates() && n.proc.Closes { // it is a macro, which takes no NULL
		name += "_named"
	}
	text := name + "(" + strings.Join(args, ", ") + ")"
	if c.enters {
		e.pre = append(e.pre, fmt.Sprintf("enter(%d);", n.stream))
	}
	if n.repeats() {
		outcome := "flag"
		if n.proc.Roles.Outcount != 0 {
			outcome = "outcount"
		}
		e.needs[outcome] = true
		e.pre = append(e.pre, "do")
		text = "    " + text
		e.post = append([]string{fmt.Sprintf("while (!%s);", outcome)}, e.post...)
	}
	if n.left() {
		e.needs["left"] = true
		e.pre = append(e.pre, "leaving = 1;", "if (setjmp(left) == 0)")
		text = "    " + text
		e.post = append([]string{"leaving = 0;"}, e.post...)
	}
	if e.tick {
		e.needs["visits"] = true
		e.post = append(e.post, e.counter()+"++;")
		fmt.Fprintf(&e.tables, "static int %s;\n", e.counter())
	}
	e.handsOver()
	return written{
		statements: slices.Concat(e.pre, []string{text + ";"}, e.post),
		alone:      n.left() || e.declares, // compilers warn of variables next to setjmp
	}
}

// size is the number of lines of a call that is written where it is made.
func (w *written) size() int {
	n := 0
	for _, s := range w.statements {
		n += len(broken(s, 1))
	}
	return n
}

// repeats reports whether a call is a poll that is repeated until it finds something.
func (n *node) repeats() bool { return n.proc.Poll && n.header.ErrorClass() == 0 }

// left reports whether the program left the call by longjmp or an exception, out of a function that MPI called.
func (n *node) left() bool {
	return n.header.ErrorClass() == uint16(signature.NotReturned&^signature.ConstBit)
}

// line writes a line of the current function, broken where it is too long.
func (e *emitter) line(s string) {
	for _, l := range broken(s, e.depth) {
		e.body.WriteString(l + "\n")
	}
}

// broken are the lines of a statement.
func broken(s string, depth int) []string {
	const width = 100
	var lines []string
	indent := strings.Repeat("    ", depth)
	for first := true; s != ""; first = false {
		room := width - len(indent)
		cut := len(s)
		if cut > room && !strings.Contains(s, `"`) {
			if k := strings.LastIndex(s[:room], ", "); k > 0 {
				cut = k + 2
			} else if k := strings.Index(s, ", "); k > 0 {
				cut = k + 2
			}
		}
		lines = append(lines, indent+strings.TrimRight(s[:cut], " "))
		s = s[cut:]
		if first {
			indent += "    "
		}
	}
	return lines
}

// words are the words of a parameter: as an argument, and as a result.
func (n *node) words(param int) (in, out int) {
	for i := signature.ObjectWord; i < len(n.proc.Words); i++ {
		switch w := &n.proc.Words[i]; {
		case w.Param != param:
		case w.Out && out == 0:
			out = i
		case !w.Out && in == 0:
			in = i
		}
	}
	return in, out
}

// argument is the C expression of a parameter.
func (e *emitter) argument(param int) string {
	n := e.node
	q := &n.proc.Params[param]
	in, out := n.words(param)
	switch q.Kind {
	case signature.Opaque:
		return e.opaque(q)
	case signature.Status, signature.FStatus:
		e.needs["status"] = true
		return "&status"
	case signature.Statuses:
		return e.statuses()
	case signature.StrOut:
		if text, ok := e.openedPort(q); ok {
			return text
		}
		e.needs["text"] = true
		return "text"
	case signature.ErrCodes:
		if w, ok := n.values[out].constant(); ok && special(w) {
			return "MPI_ERRCODES_IGNORE"
		}
		return e.filled(q, out)
	case signature.Buf:
		return e.buffer(in + out)
	case signature.Str:
		return e.str(q, in)
	}
	switch {
	case q.Len != nil && q.Dir == signature.Out:
		return e.filled(q, out)
	case q.Len != nil:
		return e.array(q, in)
	case q.Kind == signature.Flag && q.Name == "flag" && n.proc.Poll:
		return "&flag"
	case q.Name == "outcount" && q.Dir == signature.Out:
		e.needs["outcount"] = true
		return "&outcount"
	case q.Kind.Handle() || q.Kind == signature.Keyval:
		return e.handleArgument(q, in, out)
	case q.Dir == signature.Out:
		return "&(" + n.ctype(q) + "){0}"
	}
	if q.Kind.Wide() {
		return e.wide(q, in)
	}
	if isRank(q) && q.Dir == signature.In {
		if text, ok := e.neighbour(e.values(in)); ok {
			return text
		}
	}
	text := e.scalar(q.Name, n.ctype(q), e.values(in), func(w uint64) string { return number64(q, w) })
	if q.Dir == signature.InOut {
		return "&(" + n.ctype(q) + "){" + text + "}"
	}
	return text
}

func (e *emitter) handleArgument(q *signature.Param, in, out int) string {
	switch {
	case q.Dir == signature.In:
		return e.handle(q.Kind, in, false)
	case q.Dir == signature.Out:
		text := e.handle(q.Kind, out, true)
		e.keep(q.Kind, out)
		return "&" + text
	}
	text := e.handle(q.Kind, in, false)
	if !strings.HasSuffix(text, "]") {
		return "&(" + handleTypes[q.Kind].ctype + "){" + text + "}"
	}
	if e.node.proc.Frees {
		e.restore(q.Kind, in)
	}
	return "&" + text
}

// made counts how often each handle of a kind is made by a process, at most twice.
func made(p *process, kind signature.Kind) map[uint64]int {
	m := map[uint64]int{}
	for _, n := range p.list() {
		for i := range n.values {
			q := n.param(i)
			if q == nil || q.Kind != kind || q.Dir != signature.Out {
				continue
			}
			if q.Len != nil { // equal to handles that there are
				n.values[i].each(func(w uint64) { m[w] += 2 })
				continue
			}
			for _, r := range n.values[i].series {
				for k := range min(r.Count, 64) {
					m[r.Value+k*uint64(r.Step)]++
				}
				if r.Count > 1 && r.Step == 0 || r.Count == 0 {
					m[r.Value] += 2
				}
			}
			if n.visits > 1 && len(n.values[i].series) == 1 {
				m[n.values[i].series[0].Value] += 2
			}
		}
	}
	return m
}

// several reports whether handles of a kind that are equal may exist at the same time: datatypes,
// groups and operations are named by their content.
func (e *emitter) several(kind signature.Kind) bool {
	if !kind.Ident() {
		return false
	}
	for _, p := range e.procs {
		for w, n := range made(p, kind) {
			if n > 1 && !special(w) {
				return true
			}
		}
	}
	return false
}

// keep keeps the handle that a call overwrites.
func (e *emitter) keep(kind signature.Kind, word int) {
	if !e.several(kind) {
		return
	}
	e.needs["keep "+handleTypes[kind].name] = true
	e.pre = append(e.pre, fmt.Sprintf("keep_%s(%s);", handleTypes[kind].name, e.number(kind, word)))
}

// restore takes a kept handle in place of one that was freed.
func (e *emitter) restore(kind signature.Kind, word int) {
	if !e.several(kind) {
		return
	}
	e.needs["keep "+handleTypes[kind].name] = true
	e.post = append(e.post, fmt.Sprintf("restore_%s(%s);", handleTypes[kind].name, e.number(kind, word)))
}

// number is the number of a handle's variable.
func (e *emitter) number(kind signature.Kind, word int) string {
	text := e.handle(kind, word, e.node.proc.Words[word].Out)
	open := strings.Index(text, "[")
	return text[open+1 : len(text)-1]
}

// statuses is the array that takes statuses.
func (e *emitter) statuses() string {
	e.needs["statuses"] = true
	return "statuses"
}

// filled is an array that the call fills.
func (e *emitter) filled(q *signature.Param, word int) string {
	n := e.node
	most := int64(1)
	for _, n := range e.call.nodes {
		most = max(most, n.longestFilled())
	}
	if q.Kind.Handle() {
		return e.taken(q.Kind, word, int(most))
	}
	if n.ctype(q) != "int" || q.Kind == signature.Weights {
		return fmt.Sprintf("(%s[%d]){0}", n.ctype(q), most)
	}
	e.needs["scratch"] = true
	e.scratch = max(e.scratch, most)
	return "scratch"
}

// taken is an array in which a call returns handles, which then become variables of the program.
func (e *emitter) taken(kind signature.Kind, word, most int) string {
	t := handleTypes[kind]
	list := e.positions(word)
	if longest(list) == 0 {
		return fmt.Sprintf("(%s[%d]){0}", t.ctype, most)
	}
	e.needs["keep "+t.name] = true
	e.needs["take "+t.name] = true
	e.taking = max(e.taking, most)
	q := &signature.Param{Name: t.name + "s", Kind: signature.Num, Small: signature.Int, Large: signature.Int, Len: e.node.param(word).Len}
	e.post = append(e.post, fmt.Sprintf("take_%s(%s, %s);", t.name, e.lengths(list), e.arrays(q, list)))
	return "taken_" + t.name
}

// longestFilled is at least the length of the arrays that calls fill.
func (n *node) longestFilled() int64 {
	most := int64(1)
	for i := range n.values {
		if p := n.param(i); p != nil && p.Len == nil && p.Kind == signature.Num && !n.proc.Words[i].Out {
			most = max(most, n.values[i].largest())
		}
		for _, v := range n.values[i].vecs {
			most = max(most, int64(len(v)))
		}
	}
	return most
}

// triples reports whether an array's type in C is int[][3].
func triples(q *signature.Param) bool { return q.Name == "ranges" && q.Kind == signature.Rank }

// array is an array that the program passes.
func (e *emitter) array(q *signature.Param, word int) string {
	text := e.flatArray(q, word)
	if triples(q) {
		return "(int (*)[3])(" + text + ")"
	}
	return text
}

// flatArray is an array of one dimension.
func (e *emitter) flatArray(q *signature.Param, word int) string {
	list := e.values(word)
	if q.Kind == signature.Req {
		return e.requests(word)
	}
	if w, ok := list[0].series.constant(); ok && special(w) {
		if c := signature.ConstantOf(w); c.Group == "array" {
			return c.Name
		}
		return "NULL"
	}
	if elems, ok := list[0].vec(); ok && alike(list) {
		return e.arrayOf(q, elems)
	}
	return e.arrays(q, list)
}

// arrayOf is an array with fixed elements.
func (e *emitter) arrayOf(q *signature.Param, elems []uint64) string {
	ctype, parts := e.node.ctype(q), make([]string, len(elems))
	for i, w := range elems {
		switch {
		case !q.Kind.Handle():
			parts[i] = number64(q, w)
		case special(w):
			parts[i] = constantHandle(q.Kind, w)
		default:
			parts[i] = fmt.Sprintf("%s[%d]", handleTypes[q.Kind].name, w)
		}
	}
	if q.Kind.Handle() {
		ctype = handleTypes[q.Kind].ctype
	}
	if len(parts) == 0 {
		return "(" + ctype + "[1]){0}"
	}
	return "(" + ctype + "[]){" + strings.Join(parts, ", ") + "}"
}

// arrays is an array that differs between visits or ranks: part of a table.
func (e *emitter) arrays(q *signature.Param, list []*value) string {
	var elems []string
	offsets := map[uint64]uint64{}
	at := make([]*value, len(list))
	for i, v := range list {
		s, _ := v.series.mappedEach(func(w uint64) (uint64, error) {
			if special(w) {
				return 0, nil
			}
			h := signature.Hash(v.vecs[w]...)
			o, ok := offsets[h]
			if !ok {
				o = uint64(len(elems))
				offsets[h] = o
				for _, x := range v.vecs[w] {
					elems = append(elems, e.element(q, x))
				}
			}
			return o, nil
		})
		at[i] = &value{series: s}
	}
	if q.Kind.Handle() || len(elems) == 0 {
		for range max(longest(list), 1) { // so many are read from wherever a shorter one begins
			elems = append(elems, "0")
		}
	}
	offset := e.scalar(q.Name, "int", at, func(w uint64) string { return fmt.Sprint(w) })
	if q.Kind.Handle() {
		t := handleTypes[q.Kind]
		e.needs["pick "+t.name] = true
		e.picked = max(e.picked, longest(list))
		return fmt.Sprintf("pick_%s(%s + %s, %d)", t.name, e.table("const int", q.Name, elems), offset, longest(list))
	}
	return e.table("const "+e.node.ctype(q), q.Name, elems) + " + " + offset
}

// element is an element of a table: a number, or that of a handle's variable.
func (e *emitter) element(q *signature.Param, w uint64) string {
	if q.Kind.Handle() {
		return fmt.Sprint(e.index(q.Kind, w, false))
	}
	return number64(q, w)
}

func longest(list []*value) int {
	n := 0
	for _, v := range list {
		for _, x := range v.vecs {
			n = max(n, len(x))
		}
	}
	return n
}

// requests is an array of requests. Those that are next to each other are passed as they are,
// others are gathered, and scattered after the call.
func (e *emitter) requests(word int) string {
	list := e.values(word)
	if w, ok := list[0].series.constant(); ok && special(w) {
		if w == signature.Same {
			e.needs["same"] = true
			e.post = append(e.post, "scatter();")
			e.needs["gather"] = true
			return "gather(batch_size, batch_at)"
		}
		return "NULL"
	}
	if elems, ok := list[0].vec(); ok && alike(list) && consecutive(elems) && !e.call.anyContinues() {
		if len(elems) == 0 {
			return "request"
		}
		if elems[0] == 0 {
			return "request"
		}
		return fmt.Sprintf("&request[%d]", elems[0])
	}
	e.needs["gather"] = true
	e.post = append(e.post, "scatter();")
	count := "0"
	if e.node.proc.Roles.Requests != 0 {
		count = e.lengths(list)
		e.scratch = max(e.scratch, int64(longest(list)))
	}
	q := e.node.param(word)
	at := e.arrays(&signature.Param{Name: "positions", Kind: signature.Num, Small: signature.Int, Large: signature.Int, Len: q.Len}, e.positions(word))
	return "gather(" + count + ", " + at + ")"
}

// lengths is the expression of the lengths of arrays.
func (e *emitter) lengths(list []*value) string {
	lengths := make([]*value, len(list))
	for i, v := range list {
		s, _ := v.series.mappedEach(func(w uint64) (uint64, error) {
			if special(w) {
				return 0, nil
			}
			return uint64(len(v.vecs[w])), nil
		})
		lengths[i] = &value{series: s}
	}
	return e.scalar("length", "int", lengths, func(w uint64) string { return fmt.Sprint(w) })
}

// positions are arrays of handles as numbers of variables, -1 for constants.
func (e *emitter) positions(word int) []*value {
	list := e.values(word)
	out := make([]*value, len(list))
	for i, v := range list {
		c := *v
		c.vecs = make([][]uint64, len(v.vecs))
		for k, elems := range v.vecs {
			c.vecs[k] = slices.Clone(elems)
			for j, w := range elems {
				if special(w) {
					c.vecs[k][j] = ^uint64(0)
				}
			}
		}
		out[i] = &c
	}
	return out
}

func consecutive(elems []uint64) bool {
	for i, w := range elems {
		if special(w) || w != elems[0]+uint64(i) {
			return false
		}
	}
	return true
}
