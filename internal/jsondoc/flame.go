package jsondoc

import (
	"github.com/efg-tools/efg/internal/analysis/flame"
	"github.com/efg-tools/efg/internal/palette"
)

// Flame is a tree of what the places of a program cost; docs/api.md describes the document.
type Flame struct {
	Schema  string   `json:"schema"`
	Files   []string `json:"files"`
	Measure string   `json:"measure"`
	// Texts are what nodes refer to: names, kinds, procedures and callsites.
	Texts []string `json:"texts"`
	// Colours are those of procedures.
	Colours map[string]string `json:"colours"`
	// Nodes are [parent, name, kind, procedure, callsite, value] with a further value of the second of two runs. Parents
	// come before their children; that of the root is -1, as is a procedure or callsite where there is none.
	Nodes [][]int64 `json:"nodes"`
}

// NewFlame makes the document.
func NewFlame(files []string, t *flame.Tree) *Flame {
	j := &Flame{Schema: "efg-flame/1", Files: files, Measure: string(t.Measure), Texts: []string{}, Colours: map[string]string{}, Nodes: make([][]int64, 0, t.Nodes)}
	texts := numbering[string]{}
	text := func(s string) int64 {
		if s == "" {
			return -1
		}
		return texts.of(s)
	}
	var visit func(parent int64, n *flame.Node)
	visit = func(parent int64, n *flame.Node) {
		if n.Op != "" {
			j.Colours[n.Op] = palette.Hex(palette.Of(n.Op))
		}
		row := []int64{parent, text(n.Name), text(string(n.Kind)), text(n.Op), text(n.Site)}
		for side := range files {
			row = append(row, int64(n.Values[side]))
		}
		number := int64(len(j.Nodes))
		j.Nodes = append(j.Nodes, row)
		for _, c := range n.Children {
			visit(number, c)
		}
	}
	visit(-1, t.Root)
	j.Texts = append(j.Texts, texts.list...)
	return j
}

// compact: there are too many nodes for a line each.
func (*Flame) compact() {}
