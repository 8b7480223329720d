// Package calltree sums the calls of a run over the call paths that lead to them: a calling-context
// tree.
package calltree

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/analysis"
	"github.com/efg-tools/efg/internal/analysis/match"
	"github.com/efg-tools/efg/internal/analysis/waits"
	"github.com/efg-tools/efg/reconstruct"
)

// Kind is what a node stands for.
type Kind string

const (
	Whole     Kind = "run"
	Function  Kind = "function"
	Module    Kind = "module"  // a function without a name, in a program or library
	Unknown   Kind = "unknown" // the outermost calls are not known
	Cut       Kind = "cut"     // the outermost calls were not recorded
	Procedure Kind = "procedure"
)

// Node is a function, or a procedure of MPI, as it is called from the node above.
type Node struct {
	Kind Kind
	Name string
	// At is where it is called: "halo.c:88" or "module+0x1234"; "" where the program or thread begins, and for
	// functions that were inlined.
	At string
	// Row sums all calls below the node. Its time is without that of calls that begin or end MPI, unless
	// this is included.
	analysis.Row
	Waiting  int64   // ns; see Tree
	Apart    bool    // a procedure that begins or ends MPI, whose time is not included above it
	Children []*Node // the most expensive first
}

// Tree are the calls of a run.
type Tree struct {
	Root  *Node
	Timed bool // times were recorded
	Waits bool // waiting is known
	Ranks int
}

// Options say what a tree has.
type Options struct {
	WithSetup bool // the time of calls that begin and end MPI is included
	Waits     bool // waiting too, if the times of each call were recorded: it is found call by call
}

// New sums the calls of some processes of a run. Calls without call paths are below the functions that
// contain them.
func New(run *runfile.Run, procs []int, opt Options, progress ...analysis.Progress) (*Tree, error) {
	run = run.ByCallPath()
	compute := analysis.NewReport
	if opt.WithSetup {
		compute = analysis.NewReportWithSetup
	}
	rep, err := compute(run, procs, progress...)
	if err != nil {
		return nil, err
	}
	t := &Tree{Root: &Node{Kind: Whole}, Timed: rep.Timed, Ranks: len(rep.Ranks)}
	waiting := map[waits.Place]int64{}
	if opt.Waits {
		waiting, err = waitingAt(run, procs, opt.WithSetup)
		if err != nil && !errors.Is(err, match.ErrNoTimes) {
			return nil, err
		}
		t.Waits = err == nil
	}
	for i := range rep.Callsites {
		r := &rep.Callsites[i]
		place := waits.Place{Op: r.Op, Site: r.Site}
		t.Root.insert(Frames(r.Path, r.Op), r, waiting[place])
		delete(waiting, place) // of several callsites with one text, which have one node
	}
	t.Root.sort()
	return t, nil
}

// waitingAt sums the waiting at each callsite.
func waitingAt(run *runfile.Run, procs []int, withSetup bool) (map[waits.Place]int64, error) {
	rep, err := waits.New(run, procs)
	if err != nil {
		return nil, err
	}
	sums := map[waits.Place]int64{}
	for i := range rep.Rows {
		if r := &rep.Rows[i]; withSetup || !r.State.Apart() {
			sums[r.Waiting] += r.Time
		}
	}
	return sums, nil
}

// insert adds the calls at a callsite, which frames lead to.
func (n *Node) insert(frames []Frame, r *analysis.OpRow, waiting int64) {
	for i := 0; ; i++ {
		n.Calls += r.Calls
		n.Errors += r.Errors
		n.Volume.Add(&r.Volume, 1)
		if !r.Apart || i == len(frames) {
			n.Time.Merge(&r.Time)
		}
		n.Waiting += waiting
		if i == len(frames) {
			n.Apart = r.Apart
			return
		}
		n = n.child(&frames[i])
	}
}

func (n *Node) child(f *Frame) *Node {
	for _, c := range n.Children {
		if c.Kind == f.Kind && c.Name == f.Name && c.At == f.At {
			return c
		}
	}
	c := &Node{Kind: f.Kind, Name: f.Name, At: f.At}
	n.Children = append(n.Children, c)
	return c
}

// sort puts the most expensive children first: those in which most time is spent or, without times, that
// make most calls. Calls that begin and end MPI are the last.
func (n *Node) sort() {
	slices.SortStableFunc(n.Children, func(x, y *Node) int {
		if x.Apart != y.Apart {
			return cmp.Compare(bit(x.Apart), bit(y.Apart))
		}
		return cmp.Or(cmp.Compare(y.Time.Sum, x.Time.Sum), cmp.Compare(y.Calls, x.Calls), strings.Compare(x.Name, y.Name), strings.Compare(x.At, y.At))
	})
	for _, c := range n.Children {
		c.sort()
	}
}

func bit(v bool) int {
	if v {
		return 1
	}
	return 0
}

// Frame is a function on a call path, or the procedure at its end, and where it is called.
type Frame struct {
	Kind     Kind
	Name, At string
}

// Frames are the functions on a call path, as reconstruct.Names.Path has it, and the procedure op at its
// end: the outermost function first, with those that were inlined.
func Frames(path []string, op string) []Frame {
	var list []Frame
	at := ""
	for i, call := range path {
		if i == 0 && call == reconstruct.PathUnknown {
			list = append(list, Frame{Kind: Unknown, Name: "unknown"})
			continue
		}
		if i == 0 && call == reconstruct.PathCut {
			list = append(list, Frame{Kind: Cut, Name: call})
			continue
		}
		functions, place := reconstruct.SplitCall(call)
		for _, f := range functions {
			list = append(list, Frame{Function, f, at})
			at = ""
		}
		if len(functions) == 0 {
			list = append(list, Frame{Module, File(place), at})
		}
		at = place
	}
	return append(list, Frame{Procedure, op, at})
}

// File is the file of a place: of "halo.c:88" or "module+0x1234".
func File(place string) string {
	file, _, ok := strings.Cut(place, ":")
	if !ok {
		file, _, _ = strings.Cut(place, "+0x")
	}
	return file
}
