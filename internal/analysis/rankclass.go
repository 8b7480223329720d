package analysis

import (
	"sync"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/signature"
)

// classReader reads the processes of a run. Those of a rank class are derived from one of them.
type classReader struct {
	run   *runfile.Run
	first []int // see FirstRanks

	mu    sync.Mutex
	kept  map[runfile.ClassKey]*rankClass
	order []runfile.ClassKey // in the order of their first process
}

// maxKept bounds the classes that are kept: if all ranks differ, keeping them gains nothing.
const maxKept = 256

// rankClass is what the processes of a class have in common.
type rankClass struct {
	key      runfile.ClassKey
	once     sync.Once
	err      error
	run      *runfile.Run
	template *runfile.ClassTemplate
	like     *Process // one of them

	facts    sync.Once
	factsErr error
	nodes    [][]Node // facts of like's nodes, without times
	own      [][]int  // nodes whose facts depend on the rank
}

func newClassReader(run *runfile.Run) *classReader {
	return &classReader{run: run, first: FirstRanks(run.Procs), kept: map[runfile.ClassKey]*rankClass{}}
}

// class returns the class of a key, creating it if it is new.
func (r *classReader) class(key runfile.ClassKey) *rankClass {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := r.kept[key]
	if c == nil {
		if len(r.order) == maxKept {
			delete(r.kept, r.order[0])
			r.order = r.order[1:]
		}
		c = &rankClass{key: key}
		r.kept[key] = c
		r.order = append(r.order, key)
	}
	return c
}

// process reads process i of the run.
func (r *classReader) process(i int, times wantedTimes) (*Process, error) {
	p, err := r.read(i, times)
	if err == nil && times != noTimes && r.run.Traced(i) && lacksStats(p.Data) {
		p, err = r.alone(i, r.summedUp)
	}
	if err == nil {
		p.number = i
	}
	return p, err
}

func lacksStats(p *efg.Process) bool {
	for i := range p.Streams {
		if p.Streams[i].LacksStats() {
			return true
		}
	}
	return false
}

// summedUp reads a process whose statistics are, where it has none, those of the times of its events.
func (r *classReader) summedUp(i int) (*efg.Process, error) {
	p, err := r.run.Process(i)
	for k := 0; err == nil && k < len(p.Streams); k++ {
		err = p.Streams[k].SumTimes()
	}
	return p, err
}

func (r *classReader) read(i int, times wantedTimes) (*Process, error) {
	if times == allTimes && r.run.Traced(i) {
		return r.alone(i, r.run.Process)
	}
	alone := r.run.Untimed
	if times != noTimes {
		alone = r.run.Summed
	}
	if r.run.Unlike(i) {
		return r.alone(i, alone)
	}
	key, ok, err := r.run.RankClass(i)
	switch {
	case err != nil:
		return nil, err
	case !ok:
		return r.alone(i, alone)
	}
	c := r.class(key)
	c.once.Do(func() { c.open(r.run, i, r.first[i]) })
	if c.err != nil {
		return nil, c.err
	}
	data := c.template.Process(i)
	if times != noTimes {
		if err := r.run.ReadTimes(i, data); err != nil {
			return nil, err
		}
	}
	return c.process(data, r.first[i]), nil
}

// alone reads a process that shares nothing with others.
func (r *classReader) alone(i int, read func(i int) (*efg.Process, error)) (*Process, error) {
	data, err := read(i)
	if err != nil {
		return nil, err
	}
	return NewProcess(data, r.first[i])
}

// open reads the class from process i.
func (c *rankClass) open(run *runfile.Run, i, first int) {
	c.run = run
	if c.template, c.err = run.ClassTemplate(i); c.err == nil {
		c.like, c.err = NewProcess(c.template.Process(i), first)
	}
}

// process prepares the facts of a process of the class.
func (c *rankClass) process(data *efg.Process, first int) *Process {
	like := c.like
	p := &Process{
		Data: data, first: first, world: data.Rank - first, sizes: like.sizes, vecs: like.vecs, families: like.families,
		windows: like.windows, files: like.files, groups: like.groups, paths: like.paths, comms: map[uint64]*comm{}, threads: map[uint32]*stream{}, class: c,
	}
	streams := make([]stream, len(data.Streams))
	for i := range data.Streams {
		s := &streams[i]
		*s = stream{Stream: &data.Streams[i], process: p, visits: like.streams[i].visits, issued: map[int]*issued{}}
		p.streams = append(p.streams, s)
		p.threads[s.Thread] = s
	}
	return p
}

// describe returns the facts of stream i of a process of the class.
func (c *rankClass) describe(p *Process, i int) ([]Node, error) {
	if err := c.find(); err != nil {
		return nil, err
	}
	s := p.streams[i]
	list := append([]Node(nil), c.nodes[i]...)
	for _, k := range c.own[i] {
		if err := s.describe(k, &list[k]); err != nil {
			return nil, err
		}
	}
	return list, s.addTimes(list)
}

func (c *rankClass) find() error {
	c.facts.Do(func() { c.factsErr = c.findFacts() })
	return c.factsErr
}

// findFacts computes the facts with a Process of its own, because one may not be used by
// several goroutines.
func (c *rankClass) findFacts() error {
	p := c.process(c.like.Data, c.like.first)
	sided, starts := p.sided(), p.startsByRank()
	c.nodes, c.own = make([][]Node, len(p.streams)), make([][]int, len(p.streams))
	for i, s := range p.streams {
		c.nodes[i] = make([]Node, len(s.Nodes))
		for k := range s.Nodes {
			if err := s.describe(k, &c.nodes[i][k]); err != nil {
				return err
			}
			switch plan := planOf(procOf(&s.Nodes[k])); {
			case plan.byRank() || sided && plan.kind == collective, starts && plan.kind == starting:
				c.own[i] = append(c.own[i], k)
			}
		}
	}
	return nil
}

// byRank reports whether what a call moves depends on the calling rank, not only on its
// arguments.
func (a *plan) byRank() bool {
	r := &a.Roles
	switch {
	case a.kind != collective:
		return false
	case a.Shape == signature.AllToAll: // the process's own element of an array counts
		return a.Vector(r.Recv.Count) && !(r.Send.Blocks && r.Recv.Blocks)
	}
	return a.Shape != signature.NoData && a.Shape != signature.Prefix
}

// sided reports whether there are communicators with two groups, or with members of other
// worlds: then the remote group, and which members are known, depend on the rank.
func (p *Process) sided() bool {
	for _, d := range p.families {
		if len(d.Words) < 4 || d.Words[3] != uint64(len(d.Words)-4) {
			return true
		}
		for ranges := d.Words[4:]; len(ranges) >= 3; ranges = ranges[3:] {
			if ranges[0] >= foreign {
				return true
			}
		}
	}
	return false
}

// startsByRank reports whether what a persistent operation moves depends on the rank.
func (p *Process) startsByRank() bool {
	sided := p.sided()
	for _, s := range p.streams {
		for k := range s.Nodes {
			proc := procOf(&s.Nodes[k])
			if plan := planOf(proc); proc != nil && proc.Persistent && (plan.byRank() || sided) {
				return true
			}
		}
	}
	return false
}

// Symbolic stands for all processes of a rank class: its answers hold for each of them. Ranks
// returned by PeerOf and in operations may be symbols.
type Symbolic struct {
	*Process
	class *rankClass

	mu    sync.Mutex
	peers []classPeer
	known map[classPeer]int
}

// classPeer is a peer at a distance.
type classPeer struct {
	comm   *comm
	symbol uint64
}

// FirstSymbol is the lowest rank that is a symbol for a peer at a distance. Self is that of the
// process itself, the one member of MPI_COMM_SELF.
const (
	FirstSymbol = 1 << 28
	Self        = FirstSymbol - 1
)

// Symbolic returns the Symbolic of the class of a process; nil if there is none, or if its
// members are on different sides of an intercommunicator.
func (p *Process) Symbolic() *Symbolic {
	if p.class == nil || p.sided() {
		return nil
	}
	s := &Symbolic{class: p.class, known: map[classPeer]int{}}
	s.Process = p.class.process(p.class.template.Symbolic(p.number), p.first)
	s.Process.number, s.Process.symbols = p.number, s
	return s
}

// rank is the symbol of a peer.
func (s *Symbolic) rank(c *comm, word uint64) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := classPeer{c, word}
	n, ok := s.known[key]
	if !ok {
		n = len(s.peers)
		s.known[key] = n
		s.peers = append(s.peers, key)
	}
	return FirstSymbol + n
}

// RankFor resolves a rank that may be a symbol for process i of the run, which must be of the
// class.
func (s *Symbolic) RankFor(rank, i int) int {
	switch {
	case rank == Self:
		return s.class.run.Procs[i].Rank
	case rank < FirstSymbol:
		return rank
	}
	p := s.peers[rank-FirstSymbol]
	return inRun(s.first, p.comm.peers().at(int(s.class.template.Peer(p.symbol, i))))
}

// Relative returns the communicator of a symbol, by an internal number, and its distance.
func (s *Symbolic) Relative(rank int) (comm int, distance int64) {
	return s.class.template.Relative(s.peers[rank-FirstSymbol].symbol)
}

// IsSymbol reports whether a word stands for a peer at a distance.
func IsSymbol(word uint64) bool { return runfile.IsPeerSymbol(word) }

// PeerWords lists the words of nodes of Data.Streams[i], as pairs of node and word, that
// are not equal in all processes of the class.
func (p *Process) PeerWords(i int) [][2]int {
	if p.class == nil {
		return nil
	}
	return p.class.template.PeerWords(i)
}

// Number is the number of the process in the run.
func (p *Process) Number() int { return p.number }

// Alike is like Class, for processes whose facts are equal too, except times: none depends on
// the calling rank.
func (p *Process) Alike() (runfile.ClassKey, bool) {
	if p.class == nil || p.class.find() != nil {
		return runfile.ClassKey{}, false
	}
	for _, own := range p.class.own {
		if len(own) > 0 {
			return runfile.ClassKey{}, false
		}
	}
	return p.class.key, true
}

// Class is equal for processes of a run with equal recordings, except for times, and with peers
// at the same distance; it is false if the process was not compared with others.
func (p *Process) Class() (runfile.ClassKey, bool) {
	if p.class == nil {
		return runfile.ClassKey{}, false
	}
	return p.class.key, true
}
