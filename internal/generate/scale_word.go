package generate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/efg-tools/efg/signature"
)

// wordScaler finds what a word of a node is on new ranks of a class.
type wordScaler struct {
	*scaler
	class *class
	node  *node
	word  int
	ranks []int // the new ones
	// longer: arrays have an element for each rank, and so other lengths than in the run
	longer bool
}

// value returns the word's value on each new rank; nil if all have that of the class's first process.
func (s *wordScaler) value(old []*value) ([]value, error) {
	q := s.node.param(s.word)
	if q == nil {
		return nil, nil
	}
	if q.Kind == signature.Str && !s.sameStrings(old) {
		return nil, errSeveral
	}
	first := old[0]
	for _, v := range old[1:] {
		if !first.alike(v) {
			return nil, errSeveral
		}
	}
	made := make([]value, len(s.ranks))
	for k := range made {
		made[k] = value{series: slices.Clone(first.series)}
	}
	changed := false
	if first.vecs == nil {
		for i, r := range first.series {
			if r.Count == 0 {
				continue
			}
			words, err := s.words(old, func(v *value) uint64 { return v.series[i].Value })
			if err != nil {
				return nil, err
			}
			if s.isRank() && r.Count > 1 && r.Step != 0 {
				return nil, fmt.Errorf("takes %d ranks in turn: how many they are on another number of ranks is unknown", r.Count)
			}
			for k := range words {
				changed = changed || words[k] != r.Value
				made[k].series[i].Value = words[k]
			}
		}
	} else {
		var err error
		if changed, err = s.arrays(old, made); err != nil {
			return nil, err
		}
	}
	if !changed {
		return nil, nil
	}
	return made, nil
}

// alike reports whether two values have the same structure, with other words.
func (v *value) alike(o *value) bool {
	return (v.vecs == nil) == (o.vecs == nil) && slices.EqualFunc(v.series, o.series, func(a, b run) bool {
		return a.Step == b.Step && a.Count == b.Count && a.Back == b.Back && a.Times == b.Times && (v.vecs == nil || a.Value == b.Value)
	}) && slices.EqualFunc(v.vecs, o.vecs, func(a, b []uint64) bool { return len(a) == len(b) })
}

// sameStrings reports whether all processes pass the same strings.
func (s *wordScaler) sameStrings(old []*value) bool {
	return !slices.ContainsFunc(old, func(v *value) bool { return !v.equal(old[0]) })
}

// arrays makes the arrays of the new ranks, and reports whether they differ from those of the first process.
func (s *wordScaler) arrays(old []*value, made []value) (changed bool, err error) {
	q := s.node.param(s.word)
	for k := range made {
		made[k].vecs = make([][]uint64, len(old[0].vecs))
	}
	for a, elems := range old[0].vecs {
		if s.word == s.node.proc.Roles.Topology.Dims && s.isGrid(elems) {
			for k := range made {
				for _, d := range s.to.dims {
					made[k].vecs[a] = append(made[k].vecs[a], uint64(d))
				}
			}
			changed = true
			continue
		}
		for i := range elems {
			words, err := s.words(old, func(v *value) uint64 { return v.vecs[a][i] })
			if err != nil {
				return false, err
			}
			for k := range made {
				changed = changed || words[k] != elems[i]
				made[k].vecs[a] = append(made[k].vecs[a], words[k])
			}
		}
		if q.Len == nil || q.Len.Op != "lsize" && q.Len.Op != "rsize" {
			continue
		}
		for k := range made {
			if made[k].vecs[a], err = s.lengthened(made[k].vecs[a]); err != nil {
				return false, err
			}
		}
		changed, s.longer = true, true
	}
	return changed, nil
}

// isGrid reports whether an array holds the dimensions of the run's grid.
func (s *wordScaler) isGrid(elems []uint64) bool {
	return slices.EqualFunc(elems, s.from.dims, func(w uint64, d int) bool { return w == uint64(d) })
}

// lengthened is an array with an element for each rank, which are all equal or equally far apart.
func (s *wordScaler) lengthened(elems []uint64) ([]uint64, error) {
	length, err := s.length()
	if err != nil {
		return nil, err
	}
	step := uint64(0)
	if len(elems) > 1 {
		step = elems[1] - elems[0]
	}
	for i, w := range elems {
		if w != elems[0]+uint64(i)*step || special(w) && step != 0 {
			return nil, fmt.Errorf("has an element for each rank, which are not equally far apart")
		}
	}
	out := make([]uint64, length)
	for i := range out {
		out[i] = elems[0] + uint64(i)*step
	}
	return out, nil
}

// isRank reports whether the word is the rank of a process.
func (s *wordScaler) isRank() bool { return isRank(s.node.param(s.word)) }

func isRank(q *signature.Param) bool {
	return q.Kind == signature.Rank || q.Kind == signature.Peer || q.Kind == signature.Root
}

// words are what the new ranks pass where those of the run pass the words that of picks.
func (s *wordScaler) words(old []*value, of func(*value) uint64) ([]uint64, error) {
	words := make([]uint64, len(old))
	for i, v := range old {
		words[i] = of(v)
	}
	if s.isRank() {
		return s.peers(words)
	}
	return s.numbers(words)
}

func equal(words []uint64) bool {
	return !slices.ContainsFunc(words, func(w uint64) bool { return w != words[0] })
}

// oldRanks are those of the class.
func (s *wordScaler) oldRanks() []int {
	ranks := make([]int, len(s.class.procs))
	for i, p := range s.class.procs {
		ranks[i] = p.rank
	}
	return ranks
}

// peers are ranks: one for all, or neighbours in the grid.
func (s *wordScaler) peers(words []uint64) ([]uint64, error) {
	out := make([]uint64, len(s.ranks))
	if equal(words) && special(words[0]) && (words[0] != signature.ProcNull || s.widened() < 0) {
		for k := range out {
			out[k] = words[0]
		}
		return out, nil
	}
	if d := s.along(); d >= 0 && !(equal(words) && special(words[0])) {
		return s.inLine(words, d)
	}
	roles, world := &s.node.proc.Roles, s.class.like().ofWorld(s.node)
	if way, unclear, ok := s.from.distanceOfAll(s.oldRanks(), words); ok && world && s.word != roles.Root && (len(words) > 1 && !equal(words) || near(way)) {
		if d := s.widened(); d >= 0 {
			return nil, s.errWidened(d)
		}
		if unclear >= 0 {
			return nil, fmt.Errorf("is a neighbour in dimension %d of the grid %s, in which both neighbours are the same: record it on 3 or more ranks in each dimension", unclear, s.from)
		}
		for k, r := range s.ranks {
			out[k] = s.to.neighbour(r, way)
		}
		return out, nil
	}
	switch last := uint64(s.from.size() - 1); {
	case equal(words) && special(words[0]):
		return nil, s.errWidened(s.widened())
	case !equal(words):
		return nil, errPeer{fmt.Errorf("is no neighbour in the grid %s: %s", s.from, s.examples(words))}
	case world && last > 0 && words[0] == last:
		return nil, fmt.Errorf("is rank %d: that may be this rank, or the last one", last)
	case !world && words[0] != 0:
		return nil, fmt.Errorf("is rank %d of some ranks: which one it is on another number of ranks is unknown", words[0])
	case words[0] >= uint64(s.to.size()):
		return nil, fmt.Errorf("is rank %d, which there is none of among %d", words[0], s.to.size())
	}
	for k := range out {
		out[k] = words[0]
	}
	return out, nil
}

// widened is the first dimension that has one rank in the run's grid, and more in the new one; -1: none.
func (s *wordScaler) widened() int {
	for d, size := range s.from.dims {
		if size == 1 && s.to.dims[d] > 1 {
			return d
		}
	}
	return -1
}

func (s *wordScaler) errWidened(d int) error {
	return fmt.Errorf("is in the grid %s, which has one rank in dimension %d: who is next to whom there is unknown. Say a grid with one there, too",
		s.from, d)
}

// near reports whether a distance is at most 1 in each dimension.
func near(way []int) bool {
	return !slices.ContainsFunc(way, func(n int) bool { return n < -1 || n > 1 })
}

// numbers are the same everywhere, or grow with the rank or with a coordinate.
func (s *wordScaler) numbers(words []uint64) ([]uint64, error) {
	out := make([]uint64, len(s.ranks))
	if all, ok := s.everywhere(); ok && !equal(all) {
		whole := *s
		whole.class = &class{procs: s.procs}
		roles := &s.node.proc.Roles
		if list, err := whole.numbers(all); err == nil || equal(words) && (s.word == roles.Color || s.word == roles.Key) {
			return list, err
		}
	}
	if equal(words) {
		for k := range out {
			out[k] = words[0]
		}
		return out, nil
	}
	if q := s.node.param(s.word); q.Kind.Handle() || q.Kind == signature.Keyval || slices.ContainsFunc(words, special) {
		return nil, errSeveral
	}
	found := false
	for d := -1; d < len(s.from.dims); d++ {
		base, factor, ok := s.line(words, d)
		if !ok {
			continue
		}
		for k, r := range s.ranks {
			w := uint64(base + factor*coordinate(s.to, r, d))
			if found && out[k] != w {
				return nil, fmt.Errorf("may grow with the rank, or with a coordinate: %s", s.examples(words))
			}
			out[k] = w
		}
		found = true
	}
	if !found {
		return nil, fmt.Errorf("follows neither from the rank nor from a coordinate: %s", s.examples(words))
	}
	return out, nil
}

// everywhere are the words of all ranks, if each makes one call of the procedure from the callsite, with one number.
func (s *wordScaler) everywhere() ([]uint64, bool) {
	if q := s.node.param(s.word); !q.Kind.Integer() || q.Len != nil || len(s.class.procs) == len(s.procs) {
		return nil, false
	}
	site := s.class.like().site(s.node)
	words := make([]uint64, 0, len(s.procs))
	for r, p := range s.procs {
		for _, n := range p.list() {
			if n.proc != s.node.proc || p.site(n) != site {
				continue
			}
			w, ok := n.values[s.word].constant()
			if !ok || special(w) || len(words) > r {
				return nil, false
			}
			words = append(words, w)
		}
		if len(words) != r+1 {
			return nil, false
		}
	}
	return words, true
}

// site is the word of the callsite of a node's calls.
func (p *process) site(n *node) uint64 { return n.graph(p).Words[1] }

// coordinate is that of a rank in a dimension; -1: the rank itself.
func coordinate(g *grid, rank, d int) int64 {
	if d < 0 {
		return int64(rank)
	}
	return int64(g.at(rank)[d])
}

// line finds the words as base + factor · coordinate. Two points are not enough, except for a factor of 1.
func (s *wordScaler) line(words []uint64, d int) (base, factor int64, ok bool) {
	ranks := s.oldRanks()
	x := func(i int) int64 { return coordinate(s.from, ranks[i], d) }
	points := map[int64]bool{}
	for i, w := range words {
		points[x(i)] = true
		if dx := x(i) - x(0); dx != 0 && factor == 0 {
			if factor = (int64(w) - int64(words[0])) / dx; factor == 0 {
				return 0, 0, false
			}
		}
	}
	base = int64(words[0]) - factor*x(0)
	for i, w := range words {
		if int64(w) != base+factor*x(i) {
			return 0, 0, false
		}
	}
	return base, factor, factor == 1 || len(points) > 2
}

// examples shows the words of the first ranks.
func (s *wordScaler) examples(words []uint64) string {
	var parts []string
	for i, w := range words[:min(len(words), 4)] {
		parts = append(parts, fmt.Sprintf("%s on rank %d", number64(s.node.param(s.word), w), s.class.procs[i].rank))
	}
	return strings.Join(parts, ", ")
}
