package efg

import (
	"fmt"

	"github.com/efg-tools/efg/signature"
)

// Pending is a call in progress: a thread had entered it and it had not returned
// when the recording ended. It is not an event, and no part of the graph, so that
// ranks that were killed in different calls still share theirs.
type Pending struct {
	// Words are like those of an event. What a call tells only when it returns is
	// absent; arrays that are recorded then are words without a definition.
	Words []uint64
	// Since is when the call was entered: nanoseconds after the process's Start;
	// 0: not known.
	Since uint64
}

// NewPending makes a call in progress of the words that a recorder had of it.
func NewPending(words []uint64, since uint64) *Pending {
	p := &Pending{Words: append([]uint64(nil), words...), Since: since}
	p.Words[0] = uint64(signature.Header(words[0]).WithoutError())
	proc := signature.ProcByID(signature.Header(words[0]).Proc())
	for i := signature.FirstWord; proc != nil && i < min(len(words), len(proc.Words)); i++ {
		if w := &proc.Words[i]; w.Out || w.Form == signature.SlotForm {
			p.Words[i] = signature.Absent
		}
	}
	return p
}

// At is when the call of a thread of the process was entered, in Unix nanoseconds; 0: not
// known.
func (p *Pending) At(of *Process) int64 {
	if p.Since == 0 || of.Start == 0 {
		return 0
	}
	return of.Start + int64(p.Since)
}

// check checks what the format asks for.
func (p *Pending) check() error {
	if p == nil {
		return nil
	}
	n := len(p.Words)
	if n < minWords || n > MaxWords || signature.Header(p.Words[0]).Words() != n {
		return fmt.Errorf("call in progress: %d words", n)
	}
	if signature.Header(p.Words[0]).Counted() {
		return fmt.Errorf("call in progress: header %#x is of counted polls", p.Words[0])
	}
	return nil
}

// flattenPending makes a unit of the call in progress of stream number i of a
// process.
func flattenPending(s *Stream, i int, defs *defIndex, r *ranks) (*unit, error) {
	p := s.Pending
	if err := p.check(); err != nil {
		return nil, err
	}
	f := &flatten{unit{kind: unitPending, shape: []uint64{1, p.Words[0]}, stream: i}}
	f.number(p.Since)
	c := pendingContext(defs, s.Thread, len(s.Nodes))
	c.rank, c.size = r.in(&Node{Words: p.Words})
	for k := 1; k < len(p.Words); k++ {
		f.word(c, p.Words[k], isPeer(p.Words[0], k))
	}
	f.key = keyOf(f.kind, f.shape)
	return &f.unit, nil
}

// pendingContext is what the tokens of a call in progress depend on: it is in the
// place of a node that follows all others.
func pendingContext(defs *defIndex, thread uint32, nodes int) *wordContext {
	return &wordContext{defs: defs, thread: thread, node: uint32(nodes)}
}

// pending lists the cells of a call in progress.
func (l *layouter) pending() {
	header := l.next()
	l.number(colCount)
	for k := 1; k < signature.Header(header).Words(); k++ {
		l.add(place{what: cellWord, column: colWord + k, of: header, index: k, peer: isPeer(header, k)})
	}
}

// pendingShape takes the shape of a call in progress.
func (r *pieceReader) pendingShape() (shape, masks []uint64) {
	if n := r.Get(colShape); n != 1 {
		r.Failf("a piece of %d calls in progress", n)
	}
	header := r.header()
	if h := signature.Header(header); h.Words() < minWords || h.Words() > MaxWords || h.Counted() {
		r.Failf("call in progress with header %#x", header)
	}
	return []uint64{1, header}, []uint64{0}
}

// pending rebuilds the call in progress of member m.
func (p *readPiece) pending(m uint64, c *wordContext, r *ranks) (*Pending, error) {
	vals, err := p.memberCells(nil, m)
	if err != nil {
		return nil, err
	}
	u := &unflatten{piece: p, vals: vals}
	out := &Pending{Words: make([]uint64, signature.Header(p.shape[1]).Words()), Since: u.number()}
	out.Words[0] = p.shape[1]
	for k := 1; k < len(out.Words); k++ {
		out.Words[k] = u.word(c)
		if k == objectWord {
			c.rank, c.size = r.in(&Node{Words: out.Words})
		}
	}
	return out, u.err
}

// Pending reads the call in progress of Procs[i].Streams[j], nil if there is none,
// and the process's definitions.
func (r *Run) Pending(i, j int) (*Pending, []Def, error) {
	if !r.Procs[i].Streams[j].InCall {
		return nil, nil, nil
	}
	x, err := r.defs(i)
	if err != nil {
		return nil, nil, err
	}
	p, err := r.pendingOf(i, j, x)
	return p, x.list, err
}

func (r *Run) pendingOf(i, j int, x *defIndex) (*Pending, error) {
	proc, info := &r.Procs[i], &r.Procs[i].Streams[j]
	if !info.InCall {
		return nil, nil
	}
	p, err := r.pieceOf(info.pending, unitPending)
	if err != nil {
		return nil, err
	}
	c := pendingContext(x, info.Thread, int(info.Nodes))
	out, err := p.pending(info.pendingMember, c, ranksOf(proc.inIts, proc.Size, x.list))
	if err != nil {
		return nil, &CorruptError{Section: fmt.Sprintf("piece %d", info.pending), Cause: err}
	}
	return out, nil
}
