package otf2

import (
	"github.com/efg-tools/efg/internal/importer"
	"github.com/efg-tools/efg/signature"
)

// process makes the calls of a process. Records of receives and of nonblocking collectives have
// their communicator only when they are complete: calls that begin some are held back until then,
// and so are those after them, but not more than maxAhead.
type process struct {
	reader   *reader
	out      *importer.Process
	threads  []*thread
	ahead    []*call
	first    int              // of ahead
	waiting  map[uint64]*call // by request of the archive
	requests map[uint64]uint64
	paths    map[uint64]uint64 // words of callsites, by calling context
	comms    map[uint64]uint64
	// operations are accesses and operations on files that are not known to be complete, see operations.go.
	operations map[operationKey]*operation
	handles    map[handleKey]uint64 // words of windows, files and groups
	spare      []*call
	words      importer.Words
	members    [2][]importer.Member
	begin      uint64 // of the first call
}

const maxAhead = 1 << 16

func (p *process) newCall(proc *signature.Proc, start uint64) *call {
	c := &call{}
	if n := len(p.spare); n > 0 {
		c, p.spare = p.spare[n-1], p.spare[:n-1]
	}
	*c = call{proc: proc, start: start, records: c.records[:0], in: c.in[:0], out: c.out[:0], later: c.later[:0]}
	return c
}

// read reads the events of the threads, and returns the number of calls.
func (p *process) read(locations []Location) (calls uint64, err error) {
	defer func() {
		for _, t := range p.threads {
			t.events.Close()
		}
	}()
	numbers := uint32(0)
	for _, l := range locations {
		t, err := p.open(l)
		if err != nil {
			return 0, err
		}
		p.threads = append(p.threads, t)
		if t.events.chunks.f == nil && l.Events > 0 {
			p.reader.skipped.missing++
		}
		if err := t.advance(); err != nil {
			return 0, err
		}
		if t.next != nil {
			t.out = p.out.Thread(numbers)
			numbers++
		}
	}
	for ; ; calls++ {
		var t *thread
		for _, o := range p.threads {
			if o.next != nil && (t == nil || o.next.start < t.next.start) {
				t = o
			}
		}
		if t == nil {
			return calls, p.flush(0)
		}
		if calls == 0 {
			p.begins(t.outermost().start)
		}
		if err := p.take(t, t.next); err != nil {
			return 0, err
		}
		if err := t.advance(); err != nil {
			return 0, err
		}
	}
}

// begins notes when the process made its first call.
func (p *process) begins(start uint64) {
	if p.begin = start; p.reader.meta.Started > 0 {
		p.out.Data.Start = p.reader.meta.Started + int64(start)
	}
}

// since is when a call began that had not returned, ns after the first one; 0 would be unknown.
func (p *process) since(c *call) uint64 { return max(c.start-p.begin, 1) }

// take takes the next call.
func (p *process) take(t *thread, c *call) error {
	c.thread = t
	if !p.reader.exact {
		for i := range c.records {
			p.settle(&c.records[i], c)
		}
	}
	p.ahead = append(p.ahead, c)
	return p.flush(maxAhead)
}

// settle takes a record that completes an operation which an earlier call began, or begins one.
func (p *process) settle(r *record, c *call) {
	id, ok := r.request()
	if !ok {
		return
	}
	switch r.kind {
	case MpiIrecvRequest, NonBlockingCollectiveRequest:
		if c.proc.Issues != "" {
			p.waiting[id] = c
			c.missing++
		}
	case MpiIrecv, NonBlockingCollectiveComplete, MpiRequestCancelled:
		if began := p.waiting[id]; began != nil {
			began.later = append(began.later, *r)
			began.missing--
			delete(p.waiting, id)
		}
	}
}

// request is the request of a record.
func (r *record) request() (uint64, bool) {
	switch r.kind {
	case MpiIsend, MpiIrecv:
		return r.fields[4], true
	case MpiIsendComplete, MpiIrecvRequest, MpiRequestTest, MpiRequestCancelled, NonBlockingCollectiveRequest:
		return r.fields[0], true
	case NonBlockingCollectiveComplete:
		return r.fields[5], true
	}
	return 0, false
}

// flush adds calls that nothing is missing of, and more until no more than some are held back.
func (p *process) flush(most int) error {
	for p.first < len(p.ahead) && (p.ahead[p.first].missing <= 0 || len(p.ahead)-p.first > most) {
		c := p.ahead[p.first]
		p.ahead[p.first] = nil
		p.first++
		if err := p.add(c); err != nil {
			return err
		}
		p.spare = append(p.spare, c)
	}
	if p.first == len(p.ahead) {
		p.ahead, p.first = p.ahead[:0], 0
	} else if p.first > maxAhead {
		p.ahead, p.first = append(p.ahead[:0], p.ahead[p.first:]...), 0
	}
	return nil
}

// add adds a call to its stream.
func (p *process) add(c *call) error {
	if c.missing > 0 { // its request is complete later, or never
		for i := range c.records {
			if id, ok := c.records[i].request(); ok && p.waiting[id] == c {
				delete(p.waiting, id)
			}
		}
	}
	var err error
	switch {
	case c.region || p.reader.exact:
		err = p.addDescribed(c)
	default:
		err = p.addRecords(c)
	}
	if err != nil {
		return &Error{c.thread.events.chunks.file, -1, err}
	}
	return nil
}
