package simgrid

import (
	"bufio"
	"strconv"

	"github.com/efg-tools/efg/internal/analysis"
	"github.com/efg-tools/efg/reconstruct"
	"github.com/efg-tools/efg/signature"
)

// process writes the trace of a process.
type process struct {
	*exporter
	rank     int
	facts    *analysis.Process
	plans    []plan
	ahead    *analysis.Outcomes
	requests map[uint64]*request // by word
	comms    map[uint64]*comm    // by word
	out      *bufio.Writer
	line     []byte
	computed int64 // ns since the last action
	end      int64 // of the call before
	timed    bool  // end is known
}

// comm is a communicator as a process sees it.
type comm struct {
	known bool
	name  labelled // without a tag
	// whole: its ranks are those of the world. single: it has no other process.
	whole, single bool
}

// stream writes the actions of a thread.
func (p *process) stream(replay *reconstruct.Process, number int) error {
	nodes := replay.Data().Streams[number].Nodes
	p.plans = make([]plan, len(nodes))
	for i := range nodes {
		p.plans[i] = planOf(&nodes[i])
	}
	p.ahead = analysis.OutcomesOf(replay, number, p.wild)
	reader := replay.Reader(number)
	const often = 1 << 12
	for n := uint64(1); ; n++ {
		e, err := reader.Next()
		if err != nil {
			return err
		}
		if e == nil {
			return p.job.Done((n - 1) % often)
		}
		if e.Header().Depth() == 0 { // of other calls, the time is in those around them
			p.compute(e)
		}
		if err := p.call(e); err != nil {
			return err
		}
		if n%often == 0 {
			if err := p.job.Done(often); err != nil {
				return err
			}
		}
	}
}

// wild reports whether a request may be of a receive of any source or tag.
func (p *process) wild(request uint64) bool {
	id, ok := signature.ParseID(request)
	return ok && int(id.Node) < len(p.plans) && p.plans[id.Node].wild
}

// compute adds the time between a call and the one before it.
func (p *process) compute(e *reconstruct.Event) {
	start, end, ok := e.Times()
	if ok && p.timed {
		p.computed += max(0, start-p.end)
	}
	if p.end, p.timed = end, ok; ok {
		p.measured = true
	} else {
		p.untimed++
	}
}

// call writes what a call does.
func (p *process) call(e *reconstruct.Event) error {
	x := &p.plans[e.Node()]
	switch x.action {
	case leftOut:
		p.leftOut[x.name]++
	case missing:
		p.missing[x.name]++
	case transfers:
		p.transfer(e, x)
	case issues:
		p.issue(e, x)
	case prepares:
		if w, ok := issued(e, x); ok {
			p.requests[w] = &request{prepared: p.posts(e, x)}
		}
	case starts:
		p.start(e, x)
	case joins:
		p.join(e, x)
	}
	if x.completes && x.action != missing {
		p.complete(e)
	}
	if x.frees && x.action != missing {
		delete(p.requests, e.Word(x.roles.Requests))
	}
	return p.ahead.Err
}

// act writes an action, and the computation before it.
func (p *process) act(name string, args ...int64) {
	if p.computed > 0 {
		computed := p.computed
		p.computed = 0
		p.act("compute", computed)
	}
	b := strconv.AppendInt(p.line[:0], int64(p.rank), 10)
	b = append(append(b, ' '), name...)
	for _, a := range args {
		b = strconv.AppendInt(append(b, ' '), a, 10)
	}
	p.line = append(b, '\n')
	p.out.Write(p.line) // bufio keeps the first error for Flush
}

// comm finds a communicator.
func (p *process) comm(word uint64) *comm {
	if c := p.comms[word]; c != nil {
		return c
	}
	c := &comm{}
	p.comms[word] = c
	own, other := p.facts.Members(word)
	switch {
	case word == signature.CommSelf:
		c.known, c.single, c.name = true, true, labelled{comm: word}
	case own != nil:
		c.known, c.name = true, labelled{comm: p.facts.CommonName(word), world: p.facts.FirstRank()}
		c.single = own.Size() == 1 && other == nil
		c.whole = own.Size() == p.ranks && other == nil
		for i := 0; i < own.Size() && c.whole; i++ {
			c.whole = own.At(i) == i
		}
	}
	return c
}

const (
	// Sizes are in elements of these datatypes of SimGrid.
	byteType   = 6
	doubleType = 0
	doubleSize = 8
	// mostElements is the largest count.
	mostElements = 1<<31 - 1
)

// elements converts sizes in bytes to numbers of elements of one datatype; false if one is too large.
func elements(bytes ...uint64) (counts []int64, datatype int64, ok bool) {
	unit := uint64(1)
	datatype = byteType
	for _, n := range bytes {
		if n > mostElements {
			unit, datatype = doubleSize, doubleType
		}
		if n > mostElements*doubleSize {
			return nil, 0, false
		}
	}
	for _, n := range bytes {
		counts = append(counts, int64((n+unit-1)/unit))
	}
	return counts, datatype, true
}
