package importer

import (
	"slices"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/signature"
)

// request is what later calls need to know of a request.
type request struct {
	receives, persistent, active bool
	// wild: the source or tag as posted is any, or not known.
	wild   bool
	thread uint32
	// What was posted; bytes is absent if it is not known.
	source, tag, bytes uint64
	unit, count        uint64 // size of an element, absent if it is not known, and number of elements if counted
	counted            bool
}

// status are the words of a completed receive.
type status struct{ source, tag, bytes uint64 }

// requestsOf are the requests that a call is about; nil if it is about none.
func (t *Thread) requestsOf(p *signature.Proc, in *efg.Input) []uint64 {
	r := p.Roles.Requests
	if r == 0 || p.Completes == "" && p.Peeks == "" && !p.Starts && !p.Frees && !p.Cancels {
		return nil
	}
	if !p.Vector(r) {
		return []uint64{in.Words[r]}
	}
	if in.Words[r] == signature.Same && t.valid {
		return slices.Clone(t.array)
	}
	return vec(in, r)
}

// vec is the content of an array word, nil if it is a constant.
func vec(in *efg.Input, word int) []uint64 {
	for _, v := range in.Vecs {
		if v.Word == word {
			return v.Elems
		}
	}
	return nil
}

// setVec sets the content of an array word.
func setVec(in *efg.Input, word int, elems []uint64) {
	in.Vecs = slices.DeleteFunc(in.Vecs, func(v efg.VecContent) bool { return v.Word == word })
	in.Words[word] = signature.Ident(signature.Hash(elems...))
	in.Vecs = append(in.Vecs, efg.VecContent{Word: word, Elems: elems})
}

// completed are the positions of the requests that a call completed or found complete.
func completed(p *signature.Proc, in *efg.Input, array []uint64) []int {
	r := &p.Roles
	if signature.Header(in.Words[0]).ErrorClass() != 0 || r.Flag != 0 && in.Words[r.Flag] != 1 {
		return nil
	}
	var list []int
	switch p.Completes + p.Peeks {
	case signature.CompletesOne, signature.CompletesAll:
		for i := range array {
			list = append(list, i)
		}
	case signature.CompletesAny:
		if i := in.Words[r.Index]; i < uint64(len(array)) {
			list = append(list, int(i))
		}
	case signature.CompletesSome:
		for _, i := range vec(in, r.Indices) {
			if i < uint64(len(array)) {
				list = append(list, int(i))
			}
		}
	}
	return list
}

// follow replaces what in the statuses of a call follows from the calls that posted the receives.
func (t *Thread) follow(p *signature.Proc, in *efg.Input, array []uint64, done []int) {
	r := &p.Roles
	if p.Completes == "" && p.Peeks == "" {
		return
	}
	if r.StatusSource != 0 && len(done) == 1 {
		s := status{in.Words[r.StatusSource], in.Words[r.StatusTag], in.Words[r.StatusBytes]}
		q := t.process.requests[array[done[0]]]
		if q == nil || !q.receives || !q.active {
			s = status{signature.Absent, signature.Absent, signature.Absent}
		} else {
			s = t.shorten(q, s)
		}
		in.Words[r.StatusSource], in.Words[r.StatusTag], in.Words[r.StatusBytes] = s.source, s.tag, s.bytes
	}
	if r.Statuses == 0 || len(done) == 0 {
		return
	}
	t.followAll(p, in, array, done)
}

// followAll is follow for an array of statuses: position, source, tag and bytes of each receive, of
// which it keeps those that say something.
func (t *Thread) followAll(p *signature.Proc, in *efg.Input, array []uint64, done []int) {
	r := &p.Roles
	var told []uint64
	for quads := vec(in, r.Statuses); len(quads) >= 4; quads = quads[4:] {
		k := int(min(quads[0], 1<<31))
		if k >= len(done) {
			continue
		}
		q := t.process.requests[array[done[k]]]
		s := status{quads[1], quads[2], quads[3]}
		if q == nil || !q.receives || !q.active {
			continue
		}
		if !q.wild && q.thread == t.number && t.shorten(q, s) == (status{signature.AsPosted, signature.AsPosted, signature.AsPosted}) {
			continue
		}
		told = append(told, quads[:4]...)
	}
	in.Vecs = slices.DeleteFunc(in.Vecs, func(v efg.VecContent) bool { return v.Word == r.Statuses })
	in.Words[r.Statuses] = signature.AsPosted
	if told != nil {
		setVec(in, r.Statuses, told)
	}
}

// shorten leaves out of a status what follows from the call that posted the receive.
func (t *Thread) shorten(q *request, s status) status {
	if q.thread != t.number {
		return s
	}
	if !q.wild && s.source == q.source && s.tag == q.tag {
		s.source, s.tag = signature.AsPosted, signature.AsPosted
	}
	if s.bytes == q.bytes && s.bytes != signature.Absent {
		s.bytes = signature.AsPosted
	}
	return s
}

// same replaces an array of requests by the constant for one that is as the last call left it.
func (t *Thread) same(p *signature.Proc, in *efg.Input, array []uint64) {
	r := p.Roles.Requests
	if array == nil || signature.Header(in.Words[0]).Depth() > 0 || !p.Vector(r) || p.Completes == "" && p.Peeks == "" && !p.Starts {
		return
	}
	if t.valid && slices.Equal(t.array, array) {
		in.Words[r] = signature.Same
		in.Vecs = slices.DeleteFunc(in.Vecs, func(v efg.VecContent) bool { return v.Word == r })
	}
}

// after keeps what later calls need to know.
func (t *Thread) after(p *signature.Proc, in *efg.Input, array []uint64, done []int, id uint64) {
	failed := signature.Header(in.Words[0]).ErrorClass() != 0
	if id != 0 && p.Issues != "" {
		t.process.requests[id] = t.posted(p, in)
	}
	if !failed {
		t.settle(p, array, done)
	}
	if p.Vector(p.Roles.Requests) && signature.Header(in.Words[0]).Depth() == 0 && (p.Completes != "" || p.Peeks != "" || p.Starts) {
		t.leave(p, array, done, failed)
	}
	if p.Frees && !failed {
		t.release(p, in)
	}
}

// posted is what a call says of the request that it issues.
func (t *Thread) posted(p *signature.Proc, in *efg.Input) *request {
	r := &p.Roles
	q := &request{persistent: p.Persistent, active: !p.Persistent, thread: t.number, receives: p.Receives(), wild: true}
	q.source, q.tag, q.bytes, q.unit = signature.Absent, signature.Absent, signature.Absent, signature.Absent
	if !q.receives {
		return q
	}
	if r.Source != 0 {
		q.source, q.tag = in.Words[r.Source], in.Words[r.RecvTag]
		q.wild = unknown(q.source) || unknown(q.tag)
	}
	q.count, q.counted = 1, true
	for _, w := range []int{r.Recv.Count, r.Recv.Parts} {
		if w != 0 {
			q.counted = q.counted && !signature.IsConst(in.Words[w])
			q.count *= in.Words[w]
		}
	}
	if size, ok := t.process.TypeSize(in.Words[r.Recv.Type]); ok {
		q.unit = size
		if q.counted {
			q.bytes = size * q.count
		}
	}
	return q
}

// unknown reports whether a source or tag is any, nobody, or not known.
func unknown(w uint64) bool { return signature.IsConst(w) }

// settle ends requests that are complete, and starts persistent ones.
func (t *Thread) settle(p *signature.Proc, array []uint64, done []int) {
	requests := t.process.requests
	if p.Starts {
		for _, w := range array {
			if q := requests[w]; q != nil {
				q.active = true
			}
		}
	}
	if p.Completes == "" {
		return
	}
	for _, i := range done {
		q := requests[array[i]]
		switch {
		case q == nil:
		case q.persistent:
			q.active = false
		default:
			t.process.free(array[i])
		}
	}
}

// free ends the life of a request or another local object.
func (p *Process) free(word uint64) {
	id, ok := signature.ParseID(word)
	if !ok {
		return
	}
	delete(p.requests, word)
	if t := p.threads[id.Thread]; t != nil {
		t.build.Free(word)
	}
}

// leave keeps the array of requests as a call left it.
func (t *Thread) leave(p *signature.Proc, array []uint64, done []int, failed bool) {
	if t.valid = array != nil && !failed; !t.valid {
		return
	}
	t.array = append(t.array[:0], array...)
	if p.Completes == "" {
		return
	}
	for _, i := range done {
		if w := array[i]; signature.IsID(w) && t.process.requests[w] == nil {
			t.array[i] = signature.RequestNull
		}
	}
}

// release ends the objects that a call frees.
func (t *Thread) release(p *signature.Proc, in *efg.Input) {
	for i := range p.Words {
		w := &p.Words[i]
		if w.Param < 0 || w.Out || !p.Params[w.Param].Kind.Local() {
			continue
		}
		t.process.free(in.Words[i])
	}
}
