package generate

import (
	"fmt"
	"slices"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/reconstruct"
	"github.com/efg-tools/efg/signature"
)

// node is what the program does at a node of a process's graph.
type node struct {
	number int // among the nodes of all threads
	stream int // of the process
	index  int // in the stream
	thread uint32
	header signature.Header
	proc   *signature.Proc
	values []value
	visits uint64 // without polls that found nothing
	gap    float64
	// low, high: the bytes that its buffers need, by word.
	spans map[int]span
	// slot is the word of the request that it issues, or 0
	slot int
	// window are the windows of a call that accesses dynamic windows, as recorded; nil: it does not
	window *value
	// resolved: displacements in dynamic windows are those of the program
	resolved bool
	// awaits are calls of other threads that return before calls of the node begin.
	awaits []await
	// late: the time that the awaited calls took is not part of gap
	late bool
	// awaited: other threads wait for calls of the node
	awaited bool
}

// param is the parameter of a word; nil: none.
func (n *node) param(word int) *signature.Param {
	if i := n.proc.Words[word].Param; i >= 0 {
		return &n.proc.Params[i]
	}
	return nil
}

func (n *node) form(word int) signature.Form { return n.proc.Words[word].Form }

// process is a process with what it calls, in terms of the program.
type process struct {
	rank    int
	data    *efg.Process
	body    []stmt    // of the first thread
	others  []*thread // the other ones
	nodes   []*node   // by number; nil: not called
	handles *handles
	types   *typeSpans
	strings map[uint64]string
	size    int // of the largest world that the program is for
	// continues: calls pass the array of requests that an earlier one left
	continues bool
	// accesses are the addresses that the process accesses in dynamic windows
	accesses map[target]span
	// order is what is known about the order of calls of several threads; nil: there is one
	order *ordering
}

// readProcess reads process i of the run, for a program on ranks ranks if that is more. events returns the events of
// a process, with their times.
func readProcess(run *runfile.Run, i, ranks int, events eventSource) (*process, error) {
	data, err := run.Summed(i)
	if err != nil {
		return nil, err
	}
	p := &process{rank: data.WorldRank(), data: data, types: newTypeSpans(data.Defs), strings: map[uint64]string{}, accesses: map[target]span{}, size: max(data.Size, ranks)}
	for k := range data.Defs {
		if d := &data.Defs[k]; d.Kind == efg.DefString {
			p.strings[d.Word] = string(d.Data)
		}
	}
	if err := p.read(func() (*reconstruct.Process, error) { return events(i) }); err != nil {
		return nil, fmt.Errorf("rank %d: %w", p.rank, err)
	}
	return p, nil
}

// eventSource returns the events of process i of a run, with their times.
type eventSource func(i int) (*reconstruct.Process, error)

func (p *process) read(events func() (*reconstruct.Process, error)) error {
	if len(p.data.Streams) == 0 {
		return fmt.Errorf("no recorded calls")
	}
	if p.data.Streams[0].End != efg.EndFinalized {
		return fmt.Errorf("the recording ends before MPI_Finalize: what the rest of the program would do is unknown")
	}
	if err := p.readStreams(); err != nil {
		return err
	}
	var err error
	if len(p.others) > 0 {
		if p.order, err = p.readOrder(events); err != nil {
			return err
		}
	}
	if p.handles, err = number(p.data, p.list()); err != nil {
		return err
	}
	for _, n := range p.list() {
		if err := p.refuseAbsolute(n); err != nil {
			return err
		}
		n.spans = p.spans(n)
		if err := p.noteAccesses(n); err != nil {
			return err
		}
		if err := p.handles.translate(n); err != nil {
			return err
		}
	}
	return nil
}

// list are the nodes that are called.
func (p *process) list() []*node {
	var list []*node
	for _, n := range p.nodes {
		if n != nil {
			list = append(list, n)
		}
	}
	return list
}

// readStreams reads the calls of all threads.
func (p *process) readStreams() error {
	lost := false // some arrays of requests are only passed by polls that found nothing
	for i := range p.data.Streams {
		s := &p.data.Streams[i]
		body, err := bodyOf(s, p.data.Defs)
		if err != nil {
			return err
		}
		if i == 0 {
			p.body = body
		} else if err := p.addThread(s, body); err != nil {
			return fmt.Errorf("thread %d: %w", s.Thread, err)
		}
		if err := p.readNodes(i, body, &lost); err != nil {
			return err
		}
	}
	if lost && slices.ContainsFunc(p.list(), (*node).continues) {
		return p.resolveArrays()
	}
	p.continues = slices.ContainsFunc(p.list(), (*node).continues)
	return nil
}

// readNodes adds the nodes of stream i. Its body has their numbers in the stream.
func (p *process) readNodes(i int, body []stmt, lost *bool) error {
	s, base := &p.data.Streams[i], len(p.nodes)
	p.nodes = append(p.nodes, make([]*node, len(s.Nodes))...)
	values := newValueReader(p.data)
	visits := make([]uint64, len(s.Nodes))
	eachCall(body, 1, func(k int, times uint64) { visits[k] += times })
	for k := range s.Nodes {
		from := &s.Nodes[k]
		if visits[k] == 0 {
			*lost = *lost || passesArray(from)
			continue
		}
		n := &node{number: base + k, stream: i, index: k, thread: s.Thread, visits: visits[k], header: signature.Header(from.Words[0])}
		if n.proc = signature.ProcByID(n.header.Proc()); n.proc == nil {
			return fmt.Errorf("procedure %d is not in this version's table", n.header.Proc())
		}
		if len(n.proc.Words) != len(from.Words) {
			return fmt.Errorf("%s with %d words", n.proc.Name, len(from.Words))
		}
		if reason := refusal(n.proc); reason != "" {
			return fmt.Errorf("%s: %s", n.proc.Name, reason)
		}
		var err error
		if n.values, err = values.values(from); err != nil {
			return err
		}
		if st := from.Stats; st != nil && st.Count > 0 {
			n.gap = float64(st.Gap.Sum) / float64(st.Count)
		}
		n.slot = n.proc.Roles.Request
		p.nodes[n.number] = n
	}
	return nil
}

// resolveArrays replaces "as the previous call left it" by the arrays of requests that this stands
// for, because some of the previous calls are left out.
func (p *process) resolveArrays() error {
	arrays := map[int]*vecTable{}
	for _, n := range p.list() {
		if n.continues() {
			arrays[n.number] = &vecTable{value: value{vecs: [][]uint64{}}, index: map[uint64]int{}}
		}
	}
	events := reconstruct.NewProcess(p.data, reconstruct.NewNames(p.data.Defs, nil))
	base := 0
	for i := range p.data.Streams {
		if err := readArrays(events, i, base, arrays); err != nil {
			return err
		}
		base += len(p.data.Streams[i].Nodes)
	}
	for k, t := range arrays {
		n := p.nodes[k]
		n.values[n.proc.Roles.Requests] = t.value
		if n.continues() {
			return fmt.Errorf("%s: its array of requests is that of an earlier call which failed", n.proc.Name)
		}
	}
	return nil
}

// readArrays reads the arrays of requests of a stream's calls. arrays are those of nodes, which begin with number base.
func readArrays(events *reconstruct.Process, stream, base int, arrays map[int]*vecTable) error {
	for e, err := range events.Events(stream, reconstruct.Options{}) {
		if err != nil {
			return err
		}
		t := arrays[base+e.Node()]
		if t == nil || signature.FoundNothing(e.Words()) {
			continue
		}
		elems, constant := e.Vec(e.Proc().Roles.Requests)
		if constant == 0 {
			constant = t.number(elems)
		}
		if t.series = t.series.add(constant); len(t.series) > maxSeries {
			return fmt.Errorf("%s: its array of requests takes more than %d values without a pattern", e.Op(), maxSeries)
		}
	}
	return nil
}

// passesArray reports whether calls of a node pass an array of requests of their own.
func passesArray(n *efg.Node) bool {
	p := signature.ProcByID(signature.Header(n.Words[0]).Proc())
	if p == nil || !p.Vector(p.Roles.Requests) {
		return false
	}
	return n.Mask>>p.Roles.Requests&1 != 0 || n.Words[p.Roles.Requests] != signature.Same
}

// continues reports whether calls pass the array of requests that an earlier call left.
func (n *node) continues() bool {
	r := n.proc.Roles.Requests
	if !n.proc.Vector(r) {
		return false
	}
	same := false
	n.values[r].each(func(w uint64) { same = same || w == signature.Same })
	return same
}
