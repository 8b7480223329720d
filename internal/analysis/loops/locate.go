package loops

import (
	"cmp"
	"slices"
	"strings"

	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/analysis"
	"github.com/efg-tools/efg/reconstruct"
)

// Name names a loop: its number among those of a stream, as 1.2, and the call with which its
// iterations begin. Two loops of one name, of two ranks, are the same loop of the program.
type Name struct{ Number, Op, Site string }

// Compare orders names as the numbers are ordered in the program: 1, 1.1, 1.2, 2, 10.
func (n Name) Compare(o Name) int {
	a, b := strings.Split(n.Number, "."), strings.Split(o.Number, ".")
	return slices.CompareFunc(a, b, func(x, y string) int { return cmp.Or(cmp.Compare(len(x), len(y)), cmp.Compare(x, y)) })
}

// Locator finds the loops of streams of a run, once for all that are alike.
type Locator struct{ b *builder }

// NewLocator returns a locator.
func NewLocator(run *runfile.Run) (*Locator, error) {
	sites, err := run.Sites()
	if err != nil {
		return nil, err
	}
	return &Locator{newBuilder(sites)}, nil
}

// Located are the loops of a stream, and in which each node is.
type Located struct {
	Forest *Forest
	Names  []Name // of the loops
}

// Find finds the loops of thread i of a process.
func (l *Locator) Find(p *analysis.Process, i int) (*Located, error) {
	forest, err := l.b.findIn(p, i)
	if err != nil {
		return nil, err
	}
	nodes, err := p.Nodes(i)
	if err != nil {
		return nil, err
	}
	l.b.mu.Lock()
	defer l.b.mu.Unlock()
	rows := l.b.rows(p.Data, forest, nodes)
	x := &Located{Forest: forest}
	for i, number := range Numbers(rows) {
		x.Names = append(x.Names, Name{number, rows[i].Op, rows[i].Site})
	}
	return x, nil
}

// Common is the innermost loop that contains two nodes, -1 if there is none.
func (f *Forest) Common(a, b int) int {
	x, y := f.Inner[a], f.Inner[b]
	for x != y {
		switch {
		case x < 0 || y < 0:
			return -1
		case f.Loops[x].Depth >= f.Loops[y].Depth:
			x = f.Loops[x].Parent
		default:
			y = f.Loops[y].Parent
		}
	}
	return x
}

func newBuilder(sites []runfile.Site) *builder {
	b := &builder{
		names: reconstruct.NewNames(nil, sites), known: map[uint64]bool{}, texts: map[uint64]string{},
		forests: map[string]*Forest{}, ofClass: map[classStream]*Forest{}, groups: map[string]*Group{},
	}
	for _, s := range sites {
		b.known[s.Word] = true
	}
	return b
}
