package runfile

import (
	"github.com/efg-tools/efg/efg/block"
	"github.com/efg-tools/efg/efg/seq"
)

// groupWriter writes groups into the columns of a block.
type groupWriter struct {
	cols    block.Columns
	headers map[uint64]uint64
	bodies  map[string]uint64
	// part writes a part of a long sequence and returns its number; err is its
	// first error.
	part func(*seq.Body) (int, error)
	err  error
	predictions
}

func newGroupWriter(part func(*seq.Body) (int, error)) *groupWriter {
	return &groupWriter{part: part, headers: map[uint64]uint64{}, bodies: map[string]uint64{}, predictions: *newPredictions()}
}

func (w *groupWriter) put(column int, v uint64) { w.cols.Put(column, v) }

func (w *groupWriter) group(p *recordGroup) {
	w.put(colGroup, p.members<<groupKindBits|uint64(p.kind))
	w.put(colShape, p.shape[0])
	switch p.kind {
	case recordGraph:
		w.graphShape(p.shape)
	case recordCheckpoints:
		for _, v := range p.shape[1:] {
			w.put(colCheckpoints, v)
		}
	case recordPending:
		for _, header := range p.shape[1:] {
			w.header(header)
		}
	default:
		w.defShape(p.shape)
	}
	w.put(colWides, uint64(len(p.wide)))
	for _, v := range p.wide {
		w.put(colWide, v)
	}
	local := &localBodies{order: map[uint64]uint64{}}
	places := layout(p.kind, p.shape)
	for i := range places {
		w.cell(p, &p.cells[i], &places[i], local)
	}
}

func (w *groupWriter) graphShape(shape []uint64) {
	at := shape[1:]
	for i := range shape[0] {
		header, mask, flags, edges := at[0], at[1], at[2], at[3]
		w.header(header)
		w.put(colMask, mask^w.masks[header])
		w.masks[header] = mask
		w.put(colFlags, flags)
		w.put(colEdges, edges)
		for _, to := range at[4 : 4+edges] {
			w.put(colTo, block.Zigzag(int64(to-i-1)))
		}
		at = at[4+edges:]
	}
}

func (w *groupWriter) header(header uint64) {
	if n, ok := w.headers[header]; ok {
		w.put(colHeader, n+1)
		return
	}
	w.headers[header] = uint64(len(w.headers))
	w.put(colHeader, 0)
	w.put(colNewHeader, header)
}

func (w *groupWriter) defShape(shape []uint64) {
	for at := shape[1:]; len(at) > 0; at = at[3:] {
		w.put(colDefKind, at[0]<<defFlags|at[1])
		w.put(colDefWords, at[2])
	}
}

// localBodies are the bodies of a group that are in the block so far. The group numbers them in
// the order in which its members used them, the block in the order of cells.
type localBodies struct {
	order map[uint64]uint64 // number in the group → place in the order
}

func (w *groupWriter) cell(p *recordGroup, c *groupCell, at *place, local *localBodies) {
	values := c.chosen()
	if p.members > 1 {
		w.put(colVaries, block.Bit(values.varies()))
	}
	if !values.varies() {
		w.constant(p, c, at, local)
		return
	}
	switch at.what {
	case cellSeq:
		w.varyingSeq(p, values, at, local)
		return
	case cellWord:
		w.put(colForm, block.Bit(values == &c.relative))
	}
	seq.PutBody(&w.cols, roleColumn(roleMember), values.body())
}

func (w *groupWriter) constant(p *recordGroup, c *groupCell, at *place, local *localBodies) {
	v := c.value.first
	switch at.what {
	case cellSeq:
		if n, ok := local.order[v]; ok {
			w.put(int(at.column), uint64(len(local.order))-n)
			return
		}
		w.put(int(at.column), 0)
		local.order[v] = uint64(len(local.order))
		w.body(p, v, int(at.role))
	case cellWord:
		predicted := w.word(at)
		if c.isEither() && v != predicted {
			v = c.relative.first
		} else if values := c.chosen(); values == &c.relative {
			v = values.first
		}
		w.put(int(at.column), tokenChange(v, predicted))
		w.noteWord(at, v)
	case cellText:
		w.put(int(at.column), block.Zigzag(int64(v-w.text)))
		w.text = v
	default:
		if at.column == colWeight {
			v, w.weight = block.Zigzag(int64(v-w.weight)), v
		}
		w.put(int(at.column), v)
	}
}

// body adds a body of the group to the block's.
func (w *groupWriter) body(p *recordGroup, number uint64, role int) {
	b := p.bodies[number]
	if n, ok := w.bodies[b.Key]; ok {
		w.put(colBody, uint64(len(w.bodies))-n)
		return
	}
	w.bodies[b.Key] = uint64(len(w.bodies))
	w.put(colBody, 0)
	if err := b.WriteParts(w.part); w.err == nil {
		w.err = err
	}
	seq.PutBody(&w.cols, roleColumn(role), b)
}

// varyingSeq adds the bodies of the members, and which member has which.
func (w *groupWriter) varyingSeq(p *recordGroup, values *memberValues, at *place, local *localBodies) {
	raw, delta := seq.NewWindowWriter(false, memberWindow), seq.NewWindowWriter(true, memberWindow)
	before := uint64(len(local.order))
	var added []uint64
	values.fold()
	it := values.raw.Seq().Iter()
	for v, ok := it.Next(); ok; v, ok = it.Next() {
		n, ok := local.order[v]
		if !ok {
			n = before + uint64(len(added))
			local.order[v] = n
			added = append(added, v)
		}
		raw.Push(n)
		delta.Push(n)
	}
	w.put(colBodies, uint64(len(added)))
	for _, v := range added {
		w.body(p, v, int(at.role))
	}
	seq.PutBody(&w.cols, roleColumn(roleMember), seq.SmallerBody(raw, delta))
}
