package runfile

import (
	"errors"
	"fmt"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/signature"
)

// flattenPending makes a record from the calls in progress of stream number i of a process.
func flattenPending(s *efg.Stream, i int, defs *defIndex, r *ranks) (*record, error) {
	p := s.Pending
	if err := p.Check(); err != nil {
		return nil, err
	}
	calls := p.Calls()
	f := &flatten{record{kind: recordPending, shape: []uint64{uint64(len(calls))}, stream: i}}
	for _, p := range calls {
		f.shape = append(f.shape, p.Words[0])
		f.number(p.Since)
		c := pendingContext(defs, s.Thread, len(s.Nodes))
		c.rank, c.size = r.in(&efg.Node{Words: p.Words})
		for k := 1; k < len(p.Words); k++ {
			f.word(c, p.Words[k], isPeer(p.Words[0], k))
		}
	}
	f.key = keyOf(f.kind, f.shape)
	return &f.record, nil
}

// pendingContext is what the tokens of a call in progress depend on: it takes the place of a
// node after all others.
func pendingContext(defs *defIndex, thread uint32, nodes int) *wordContext {
	return &wordContext{defs: defs, thread: thread, node: uint32(nodes)}
}

// pending lists the cells of a call in progress, one after the other if there are calls inside it.
func (l *layouter) pending() {
	header := l.next()
	l.number(colCount)
	for k := 1; k < signature.Header(header).Words(); k++ {
		l.add(place{what: cellWord, column: colWord + int16(k), of: header, index: int32(k), peer: isPeer(header, k)})
	}
}

// pendingShape reads the shape of a call in progress.
func (r *groupReader) pendingShape() (shape, masks []uint64) {
	n := r.Get(colShape)
	if n < 1 || n > efg.MaxPending {
		r.Failf("a group of %d calls in progress", n)
		return []uint64{0}, nil
	}
	shape = []uint64{n}
	for range n {
		header := r.header()
		if h := signature.Header(header); h.Words() < signature.FirstWord || h.Words() > signature.MaxWords || h.Counted() {
			r.Failf("call in progress with header %#x", header)
		}
		shape = append(shape, header)
	}
	return shape, make([]uint64, n)
}

// pending rebuilds the calls in progress of member m. c is what tokens depend on.
func (p *readGroup) pending(m uint64, c *wordContext, r *ranks) (*efg.Pending, error) {
	vals, err := p.memberCells(nil, m)
	if err != nil {
		return nil, err
	}
	u := &unflatten{group: p, vals: vals}
	var out *efg.Pending
	at := &out
	for _, header := range p.shape[1:] {
		call := &efg.Pending{Words: make([]uint64, signature.Header(header).Words()), Since: u.number()}
		call.Words[0] = header
		for k := 1; k < len(call.Words); k++ {
			call.Words[k] = u.word(c)
			if k == signature.ObjectWord {
				c.rank, c.size = r.in(&efg.Node{Words: call.Words})
			}
		}
		*at, at = call, &call.Inner
	}
	return out, u.err
}

// Pending reads the call in progress of Procs[i].Streams[j], nil if there is none,
// and the process's definitions.
func (r *Run) Pending(i, j int) (*efg.Pending, []efg.Def, error) {
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

func (r *Run) pendingOf(i, j int, x *defIndex) (*efg.Pending, error) {
	proc, info := &r.Procs[i], &r.Procs[i].Streams[j]
	if !info.InCall {
		return nil, nil
	}
	p, err := r.groupOf(info.pending, recordPending)
	if err != nil {
		return nil, err
	}
	c := pendingContext(x, info.Thread, int(info.Nodes))
	out, err := p.pending(uint64(info.pendingMember), c, ranksOf(int(proc.inIts), proc.Size, x.list))
	if err == nil && out.Inner != nil && r.features&featureInner == 0 {
		err = errors.New("calls inside a call in progress, which the file has none of")
	}
	if err != nil {
		return nil, &CorruptError{Section: fmt.Sprintf("group %d", info.pending), Cause: err}
	}
	return out, nil
}
