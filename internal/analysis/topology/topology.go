// Package topology recognises the virtual topology of a program from its communication graph:
// lines, rings, grids of two to four dimensions with and without wrap, hypercubes, trees,
// stars, all-to-all, and equal shifts.
//
// A shape is recognised only if all processes fit exactly. Positions are those of
// the ranks in ascending order, as MPI_Cart_create numbers them: the last
// dimension changes fastest.
package topology

import (
	"fmt"
	"slices"
	"strings"
)

// Kind is the kind of a shape.
type Kind string

const (
	Nothing   Kind = "none" // no rank communicates
	Line      Kind = "line"
	Ring      Kind = "ring"
	Grid      Kind = "grid"  // two dimensions or more
	Torus     Kind = "torus" // wrapped in all dimensions of more than two
	Hypercube Kind = "hypercube"
	Complete  Kind = "all-to-all"
	Star      Kind = "star"
	Tree      Kind = "tree"
	Binomial  Kind = "binomial tree"
	Shifts    Kind = "shifts"
	Irregular Kind = "irregular"
)

// Shape is what was recognised.
type Shape struct {
	Kind  Kind
	Ranks int // those that communicate
	Parts int // number of such shapes, not connected with each other
	// Dims and Wrap are those of lines, rings, grids, tori and hypercubes. In a dimension of
	// size two, wrap cannot be determined.
	Dims []int
	Wrap []bool
	// Diagonals: neighbours also at corners and edges.
	Diagonals bool
	Arity     int   // of a tree in which process i has the children i·Arity+1 …; 0 for other trees
	Centre    int   // rank of the centre of a star, or of the root of a tree with arity or of a binomial one
	Offsets   []int // of shifts: process i talks to i+offset, around the end
	OneWay    bool  // no rank sends to one that it receives from
}

// Recognise finds the shape of a graph: for each of n ranks, those that it sends
// to.
func Recognise(to [][]int) Shape {
	g := newGraph(to)
	if len(g.ranks) == 0 {
		return Shape{Kind: Nothing}
	}
	parts := g.parts()
	s := parts[0].shape()
	s.Centre = parts[0].ranks[s.Centre]
	s.Ranks, s.Parts = len(g.ranks), len(parts)
	for _, p := range parts[1:] {
		o := p.shape()
		if o.Kind != s.Kind || !slices.Equal(o.Dims, s.Dims) || !slices.Equal(o.Wrap, s.Wrap) ||
			o.Diagonals != s.Diagonals || o.Arity != s.Arity || !slices.Equal(o.Offsets, s.Offsets) || len(p.ranks) != len(parts[0].ranks) {
			s = Shape{Kind: Irregular, Ranks: len(g.ranks), Parts: len(parts)}
			break
		}
	}
	s.OneWay = g.oneWay
	return s
}

// String describes the shape: "2-D grid, 4 × 8".
func (s Shape) String() string {
	text := s.one()
	if s.Parts > 1 && s.Kind != Irregular {
		text = fmt.Sprintf("%d times: %s", s.Parts, text)
	} else if s.Parts > 1 {
		text += fmt.Sprintf(", %d parts", s.Parts)
	}
	if s.OneWay {
		text += ", one way"
	}
	return text
}

func (s Shape) one() string {
	each := s.Ranks / max(s.Parts, 1)
	switch s.Kind {
	case Nothing:
		return "no messages"
	case Line, Ring, Complete:
		return fmt.Sprintf("%s of %d", s.Kind, each)
	case Hypercube:
		return fmt.Sprintf("hypercube of %d dimensions", len(s.Dims))
	case Grid, Torus:
		return s.grid()
	case Star:
		return fmt.Sprintf("star of %d around rank %d", each, s.Centre)
	case Tree:
		if s.Arity > 0 {
			return fmt.Sprintf("tree of %d with %d children each, root %d", each, s.Arity, s.Centre)
		}
		return fmt.Sprintf("tree of %d", each)
	case Binomial:
		return fmt.Sprintf("binomial tree of %d, root %d", each, s.Centre)
	case Shifts:
		return fmt.Sprintf("%d ranks, each with those at %s, around the end", each, strings.Trim(strings.ReplaceAll(fmt.Sprint(s.Offsets), " ", ", "), "[]"))
	}
	return fmt.Sprintf("irregular, %d ranks", s.Ranks)
}

func (s Shape) grid() string {
	var dims, wrapped []string
	for i, d := range s.Dims {
		dims = append(dims, fmt.Sprint(d))
		if s.Wrap[i] {
			wrapped = append(wrapped, fmt.Sprint(i))
		}
	}
	text := fmt.Sprintf("%d-D %s, %s", len(dims), s.Kind, strings.Join(dims, " × "))
	if s.Kind == Grid && len(wrapped) > 0 {
		text += ", wrapped in dimension " + strings.Join(wrapped, ", ")
	}
	if s.Diagonals {
		text += ", with diagonals"
	}
	return text
}
