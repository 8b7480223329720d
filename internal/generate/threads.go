package generate

import (
	"errors"
	"fmt"
	"slices"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/signature"
)

// thread is a thread of a process other than the first one, which begins MPI and ends it.
type thread struct {
	number int // of its stream
	body   []stmt
	// stays: it does not end before the process does
	stays bool
	// start is the statement of the first thread's body before which it starts
	start int
	// join is the one before which it is joined, if it does not stay
	join int
}

// await is how long calls of a node wait before they begin: until a thread has made so many calls that others wait for.
// Both are series over the visits.
type await struct{ thread, calls value }

// addThread adds a thread other than the first. The nodes of its body have their numbers in the stream.
func (p *process) addThread(s *efg.Stream, body []stmt) error {
	t := &thread{number: len(p.others) + 1, body: renumberedFrom(body, len(p.nodes)), stays: s.End == efg.EndFinalized}
	switch {
	case s.End != efg.EndThread && s.End != efg.EndFinalized:
		return errors.New("the recording ends before it does: what it would do then is unknown")
	case len(body) == 0:
		return errors.New("it makes no calls other than polls that found nothing: without them it is not a thread of the program")
	}
	p.others = append(p.others, t)
	return nil
}

// renumberedFrom is a body whose nodes are numbered from base on.
func renumberedFrom(body []stmt, base int) []stmt {
	out := slices.Clone(body)
	for i := range out {
		if out[i].body != nil {
			out[i].body = renumberedFrom(out[i].body, base)
		} else {
			out[i].node += base
		}
	}
	return out
}

// bodies are those of all threads.
func (p *process) bodies() [][]stmt {
	list := [][]stmt{p.body}
	for _, t := range p.others {
		list = append(list, t.body)
	}
	return list
}

// onlyThread returns the body of the thread that makes calls which f accepts, without its other calls. If several threads
// make them, their order is not known, and it returns an error.
func (p *process) onlyThread(f func(node int) bool) ([]stmt, error) {
	var found []stmt
	for _, body := range p.bodies() {
		called := only(body, f)
		if len(found) > 0 && len(called) > 0 {
			return nil, fmt.Errorf("%s: several threads make such calls: in which order is not recorded", p.nodes[firstCall(called)].proc.Name)
		}
		if len(called) > 0 {
			found = called
		}
	}
	return found, nil
}

// firstCall is the node of the first call of a body.
func firstCall(body []stmt) int {
	for body[0].body != nil {
		body = body[0].body
	}
	return body[0].node
}

// identKey is a datatype, group or operation as a variable of a stream.
type identKey struct {
	stream int
	word   uint64
}

// makers are the streams whose calls make datatypes, groups and operations. These are named by their content, so that several
// threads may have objects of their own with one name.
type makers map[uint64][]int

func makersOf(nodes []*node) makers {
	m := makers{}
	for _, n := range nodes {
		for i := range n.values {
			if q := n.param(i); q != nil && q.Kind.Ident() && q.Kind.Handle() && n.proc.Words[i].Out {
				n.values[i].each(func(w uint64) {
					if !special(w) && !slices.Contains(m[w], n.stream) {
						m[w] = append(m[w], n.stream)
					}
				})
			}
		}
	}
	return m
}

// owner is the stream that has made the object which calls of a stream name: itself if it has made one, else the first
// that has.
func (m makers) owner(stream int, w uint64) int {
	if list := m[w]; len(list) > 0 && !slices.Contains(list, stream) {
		return list[0]
	}
	if len(m[w]) == 0 {
		return 0
	}
	return stream
}

// handOver decides where the threads of a world's processes start and what their calls wait for. ranks: the program is for
// other ranks; 0: it is not.
func (w *world) handOver(ranks int) error {
	alike := map[uint64][]*process{} // by what their first threads do
	for _, p := range w.procs {
		if p.order == nil {
			continue
		}
		if ranks > 0 {
			return fmt.Errorf("rank %d: %d threads make calls: a program with threads is not generated for another number of ranks", p.rank, len(p.others)+1)
		}
		if err := p.checkThreads(); err != nil {
			return fmt.Errorf("rank %d: %w", p.rank, err)
		}
		key := signature.Hash(bodyKey(nil, p.body)...)
		alike[key] = append(alike[key], p)
	}
	for _, p := range w.procs {
		if p.order == nil {
			continue
		}
		like := alike[signature.Hash(bodyKey(nil, p.body)...)]
		p.placeStarts(like)
		p.placeJoins(like)
		if err := p.order.decide(); err != nil {
			return fmt.Errorf("rank %d: %w", p.rank, err)
		}
		p.order.events, p.order.variables, p.order.blocks = nil, nil, nil // they are not needed any more
	}
	return nil
}

// placeStarts places the starts of threads: as late as they were started in the run, but at the same statement in all
// processes whose first threads make the same calls. Earlier is always possible.
func (p *process) placeStarts(alike []*process) {
	for k, t := range p.others {
		t.start = len(p.body)
		for _, o := range alike {
			if k < len(o.others) && o.order != nil {
				t.start = min(t.start, o.statementAt(o.order.started(k+1)))
			}
		}
		for _, o := range alike {
			if k < len(o.others) {
				o.others[k].start = min(o.others[k].start, t.start)
			}
		}
	}
}

// placeJoins places where the first thread joins others: as early as they had ended in the run, but before the same statement
// in all processes whose first threads make the same calls. Later is always possible.
func (p *process) placeJoins(alike []*process) {
	for k, t := range p.others {
		t.join = t.start
		for _, o := range alike {
			if k < len(o.others) && o.order != nil {
				t.join = max(t.join, o.statementAfter(o.order.endedBefore(k+1)))
			}
		}
		t.join = min(t.join, p.ending())
	}
}

// statementAfter is the first statement of the first thread's body that begins after a number of its calls.
func (p *process) statementAfter(calls uint64) int {
	for i := range p.body {
		if p.callsBefore(i) >= calls {
			return i
		}
	}
	return len(p.body)
}

// statementAt is the last statement of the first thread's body that begins with one of its first calls, up to a number of
// them; not before the call that begins MPI.
func (p *process) statementAt(calls uint64) int {
	total := uint64(0)
	for i := range p.body {
		n := uint64(0)
		eachCall(p.body[i:i+1], 1, func(_ int, times uint64) { n += times })
		if total+n > calls {
			return max(i, min(1, len(p.body)-1))
		}
		total += n
	}
	return len(p.body) - 1
}

// callsBefore is the number of calls of the first thread before a statement.
func (p *process) callsBefore(statement int) (n uint64) {
	eachCall(p.body[:statement], 1, func(_ int, times uint64) { n += times })
	return n
}

// ending is the statement of the first thread's body that ends MPI; -1: there is none.
func (p *process) ending() int {
	for i := range slices.Backward(p.body) {
		if s := &p.body[i]; s.body == nil && (p.nodes[s.node].proc.Ends || p.nodes[s.node].proc.Name == "MPI_Session_finalize") {
			return i
		}
	}
	return -1
}

// checkThreads returns an error if the thread that ends MPI is not the one that begins it, or one frees memory of another.
func (p *process) checkThreads() error {
	for _, n := range p.list() {
		if n.stream > 0 && n.proc.Setup() {
			return fmt.Errorf("%s: thread %d calls it, not the first one that makes calls", n.proc.Name, n.stream)
		}
	}
	kept := make([]int64, len(p.others)+1) // memory of each thread
	for _, n := range p.list() {
		switch {
		case n.header.ErrorClass() != 0:
		case n.proc.Name == "MPI_Alloc_mem":
			kept[n.stream] += int64(n.visits)
		case n.proc.Name == "MPI_Free_mem":
			kept[n.stream] -= int64(n.visits)
		}
	}
	if k := slices.IndexFunc(kept, func(n int64) bool { return n < 0 }); k >= 0 {
		return fmt.Errorf("MPI_Free_mem: thread %d frees memory that another thread allocated: which one is not recorded", k)
	}
	if p.ending() < 0 {
		return errors.New("no call of the first thread ends MPI: when the other threads end is unknown")
	}
	return nil
}

// serialized reports whether at most one thread at a time may call MPI.
func (p *process) serialized() bool {
	for _, n := range p.list() {
		if !n.proc.Begins {
			continue
		}
		q := n.proc.Param("provided")
		if q < 0 {
			return true // MPI_Init
		}
		_, out := n.words(q)
		level, ok := n.values[out].constant()
		return !ok || level != signature.ConstantByName("MPI_THREAD_MULTIPLE").Word()
	}
	return false
}
