package graph

import (
	"fmt"
	"strconv"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/analysis"
	"github.com/efg-tools/efg/internal/analysis/loops"
	"github.com/efg-tools/efg/reconstruct"
)

// Graph is the event flow graph of a stream, ready to be written.
type Graph struct {
	Rank   int
	Thread uint32
	Events uint64
	Timed  bool // times were recorded
	Nodes  []Node
	Edges  []Edge // by the node that they come from, and in the order in which they were first taken
	Loops  []Loop // in preorder

	inner []int // innermost loop of each node; nil if loops are collapsed
	start int   // -1 if there is none
}

// Node is a node, or a loop that was collapsed.
type Node struct {
	// Number is the node's number in the stream; of a collapsed loop that of its
	// header.
	Number int
	Op     string
	Args   []string // in human-readable form; see reconstruct.NodeText
	Site   string
	// Words are the signature's words, those that vary being zero: bit i of Mask is set where
	// word i does. Nil of a collapsed loop.
	Words []uint64
	Mask  uint64
	Polls uint64 // that completed nothing; they are only counted and not in the sequence
	// Loop is the number of the innermost loop that the node is in, -1: none; or,
	// of a collapsed loop, its own.
	Loop      int
	Collapsed bool
	// Row has calls, bytes and durations. Gap are the times between the end of the
	// call before and the start of each call, in nanoseconds.
	analysis.Row
	Gap analysis.Times
	// Shared: shortest and longest times are those of all nodes that differ from this one in their call paths alone.
	Shared bool
}

// Edge is a step from one node of Nodes to another.
type Edge struct {
	From, To int // indexes
	Weight   uint64
	// Runs are the branch runs of the edge, if its node has several successors; nil if they are
	// unknown because of collapsed loops.
	Runs []efg.StrideEdge
}

// Loop is a loop. Its number is made of those of the loops around it: "1.2".
type Loop struct {
	Number string
	loops.Loop
}

// Build makes the graph of a stream of Procs[proc].
func Build(run *runfile.Run, proc, stream int) (*Graph, error) {
	r, err := reconstruct.NewRun(run)
	if err != nil {
		return nil, err
	}
	p, err := r.Process(proc)
	if err != nil {
		return nil, err
	}
	facts, err := analysis.NewProcess(p.Data(), analysis.FirstRanks(run.Procs)[proc])
	if err != nil {
		return nil, err
	}
	nodes, err := facts.Nodes(stream)
	if err != nil {
		return nil, err
	}
	s := &p.Data().Streams[stream]
	forest, err := loops.Find(s)
	if err != nil {
		return nil, err
	}
	g := &Graph{Rank: p.Data().Rank, Thread: s.Thread, Events: s.Events, inner: forest.Inner, start: s.Start()}
	for i := range nodes {
		g.addNode(&s.Nodes[i], &nodes[i], p.Describe(stream, i), forest.Inner[i])
	}
	for i := range s.Nodes {
		g.addEdges(i, &s.Nodes[i])
	}
	g.addLoops(forest)
	return g, nil
}

func (g *Graph) addNode(from *efg.Node, facts *analysis.Node, text reconstruct.NodeText, loop int) {
	n := Node{
		Number: facts.Number, Op: text.Op, Args: text.Args, Site: text.Site, Words: from.Words, Mask: from.Mask,
		Polls: from.Counted, Loop: loop, Row: analysis.Row{Counts: analysis.Counts{Calls: facts.Visits, Volume: facts.Volume}},
	}
	if facts.Error != 0 {
		n.Errors = facts.Visits
	}
	if st := facts.Stats; st != nil {
		n.Shared = st.Shared
		n.Time.Add(st.Count, &st.Dur)
		n.Gap.Add(st.Count, &st.Gap)
		g.Timed = true
	}
	g.Nodes = append(g.Nodes, n)
}

func (g *Graph) addEdges(from int, n *efg.Node) {
	at := make(map[uint32]int, len(n.Edges))
	for _, e := range n.Edges {
		at[e.To] = len(g.Edges)
		g.Edges = append(g.Edges, Edge{From: from, To: int(e.To), Weight: e.Weight})
	}
	for _, r := range efg.StrideEdges(n) {
		e := &g.Edges[at[r.To]]
		e.Runs = append(e.Runs, r)
	}
}

func (g *Graph) addLoops(forest *loops.Forest) {
	used := map[int]int{}
	for _, l := range forest.Loops {
		used[l.Parent]++
		number := strconv.Itoa(used[l.Parent])
		if l.Parent >= 0 {
			number = g.Loops[l.Parent].Number + "." + number
		}
		g.Loops = append(g.Loops, Loop{number, l})
	}
}

// Name is how a node is called in all formats: "n12", or "loop1.2" if it is a
// collapsed loop.
func (g *Graph) Name(i int) string {
	n := &g.Nodes[i]
	if n.Collapsed {
		return "loop" + g.Loops[n.Loop].Number
	}
	return "n" + strconv.Itoa(n.Number)
}

// Start is the name of the node of the first event, "" if there is none.
func (g *Graph) Start() string {
	if g.start < 0 {
		return ""
	}
	return g.Name(g.start)
}

// IterationsText says how often a loop was iterated: "400 iterations, 10 of each of 40
// entries".
func (l *Loop) IterationsText() string {
	if l.Entries == 1 {
		return plural(l.Iterations, "iteration")
	}
	per := fmt.Sprint(l.Most)
	if l.Least < l.Most {
		per = fmt.Sprintf("%d to %d", l.Least, l.Most)
	}
	return fmt.Sprintf("%s, %s in each of %d entries", plural(l.Iterations, "iteration"), per, l.Entries)
}

func plural(n uint64, name string) string {
	if n == 1 {
		return "1 " + name
	}
	return fmt.Sprintf("%d %ss", n, name)
}
