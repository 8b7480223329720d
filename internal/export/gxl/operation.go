package gxl

import (
	"bytes"
	"fmt"
	"strconv"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/text"
	"github.com/efg-tools/efg/internal/analysis"
	"github.com/efg-tools/efg/reconstruct"
	"github.com/efg-tools/efg/signature"
)

// event writes the operations that an event is: the objects of docs/mtf.md, with associations
// as edges. The first one holds what is needed to restore the event. shown is the event in the
// whole run.
func (w *writer) event(e, shown *reconstruct.Event, j int) error {
	words := e.Words()
	if words == nil {
		return fmt.Errorf("%w: event %d: a word without its definition", efg.ErrWalk, e.Seq)
	}
	w.line = shown.AppendMTF(w.line[:0])
	rest := w.line
	for k := 0; len(rest) > 0; k++ {
		line, after, _ := bytes.Cut(rest, []byte("\n"))
		rest = after
		members, err := parseObject(line)
		if err != nil {
			return fmt.Errorf("event %d: %w", e.Seq, err)
		}
		o := &operation{w: w, e: e, shown: shown, words: words, class: classOf(members[0].value.text), id: unitID(w.number, j, shown.Seq)}
		if k > 0 {
			o.suffix = "." + itoa(k)
			o.id += o.suffix
		}
		o.write(members[1:], j)
	}
	return nil
}

// unitID is the id of an event's first operation; seq is its number in the whole run.
func unitID(proc, stream int, seq uint64) string {
	return "e" + itoa(proc) + "." + itoa(stream) + "." + strconv.FormatUint(seq, 10)
}

// operation is an operation that is being written.
type operation struct {
	w     *writer
	e     *reconstruct.Event
	shown *reconstruct.Event // e in the whole run
	class *class
	id    string
	words []uint64
	// suffix distinguishes an event's operations; "" for the first.
	suffix string
	edges  []edge // to be written after the node
	parts  []part
}

type edge struct{ to, class string }

// part is a separate object that belongs to an operation.
type part struct {
	class   *class
	edge    string
	members []member
}

// peerEdge is the association of a class with the process at the other side.
func peerEdge(c *class) string {
	for _, a := range [][2]string{{"Send", "receiver"}, {"Receive", "sender"}, {"ProbeOperation", "source"}} {
		if c.isA(a[0]) {
			return a[1]
		}
	}
	return "root"
}

func (o *operation) write(members []member, j int) {
	p := &o.w.p
	p.node(o.id, o.class.name)
	for i := range members {
		m := &members[i]
		switch m.name {
		case "Communicator":
		case "TraceableUnitID":
			p.text(m.name, m.value.text+o.suffix)
		case "Process":
			o.peer(p, "Peer", &m.value, peerEdge(o.class), o.comm())
		case "NonBlockingSend", "NonBlockingReceive", "Operation":
			o.completed(m.value.list, j)
		case "Message":
			o.parts = append(o.parts, part{classOf("Message"), "message", m.value.object})
		case "Messages":
			for k := range m.value.list {
				o.parts = append(o.parts, part{classOf("Message"), "message", m.value.list[k].object})
			}
		case "CollectiveData":
			o.parts = append(o.parts, part{classOf("CollectiveData"), "collectiveData", m.value.object})
		default:
			p.value(o.class, m.name, &m.value)
		}
	}
	if foreign := o.foreign(); foreign != nil {
		p.list("Requests", foreign)
	}
	if o.suffix == "" {
		o.record(j)
	}
	p.endNode()
	o.finish()
}

// record writes what is needed to restore the event.
func (o *operation) record(j int) {
	w, e := o.w, o.e
	w.p.attr("efg.signature", "string", fmt.Sprintf("%d.%d.%d", w.number, j, e.Node()))
	n := &w.proc.Data().Streams[j].Nodes[e.Node()]
	if n.Mask != 0 {
		w.p.list("efg.values", w.values(o.words, e, n))
	}
	if w.codes != nil && e.Seq < w.proc.Data().Streams[j].TimedEvents() {
		c := &w.codes[e.Node()]
		gap, _ := c.gap.Next()
		dur, _ := c.dur.Next()
		w.p.attr("efg.times", "string", text.PairText(gap, dur))
	}
}

// finish writes the operation's edges and parts.
func (o *operation) finish() {
	p := &o.w.p
	p.edge(o.id, o.w.id, "process")
	if comm := o.comm(); comm != 0 {
		if id := o.w.communicator(comm); id != "" {
			p.edge(o.id, id, "communicator")
		}
	}
	for _, e := range o.edges {
		p.edge(o.id, e.to, e.class)
	}
	o.edges = o.edges[:0]
	for k := range o.parts {
		o.part(k, &o.parts[k])
	}
}

// part writes a message, or the data of a collective operation.
func (o *operation) part(k int, q *part) {
	p, id := &o.w.p, o.id+"-"+itoa(k)
	p.node(id, q.class.name)
	if q.class.name == "Message" {
		p.text("TraceableUnitID", id)
	}
	for i := range q.members {
		switch m := &q.members[i]; m.name {
		case "Sender":
			o.peer(p, "Source", &m.value, "messageSender", o.messageComm())
		case "Receiver":
			o.edges = append(o.edges, edge{o.w.id, "messageReceiver"})
		default:
			p.value(q.class, m.name, &m.value)
		}
	}
	p.endNode()
	p.edge(o.id, id, q.edge)
	if q.class.name == "Message" {
		p.edge(id, o.w.id, "process")
	}
	for _, e := range o.edges {
		p.edge(id, e.to, e.class)
	}
	o.edges = o.edges[:0]
}

// value writes an attribute: an integer if the metamodel has one, otherwise the name of the
// constant in its place; lists have names of their own.
func (p *printer) value(c *class, name string, v *value) {
	a, _ := c.attribute(name)
	switch {
	case v.list != nil:
		texts := make([]string, len(v.list))
		for i := range v.list {
			texts[i] = v.list[i].text
		}
		p.list(name+"List", texts)
	case a.domain == domInt && v.number:
		p.attr(name, "int", v.text)
	case a.domain == domInt:
		p.text(name+"Symbol", v.text)
	default:
		p.text(name, v.text)
	}
}

// peer writes a rank of the communicator, and adds the edge to its process.
func (o *operation) peer(p *printer, name string, v *value, class string, comm uint64) {
	if !v.number {
		p.text(name+"Symbol", v.text)
		return
	}
	p.attr(name, "int", v.text)
	i, err := strconv.Atoi(v.text)
	m := o.w.peers(comm)
	if err != nil || m == nil || i < 0 || i >= m.Size() {
		return
	}
	if rank := m.At(i); rank >= 0 {
		o.edges = append(o.edges, edge{o.w.processOf(rank), class})
	}
}

// completed adds edges to operations of the document that are complete.
func (o *operation) completed(done []value, j int) {
	class := "waitsFor"
	if o.class.name == "TestOperation" {
		class = "tests"
	}
	for i := range done {
		if seq, err := strconv.ParseUint(done[i].text, 10, 64); err == nil && done[i].number && seq >= o.w.sel.From {
			o.edges = append(o.edges, edge{unitID(o.w.number, j, seq), class})
		}
	}
}

// foreign are the requests of operations that the event completes and the stream does not
// contain: those of another thread, or before the window.
func (o *operation) foreign() (names []string) {
	if o.suffix != "" || !o.class.isA("WaitOperation") && !o.class.isA("TestOperation") {
		return nil
	}
	for _, i := range o.shown.Completed() {
		if seq, ok := o.shown.Issuer(o.shown.Request(i)); !ok || seq < o.w.sel.From {
			names = append(names, o.shown.RequestText(i))
		}
	}
	return names
}

// comm is the word of the operation's communicator, 0 if it has none.
func (o *operation) comm() uint64 {
	p := o.e.Proc()
	if p == nil || p.Object < 0 || p.Params[p.Object].Kind != signature.Comm {
		return 0
	}
	return o.e.Word(signature.ObjectWord)
}

// messageComm is the communicator of the messages that the operation received: its own, or that
// of all requests that it completed; 0 if these differ.
func (o *operation) messageComm() uint64 {
	if w := o.comm(); w != 0 {
		return w
	}
	found := uint64(0)
	for _, i := range o.shown.Completed() {
		w := o.w.issuedOn(o.shown.Request(i))
		if w == 0 || found != 0 && w != found {
			return 0
		}
		found = w
	}
	return found
}

// issuedOn is the communicator of the operation that issued a request, 0 if it is unknown.
func (w *writer) issuedOn(request uint64) uint64 {
	id, ok := signature.ParseID(request)
	if !ok {
		return 0
	}
	for i := range w.whole.Data().Streams {
		s := &w.whole.Data().Streams[i]
		if s.Thread != id.Thread || int(id.Node) >= len(s.Nodes) {
			continue
		}
		n := &s.Nodes[id.Node]
		p := signature.ProcByID(signature.Header(n.Words[0]).Proc())
		if p != nil && p.Object >= 0 && p.Params[p.Object].Kind == signature.Comm && n.Mask>>2&1 == 0 {
			return n.Words[signature.ObjectWord]
		}
	}
	return 0
}

// peers are the members of a communicator whose ranks messages on it name; nil
// if they are unknown.
func (w *writer) peers(comm uint64) *analysis.Members {
	m, ok := w.members[comm]
	if !ok && comm != 0 {
		own, other := w.facts.Members(comm)
		if m = own; other != nil {
			m = other
		}
		w.members[comm] = m
	}
	return m
}

// processOf is the id of the process with a rank in the run.
func (w *writer) processOf(rank int) string {
	if !w.ranks[rank] {
		w.stubs[rank] = true
	}
	return processID(rank, 0)
}

// communicator returns the id of a communicator's node, which it writes the first
// time; "" for the null handle.
func (w *writer) communicator(word uint64) string {
	name := w.proc.Names().Handle(signature.Comm, word)
	id := fmt.Sprintf("c%x", word)
	switch name {
	case "MPI_COMM_NULL":
		return ""
	case "MPI_COMM_WORLD":
		id = "world"
	case "MPI_COMM_SELF":
		id = "self." + w.id
	}
	if id[0] != 's' {
		id += "." + itoa(max(w.first, 0))
	}
	if w.comms[id] {
		return id
	}
	w.comms[id] = true
	w.p.node(id, "Communicator")
	w.p.text("CommID", name)
	w.p.endNode()
	own, other := w.facts.Members(word)
	for _, m := range []*analysis.Members{own, other} {
		for i := 0; m != nil && i < m.Size(); i++ {
			if rank := m.At(i); rank >= 0 && w.ranks[rank] {
				w.p.edge(id, processID(rank, 0), "member")
			}
		}
	}
	return id
}
