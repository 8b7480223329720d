package otf2

import (
	"slices"

	"github.com/efg-tools/efg/internal/importer"
	"github.com/efg-tools/efg/signature"
)

// addRecords adds a call by the records in it.
func (p *process) addRecords(c *call) error {
	w := &p.words
	w.Reset(c.proc, c.large, p.callsite(c))
	w.SetDepth(c.depth)
	x := completion{process: p}
	for i := range c.records {
		switch r := &c.records[i]; kindOf(r.kind) {
		case ofWindows:
			p.applyToWindow(c, r, &x)
		case ofFiles:
			p.applyToFile(c, r, &x)
		default:
			p.apply(c, r, &x)
		}
	}
	for i := range c.later {
		p.applyLater(&c.later[i])
	}
	x.set(w)
	w.Finish()
	if c.open {
		c.thread.out.Enter(w.Input, p.since(c))
		return nil
	}
	id, err := c.thread.out.Add(&importer.Call{Input: w.Input, Start: c.start, End: c.end, Timed: true})
	if err != nil {
		return err
	}
	p.issued(c, id)
	x.forget()
	return nil
}

// issued notes which word the requests that a call began have.
func (p *process) issued(c *call, word uint64) {
	if word == 0 || c.proc.Issues == "" {
		return
	}
	for i := range c.records {
		switch r := &c.records[i]; r.kind {
		case MpiIsend, MpiIrecvRequest, NonBlockingCollectiveRequest:
			id, _ := r.request()
			p.requests[id] = word
		case RmaPut, RmaGet, RmaAtomic, IoOperationBegin:
			if o := p.operations[r.operation()]; o != nil {
				o.word = word
			}
		}
	}
}

// apply sets the words that a record in a call tells.
func (p *process) apply(c *call, r *record, x *completion) {
	w, roles := &p.words, &p.words.Proc.Roles
	switch r.kind {
	case MpiSend, MpiIsend:
		if !c.proc.Sends() {
			p.reader.skipped.misplaced(c.proc)
			return
		}
		p.setComm(r.fields[1])
		w.Set(roles.Dest, p.peer(r.fields[1], r.fields[0]))
		w.Set(roles.SendTag, tagOf(r))
		w.SetBytes(&roles.Send, r.fields[3])
		if r.kind == MpiIsend {
			p.issue(c)
		}
	case MpiRecv:
		if !c.proc.Receives() {
			p.reader.skipped.misplaced(c.proc)
			return
		}
		p.received(r)
		w.Set(roles.StatusSource, p.peer(r.fields[1], r.fields[0]))
		w.Set(roles.StatusTag, tagOf(r))
		w.Set(roles.StatusBytes, r.fields[3])
	case MpiIrecvRequest, NonBlockingCollectiveRequest:
		p.issue(c)
	case MpiCollectiveEnd:
		p.collective(r)
	case CommCreate:
		if c.proc.MadeKind() == signature.Comm {
			w.Set(roles.Made, p.commOf(r.fields[0]))
		}
	case MpiIsendComplete, MpiIrecv, MpiRequestTest, MpiRequestCancelled, NonBlockingCollectiveComplete:
		x.add(r)
	}
}

// issue says that a call issues a request.
func (p *process) issue(c *call) {
	if c.proc.Issues == "" {
		p.reader.skipped.misplaced(c.proc)
		return
	}
	p.words.Issue()
}

// misplaced counts a record in a call that cannot make it by itself.
func (s *skipped) misplaced(p *signature.Proc) {
	if p.Starts || p.Readies() {
		s.persistent++
	} else {
		s.outside++
	}
}

// applyLater sets the words of an operation that a record which came later tells.
func (p *process) applyLater(r *record) {
	switch r.kind {
	case MpiIrecv:
		p.received(r)
	case NonBlockingCollectiveComplete:
		p.collective(r)
	}
}

// received sets what a receive was posted for: the archive only has what it got.
func (p *process) received(r *record) {
	w, roles := &p.words, &p.words.Proc.Roles
	p.setComm(r.fields[1])
	w.Set(roles.Source, p.peer(r.fields[1], r.fields[0]))
	w.Set(roles.RecvTag, tagOf(r))
	if !(w.Proc.Sends() && roles.Send.Count == roles.Recv.Count) {
		w.SetBytes(&roles.Recv, r.fields[3])
	}
}

func (p *process) setComm(id uint64) {
	if p.words.Proc.ObjectKind() == signature.Comm {
		p.words.Set(signature.ObjectWord, p.commOf(id))
	}
}

// tagOf is the tag of a message.
func tagOf(r *record) uint64 {
	if r.fields[2] > 1<<31-1 {
		return signature.Absent
	}
	return r.fields[2]
}

// callsite is the word of the callsite of a call, 0 if it is unknown.
func (p *process) callsite(c *call) uint64 {
	if site := p.pathSite(c); site != 0 {
		return site
	}
	place, function := p.reader.placeOf(c)
	return p.out.Site(place, function)
}

// completion collects which requests a call completed or tested.
type completion struct {
	process *process
	words   []uint64 // requests
	done    []uint64 // positions of those that are complete
	quads   []uint64 // statuses: position in done, source, tag, bytes
	ids     []uint64 // of those that are complete
}

// add adds a record.
func (x *completion) add(r *record) {
	id, _ := r.request()
	word, ok := x.process.requests[id]
	if !ok {
		word = signature.Unknown
	}
	at := x.note(word, r.kind != MpiRequestTest)
	if r.kind == MpiRequestTest {
		return
	}
	x.ids = append(x.ids, id)
	if r.kind == MpiIrecv {
		place := uint64(max(0, slices.Index(x.done, uint64(at))))
		x.quads = append(x.quads, place, x.process.peer(r.fields[1], r.fields[0]), tagOf(r), r.fields[3])
	}
}

// note notes that a request was completed or tested, and returns its position.
func (x *completion) note(word uint64, done bool) int {
	if word != signature.Unknown {
		if at := slices.Index(x.words, word); at >= 0 { // of both halves of MPI_Isendrecv
			return at
		}
	}
	at := len(x.words)
	x.words = append(x.words, word)
	if done {
		x.done = append(x.done, uint64(at))
	}
	return at
}

// set sets the words that say what was completed.
func (x *completion) set(w *importer.Words) {
	r := &w.Proc.Roles
	if len(x.words) == 0 {
		return
	}
	if w.Proc.Vector(r.Requests) {
		w.SetVector(r.Requests, slices.Clone(x.words))
		w.SetLength(r.Requests, uint64(len(x.words)))
	} else {
		w.Set(r.Requests, x.words[0])
	}
	if len(x.done) == 0 {
		w.Set(r.Flag, 0)
		return
	}
	w.Set(r.Flag, 1)
	w.Set(r.Index, x.done[0])
	w.Set(r.Outcount, uint64(len(x.done)))
	w.SetVector(r.Indices, slices.Clone(x.done))
	if r.StatusSource != 0 && len(x.quads) >= 4 {
		w.Set(r.StatusSource, x.quads[1])
		w.Set(r.StatusTag, x.quads[2])
		w.Set(r.StatusBytes, x.quads[3])
	}
	if len(x.quads) > 0 {
		w.SetVector(r.Statuses, slices.Clone(x.quads))
	}
}

// forget ends the requests that are complete.
func (x *completion) forget() {
	for _, id := range x.ids {
		delete(x.process.requests, id)
	}
}
