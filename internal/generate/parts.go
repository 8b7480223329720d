package generate

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
)

// program returns the text of the program of a world, the shortest of several. Classes of processes share their calls, so that
// arguments come from tables by rank instead of being constants, and calls that are not made often share one place if
// the program is long.
func program(w *worldProgram, opt *Options) ([]byte, error) {
	procs := w.procs
	recorded := ""
	var place *grid
	if opt.Ranks != nil {
		recorded = fmt.Sprintf(", recorded on %d", len(procs))
		var err error
		if procs, place, err = scaled(procs, opt.Ranks); err != nil {
			return nil, err
		}
	}
	if w.files == nil {
		var err error
		if w.files, err = numberFiles([]*world{{procs: procs}}); err != nil {
			return nil, err
		}
		if place != nil && len(w.files.port) > 0 {
			return nil, errors.New("MPI_Open_port: which of other ranks connect is unknown")
		}
	}
	shortest := []byte(nil)
	try := func(procs []*process, shared bool) (classes int) {
		e := newEmitter(w, procs, place, opt, shared)
		e.recorded = recorded
		if text := e.program(); shortest == nil || lines(text) < lines(shortest) {
			shortest = text
		}
		return len(e.classes)
	}
	if try(procs, false) > 1 && !hasThreads(procs) {
		try(procs, true)
	}
	if lines(shortest) > longProgram && !hasThreads(procs) {
		if together := withMerged(procs); together != nil {
			try(together, true)
		}
	}
	return shortest, nil
}

// longProgram is the number of lines from which nodes are merged.
const longProgram = 1000

func lines(text []byte) int { return bytes.Count(text, []byte("\n")) }

// program returns the text of the program.
func (e *emitter) program() []byte {
	e.layOut()
	for _, c := range e.all {
		e.written = append(e.written, e.write(c))
	}
	e.factor()
	var code bytes.Buffer
	e.functions(&code)
	for i, part := range e.parts {
		e.function(&code, partName(i+1), part)
	}
	for _, c := range e.classes {
		e.function(&code, c.name, c.body)
		e.threadFunctions(&code, c)
	}
	e.runThread(&code)
	e.main(&code)
	var out bytes.Buffer
	e.head(&out)
	e.globals(&out)
	out.Write(code.Bytes())
	return out.Bytes()
}

// begin is the call that initializes MPI, with which all processes begin in the same way; nil if they differ.
func (e *emitter) begin() *call {
	var first *call
	for _, c := range e.classes {
		if len(c.body) == 0 || c.body[0].body != nil || first != nil && first.number != c.body[0].node {
			return nil
		}
		first = e.all[c.body[0].node]
	}
	n := first.like()
	if !n.proc.Begins {
		return nil
	}
	for i := range n.values {
		for _, m := range first.nodes {
			if !n.proc.Words[i].Out && !m.values[i].equal(&n.values[i]) {
				return nil // the rank is not known yet
			}
		}
	}
	return first
}

// factor finds the functions of sequences that recur, and puts them into the bodies of the classes.
func (e *emitter) factor() {
	lines := make([]int, len(e.written))
	for i := range e.written {
		lines[i] = e.written[i].size()
		if e.written[i].alone {
			lines[i] = 1
		}
	}
	var bodies [][]stmt
	for _, c := range e.classes {
		body := c.body
		if e.first != nil {
			body = body[1:]
		}
		bodies = append(append(bodies, body), c.threads...)
	}
	e.parts, bodies = newGrammar(bodies, lines).parts()
	for _, c := range e.classes {
		c.body, bodies = bodies[0], bodies[1:]
		copy(c.threads, bodies)
		bodies = bodies[len(c.threads):]
	}
}

func partName(number int) string { return fmt.Sprintf("part_%d", number) }

// functions writes a function for each call that is made in so many places that this is shorter.
func (e *emitter) functions(out *bytes.Buffer) {
	places := make([]int, len(e.written))
	for _, body := range e.parts {
		countCalls(body, places)
	}
	for _, c := range e.classes {
		countCalls(c.body, places)
		for _, body := range c.threads {
			countCalls(body, places)
		}
	}
	for i := range e.written {
		w := &e.written[i]
		if places[i] == 0 || !worth(w.size(), places[i]) && !(w.alone && (places[i] > 1 || e.all[i].like().left())) {
			continue
		}
		w.function = e.unique(fmt.Sprintf("%s_%d", procedureWord(e.all[i].like().proc.Name), i))
		e.define(out, w.function, func() { e.lines(w.statements) })
	}
}

// define writes a function.
func (e *emitter) define(out *bytes.Buffer, name string, write func()) {
	var code bytes.Buffer
	e.body, e.depth = &code, 1
	write()
	fmt.Fprintf(out, "static void %s(void)\n{\n%s}\n\n", name, code.Bytes())
}

func (e *emitter) function(out *bytes.Buffer, name string, body []stmt) {
	e.define(out, name, func() { e.statements(body) })
}

func (e *emitter) lines(statements []string) {
	for _, s := range statements {
		e.line(s)
	}
}

// procedureWord is a procedure's name without prefix, in lower case.
func procedureWord(name string) string {
	_, name, _ = strings.Cut(name, "_")
	return strings.ToLower(name)
}

func countCalls(body []stmt, places []int) {
	for i := range body {
		switch s := &body[i]; {
		case s.body != nil:
			countCalls(s.body, places)
		case s.part == 0:
			places[s.node]++
		}
	}
}

// tableLength is the number of calls from which a table of them is shorter than the calls.
const tableLength = 24

// calledFunction is the name of the function that a statement calls; "": none.
func (e *emitter) calledFunction(s *stmt) string {
	switch {
	case s.body != nil:
		return ""
	case s.part != 0:
		return partName(s.part)
	}
	return e.written[s.node].function
}

// statements writes statements.
func (e *emitter) statements(body []stmt) {
	for i := 0; i < len(body); i++ {
		s := &body[i]
		if s.body != nil {
			e.loop(s)
			continue
		}
		n := 0
		for i+n < len(body) && e.calledFunction(&body[i+n]) != "" {
			n++
		}
		switch {
		case n >= tableLength:
			e.order(body[i : i+n])
			i += n - 1
		case n > 0:
			e.line(e.calledFunction(s) + "();")
		default:
			e.lines(e.written[s.node].statements)
		}
	}
}

func (e *emitter) loop(s *stmt) {
	v := "i"
	if e.depth > 1 {
		v = string(rune('i' + min(e.depth-1, 10)))
	}
	ctype := "int"
	if s.times > 1<<31-1 {
		ctype = "long"
	}
	e.line(fmt.Sprintf("for (%s %s = 0; %s < %d; %s++) {", ctype, v, v, s.times, v))
	e.depth++
	e.statements(s.body)
	e.depth--
	e.line("}")
}

// order writes a table of calls without structure, and a loop over it.
func (e *emitter) order(body []stmt) {
	elems := make([]string, len(body))
	for i := range body {
		elems[i] = e.calledFunction(&body[i])
	}
	name := e.unique("order")
	indent := strings.Repeat("    ", e.depth)
	fmt.Fprintf(e.body, "%sstatic void (*const %s[])(void) = {%s};\n", indent, name, wrap(strings.Join(elems, ", ")))
	e.line(fmt.Sprintf("for (int call = 0; call < %d; call++)", len(body)))
	e.line("    " + name + "[call]();")
}
