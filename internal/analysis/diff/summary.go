package diff

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"sync"

	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/efg/seq"
	"github.com/efg-tools/efg/internal/analysis"
	"github.com/efg-tools/efg/signature"
)

// summary is what is kept of a process while all processes are read.
type summary struct {
	proc, rank           int
	events, nodes, edges uint64
	// shape is equal for nodes that are equal except for arguments, with edges that are equal
	// except for weights; calls is equal for equal calls with equal steps between them.
	shape, calls hash
	shapeNumber  int // in the order of the first processes of the shapes
	// rest covers arguments and branch runs, except for single ranks, which are in peers.
	rest    hash
	peers   []form
	order   []int // of the threads: indices of streams
	profile *profile
	time    []uint64 // ns, by call of the profile; nil if all are 0
	total   uint64   // sum of these
	running uint64   // excluding the start and end of MPI
}

// profile is what many processes have in common: calls, and what they move.
type profile struct {
	calls []int32 // numbers, ascending
	rows  []volume
	total volume
}

type volume struct{ calls, errors, bytes uint64 }

// survey reads all processes of a run.
type survey struct {
	*side
	mostPeers int
	progress  func() // called after each process

	mu        sync.Mutex
	numbers   map[call]int // of calls
	list      []call
	sums      []Totals // of all processes, by call
	profiles  map[hash]*profile
	steps     map[hash]*stepSet // nil if they are not kept
	summaries []summary
	makers    [][]int32 // of each call: numbers of the summaries of the processes that make it
	shapes    int
	shared    map[runfile.ClassKey]*shared // by class
	timed     bool
}

// maxPeers bounds the ranks in arguments that are kept for all processes together.
const maxPeers = 1 << 24

// newSurvey reads processes. steps says whether their calls and steps are kept.
func newSurvey(s *side, procs []int, progress func(), steps bool) (*survey, error) {
	v := &survey{side: s, progress: progress, mostPeers: max(16, maxPeers/max(len(procs), 1)), numbers: map[call]int{}, profiles: map[hash]*profile{}, shared: map[runfile.ClassKey]*shared{}}
	v.summaries = make([]summary, 0, len(procs))
	if steps {
		v.steps = map[hash]*stepSet{}
	}
	err := analysis.EachSummed(s.run, procs, v.process)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(v.summaries, func(x, y summary) int {
		return cmp.Or(cmp.Compare(uint(x.rank), uint(y.rank)), cmp.Compare(x.proc, y.proc))
	})
	v.arrange()
	return v, nil
}

// arrange numbers the shapes, and finds the processes that make each call.
func (v *survey) arrange() {
	v.makers = make([][]int32, len(v.list))
	shapes := map[hash]int{}
	for i := range v.summaries {
		s := &v.summaries[i]
		n, ok := shapes[s.shape]
		if !ok {
			n = len(shapes)
			shapes[s.shape] = n
		}
		s.shapeNumber = n
		for _, c := range s.profile.calls {
			v.makers[c] = append(v.makers[c], int32(i))
		}
	}
	v.shapes = len(shapes)
}

// making iterates over the processes that make a call.
func (v *survey) making(number int) iter.Seq[*summary] {
	return func(yield func(*summary) bool) {
		if number == allCalls {
			for i := range v.summaries {
				if !yield(&v.summaries[i]) {
					return
				}
			}
			return
		}
		for _, i := range v.makers[number] {
			if !yield(&v.summaries[i]) {
				return
			}
		}
	}
}

// process adds a process. What needs no lock comes first.
func (v *survey) process(p *analysis.Process) error {
	if c := v.common(p); c != nil {
		s, rows, ok, err := c.summarize(p)
		if err != nil {
			return err
		}
		if ok {
			v.mu.Lock()
			defer v.mu.Unlock()
			v.addShared(s, rows)
			v.progress()
			return nil
		}
	}
	q, err := newProcess(p, v.sites)
	if err != nil {
		return err
	}
	s := summary{proc: p.Number(), rank: p.Data.Rank}
	rows := map[call]*Totals{}
	graph := &callGraph{}
	s.streams(q.streams, v.mostPeers)
	for _, t := range q.streams {
		if v.steps != nil {
			graph.add(t)
		}
		for i := range t.nodes {
			n := &t.nodes[i]
			if rows[n.call] == nil {
				rows[n.call] = &Totals{}
			}
			rows[n.call].addNode(n.facts)
		}
	}
	if v.steps != nil {
		s.calls = graph.sort()
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.add(&s, rows)
	if v.steps != nil && v.steps[s.calls] == nil {
		v.steps[s.calls] = graph.numbered(v.numbers)
	}
	v.share(q, &s)
	v.progress()
	return nil
}

// streams adds the graphs of all threads to the hashes. Which number a thread has depends on
// which of them called MPI first: all but the first are in an order of their graphs.
func (s *summary) streams(list []*stream, mostPeers int) {
	parts := make([]summary, len(list))
	s.order = make([]int, len(list))
	for i, t := range list {
		parts[i].stream(t, mostPeers)
		s.order[i] = i
	}
	if len(list) > 2 {
		slices.SortStableFunc(s.order[1:], func(x, y int) int {
			return cmp.Or(cmp.Compare(parts[x].shape, parts[y].shape), cmp.Compare(parts[x].rest, parts[y].rest))
		})
	}
	for _, i := range s.order {
		p := &parts[i]
		s.events += p.events
		s.nodes += p.nodes
		s.edges += p.edges
		s.shape = s.shape.add(uint64(p.shape))
		s.rest = s.rest.add(uint64(p.rest))
		kept := min(len(p.peers), mostPeers-len(s.peers))
		s.peers = append(s.peers, p.peers[:kept]...)
		for _, f := range p.peers[kept:] {
			s.rest = s.rest.add(uint64(f.near))
		}
	}
	s.peers = slices.Clip(s.peers)
}

// stream adds a stream's graph to the hashes.
func (s *summary) stream(t *stream, mostPeers int) {
	s.events += t.Events
	s.nodes += uint64(len(t.nodes))
	s.shape = s.shape.add(uint64(len(t.nodes)))
	s.rest = s.rest.add(t.Events)
	for i := range t.nodes {
		n := &t.nodes[i]
		s.edges += uint64(len(n.Edges))
		s.shape = s.shape.add(n.Words[0], n.Mask, n.call.site, uint64(len(n.Edges)))
		for _, e := range n.Edges {
			s.shape = s.shape.add(uint64(e.To))
			s.rest = s.rest.add(e.Weight, e.Count, e.Fixed)
		}
		s.arguments(n, t.process, mostPeers)
		s.rest = s.rest.add(n.Counted).sequence(n.Runs).sequence(n.Counts)
		for k := range n.Attrs {
			s.rest = s.rest.sequence(n.Attrs[k].Values).sequence(n.Attrs[k].Elems)
		}
	}
}

func (s *summary) arguments(n *node, p *process, mostPeers int) {
	for i := signature.ObjectWord; i < len(n.Words); i++ {
		if n.Mask>>i&1 != 0 {
			continue
		}
		f := n.constant(p, i)
		if f.near == f.far || len(s.peers) >= mostPeers {
			s.rest = s.rest.add(f.near)
			continue
		}
		s.rest = s.rest.add(1)
		s.peers = append(s.peers, f)
	}
}

// sequence adds the code of a sequence. If a recorder folded equal values, and so did the
// file's writer, their code is equal.
func (h hash) sequence(s *seq.Seq) hash {
	if s == nil {
		return h.add(0)
	}
	h = h.add(s.Len(), uint64(s.Form()), signature.HashString(string(s.Code())))
	parts, err := s.Parts()
	if err != nil { // reading the values will return this error
		return h
	}
	for _, q := range parts {
		h = h.sequence(q)
	}
	return h
}

// add keeps a summary. The caller holds the lock.
func (v *survey) add(s *summary, rows map[call]*Totals) {
	p := &profile{calls: make([]int32, 0, len(rows)), rows: make([]volume, 0, len(rows))}
	for c := range rows {
		p.calls = append(p.calls, int32(v.number(c)))
	}
	slices.Sort(p.calls)
	h := hashOf()
	for i, n := range p.calls {
		r := rows[v.list[n]]
		p.rows = append(p.rows, volume{r.Calls, r.Errors, r.Bytes})
		h = h.add(uint64(n), r.Calls, r.Errors, r.Bytes)
		v.addRow(s, len(p.calls), i, int(n), r)
	}
	if s.profile = v.profiles[h]; s.profile == nil {
		for _, r := range p.rows {
			p.total.calls += r.calls
			p.total.errors += r.errors
			p.total.bytes += r.bytes
		}
		v.profiles[h], s.profile = p, p
	}
	v.summaries = append(v.summaries, *s)
}

func (v *survey) number(c call) int {
	n, ok := v.numbers[c]
	if !ok {
		n = len(v.list)
		v.numbers[c] = n
		v.list = append(v.list, c)
		v.sums = append(v.sums, Totals{})
	}
	return n
}

// inOrder lists the numbers of the calls in an order that does not depend on the order in which
// processes were read.
func (v *survey) inOrder() []int {
	return slices.SortedFunc(maps.Values(v.numbers), func(x, y int) int { return v.list[x].compare(v.list[y]) })
}

// row is the place of a call in the profile, -1 if the process does not make it.
func (s *summary) row(call int) int {
	i, ok := slices.BinarySearch(s.profile.calls, int32(call))
	if !ok {
		return none
	}
	return i
}
