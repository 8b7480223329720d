package generate

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// hasThreads reports whether a process has several threads.
func hasThreads(procs []*process) bool {
	return slices.ContainsFunc(procs, func(p *process) bool { return len(p.others) > 0 })
}

// static is how a variable is declared that each thread has of its own.
func (e *emitter) static() string {
	if e.threads > 1 {
		return "static _Thread_local"
	}
	return "static"
}

// startThreads adds the calls that start threads and join them to the body of the first one. For the last calls of those
// that do not end it waits before it ends MPI.
func (c *class) startThreads(all []*call) []*call {
	p := c.like()
	if len(p.others) == 0 {
		return all
	}
	before := map[int][]stmt{} // by statement
	add := func(statement int, format string, accept func(*thread) bool) {
		for i := 0; i < len(p.others); {
			k := i
			for k < len(p.others) && accept(p.others[k]) {
				k++
			}
			if k > i {
				before[statement] = append(before[statement], stmt{node: len(all)})
				all = append(all, &call{number: len(all), text: fmt.Sprintf(format, i+1, k)})
			}
			i = k + 1
		}
	}
	for at := range c.body {
		add(at, "start_threads(%d, %d);", func(t *thread) bool { return t.start == at })
	}
	for at := range c.body {
		add(at, "join_threads(%d, %d);", func(t *thread) bool { return !t.stays && t.join == at })
	}
	if n := c.staying(); n > 0 {
		before[p.ending()] = append(before[p.ending()], stmt{node: len(all)})
		all = append(all, &call{number: len(all), text: fmt.Sprintf("wait_until_stay(%d);", n)})
	}
	var body []stmt
	for at := range c.body {
		body = append(append(body, before[at]...), c.body[at])
	}
	c.body = body
	return all
}

// enterThreads marks the first calls of threads. Where it can, it writes them apart from others of their nodes.
func (c *class) enterThreads(all []*call) []*call {
	for _, body := range c.threads {
		first := all[firstCall(body)]
		if body[0].body == nil && first.like().visits > 1 && !slices.ContainsFunc(first.nodes, (*node).varies) {
			first = &call{number: len(all), procs: first.procs, nodes: first.nodes}
			body[0].node = first.number
			all = append(all, first)
		}
		first.enters = true
	}
	return all
}

// varies reports whether calls of a node pass different arguments.
func (n *node) varies() bool {
	return len(n.awaits) > 0 || slices.ContainsFunc(n.values, func(v value) bool {
		_, ok := v.series.constant()
		return !ok
	})
}

// staying is the number of threads that do not end before the process does.
func (c *class) staying() (n int) {
	for _, t := range c.like().others {
		if t.stays {
			n++
		}
	}
	return n
}

// awaits writes what the call waits for.
func (e *emitter) awaits() {
	for slot := range e.node.awaits {
		threads, calls := make([]*value, len(e.call.nodes)), make([]*value, len(e.call.nodes))
		for i, n := range e.call.nodes {
			threads[i], calls[i] = &n.awaits[slot].thread, &n.awaits[slot].calls
		}
		e.needs["waits"] = true
		number := func(w uint64) string { return fmt.Sprint(w) }
		thread := e.scalar("thread", "int", threads, number)
		count := strings.TrimPrefix(e.scalar("calls", "int", calls, number), "0 + ")
		e.pre = append(e.pre, fmt.Sprintf("wait_for(%s, %s);", thread, count))
	}
}

// handsOver writes what tells other threads that the call has been made.
func (e *emitter) handsOver() {
	if e.call.enters {
		e.post = append(e.post, fmt.Sprintf("has_returned(%d);", e.node.stream))
	}
	if e.node.awaited {
		e.needs["waits"] = true
		e.post = append(e.post, fmt.Sprintf("made(%d);", e.node.stream))
	}
}

// threadFunctions writes the functions of a class's threads.
func (e *emitter) threadFunctions(out *bytes.Buffer, c *class) {
	for i, body := range c.threads {
		e.define(out, threadName(c, i+1), func() {
			e.statements(body)
			if c.like().others[i].stays {
				e.line("stay();")
			}
		})
	}
}

func threadName(c *class, thread int) string { return fmt.Sprintf("%s_thread_%d", c.name, thread) }

// runThread writes the function that threads run.
func (e *emitter) runThread(out *bytes.Buffer) {
	if e.threads == 1 {
		return
	}
	var classes []*class
	for _, c := range e.classes {
		if len(c.threads) > 0 {
			classes = append(classes, c)
		}
	}
	for _, c := range classes {
		names := []string{"NULL"}
		for i := range c.threads {
			names = append(names, threadName(c, i+1))
		}
		fmt.Fprintf(out, "static void (*const %s_threads[])(void) = {%s};\n\n", c.name, wrap(strings.Join(names, ", ")))
	}
	out.WriteString("static void run_thread(int thread)\n{\n")
	for i, c := range classes {
		switch {
		case len(classes) == 1:
			fmt.Fprintf(out, "    %s_threads[thread]();\n", c.name)
			continue
		case i == 0:
			fmt.Fprintf(out, "    if (%s)\n", c.condition())
		case i == len(classes)-1:
			out.WriteString("    else\n")
		default:
			fmt.Fprintf(out, "    else if (%s)\n", c.condition())
		}
		fmt.Fprintf(out, "        %s_threads[thread]();\n", c.name)
	}
	out.WriteString("}\n\n")
}

// threadSupport writes what threads use.
func (e *emitter) threadSupport(out *bytes.Buffer) {
	if e.threads == 1 {
		return
	}
	out.WriteString(support("threads.c"))
	if slices.ContainsFunc(e.classes, func(c *class) bool { return len(c.threads) > c.staying() }) {
		out.WriteString(support("joins.c"))
	}
	out.WriteString(support("enter.c"))
	stays := slices.ContainsFunc(e.classes, func(c *class) bool { return c.staying() > 0 })
	if e.needs["waits"] || stays {
		out.WriteString("static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;\n\n")
	}
	if e.needs["waits"] {
		out.WriteString(support("waits.c"))
	}
	if stays {
		out.WriteString(support("stays.c"))
	}
}
