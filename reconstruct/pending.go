package reconstruct

import (
	"slices"
	"strconv"
	"strings"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/signature"
)

// Pending is a call that had not returned when the recording ended. It is not an event: it has
// arguments but no results.
type Pending struct {
	stream *stream // of the thread, with the call as its only node
	event  Event
	data   *efg.Pending
	after  uint64 // number of events before it
	single bool   // the process has no other thread
}

// Pending returns the call in progress of Streams[i], nil if there is none.
func (p *Process) Pending(i int) *Pending {
	from := &p.proc.Streams[i]
	if from.Pending == nil {
		return nil
	}
	return newPending(p, from.Thread, from.Events, from.Pending)
}

func newPending(p *Process, thread uint32, after uint64, call *efg.Pending) *Pending {
	n := &efg.Node{Words: known(call.Words, p.vecs)}
	s := &stream{Stream: &efg.Stream{Thread: thread}, process: p, nodes: make([]node, 1)}
	s.nodes[0].prepare(n, p.vecs)
	c := &Pending{stream: s, data: call, after: after, single: len(p.streams) == 1}
	c.event = Event{Seq: after, stream: s, node: &s.nodes[0], track: newTracker(s, false)}
	return c
}

// known returns the words without those of arrays that are recorded only when the call returns.
func known(words []uint64, vecs map[uint64][]uint64) []uint64 {
	words = slices.Clone(words)
	p := signature.ProcByID(signature.Header(words[0]).Proc())
	for i := signature.FirstWord; p != nil && i < min(len(words), len(p.Words)); i++ {
		if _, ok := vecs[words[i]]; p.Words[i].Form == signature.VecForm && !signature.IsConst(words[i]) && !ok || words[i] == signature.Same {
			words[i] = signature.Absent
		}
	}
	return words
}

// DescribePending returns the text of a thread's call in progress, without reading the graphs
// of its streams.
func DescribePending(p *efg.Process, thread uint32, call *efg.Pending, names *Names) NodeText {
	q := &Process{proc: p, names: names, threads: map[uint32]*stream{}, vecs: map[uint64][]uint64{}}
	for _, d := range p.Defs {
		if d.Kind == efg.DefVec {
			q.vecs[d.Word] = d.Words
		}
	}
	return newPending(q, thread, 0, call).Describe()
}

// Inner returns the call that the program made inside this one and was in, too; nil if there is none.
func (c *Pending) Inner() *Pending {
	if c.data.Inner == nil {
		return nil
	}
	inner := newPending(c.stream.process, c.stream.Thread, c.after, c.data.Inner)
	inner.single = c.single
	return inner
}

// Proc returns the procedure, nil if it is not known.
func (c *Pending) Proc() *signature.Proc { return c.event.Proc() }

// After returns the number of events before the call, which would be its own number.
func (c *Pending) After() uint64 { return c.after }

// Describe returns the text of the call.
func (c *Pending) Describe() NodeText {
	t := NodeText{Op: c.event.Op(), Site: c.event.names().Callsite(c.event.node.words[1])}
	c.eachArg(func(f *field) {
		if b := c.event.appendField([]byte{'('}, f, textStyle); len(b) > 1 {
			t.Args = append(t.Args, string(b[1:]))
		}
	})
	return t
}

// eachArg calls show for the arguments, in order.
func (c *Pending) eachArg(show func(*field)) {
	e := &c.event
	args, _ := e.node.fields()
	for i := range args {
		f := &args[i]
		if f.form == requestVector {
			e.track.array, e.track.constant = e.vec(f.word)
		}
		show(f)
	}
}

// AppendJSON appends the call as one line of JSON, which has "entered" in place of what
// events have; docs/jsonl.md describes it.
func (c *Pending) AppendJSON(b []byte) []byte {
	e := &c.event
	b = strconv.AppendInt(append(b, `{"rank":`...), int64(e.Rank()), 10)
	b = strconv.AppendUint(append(b, `,"thread":`...), uint64(e.Thread()), 10)
	return append(c.appendEntered(append(b, `,"entered":`...)), "}\n"...)
}

// appendEntered appends the call as a JSON object.
func (c *Pending) appendEntered(b []byte) []byte {
	e := &c.event
	b = append(append(b, `{"op":"`...), e.Op()...)
	b = c.AppendJSONArguments(append(b, `","args":`...))
	b = e.appendSite(b, jsonStyle)
	if at := c.data.At(c.stream.process.proc); at != 0 {
		b = strconv.AppendInt(append(b, `,"since":`...), at, 10)
	}
	b = e.node.appendDepth(e.node.appendPMPI(b))
	if inner := c.Inner(); inner != nil {
		b = inner.appendEntered(append(b, `,"inner":`...))
	}
	return append(b, '}')
}

// AppendJSONArguments appends the object with the call's arguments, "args" in AppendJSON.
func (c *Pending) AppendJSONArguments(b []byte) []byte {
	b = append(b, '{')
	c.eachArg(func(f *field) { b = c.event.appendField(b, f, jsonStyle) })
	return append(b, '}')
}

// AppendText appends the call as one human-readable line, and each call inside it as another one.
func (c *Pending) AppendText(b []byte) []byte {
	b = appendPadded(b, uint64(max(c.event.Rank(), 0)), 4)
	if !c.single {
		b = strconv.AppendUint(append(b, '.'), uint64(c.event.Thread()), 10)
	}
	b = append(appendPadded(b, c.after, 9), "  "...)
	t := c.Describe()
	b = append(b, t.Op+"("+strings.Join(t.Args, ", ")+") entered, not returned  "+t.Site+"\n"...)
	if inner := c.Inner(); inner != nil {
		return inner.AppendText(b)
	}
	return b
}
