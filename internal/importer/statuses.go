package importer

import (
	"fmt"

	"github.com/efg-tools/efg/signature"
)

// statuses sets the words of statuses: "source", "tag" and "count" or "bytes" of one, "statuses" of
// several.
func (x *described) statuses() error {
	out, r := x.from.Out, &x.proc.Roles
	if out == nil {
		return nil
	}
	array := x.thread.requestsOf(x.proc, &x.in)
	done := completed(x.proc, &x.in, array)
	if r.StatusBytes != 0 {
		var q *request
		if len(done) == 1 {
			q = x.thread.process.requests[array[done[0]]]
		}
		s, err := x.status(out, q)
		if err != nil {
			return err
		}
		if r.StatusSource != 0 {
			x.in.Words[r.StatusSource], x.in.Words[r.StatusTag] = s.source, s.tag
		}
		x.in.Words[r.StatusBytes] = s.bytes
	}
	if r.Statuses == 0 || len(done) == 0 {
		return nil
	}
	return x.manyStatuses(out.Member("statuses"), array, done)
}

var (
	sourceParam = &signature.Param{Name: "source", Kind: signature.Peer}
	tagParam    = &signature.Param{Name: "tag", Kind: signature.Tag}
)

// status reads a status, of a request that is complete or of the call itself.
func (x *described) status(v *Value, q *request) (s status, err error) {
	s = status{signature.Absent, signature.Absent, signature.Absent}
	for _, f := range []struct {
		param *signature.Param
		word  *uint64
	}{{sourceParam, &s.source}, {tagParam, &s.tag}} {
		if m := v.Member(f.param.Name); m != nil && x.proc.Roles.StatusSource+x.proc.Roles.Statuses != 0 {
			if *f.word, err = x.value(f.param, m); err != nil {
				return s, err
			}
		}
	}
	if m := v.Member("bytes"); m != nil {
		s.bytes = uint64(m.Number)
		return s, nil
	}
	m := v.Member("count")
	if m == nil {
		return s, nil
	}
	s.bytes = x.bytes(uint64(m.Number), q)
	return s, nil
}

// bytes is the size of some elements that arrived; absent if that of their datatype is not known.
func (x *described) bytes(count uint64, q *request) uint64 {
	size, ok := uint64(0), false
	if q != nil {
		if q.counted && count == q.count {
			if q.bytes == signature.Absent {
				return signature.AsPosted
			}
			return q.bytes
		}
		size, ok = q.unit, q.unit != signature.Absent
	} else {
		r := &x.proc.Roles
		d := &r.Recv
		if !d.Present() {
			d = &r.Send // of a write
		}
		if d.Type != 0 {
			size, ok = x.thread.process.TypeSize(x.in.Words[d.Type])
		}
	}
	if !ok {
		return signature.Absent
	}
	return size * count
}

// manyStatuses reads an array of statuses.
func (x *described) manyStatuses(list *Value, array []uint64, done []int) error {
	var quads []uint64
	if list != nil {
		for i := range list.List {
			v := &list.List[i]
			at := v.Member("index")
			if at == nil {
				return fmt.Errorf("statuses of %s: a status without index", x.proc.Name)
			}
			for k, position := range done {
				if int64(position) != at.Number {
					continue
				}
				s, err := x.status(v, x.thread.process.requests[array[position]])
				if err != nil {
					return err
				}
				quads = append(quads, uint64(k), s.source, s.tag, s.bytes)
			}
		}
	}
	x.in.Words[x.proc.Roles.Statuses] = signature.AsPosted
	if quads != nil {
		setVec(&x.in, x.proc.Roles.Statuses, quads)
	}
	return nil
}
