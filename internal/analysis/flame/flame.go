// Package flame sums what calls cost over the places in the program that they are made from, as a
// tree for a flame graph: of one run, or of two to compare them.
//
// A path leads from the outermost function to the function that contains the call, to the line and the
// procedure. Of calls without call paths, what is known are the line and the functions that were inlined
// there; their paths begin with the file.
package flame

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/analysis"
	"github.com/efg-tools/efg/internal/analysis/calltree"
	"github.com/efg-tools/efg/internal/analysis/match"
	"github.com/efg-tools/efg/internal/analysis/waits"
	"github.com/efg-tools/efg/reconstruct"
)

// Measure is what is summed.
type Measure string

const (
	Time    Measure = "time"    // in MPI, without MPI_Init and MPI_Finalize; ns
	Waiting Measure = "waiting" // in calls that wait; ns
	Delay   Measure = "delay"   // waiting of others that calls, and computation before calls, cause; ns
	Bytes   Measure = "bytes"   // that calls send, receive, read, and write
	Calls   Measure = "calls"
)

// Measures are all of them.
var Measures = []Measure{Time, Waiting, Delay, Bytes, Calls}

// ErrNoTimes is returned for a measure that needs times, of a run that has none, or not those of each
// call.
var ErrNoTimes = errors.New("the run does not have the times that this needs")

// Kind is what a node of the tree stands for.
type Kind string

const (
	Whole       Kind = "run"
	File        Kind = "file"
	Function    Kind = "function"
	Module      Kind = "module" // a function without a name, in a program or library
	Line        Kind = "line"
	Procedure   Kind = "procedure"
	Computation Kind = "computation" // before the call of a procedure
	Others      Kind = "others"      // places that cost less than those that are listed
)

// Node is a place, with the cost of all below it in each run.
type Node struct {
	Name     string
	Kind     Kind
	Op, Site string // of a procedure or computation
	Values   [2]uint64
	Children []*Node // the most expensive first
}

// Tree is what runs cost.
type Tree struct {
	Measure Measure
	Root    *Node
	Nodes   int // with the root
}

// MostLeaves bounds the places that are listed one by one.
const MostLeaves = 1000

// New sums what one or two runs cost. progress, if not nil, is called with the number of processes
// of a run that are done.
func New(ctx context.Context, measure Measure, progress analysis.Progress, runs ...*runfile.Run) (*Tree, error) {
	b := newBuilder()
	if progress != nil {
		b.progress = append(b.progress, progress)
	}
	for i, run := range runs {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := b.add(run, measure, i); err != nil {
			return nil, err
		}
	}
	return b.tree(measure), nil
}

// leaf is a procedure at a callsite, or the computation before. Callsites differ by their call paths.
type leaf struct {
	kind     Kind
	op, site string
}

type builder struct {
	leaves map[leaf]*[2]uint64
	paths  map[string][]string // of callsites with a call path

	progress []analysis.Progress
}

func newBuilder() *builder {
	return &builder{leaves: map[leaf]*[2]uint64{}, paths: map[string][]string{}}
}

func (b *builder) at(l leaf, side int, value uint64) {
	if value == 0 {
		return
	}
	v := b.leaves[l]
	if v == nil {
		v = &[2]uint64{}
		b.leaves[l] = v
	}
	v[side] += value
}

func (b *builder) add(run *runfile.Run, measure Measure, side int) error {
	procs := make([]int, len(run.Procs))
	for i := range procs {
		procs[i] = i
	}
	run = run.ByCallPath()
	waiting := measure == Waiting || measure == Delay
	if waiting && run.Meta.CallPath == 0 {
		return b.addWaits(run, procs, measure, side)
	}
	rep, err := analysis.NewReport(run, procs, b.progress...)
	if err != nil {
		return err
	}
	for i := range rep.Callsites {
		if r := &rep.Callsites[i]; len(r.Path) > 1 {
			b.paths[r.Site] = r.Path
		}
	}
	if waiting {
		return b.addWaits(run, procs, measure, side)
	}
	if measure == Time && !rep.Timed {
		return ErrNoTimes
	}
	for i := range rep.Callsites {
		r := &rep.Callsites[i]
		b.at(leaf{Procedure, r.Op, r.Site}, side, valueOf(r, measure))
	}
	return nil
}

func valueOf(r *analysis.OpRow, measure Measure) uint64 {
	switch {
	case measure == Calls:
		return r.Calls
	case measure == Bytes:
		return r.Sent + r.Received + r.Read + r.Written
	case r.Apart:
		return 0
	}
	return r.Time.Sum
}

func (b *builder) addWaits(run *runfile.Run, procs []int, measure Measure, side int) error {
	rep, err := waits.New(run, procs, b.progress...)
	if errors.Is(err, match.ErrNoTimes) {
		return ErrNoTimes
	}
	if err != nil {
		return err
	}
	if measure == Waiting {
		for i := range rep.Rows {
			if r := &rep.Rows[i]; !r.State.Apart() {
				b.at(leaf{Procedure, r.Waiting.Op, r.Waiting.Site}, side, uint64(max(0, r.Time)))
			}
		}
		return nil
	}
	for i := range rep.Causes {
		c := &rep.Causes[i]
		kind := Computation
		if c.Call {
			kind = Procedure
		}
		b.at(leaf{kind, c.At.Op, c.At.Site}, side, uint64(max(0, c.Short+c.Long)))
	}
	return nil
}

// tree makes the tree of the most expensive leaves; the rest are one node.
func (b *builder) tree(measure Measure) *Tree {
	type entry struct {
		leaf
		values [2]uint64
	}
	var list []entry
	for l, v := range b.leaves {
		list = append(list, entry{l, *v})
	}
	slices.SortFunc(list, func(x, y entry) int {
		return cmp.Or(cmp.Compare(max(y.values[0], y.values[1]), max(x.values[0], x.values[1])), cmp.Compare(x.site, y.site), cmp.Compare(x.op, y.op), cmp.Compare(x.kind, y.kind))
	})
	t := &Tree{Measure: measure, Root: &Node{Kind: Whole}, Nodes: 1}
	index := map[string]*Node{}
	others := &Node{Kind: Others}
	for i, e := range list {
		if i >= MostLeaves {
			add(others, e.values)
			continue
		}
		t.insert(index, b.frames(e.leaf), e.values)
	}
	if n := len(list) - MostLeaves; n > 0 {
		others.Name = fmt.Sprintf("%d other places", n)
		add(t.Root, others.Values)
		t.Root.Children = append(t.Root.Children, others)
		t.Nodes++
	}
	t.Root.sort()
	return t
}

func add(n *Node, values [2]uint64) {
	n.Values[0] += values[0]
	n.Values[1] += values[1]
}

// insert adds a leaf and what leads to it.
func (t *Tree) insert(index map[string]*Node, frames []Node, values [2]uint64) {
	at, path := t.Root, ""
	add(at, values)
	for _, f := range frames {
		path += "\x00" + string(f.Kind) + f.Name
		n := index[path]
		if n == nil {
			n = &f
			index[path] = n
			at.Children = append(at.Children, n)
			t.Nodes++
		}
		add(n, values)
		at = n
	}
}

// frames lead to a leaf: functions or file and functions, line, procedure.
func (b *builder) frames(l leaf) []Node {
	name := l.op
	switch {
	case l.op == "":
		return []Node{{Name: "unknown", Kind: Computation}}
	case l.kind == Computation:
		name = "before " + l.op
	}
	path := b.paths[l.site]
	if path == nil {
		path = []string{l.site}
	}
	site := path[len(path)-1]
	_, place := reconstruct.SplitCall(site)
	var list []Node
	if len(path) == 1 {
		list = append(list, Node{Name: cmp.Or(calltree.File(place), "unknown"), Kind: File})
	}
	for _, f := range calltree.Frames(path, l.op) {
		switch {
		case f.Kind == calltree.Procedure:
		case f.Kind == calltree.Module && len(path) > 1:
			list = append(list, Node{Name: f.Name, Kind: Module})
		case f.Kind != calltree.Module:
			list = append(list, Node{Name: f.Name, Kind: Function})
		}
	}
	if _, line, ok := strings.Cut(place, ":"); ok {
		list = append(list, Node{Name: "line " + line, Kind: Line, Site: site})
	}
	return append(list, Node{Name: name, Kind: l.kind, Op: l.op, Site: site})
}

// sort puts the most expensive children first.
func (n *Node) sort() {
	slices.SortStableFunc(n.Children, func(x, y *Node) int {
		return cmp.Or(cmp.Compare(max(y.Values[0], y.Values[1]), max(x.Values[0], x.Values[1])), cmp.Compare(x.Name, y.Name))
	})
	for _, c := range n.Children {
		c.sort()
	}
}
