package loops

import (
	"cmp"
	"encoding/binary"
	"slices"
	"strconv"
	"sync"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/efg/seq"
	"github.com/efg-tools/efg/internal/analysis"
	"github.com/efg-tools/efg/reconstruct"
)

// Spread sums a number over streams.
type Spread struct {
	Sum         uint64
	Least, Most uint64 // of a stream
}

func (s *Spread) add(v uint64, first bool) {
	if first {
		s.Least = v
	}
	s.Sum += v
	s.Least, s.Most = min(s.Least, v), max(s.Most, v)
}

// Row sums a loop over the streams of a group.
type Row struct {
	// Parent is the number of the loop around it in the group, -1 if there is none.
	Parent, Depth int
	Op            string // of the header
	Site          string // of the header: "function file:line"
	Irreducible   bool
	Entrances     int // most that one of the streams has
	// Entries and Iterations are those of a stream; Least and Most the iterations
	// of an entry.
	Entries, Iterations Spread
	Least, Most         uint64
	// Row sums the calls of the loop, those of loops in it included.
	analysis.Row
	// Gap is the time in nanoseconds between the calls: from the end of the call
	// before to the start of each call of the loop.
	Gap uint64
}

// PerEntry returns the mean number of iterations of an entry.
func (r *Row) PerEntry() float64 { return r.perEach(r.Iterations.Sum, r.Entries.Sum) }

// PerIteration returns the mean of a sum over all iterations.
func (r *Row) PerIteration(sum uint64) float64 { return r.perEach(sum, r.Iterations.Sum) }

func (*Row) perEach(sum, n uint64) float64 {
	if n == 0 {
		return 0
	}
	return float64(sum) / float64(n)
}

// Group is a group of streams with the same loops: nested in the same way, with the same calls
// as headers.
type Group struct {
	Thread uint32
	Ranks  []int // ascending
	Rows   []Row // in preorder
	// Calls of the streams, and the time in nanoseconds from the first to the end
	// of the last, without those that begin and end MPI, summed up.
	Calls, App uint64
}

// Summary holds the loops of a run.
type Summary struct {
	Timed  bool    // times were recorded
	Groups []Group // by thread and first rank
	// Graphs is the number of distinct graphs.
	Graphs int
}

// Summarize finds the loops of some processes of a run.
func Summarize(run *runfile.Run, procs []int, progress ...analysis.Progress) (*Summary, error) {
	sites, err := run.Sites()
	if err != nil {
		return nil, err
	}
	b := newBuilder(sites)
	if err := analysis.EachSummed(run, procs, b.process, progress...); err != nil {
		return nil, err
	}
	return b.finish(), nil
}

// builder makes a summary.
type builder struct {
	names *reconstruct.Names // places in the source
	known map[uint64]bool    // callsites that names knows

	mu      sync.Mutex
	texts   map[uint64]string  // of callsites
	forests map[string]*Forest // by what they depend on
	ofClass map[classStream]*Forest
	groups  map[string]*Group
	summary Summary
}

func (b *builder) process(p *analysis.Process) error {
	for i := range p.Data.Streams {
		s := &p.Data.Streams[i]
		forest, err := b.findIn(p, i)
		if err != nil {
			return err
		}
		nodes, err := p.Nodes(i)
		if err != nil {
			return err
		}
		b.add(p.Data, s, forest, nodes)
	}
	return nil
}

// findIn finds the loops of a stream of a process, once for all processes of a class: these
// have equal steps, so what the loops depend on need not be encoded for each.
func (b *builder) findIn(p *analysis.Process, i int) (*Forest, error) {
	s := &p.Data.Streams[i]
	class, alike := p.Class()
	if !alike {
		return b.find(s, namingOf(p))
	}
	key := classStream{class, i}
	b.mu.Lock()
	forest := b.ofClass[key]
	b.mu.Unlock()
	if forest != nil {
		return forest, nil
	}
	forest, err := b.find(s, namingOf(p))
	if err != nil {
		return nil, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.ofClass) < maxForests {
		b.ofClass[key] = forest
	}
	return forest, nil
}

// classStream identifies a stream of all processes of a class.
type classStream struct {
	class  runfile.ClassKey
	stream int
}

// maxForests bounds the forests that are kept for streams with the same graph.
const maxForests = 1 << 12

// find finds the loops of a stream, once for all streams with equal steps.
func (b *builder) find(s *efg.Stream, by naming) (*Forest, error) {
	key, ok := stepsOf(s, by)
	if ok {
		b.mu.Lock()
		forest := b.forests[key]
		b.mu.Unlock()
		if forest != nil {
			return forest, nil
		}
	}
	forest, err := find(s, by)
	if err != nil {
		return nil, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.forests[key] == nil {
		b.summary.Graphs++
	}
	if ok && len(b.forests) < maxForests {
		b.forests[key] = forest
	}
	return forest, nil
}

// stepsOf encodes everything that the loops of a stream depend on; false if its sequences are
// too long for that.
func stepsOf(s *efg.Stream, by naming) (string, bool) {
	key := binary.AppendVarint(nil, int64(s.Start()))
	calls, _ := by.alike(s)
	places, known := 0, map[place]int{}
	for i := range s.Nodes {
		n := &s.Nodes[i]
		key = binary.AppendUvarint(key, uint64(calls[i]))
		key = binary.AppendUvarint(key, uint64(numberOf(known, by.placeOf(n), &places)))
		key = binary.AppendUvarint(key, uint64(len(n.Edges)))
		for _, e := range n.Edges {
			key = binary.AppendUvarint(key, uint64(e.To))
			key = binary.AppendUvarint(key, e.Weight)
			key = binary.AppendUvarint(key, e.Count)
			key = binary.AppendUvarint(key, e.Fixed)
		}
		for _, q := range []*seq.Seq{n.Runs, n.Counts} {
			if key = binary.AppendUvarint(key, q.Len()); q.Len() == 0 {
				continue
			}
			code := q.Code()
			if len(code) == 0 {
				return "", false
			}
			key = append(key, byte(q.Form()))
			key = binary.AppendUvarint(key, uint64(len(code)))
			key = append(key, code...)
		}
	}
	return string(key), true
}

// add adds a stream to its group.
func (b *builder) add(p *efg.Process, s *efg.Stream, forest *Forest, nodes []analysis.Node) {
	key := groupKey(s, forest, nodes)
	b.mu.Lock()
	defer b.mu.Unlock()
	g := b.groups[key]
	if g == nil {
		g = &Group{Thread: s.Thread, Rows: b.rows(p, forest, nodes)}
		b.groups[key] = g
	}
	first := len(g.Ranks) == 0
	g.Ranks = append(g.Ranks, p.Rank)
	for i := range nodes {
		g.Calls += nodes[i].Calls()
		if nodes[i].Stats != nil {
			g.App += nodes[i].Elapsed()
			b.summary.Timed = true
		}
	}
	for i := range g.Rows {
		g.Rows[i].add(&forest.Loops[i], nodes, first)
	}
}

// rows says where the loops of a stream begin. The caller holds the lock.
func (b *builder) rows(p *efg.Process, forest *Forest, nodes []analysis.Node) []Row {
	rows := make([]Row, len(forest.Loops))
	for i := range rows {
		l := &forest.Loops[i]
		h := &nodes[l.Header]
		rows[i] = Row{Parent: l.Parent, Depth: l.Depth, Op: h.Op, Site: b.site(p, h.Site), Irreducible: l.Irreducible}
	}
	return rows
}

// add adds a stream's loop.
func (r *Row) add(l *Loop, nodes []analysis.Node, first bool) {
	r.Entries.add(l.Entries, first)
	r.Iterations.add(l.Iterations, first)
	if first {
		r.Least = l.Least
	}
	r.Least, r.Most = min(r.Least, l.Least), max(r.Most, l.Most)
	r.Entrances = max(r.Entrances, len(l.Entrances))
	for _, v := range l.Nodes {
		n := &nodes[v]
		if n.Annotates() {
			r.addGap(n)
			continue
		}
		r.Calls += n.Visits
		if n.Error != 0 {
			r.Errors += n.Visits
		}
		r.Volume.Add(&n.Volume, 1)
		if n.Stats != nil {
			r.Time.Add(n.Stats.Count, &n.Stats.Dur)
		}
		r.addGap(n)
	}
}

// addGap adds the time before the events of a node.
func (r *Row) addGap(n *analysis.Node) {
	if n.Stats != nil {
		r.Gap += n.Stats.Gap.Sum
	}
}

// groupKey identifies streams with the same loops.
func groupKey(s *efg.Stream, forest *Forest, nodes []analysis.Node) string {
	key := binary.AppendUvarint(nil, uint64(s.Thread))
	for i := range forest.Loops {
		l := &forest.Loops[i]
		irreducible := byte(0)
		if l.Irreducible {
			irreducible = 1
		}
		key = append(binary.AppendUvarint(key, uint64(l.Depth)), irreducible)
		key = binary.LittleEndian.AppendUint64(key, nodes[l.Header].Site)
		key = append(append(key, nodes[l.Header].Op...), 0)
	}
	return string(key)
}

// site is the text of a callsite.
func (b *builder) site(p *efg.Process, word uint64) string {
	if text, ok := b.texts[word]; ok {
		return text
	}
	names := b.names
	if !b.known[word] {
		names = reconstruct.NewNames(p.Defs, nil)
	}
	text := names.Site(word)
	b.texts[word] = text
	return text
}

func (b *builder) finish() *Summary {
	s := &b.summary
	for _, g := range b.groups {
		slices.Sort(g.Ranks)
		s.Groups = append(s.Groups, *g)
	}
	slices.SortFunc(s.Groups, func(x, y Group) int {
		return cmp.Or(cmp.Compare(x.Thread, y.Thread), cmp.Compare(uint(x.Ranks[0]), uint(y.Ranks[0])), cmp.Compare(len(y.Rows), len(x.Rows)))
	})
	return s
}

// Numbers numbers loops by their nesting: 1, 1.1, 1.2, 2.
func Numbers(rows []Row) []string {
	numbers := make([]string, len(rows))
	used := map[int]int{}
	for i := range rows {
		p := rows[i].Parent
		used[p]++
		numbers[i] = strconv.Itoa(used[p])
		if p >= 0 {
			numbers[i] = numbers[p] + "." + numbers[i]
		}
	}
	return numbers
}
