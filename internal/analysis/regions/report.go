package regions

import (
	"cmp"
	"errors"
	"slices"
	"sync"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/analysis"
)

// Sums are the calls of MPI in a region, and times of all threads together, ns, without the calls that
// begin and end MPI.
type Sums struct {
	Calls     uint64
	Volume    analysis.Volume
	MPI, Time float64
	Waiting   int64 // see Report.Waits
}

func (s *Sums) add(o *Sums) {
	s.Calls += o.Calls
	s.Volume.Add(&o.Volume, 1)
	s.MPI += o.MPI
	s.Time += o.Time
}

// Row is a region, over ranks.
type Row struct {
	Path
	Depth  int
	Visits uint64 // how often it was begun
	Ranks  int    // that were in it
	// Own is without the regions in it, All with them.
	Own, All Sums
	// About: more than a hundredth of a rank's time in it is divided by numbers of calls.
	About bool
	// Useful is the time outside of MPI, with the regions in it: Most the longest of a rank, MostRank,
	// and MostTime the longest time in all.
	MostUseful, MostTime float64
	MostRank             int
}

// Useful is the time outside of MPI, of all ranks.
func (r *Row) Useful() float64 { return r.All.Time - r.All.MPI }

// LoadBalance is the mean useful time of the ranks that are in the region divided by the longest.
func (r *Row) LoadBalance() float64 {
	if r.MostUseful <= 0 {
		return 0
	}
	return r.Useful() / float64(max(r.Ranks, 1)) / r.MostUseful
}

// Report says where calls, bytes and time went, by region.
type Report struct {
	// Rows are the regions, each followed by those in it, by time. The first row is outside of all
	// regions. There are none if the program names no regions.
	Rows  []Row
	Ranks int
	Timed bool
	Setup float64 // in calls that begin and end MPI, ns
	// Waits: Waiting is known.
	Waits  bool
	Folded bool // there were more regions, or deeper ones, than are kept: they are part of those around them
}

// share is what a rank has in a region, without those in it.
type share struct {
	Sums
	visits  uint64
	divided float64 // the part of Time that is divided by numbers of calls
}

type reporter struct {
	paths *Paths

	mu     sync.Mutex
	known  map[runfile.ClassKey][]*division
	rows   []Row // by number of the path
	report Report
}

// aboutFrom is the fraction of a time that must be divided for it to be approximate.
const aboutFrom = 0.01

// maxKnown bounds the divisions that are kept for other ranks of a class.
const maxKnown = 1 << 12

// New makes the report of some processes of a run.
func New(run *runfile.Run, procs []int, progress ...analysis.Progress) (*Report, error) {
	r := &reporter{paths: NewPaths(), known: map[runfile.ClassKey][]*division{}}
	named, err := anyNamed(run, procs)
	if !named || err != nil {
		return &Report{Ranks: len(procs)}, err
	}
	if err := analysis.EachProcess(run, procs, r.process, progress...); err != nil {
		return nil, err
	}
	return r.finish(), nil
}

// errNamed: a process names regions.
var errNamed = errors.New("regions are named")

// anyNamed reports whether some of the processes name regions. It looks at one of each rank class, until
// one does.
func anyNamed(run *runfile.Run, procs []int) (bool, error) {
	different, err := oneOfEach(run, procs)
	if err != nil {
		return false, err
	}
	err = analysis.EachUntimed(run, different, func(p *analysis.Process) error {
		if slices.ContainsFunc(p.Data.Streams, func(s efg.Stream) bool { return Named(&s) }) {
			return errNamed
		}
		return nil
	})
	if errors.Is(err, errNamed) {
		return true, nil
	}
	return false, err
}

// oneOfEach returns one process of each rank class.
func oneOfEach(run *runfile.Run, procs []int) (list []int, err error) {
	seen := map[runfile.ClassKey]bool{}
	for _, i := range procs {
		if !run.Unlike(i) {
			key, ok, err := run.RankClass(i)
			if err != nil {
				return nil, err
			}
			if ok && seen[key] {
				continue
			}
			seen[key] = ok
		}
		list = append(list, i)
	}
	return list, nil
}

// division says how the visits of a stream's nodes are divided among regions.
type division struct {
	*Thread
	numbering *Paths
	paths     []int32 // by frame
	shared    []bool  // by node: it is in several regions
}

// newDivision finds the nodes that are in several regions.
func newDivision(t *Thread, numbering *Paths) *division {
	d := &division{t, numbering, make([]int32, len(t.Frames)), make([]bool, len(t.actions))}
	for f := range d.paths {
		d.paths[f] = numbering.Number(t.Path(int32(f)))
	}
	in := make([]int32, len(d.shared)) // one more than the region; 0: none yet
	for at := range t.Visits {
		path := d.paths[at.Frame] + 1
		d.shared[at.Node] = d.shared[at.Node] || in[at.Node] != 0 && in[at.Node] != path
		in[at.Node] = path
	}
	return d
}

// divisions finds those of a process, once for all that are alike; nil for threads without regions.
func (r *reporter) divisions(p *analysis.Process) ([]*division, error) {
	key, alike := p.Alike()
	if alike {
		r.mu.Lock()
		list := r.known[key]
		r.mu.Unlock()
		if list != nil {
			return list, nil
		}
	}
	list := make([]*division, len(p.Data.Streams))
	for i := range list {
		t, err := followVolumes(p, i)
		if err != nil {
			return nil, err
		}
		if t != nil {
			list[i] = newDivision(t, r.paths)
		}
	}
	if alike {
		r.mu.Lock()
		defer r.mu.Unlock()
		if len(r.known) < maxKnown {
			r.known[key] = list
		}
	}
	return list, nil
}

func (r *reporter) process(p *analysis.Process) error {
	divisions, err := r.divisions(p)
	if err != nil {
		return err
	}
	own, setup, timed, folded := map[int32]*share{}, 0.0, false, false
	for i, d := range divisions {
		nodes, err := p.Nodes(i)
		if err != nil {
			return err
		}
		for k := range nodes {
			if s := nodes[k].Stats; s != nil {
				timed = true
				if nodes[k].Setup() {
					setup += float64(s.Dur.Sum)
				}
			}
		}
		if d == nil {
			shareAt(own, 0).all(nodes)
			continue
		}
		folded = folded || d.Lost
		if err := d.divide(p, i, nodes, own); err != nil {
			return err
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.report.Ranks++
	r.report.Setup += setup
	r.report.Timed, r.report.Folded = r.report.Timed || timed, r.report.Folded || folded
	r.add(p.Data.Rank, own)
	return nil
}

func shareAt(own map[int32]*share, path int32) *share {
	s := own[path]
	if s == nil {
		s = &share{}
		own[path] = s
	}
	return s
}

// all adds all events of a stream without regions.
func (s *share) all(nodes []analysis.Node) {
	for k := range nodes {
		s.node(&nodes[k], nodes[k].Visits)
		s.Volume.Add(&nodes[k].Volume, 1)
	}
}

// node adds some visits of a node, without what they move.
func (s *share) node(n *analysis.Node, visits uint64) {
	if !n.Annotates() {
		s.Calls += visits
	}
	if n.Stats == nil || n.Stats.Count == 0 {
		return
	}
	part := float64(visits) / float64(n.Visits)
	time := float64(n.Elapsed()) * part
	s.Time += time
	if visits != n.Visits {
		s.divided += time
	}
	if !n.Setup() {
		s.MPI += float64(n.Stats.Dur.Sum) * part
	}
}

// divide divides the calls of a stream among regions.
func (d *division) divide(p *analysis.Process, i int, nodes []analysis.Node, own map[int32]*share) error {
	for at, visits := range d.Visits {
		n, s := &nodes[at.Node], shareAt(own, d.paths[at.Frame])
		s.node(n, visits)
		if !d.varied[at.Node] {
			s.Volume.Add(n.Volume.Portion(visits, n.Visits), 1)
		}
	}
	for f, v := range d.volumes {
		shareAt(own, d.paths[f]).Volume.Add(v, 1)
	}
	for f, n := range d.Begun {
		shareAt(own, d.paths[f]).visits += n
	}
	for k := range nodes {
		if p.Data.Streams[i].Nodes[k].Counted > 0 { // polls, which are not in the order of events
			s := shareAt(own, 0)
			s.node(&nodes[k], nodes[k].Visits)
			s.Volume.Add(&nodes[k].Volume, 1)
		}
	}
	if t := p.Data.Streams[i].Trace; t != nil && t.Untimed == 0 && slices.Contains(d.shared, true) {
		return d.exactly(p, i, nodes, own)
	}
	return nil
}

// exactly replaces the times that were divided by those of each event.
func (d *division) exactly(p *analysis.Process, i int, nodes []analysis.Node, own map[int32]*share) error {
	s := &p.Data.Streams[i]
	clock, err := s.ClockFrom(0)
	if err != nil {
		return err
	}
	for at, visits := range d.Visits {
		if d.shared[at.Node] && !nodes[at.Node].Setup() {
			part := share{}
			part.node(&nodes[at.Node], visits)
			x := shareAt(own, d.paths[at.Frame])
			x.MPI -= part.MPI
			x.Time -= part.Time
			x.divided -= part.divided
		}
	}
	f, last, seq := NewFollower(p.Data, i), uint64(0), uint64(0)
	var numbers Numbers
	w := s.Walk(p.Data.Defs)
	for ; w.Next(); seq++ {
		k := w.Node()
		start, end, err := clock.Next(uint32(k))
		if err != nil {
			return err
		}
		if n := &nodes[k]; d.shared[k] && !n.Setup() {
			x := shareAt(own, numbers.Of(f, f.At(seq), d.numbering))
			x.Time += float64(end - last)
			x.MPI += float64(end - start)
		}
		last = end
	}
	return w.Err()
}

// add adds the shares of a rank.
func (r *reporter) add(rank int, own map[int32]*share) {
	list := r.paths.List()
	for len(r.rows) < len(list) {
		r.rows = append(r.rows, Row{Path: list[len(r.rows)], MostRank: -1})
	}
	all := map[int32]*share{}
	for path, s := range own {
		r.rows[path].Own.add(&s.Sums)
		r.rows[path].Visits += s.visits
		for at := path; at >= 0; at = list[at].Parent {
			if at == 0 && path != 0 {
				break // what is outside of regions does not have them
			}
			x := shareAt(all, at)
			x.add(&s.Sums)
			x.divided += s.divided
		}
	}
	for path, s := range all {
		row := &r.rows[path]
		row.Ranks++
		row.All.add(&s.Sums)
		row.About = row.About || s.divided > aboutFrom*s.Time
		if useful := s.Time - s.MPI; row.MostRank < 0 || useful > row.MostUseful || useful == row.MostUseful && rank < row.MostRank {
			row.MostUseful, row.MostRank = useful, rank
		}
		row.MostTime = max(row.MostTime, s.Time)
	}
}

// finish puts the rows in order.
func (r *reporter) finish() *Report {
	if len(r.rows) < 2 {
		return &r.report
	}
	inside := make([][]int32, len(r.rows))
	for i := range r.rows {
		if p := r.rows[i].Parent; p >= 0 {
			inside[p] = append(inside[p], int32(i))
		}
	}
	number := make([]int32, len(r.rows))
	var put func(i int32, depth int)
	put = func(i int32, depth int) {
		number[i] = int32(len(r.report.Rows))
		row := r.rows[i]
		if row.Depth = depth; row.Parent >= 0 {
			row.Parent = number[row.Parent]
		}
		r.report.Rows = append(r.report.Rows, row)
		slices.SortFunc(inside[i], func(x, y int32) int {
			return cmp.Or(cmp.Compare(r.rows[y].All.Time, r.rows[x].All.Time), slices.Compare(r.rows[x].Names, r.rows[y].Names))
		})
		for _, k := range inside[i] {
			put(k, depth+1)
		}
	}
	put(0, 0)
	return &r.report
}
