package generate

import (
	"errors"
	"fmt"
	"slices"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/internal/analysis/topology"
	"github.com/efg-tools/efg/signature"
)

// scaled returns the processes of the program on another number of ranks. Each does what one of the run's does
// that has the same position; peers follow from its place. What does not follow is refused.
//
// ranks are the dimensions of a grid, or one number, for a grid as MPI_Dims_create makes it.
func scaled(procs []*process, ranks []int) ([]*process, *grid, error) {
	var found []*process
	var at *grid
	var firstErr error
	for _, from := range gridsOf(procs) {
		to, err := from.resized(ranks)
		if err == nil {
			var list []*process
			s := &scaler{from: from, to: to, procs: procs}
			if list, err = s.scale(); err == nil && found != nil && !sameWords(found, list) {
				return nil, nil, fmt.Errorf("a dimension of the grid %s has 2 ranks, in which both neighbours may be the same: record it on 3 or more in each", from)
			}
			if err == nil {
				found, at = list, to
				continue
			}
		}
		if firstErr == nil {
			firstErr = err
		}
	}
	if found == nil {
		return nil, nil, firstErr
	}
	return found, at, nil
}

// gridsOf are the arrangements that the ranks may have: that of a Cartesian communicator of all ranks, or
// what the messages show. Whether a dimension of two ranks wraps around is then unknown.
func gridsOf(procs []*process) []*grid {
	for _, n := range procs[0].list() {
		if dims, periods := n.proc.Roles.Topology.Dims, n.proc.Roles.Topology.Periods; dims != 0 && periods != 0 && !n.proc.Words[dims].Out {
			d, ok := n.values[dims].vec()
			w, ok2 := n.values[periods].vec()
			g := &grid{}
			for i := range min(len(d), len(w)) {
				g.dims, g.wrap = append(g.dims, int(d[i])), append(g.wrap, w[i] != 0)
			}
			if ok && ok2 && len(d) == len(w) && g.size() == len(procs) {
				return []*grid{g}
			}
		}
	}
	to := make([][]int, len(procs))
	for r, p := range procs {
		for _, n := range p.list() {
			dest := n.proc.Roles.Dest
			if dest == 0 || !p.ofWorld(n) {
				continue
			}
			n.values[dest].series.each(func(w uint64) {
				if !special(w) && w < uint64(len(procs)) && int(w) != r {
					to[r] = append(to[r], int(w))
				}
			})
		}
	}
	shape := topology.Recognise(to)
	if shape.Ranks != len(procs) || len(shape.Dims) == 0 {
		shape.Dims, shape.Wrap = []int{len(procs)}, []bool{false}
		if shape.Kind == topology.Shifts {
			shape.Wrap[0] = true
		}
	}
	if g := gridOfRows(procs[0]); g != nil && len(shape.Dims) < 2 {
		return []*grid{g}
	}
	list := []*grid{{dims: shape.Dims, wrap: shape.Wrap}}
	for d, size := range shape.Dims {
		for _, g := range list[:len(list):len(list)] {
			if other := slices.Clone(g.wrap); size == 2 {
				other[d] = !other[d]
				list = append(list, &grid{dims: g.dims, wrap: other})
			}
		}
	}
	return list
}

// resized is the grid with other dimensions.
func (g *grid) resized(ranks []int) (*grid, error) {
	switch {
	case len(ranks) == len(g.dims):
		return &grid{dims: ranks, wrap: g.wrap}, nil
	case len(ranks) > 1:
		return nil, fmt.Errorf("the ranks of the run are a grid of %d dimensions, %s, not of %d", len(g.dims), g, len(ranks))
	case !slices.Equal(g.dims, balanced(g.size(), len(g.dims))):
		return nil, fmt.Errorf("the ranks of the run are a grid %s, which is not what MPI_Dims_create makes of %d: say the dimensions, as in %s",
			g, g.size(), dimsFlag(balanced(ranks[0], len(g.dims))))
	}
	return &grid{dims: balanced(ranks[0], len(g.dims)), wrap: g.wrap}, nil
}

func sameWords(a, b []*process) bool {
	return slices.EqualFunc(a, b, func(p, q *process) bool {
		return slices.EqualFunc(p.list(), q.list(), func(m, n *node) bool {
			return slices.EqualFunc(m.values, n.values, func(v, w value) bool { return v.equal(&w) })
		})
	})
}

// scaler makes the processes of one grid from those of another.
type scaler struct {
	from, to *grid
	procs    []*process
	of       []*class // of each process, those that make the same calls
}

// features are what distinguishes the positions of ranks, the simplest first. Those after plainFeatures need 3
// ranks in each dimension: of two, one is at each border.
var features = []func(g *grid, rank int) int{
	func(*grid, int) int { return 0 },
	func(_ *grid, rank int) int { return min(rank, 1) },
	func(g *grid, rank int) int { return min(rank, 1) + min(g.size()-1-rank, 1)<<1 },
	borders,
	parity,
	func(g *grid, rank int) int { return borders(g, rank)<<8 + parity(g, rank) },
}

const plainFeatures = 4

// borders says in which dimensions a rank is at a border, and at which.
func borders(g *grid, rank int) int {
	bits := 0
	for d, c := range g.at(rank) {
		if c == 0 {
			bits |= 1 << (2 * d)
		}
		if c == g.dims[d]-1 {
			bits |= 2 << (2 * d)
		}
	}
	return bits
}

// parity says which coordinates are odd.
func parity(g *grid, rank int) int {
	bits := 0
	for d, c := range g.at(rank) {
		bits |= c & 1 << d
	}
	return bits
}

// errPeer is returned where the peers of ranks do not follow from their places.
type errPeer struct{ error }

// groups returns the ranks of the run by what a feature says, and for each new rank the group that it is like.
func (s *scaler) groups(feature func(*grid, int) int) (all, places []*class, err error) {
	known := map[int]*class{}
	for r, p := range s.procs {
		f := feature(s.from, r)
		c := known[f]
		if c == nil {
			c = &class{}
			known[f] = c
			all = append(all, c)
		} else if s.of[r] != s.of[c.procs[0].rank] {
			return nil, nil, errPeer{fmt.Errorf("ranks %d and %d make different calls (%s), which does not follow from where they are in the grid %s",
				c.procs[0].rank, r, firstDifference(c.like(), p), s.from)}
		}
		c.procs = append(c.procs, p)
	}
	places = make([]*class, s.to.size())
	for r := range places {
		if places[r] = known[feature(s.to, r)]; places[r] == nil {
			return nil, nil, fmt.Errorf("rank %d in the grid %s is where no rank of the run was in the grid %s: record it on 3 or more ranks in each dimension",
				r, s.to, s.from)
		}
	}
	return all, places, nil
}

// firstDifference names the first call in which two processes differ.
func firstDifference(a, b *process) string {
	var find func(x, y []stmt) string
	find = func(x, y []stmt) string {
		for i := range min(len(x), len(y)) {
			switch m, n := &x[i], &y[i]; {
			case m.body != nil && n.body != nil:
				if name := find(m.body, n.body); name != "" {
					return name
				}
				if m.times != n.times {
					return fmt.Sprintf("%d and %d iterations with %s", m.times, n.times, a.firstCall(m))
				}
			case m.body == nil && n.body == nil && a.nodes[m.node].header == b.nodes[n.node].header:
			default:
				return a.firstCall(m) + " and " + b.firstCall(n)
			}
		}
		if len(x) != len(y) {
			longer, p := x, a
			if len(y) > len(x) {
				longer, p = y, b
			}
			return p.firstCall(&longer[min(len(x), len(y))])
		}
		return ""
	}
	if name := find(a.body, b.body); name != "" {
		return name
	}
	return "with other kinds of arguments"
}

// firstCall is the procedure of a statement's first call.
func (p *process) firstCall(s *stmt) string {
	for s.body != nil {
		s = &s.body[0]
	}
	return p.nodes[s.node].proc.Name
}

// scale makes the processes, with the simplest feature by which all follows.
func (s *scaler) scale() ([]*process, error) {
	s.of = make([]*class, len(s.procs))
	for _, c := range classes(s.procs) {
		for _, p := range c.procs {
			s.of[p.rank] = c
		}
	}
	for _, p := range s.procs {
		if err := s.turns(p); err != nil {
			return nil, err
		}
	}
	var why error
	for i, feature := range features {
		if i >= plainFeatures && slices.Contains(s.from.dims, 2) {
			break
		}
		list, err := s.scaleBy(feature)
		if err == nil {
			return list, nil
		}
		var peer errPeer
		if why == nil || errors.As(why, &peer) && !errors.As(err, &peer) {
			why = err
		}
	}
	return nil, why
}

func (s *scaler) scaleBy(feature func(*grid, int) int) ([]*process, error) {
	groups, places, err := s.groups(feature)
	if err != nil {
		return nil, err
	}
	members := map[*class][]int{}
	for r, c := range places {
		members[c] = append(members[c], r)
	}
	list := make([]*process, len(places))
	for _, c := range groups {
		ranks := members[c]
		for _, r := range ranks {
			p := *c.like()
			p.rank = r
			p.nodes = slices.Clone(p.nodes)
			list[r] = &p
		}
		for _, n := range c.like().list() {
			if err := s.node(c, n, ranks, list); err != nil {
				return nil, fmt.Errorf("%s: %w", n.proc.Name, err)
			}
		}
	}
	return list, s.balance(list)
}

// node gives the new ranks of a class their words of a node.
func (s *scaler) node(c *class, like *node, ranks []int, list []*process) error {
	values := make([][]value, len(ranks)) // by rank, by word
	longer := false
	for i := range like.values {
		if like.proc.Words[i].Out {
			continue
		}
		old := make([]*value, len(c.procs))
		for k, p := range c.procs {
			old[k] = &p.nodes[like.number].values[i]
		}
		w := &wordScaler{scaler: s, class: c, node: like, word: i, ranks: ranks}
		made, err := w.value(old)
		if err != nil {
			return fmt.Errorf("argument %s: %w", like.proc.Words[i].Name, err)
		}
		longer = longer || w.longer
		for k := range made {
			if values[k] == nil {
				values[k] = slices.Clone(like.values)
			}
			values[k][i] = made[k]
		}
	}
	for k, r := range ranks {
		n := *like
		if longer {
			n.spans = s.lengthened(like.spans)
		}
		if values[k] != nil {
			n.values = values[k]
		}
		list[r].nodes[like.number] = &n
	}
	return nil
}

// lengthened are spans of data for more ranks, equally far apart.
func (s *scaler) lengthened(spans map[int]span) map[int]span {
	times := int64(s.to.size()/s.from.size() + 1)
	for d, size := range s.from.dims {
		times = max(times, int64(s.to.dims[d]/size+1))
	}
	out := map[int]span{}
	for i, at := range spans {
		out[i] = span{low: at.low * times, high: at.high * times, extent: at.extent}
	}
	return out
}

// ofWorld reports whether the object of a node's calls is a communicator of all ranks, in their order, or
// belongs to one.
func (p *process) ofWorld(n *node) bool {
	w := n.graph(p).Words[signature.ObjectWord]
	for range 2 {
		if w == signature.CommWorld {
			return true
		}
		d := p.definition(signature.Family(w))
		switch {
		case d == nil || len(d.Words) == 0:
			return false
		case d.Kind == efg.DefWin:
			w = d.Words[0]
		case d.Kind == efg.DefComm:
			size := uint64(p.data.Size)
			return len(d.Words) == 7 && d.Words[2] == size && d.Words[3] == 3 && d.Words[4] == 0 && (d.Words[5] == size && (d.Words[6] == 1 || size == 1))
		}
	}
	return false
}

func (p *process) definition(word uint64) *efg.Def {
	for i := range p.data.Defs {
		if d := &p.data.Defs[i]; d.Word == word && (d.Kind == efg.DefComm || d.Kind == efg.DefWin) {
			return d
		}
	}
	return nil
}

var errSeveral = errors.New("differs between ranks, not as their places do")
