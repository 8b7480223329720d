package replay

import (
	"slices"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/seq"
	"github.com/efg-tools/efg/internal/analysis"
	"github.com/efg-tools/efg/reconstruct"
	"github.com/efg-tools/efg/signature"
)

// The first value of an outcome. What follows depends on the procedure: see FORMAT.md.
const (
	Free      = 0 // the call's outcome is not forced
	Undefined = 1 // there was no active request
	Nothing   = 2 // nothing was complete, no message was there
	Found     = 3 // plus a position, a number of requests, or a source
)

// what is open about the outcomes of a node's calls.
type what uint8

const (
	nothing  what = iota
	received      // source and tag of the message that a blocking call received or found
	posted        // source and tag of the message that its request will receive
	prepared      // whether its persistent request is one for any source or tag
	started       // source and tag of the message of each such request
	probed        // whether there is a message, and its source and tag
	flagged       // whether the requests are complete
	one           // which request completed
	some          // which requests completed
)

// openness returns what is open about the outcome of a procedure's calls.
func openness(p *signature.Proc) what {
	r := &p.Roles
	switch {
	case p.Class != signature.Event:
	case r.Source != 0 && p.Poll:
		return probed
	case r.Source != 0 && r.Request == 0:
		return received
	case r.Source != 0 && p.Persistent:
		return prepared
	case r.Source != 0:
		return posted
	case p.Starts:
		return started
	case p.Completes == signature.CompletesAny:
		return one
	case p.Completes == signature.CompletesSome:
		return some
	case p.Poll && r.Flag != 0 && (p.Completes != "" || p.Peeks == signature.CompletesOne), p.OnlyFlag():
		return flagged
	}
	return nothing
}

// stream collects what is open in a stream.
type stream struct {
	replay *reconstruct.Process
	number int
	data   *efg.Stream
	ends   *endings // of the requests of the process
	brief  bool     // without polls that found nothing

	nodes []node
	calls *seq.Writer
	ahead *analysis.Outcomes
	// elsewhere are what other streams complete of its requests, by their numbers.
	elsewhere map[int]*completions
	wild      map[uint64]bool // persistent requests of receives of any source or tag
	room      []uint64
}

// node is what the calls of a node have in common, and their outcomes.
type node struct {
	open    what
	proc    *signature.Proc
	failed  bool
	maywild bool // a receive or probe whose source or tag may be any
	values  *seq.Writer
	forced  bool // any of the values is not Free
}

// readStream goes through the events of Data().Streams[number], without calls inside others: what callbacks do
// is not forced. brief: without polls that found nothing.
func readStream(p *reconstruct.Process, number int, ends *endings, brief bool) (*stream, error) {
	s := &stream{
		replay: p, number: number, data: &p.Data().Streams[number], ends: ends, brief: brief,
		calls: seq.NewWriter(false), wild: map[uint64]bool{},
	}
	s.findNodes()
	s.ahead = analysis.OutcomesOf(p, number, s.mayBeWild)
	s.elsewhere = map[int]*completions{}
	reader := p.UntimedReader(number)
	for {
		e, err := reader.Next()
		if err == nil {
			err = s.aheadErr()
		}
		if err != nil || e == nil {
			return s, err
		}
		n := &s.nodes[e.Node()]
		if e.Depth() > 0 || s.brief && n.proc != nil && n.proc.Poll && !n.failed && e.Word(n.proc.PollWord()) == 0 {
			continue
		}
		s.calls.Push(uint64(e.Node()))
		if n.open != nothing {
			n.add(s.outcome(e, n))
		}
	}
}

// add appends an outcome.
func (n *node) add(outcome []uint64) {
	if n.values == nil {
		n.values = seq.NewWriter(false)
	}
	for _, v := range outcome {
		n.values.Push(v)
		n.forced = n.forced || v != Free
	}
}

// findNodes finds out what is open at each node.
func (s *stream) findNodes() {
	s.nodes = make([]node, len(s.data.Nodes))
	for i := range s.data.Nodes {
		from := &s.data.Nodes[i]
		h := signature.Header(from.Words[0])
		n := node{proc: signature.ProcByID(h.Proc()), failed: h.ErrorClass() != 0}
		if n.proc != nil && !h.Counted() {
			n.open = openness(n.proc)
			n.maywild = mayBeAny(from, n.proc)
		}
		s.nodes[i] = n
	}
}

// compared are the words of a node that its calls must have: the arguments that are always
// significant, without requests and what may be new in each run.
func (n *node) compared(from *efg.Node) uint64 {
	mask := uint64(0)
	for i := signature.FirstWord; n.proc != nil && i < min(len(n.proc.Words), len(from.Words)); i++ {
		w := &n.proc.Words[i]
		if w.Out || w.Param < 0 || from.Mask>>i&1 != 0 {
			continue
		}
		switch q := &n.proc.Params[w.Param]; {
		case q.Dir != signature.In || !significant(q):
		case q.Kind.Integer(), q.Kind == signature.Comm, q.Kind == signature.Type, q.Kind == signature.Group:
			mask |= 1 << i
		}
	}
	return mask
}

// significant reports whether an argument is significant in all calls, but for those of bystanders in
// an intercommunicator: otherwise it may hold anything.
func significant(q *signature.Param) bool {
	return !slices.ContainsFunc(q.Conds, func(c signature.Cond) bool { return c.Name != "part" && c.Name != "leaf" })
}

// mayBe reports whether a word of a node's calls may have a value.
func mayBe(n *efg.Node, word int, value uint64) bool {
	return word != 0 && (n.Mask>>word&1 != 0 || n.Words[word] == value)
}

// mayBeAny reports whether a node's calls may receive from any source, or with any tag.
func mayBeAny(n *efg.Node, p *signature.Proc) bool {
	return mayBe(n, p.Roles.Source, signature.AnySource) || mayBe(n, p.Roles.RecvTag, signature.AnyTag)
}

// requestsOf returns the words of the requests that a call was passed, valid until the next event.
func requestsOf(e *reconstruct.Event) []uint64 {
	r := e.Proc().Roles.Requests
	if e.Proc().Vector(r) {
		list, _ := e.Vec(r)
		return list
	}
	return []uint64{e.Word(r)}
}

// mayBeWild reports whether a request may be of a receive of any source or tag.
func (s *stream) mayBeWild(request uint64) bool {
	id, ok := signature.ParseID(request)
	return ok && id.Thread == s.data.Thread && int(id.Node) < len(s.nodes) && s.nodes[id.Node].maywild
}

// isWild reports whether a call receives or probes for any source or tag.
func isWild(e *reconstruct.Event, r *signature.Roles) bool {
	return e.Word(r.Source) == signature.AnySource || e.Word(r.RecvTag) == signature.AnyTag
}

// outcome returns the outcome of a call, valid until the next one.
func (s *stream) outcome(e *reconstruct.Event, n *node) []uint64 {
	r := &n.proc.Roles
	out := s.room[:0]
	switch {
	case n.open == posted:
		out = s.posted(out, e, n)
	case n.open == prepared:
		out = s.prepared(out, e, n)
	case n.failed && n.open != started:
		out = append(out, Free)
	case n.open == received && !isWild(e, r):
		out = append(out, Free)
	case n.open == received:
		out = message(out, e.Word(r.StatusSource), e.Word(r.StatusTag))
	case n.open == started:
		out = s.started(out, e)
	case n.open == probed && e.Word(r.Flag) != 1, n.open == flagged && e.Word(r.Flag) != 1, n.open == one && r.Flag != 0 && e.Word(r.Flag) != 1:
		out = append(out, Nothing)
	case n.open == probed:
		out = message(out, e.Word(r.StatusSource), e.Word(r.StatusTag))
	case n.open == flagged:
		out = append(out, Found)
	case n.open == one:
		out = append(out, count(e.Word(r.Index)))
	case n.open == some:
		out = completed(out, e, r)
	}
	s.room = out
	return out
}

// message appends the outcome of a call that received, or found, a message.
func message(out []uint64, source, tag uint64) []uint64 {
	if !signature.IsPlain(source) || !signature.IsPlain(tag) {
		return append(out, Free)
	}
	return append(out, Found+source, tag)
}

// count is the outcome for a number of requests or the position of one.
func count(w uint64) uint64 {
	if signature.IsConst(w) {
		return Undefined
	}
	return Found + w
}

// completed appends the outcome of a call that completes some requests.
func completed(out []uint64, e *reconstruct.Event, r *signature.Roles) []uint64 {
	n := e.Word(r.Outcount)
	if n == 0 {
		return append(out, Nothing)
	}
	out = append(out, count(n))
	if signature.IsConst(n) {
		return out
	}
	positions, _ := e.Vec(r.Indices)
	if uint64(len(positions)) != n {
		return append(out[:len(out)-1], Free)
	}
	return append(out, positions...)
}

// newRequest is the word of the request that a call issued; false if there is none.
func newRequest(e *reconstruct.Event, n *node) (uint64, bool) {
	w := e.Word(n.proc.Roles.Request)
	if n.failed || !signature.IsPlain(w) {
		return 0, false
	}
	return signature.ID{Thread: e.Thread(), Node: uint32(e.Node()), Slot: uint32(w)}.Word(), true
}

// posted appends what the request of a call will receive.
func (s *stream) posted(out []uint64, e *reconstruct.Event, n *node) []uint64 {
	w, ok := newRequest(e, n)
	if !ok || !n.maywild {
		return append(out, Free)
	}
	return s.reception(out, w, isWild(e, &n.proc.Roles))
}

// reception appends what a request that is now active will receive.
func (s *stream) reception(out []uint64, request uint64, wild bool) []uint64 {
	got, ok := s.next(request)
	if !ok || !wild {
		return append(out, Free)
	}
	return message(out, got.Source, got.Tag)
}

// next returns what a request that is now active will receive; false if that is not known.
func (s *stream) next(request uint64) (reconstruct.Reception, bool) {
	by, known := s.ends.stream(request)
	switch {
	case !known:
		return reconstruct.Reception{}, false
	case by == s.number:
		got, ok := s.ahead.Next(request)
		return got.Reception, ok
	case s.elsewhere[by] == nil:
		s.elsewhere[by] = s.ends.completionsIn(by, s.number)
	}
	return s.elsewhere[by].next(request)
}

// aheadErr returns why reading ahead ended before the end of a stream.
func (s *stream) aheadErr() error {
	err := s.ahead.Err
	for _, c := range s.elsewhere {
		if err == nil {
			err = c.err
		}
	}
	return err
}

// prepared appends whether the persistent request of a call is for any source or tag.
func (s *stream) prepared(out []uint64, e *reconstruct.Event, n *node) []uint64 {
	w, ok := newRequest(e, n)
	wild := ok && isWild(e, &n.proc.Roles)
	if s.wild[w] = wild; wild {
		return append(out, Found)
	}
	delete(s.wild, w)
	return append(out, Free)
}

// started appends what the persistent requests of a call will receive.
func (s *stream) started(out []uint64, e *reconstruct.Event) []uint64 {
	for _, w := range requestsOf(e) {
		switch wild := s.wild[w]; {
		case e.Failed() && wild:
			out = append(out, Free)
		case wild || s.mayBeWild(w):
			before := len(out)
			if out = s.reception(out, w, wild); !wild {
				out = out[:before]
			}
		}
	}
	return out
}
