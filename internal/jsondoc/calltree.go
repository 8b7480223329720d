package jsondoc

import (
	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/analysis/calltree"
)

// CallTree are the calls of a run by their call paths; docs/callpaths.md describes it. Times are in nanoseconds.
type CallTree struct {
	Schema    string   `json:"schema"`
	File      string   `json:"file"`
	Command   []string `json:"command"`
	CallPath  int      `json:"callPath"` // most calls of a path; 0: none were recorded
	Timed     bool     `json:"timed"`
	Waits     bool     `json:"waits"` // waiting is known
	Processes int      `json:"processes"`
	WithSetup bool     `json:"with_setup"`
	Total     Row      `json:"total"`
	Waiting   *int64   `json:"waiting,omitempty"`
	// Nodes in preorder: parents before their children.
	Nodes []CallTreeNode `json:"nodes"`
}

// CallTreeNode is a function or a procedure, as it is called by its parent.
type CallTreeNode struct {
	Number int    `json:"number"`
	Parent int    `json:"parent"` // -1: none
	Depth  int    `json:"depth"`  // from 1
	Kind   string `json:"kind"`
	Name   string `json:"name"`
	At     string `json:"at"` // where it is called, "" if there is no such place
	Row
	Waiting *int64 `json:"waiting,omitempty"`
	Apart   bool   `json:"apart,omitempty"` // its time is not in that of its parents
}

// NewCallTree makes the document.
func NewCallTree(path string, r *runfile.Run, t *calltree.Tree, withSetup bool) *CallTree {
	j := &CallTree{
		Schema: "efg-calltree/1", File: path, Command: r.Meta.Command, CallPath: r.Meta.CallPath, Timed: t.Timed, Waits: t.Waits, Processes: t.Ranks,
		WithSetup: withSetup, Total: asRow(&t.Root.Row), Nodes: []CallTreeNode{},
	}
	waiting := func(n *calltree.Node) *int64 {
		if !t.Waits {
			return nil
		}
		return &n.Waiting
	}
	j.Waiting = waiting(t.Root)
	var visit func(parent, depth int, n *calltree.Node)
	visit = func(parent, depth int, n *calltree.Node) {
		number := len(j.Nodes)
		j.Nodes = append(j.Nodes, CallTreeNode{
			Number: number, Parent: parent, Depth: depth, Kind: string(n.Kind), Name: n.Name, At: n.At, Row: asRow(&n.Row), Waiting: waiting(n), Apart: n.Apart,
		})
		for _, c := range n.Children {
			visit(number, depth+1, c)
		}
	}
	for _, c := range t.Root.Children {
		visit(-1, 1, c)
	}
	return j
}
