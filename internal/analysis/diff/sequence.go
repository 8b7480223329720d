package diff

import (
	"fmt"
	"slices"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/generate"
	"github.com/efg-tools/efg/reconstruct"
	"github.com/efg-tools/efg/signature"
)

// Sequences is how the events of two runs differ, compared one by one in order. Times are not
// compared. Polls that found nothing are not, either: they are counted.
type Sequences struct {
	Ranks, Threads [2]int
	Events         [2]uint64 // compared
	Polls          [2]uint64 // that found nothing
	// First has the first difference of each thread that has one.
	First []SequenceDifference

	files    pairs // names of files of which one is that of a generated program
	attached distances
	ports    pairs // names of ports
}

// SequenceDifference is the first difference of a thread.
type SequenceDifference struct {
	Rank, Thread int
	What         string
	Event        [2]uint64 // numbers of the events
	Call         [2]string // "": the thread has ended
}

// Equal reports whether all events are equal.
func (s *Sequences) Equal() bool { return len(s.First) == 0 }

// NewSequences compares all events of two runs. sites: callsites, and the language of calls, are
// compared, too. It calls progress with the number of processes compared so far.
func NewSequences(a, b *runfile.Run, sites bool, progress func(done uint64)) (*Sequences, error) {
	s := &Sequences{Ranks: [2]int{len(a.Procs), len(b.Procs)}, files: newPairs(), attached: distances{}, ports: newPairs()}
	var runs [2]*reconstruct.Run
	for k, r := range []*runfile.Run{a, b} {
		var err error
		if runs[k], err = reconstruct.NewRun(r); err != nil {
			return nil, err
		}
	}
	for i := range max(len(a.Procs), len(b.Procs)) {
		if i >= len(a.Procs) || i >= len(b.Procs) {
			s.First = append(s.First, SequenceDifference{Rank: i, What: "the rank is only in one run"})
			continue
		}
		if err := s.process(runs, i, sites); err != nil {
			return nil, err
		}
		progress(uint64(i + 1))
	}
	return s, nil
}

// process compares process i of both runs.
func (s *Sequences) process(runs [2]*reconstruct.Run, i int, sites bool) error {
	var procs [2]*reconstruct.Process
	most := 0
	for k, r := range runs {
		var err error
		if procs[k], err = r.Process(i); err != nil {
			return err
		}
		s.Threads[k] += procs[k].Streams()
		most = max(most, procs[k].Streams())
	}
	c := newSequenceComparer(sites, s)
	c.threads = most > 1
	for k, p := range procs {
		c.scratch[k] = names(p.Data(), generate.IsScratch)
		c.worlds[k] = names(p.Data(), generate.IsWorld)
		c.dynamic[k] = dynamicWindows(p.Data())
	}
	for t := range most {
		d := SequenceDifference{Rank: procs[0].Data().Rank, Thread: t}
		switch {
		case t >= procs[0].Streams() || t >= procs[1].Streams():
			d.What = "the thread is only in one run"
		default:
			if err := s.stream(c, procs, t, &d); err != nil {
				return err
			}
		}
		if d.What != "" {
			s.First = append(s.First, d)
		}
	}
	return nil
}

// stream compares the events of thread t.
func (s *Sequences) stream(c *sequenceComparer, procs [2]*reconstruct.Process, t int, d *SequenceDifference) error {
	readers := [2]*reconstruct.Reader{procs[0].UntimedReader(t), procs[1].UntimedReader(t)}
	for number := uint64(0); ; number++ {
		var events [2]*reconstruct.Event
		for k, r := range readers {
			var err error
			if events[k], err = s.next(r, k); err != nil {
				return err
			}
		}
		if events[0] == nil && events[1] == nil {
			ends := [2]string{}
			for k, p := range procs {
				ends[k] = fmt.Sprint(p.Data().Streams[t].End)
			}
			if ends[0] != ends[1] {
				d.What = "the threads end in different ways"
			}
			return nil
		}
		if d.What = c.compare(events, number, uint32(t)); d.What != "" {
			for k, e := range events {
				if e != nil {
					d.Event[k], d.Call[k] = e.Seq, string(e.AppendCall(nil))
				}
			}
			return nil
		}
		s.Events[0]++
		s.Events[1]++
	}
}

// next returns the next event that is not a poll that found nothing.
func (s *Sequences) next(r *reconstruct.Reader, k int) (*reconstruct.Event, error) {
	for {
		e, err := r.Next()
		if e == nil || err != nil {
			return nil, err
		}
		if !foundNothing(e) {
			return e, nil
		}
		s.Polls[k]++
	}
}

func foundNothing(e *reconstruct.Event) bool {
	p := e.Proc()
	if p == nil || e.Failed() {
		return false
	}
	w := p.PollWord()
	return w > 0 && e.Word(w) == 0
}

// sequenceComparer compares the events of one process of two runs. It knows which objects of one
// are which of the other.
type sequenceComparer struct {
	sites bool
	made  [2]map[uint64]*makings // by ID
	// threads: the process has several
	threads bool
	ops     pairs
	files   pairs
	// opened are families of files whose names stand for each other: the name is part of a family.
	opened pairs
	// scratch are the names that generated programs give to files, by word.
	scratch [2]map[uint64]bool
	// worlds are the commands by which generated programs start themselves, by word.
	worlds [2]map[uint64]bool
	// dynamic are the families of dynamic windows.
	dynamic  [2]map[uint64]bool
	attached distances
	ports    pairs
}

func newSequenceComparer(sites bool, s *Sequences) *sequenceComparer {
	return &sequenceComparer{sites: sites, attached: s.attached, ports: s.ports, made: [2]map[uint64]*makings{{}, {}}, ops: newPairs(), files: s.files, opened: newPairs()}
}

// names are the strings of a process that are names of a generated program.
func names(p *efg.Process, is func(string) bool) map[uint64]bool {
	names := map[uint64]bool{}
	for i := range p.Defs {
		if d := &p.Defs[i]; d.Kind == efg.DefString && is(string(d.Data)) {
			names[d.Word] = true
		}
	}
	return names
}

// languageBits are the bits of a header that hold the language.
const languageBits = 3 << 16

// compare compares events with a number, "" if they are equal.
func (c *sequenceComparer) compare(e [2]*reconstruct.Event, number uint64, thread uint32) string {
	if e[0] == nil || e[1] == nil {
		return "one run ends earlier"
	}
	p := e[0].Proc()
	h := [2]signature.Header{e[0].Header(), e[1].Header()}
	if !c.sites {
		h[0], h[1] = h[0]&^languageBits, h[1]&^languageBits
	}
	switch {
	case h[0].Proc() != h[1].Proc():
		return "other procedures"
	case h[0].ErrorClass() != h[1].ErrorClass():
		return "other errors"
	case h[0] != h[1]:
		return "other variants of the procedure"
	case c.sites && e[0].Site() != e[1].Site():
		return "other callsites"
	case p == nil:
		return "an unknown procedure"
	}
	for i := signature.ObjectWord; i < len(p.Words); i++ {
		if p.Words[i].Param >= 0 && !c.equal(e, p, i, number, thread) {
			return "argument " + p.Words[i].Name
		}
	}
	return ""
}

// equal compares a word of two events.
func (c *sequenceComparer) equal(e [2]*reconstruct.Event, p *signature.Proc, i int, number uint64, thread uint32) bool {
	q := &p.Params[p.Words[i].Param]
	kind := q.Kind
	if a, b := e[0].Word(i), e[1].Word(i); q.FileName() && (c.scratch[0][a] || c.scratch[1][b]) {
		return c.files.join(a, b)
	}
	if i == p.Roles.TargetDisp && c.addresses(e, p) {
		return c.attached.same(e, p)
	}
	if a, b := e[0].Word(i), e[1].Word(i); q.PortName() && !signature.IsConst(a) && !signature.IsConst(b) {
		return c.ports.join(a, b)
	}
	same := func(kind signature.Kind, a, b uint64) bool { return c.same(kind, a, b, thread) }
	if q.Command() {
		same = func(kind signature.Kind, a, b uint64) bool { return c.command(kind, a, b, thread) }
	}
	if kind == signature.File && p.Words[i].Out && c.renamed(e, p) {
		a, b := e[0].Word(i), e[1].Word(i)
		if !signature.IsConst(a) && !signature.IsConst(b) && !c.opened.join(signature.Family(a), signature.Family(b)) {
			return false
		}
	}
	switch p.Words[i].Form {
	case signature.SlotForm:
		return c.create(e, i, number, thread)
	case signature.VecForm:
		a, ka := e[0].Vec(i)
		b, kb := e[1].Vec(i)
		if ka != kb || len(a) != len(b) {
			return false
		}
		for k := range a {
			if !same(kind, a[k], b[k]) {
				return false
			}
		}
		return true
	}
	return same(kind, e[0].Word(i), e[1].Word(i))
}

// command reports whether two words name the same program, or one the program of a world of a generated program.
func (c *sequenceComparer) command(kind signature.Kind, a, b uint64, thread uint32) bool {
	return c.worlds[0][a] && !signature.IsConst(b) || c.worlds[1][b] && !signature.IsConst(a) || c.same(kind, a, b, thread)
}

// renamed reports whether calls name a file of which one is that of a generated program.
func (c *sequenceComparer) renamed(e [2]*reconstruct.Event, p *signature.Proc) bool {
	for i := signature.ObjectWord; i < len(p.Words); i++ {
		if k := p.Words[i].Param; k >= 0 && p.Params[k].FileName() {
			return c.scratch[0][e[0].Word(i)] || c.scratch[1][e[1].Word(i)]
		}
	}
	return false
}

// create notes that both events made an object.
func (c *sequenceComparer) create(e [2]*reconstruct.Event, i int, number uint64, thread uint32) bool {
	a, b := e[0].Word(i), e[1].Word(i)
	if signature.IsConst(a) || signature.IsConst(b) {
		return a == b
	}
	for k, w := range []uint64{a, b} {
		if signature.IsPlain(w) {
			w = signature.ID{Thread: e[k].Thread(), Node: uint32(e[k].Node()), Slot: uint32(w)}.Word()
		}
		m := c.made[k][w]
		if m == nil {
			m = &makings{}
			c.made[k][w] = m
		}
		m.add(number<<signature.ThreadBits|uint64(thread), c.threads)
	}
	return true
}

// makings are the events that made objects with one ID, one after another: their numbers and thread.
type makings struct {
	last uint64
	all  []uint64 // in processes with threads
}

func (m *makings) add(event uint64, threads bool) {
	m.last = event
	if threads {
		m.all = append(m.all, event)
	}
}

// meets reports whether an event of both runs made one of the objects: which one of them a call of another thread means is
// not recorded.
func (m *makings) meets(o *makings) bool {
	few, many := m.all, o.all
	if len(few) > len(many) {
		few, many = many, few
	}
	return slices.ContainsFunc(few, func(event uint64) bool {
		_, found := slices.BinarySearch(many, event)
		return found
	})
}

// same reports whether two words that a thread's calls pass have the same meaning.
func (c *sequenceComparer) same(kind signature.Kind, a, b uint64, thread uint32) bool {
	if signature.IsConst(a) || signature.IsConst(b) {
		return a == b
	}
	ida, isA := signature.ParseID(a)
	idb, isB := signature.ParseID(b)
	switch {
	case isA && isB && (kind.Handle() || kind.Local()):
		x, y := c.made[0][a], c.made[1][b]
		if x != nil && y != nil {
			return x.last == y.last || ida.Thread != thread && idb.Thread != thread && x.meets(y)
		}
		return (x == nil) == (y == nil) && ida.Thread == idb.Thread // made by a thread that is compared later
	case kind == signature.File && a != b:
		x, y := signature.Family(a), signature.Family(b)
		family, ok := c.opened.forth[x]
		if !ok && c.threads { // perhaps a thread that is compared later opened them: its call must agree
			family, ok = y, c.opened.join(x, y)
		}
		return ok && family == y && a&signature.SequenceMask == b&signature.SequenceMask
	case kind == signature.Op:
		return c.ops.join(a, b)
	}
	return a == b
}

// pairs are words of two runs that stand for each other.
type pairs struct{ forth, back map[uint64]uint64 }

func newPairs() pairs { return pairs{map[uint64]uint64{}, map[uint64]uint64{}} }

// join notes that a and b stand for each other, and reports whether that is possible.
func (p pairs) join(a, b uint64) bool {
	x, known := p.forth[a]
	y, other := p.back[b]
	if known || other {
		return known && other && x == b && y == a
	}
	p.forth[a], p.back[b] = b, a
	return true
}
