package match

import (
	"github.com/efg-tools/efg/reconstruct"
	"github.com/efg-tools/efg/signature"
)

// outcomes finds out what nonblocking receives of any source or tag will receive, by reading the
// stream ahead until they are complete.
type outcomes struct {
	thread *Thread
	reader *reconstruct.Reader
	found  map[uint64][]reconstruct.Reception // by request, in order
	room   []reconstruct.Reception
	ended  bool
	err    error
}

func newOutcomes(t *Thread, r *reconstruct.Reader) *outcomes {
	return &outcomes{thread: t, reader: r, found: map[uint64][]reconstruct.Reception{}}
}

// next returns the next outcome of a request; false if its completion is not in the stream.
func (x *outcomes) next(request uint64) (reconstruct.Reception, bool) {
	for len(x.found[request]) == 0 {
		if !x.read() {
			return reconstruct.Reception{}, false
		}
	}
	list := x.found[request]
	first := list[0]
	if len(list) == 1 {
		delete(x.found, request)
	} else {
		x.found[request] = list[1:]
	}
	return first, true
}

// read goes through one event; false at the end.
func (x *outcomes) read() bool {
	if x.ended {
		return false
	}
	e, err := x.reader.Next()
	if e == nil || err != nil {
		x.ended, x.err = true, err
		return false
	}
	n := &x.thread.nodes[e.Node()]
	switch {
	case n.frees:
		x.note(e.Word(n.roles.Requests), signature.Absent, signature.Absent)
	case n.completes:
		x.room = e.AppendReceptions(x.room[:0])
		for _, r := range x.room {
			x.note(e.Request(r.Position), r.Source, r.Tag)
		}
	}
	return true
}

func (x *outcomes) note(request, source, tag uint64) {
	if n, _ := x.thread.Process.issuer(request); n != nil && n.wild {
		x.found[request] = append(x.found[request], reconstruct.Reception{Source: source, Tag: tag})
	}
}
