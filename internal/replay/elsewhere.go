package replay

import (
	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/reconstruct"
	"github.com/efg-tools/efg/signature"
)

// endings says which threads complete or free the requests of receives that may be of any source or tag.
type endings struct {
	process *reconstruct.Process
	wild    []func(request uint64) bool // by number of the stream that issued it
	streams map[uint32]int              // numbers by thread
	by      map[uint64]ending           // by request
}

// ending is the stream that ends each use of a request.
type ending struct {
	stream  int
	unknown bool // not always the same one, or it is not known when
}

// endingsOf reads all streams of a process, if there are several.
func endingsOf(p *reconstruct.Process) (*endings, error) {
	x := &endings{process: p, streams: map[uint32]int{}, by: map[uint64]ending{}}
	for i := range p.Streams() {
		x.streams[p.Data().Streams[i].Thread] = i
		x.wild = append(x.wild, mayBeWildIn(&p.Data().Streams[i]))
	}
	for i := 0; i < p.Streams() && p.Streams() > 1; i++ {
		reader := p.UntimedReader(i)
		for {
			e, err := reader.Next()
			if err != nil {
				return nil, err
			}
			if e == nil {
				break
			}
			x.event(e, i)
		}
	}
	return x, nil
}

// mayBeWildIn returns a function that reports whether a request may be one that a stream issued for a
// receive of any source or tag.
func mayBeWildIn(s *efg.Stream) func(request uint64) bool {
	wild := make([]bool, len(s.Nodes))
	for i := range s.Nodes {
		if p := signature.ProcByID(signature.Header(s.Nodes[i].Words[0]).Proc()); p != nil {
			wild[i] = mayBeAny(&s.Nodes[i], p)
		}
	}
	return func(request uint64) bool {
		id, ok := signature.ParseID(request)
		return ok && id.Thread == s.Thread && int(id.Node) < len(wild) && wild[id.Node]
	}
}

// event notes which requests a call of a stream ends.
func (x *endings) event(e *reconstruct.Event, stream int) {
	p := e.Proc()
	switch {
	case p == nil || p.Completes == "" && !p.FreesRequest():
	case e.Failed():
		for _, w := range requestsOf(e) {
			x.ends(w, stream, true)
		}
	case p.FreesRequest():
		x.ends(e.Word(p.Roles.Requests), stream, false)
	default:
		for _, position := range e.Completed() {
			x.ends(e.Request(position), stream, false)
		}
	}
}

// ends notes that a call of a stream ends a request; failed: perhaps.
func (x *endings) ends(request uint64, stream int, failed bool) {
	id, ok := signature.ParseID(request)
	issuer, known := x.streams[id.Thread]
	if !ok || !known || !x.wild[issuer](request) {
		return
	}
	header := signature.Header(x.process.Data().Streams[issuer].Nodes[id.Node].Words[0])
	other := issuer != stream && (failed || signature.ProcByID(header.Proc()).Persistent)
	was, seen := x.by[request]
	x.by[request] = ending{stream: stream, unknown: was.unknown || other || seen && was.stream != stream}
}

// stream returns the number of the stream that ends each use of a request; false if there is none.
func (x *endings) stream(request uint64) (int, bool) {
	if x.process.Streams() == 1 {
		return 0, true
	}
	e, ok := x.by[request]
	return e.stream, ok && !e.unknown
}

// completions reads ahead what a stream completes of the requests that another one issued.
type completions struct {
	err error // why reading ended before the end of the stream

	reader *reconstruct.Reader
	open   func(request uint64) bool
	found  map[uint64][]reconstruct.Reception // by request, in order
	ended  bool
	room   []reconstruct.Reception
}

// completionsIn returns what a stream completes of the requests that the stream issuer issued, and no other stream
// completes.
func (x *endings) completionsIn(stream, issuer int) *completions {
	open := func(request uint64) bool {
		by, known := x.stream(request)
		return known && by == stream && x.wild[issuer](request)
	}
	return &completions{reader: x.process.UntimedReader(stream), open: open, found: map[uint64][]reconstruct.Reception{}}
}

// next returns what the next use of a request received; false if its end is not in the stream.
func (c *completions) next(request uint64) (got reconstruct.Reception, ok bool) {
	for len(c.found[request]) == 0 {
		if !c.read() {
			return got, false
		}
	}
	list := c.found[request]
	if c.found[request] = list[1:]; len(list) == 1 {
		delete(c.found, request)
	}
	return list[0], true
}

// read goes through one event; false at the end.
func (c *completions) read() bool {
	if c.ended {
		return false
	}
	e, err := c.reader.Next()
	if e == nil || err != nil {
		c.ended, c.err = true, err
		return false
	}
	p := e.Proc()
	switch {
	case p == nil || e.Failed():
	case p.FreesRequest():
		c.note(e.Word(p.Roles.Requests), reconstruct.Reception{Source: signature.Absent, Tag: signature.Absent})
	case p.Completes != "":
		c.room = e.AppendReceptions(c.room[:0])
		for _, r := range c.room {
			c.note(e.Request(r.Position), r)
		}
	}
	return true
}

func (c *completions) note(request uint64, got reconstruct.Reception) {
	if c.open(request) {
		c.found[request] = append(c.found[request], got)
	}
}
