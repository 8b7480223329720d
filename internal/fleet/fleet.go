// Package fleet answers questions about many runs: which programs and users lose most to waiting, which
// runs became slower and where, and how programs scale. It sums the tables of each run that exports
// have, so that the statements of docs/fleet.md find the same in a directory of these.
package fleet

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// Run is what is known of a run.
type Run struct {
	ID        string // equal for all files of one launch
	Name      string // of the file
	User      string
	Program   string
	BuildID   string
	Arguments string // JSON
	Started   time.Time
	Ranks     int
	// Timed: the times are known. Matched: Waiting is, too.
	Timed, Matched bool
	Elapsed        uint64 // ns, of all ranks, without MPI_Init and MPI_Finalize
	Slowest        uint64 // of the rank with the most
	MPI            uint64 // the part of Elapsed in MPI
	Waiting        uint64 // the part of MPI
	Sites          []Site // in the order of their names
}

// Site is where a program calls a procedure.
type Site struct {
	Op, Place string
	Time      uint64 // ns, of all ranks
}

// Lost is the time lost to waiting or, if that is unknown, in MPI.
func (r *Run) Lost() uint64 {
	if r.Matched {
		return r.Waiting
	}
	return r.MPI
}

// Use is what the runs of a program or user add up to.
type Use struct {
	Name          string
	Runs, Ranks   int // Ranks: of the largest run
	Timed         int // runs with times
	Matched       int // runs whose waiting is known
	Elapsed, MPI  uint64
	Waiting, Lost uint64 // ns
}

// ByProgram and ByUser sum runs. Those who lose most come first.
func ByProgram(runs []*Run) []Use { return uses(runs, func(r *Run) string { return r.Program }) }
func ByUser(runs []*Run) []Use    { return uses(runs, func(r *Run) string { return r.User }) }

func uses(runs []*Run, name func(*Run) string) []Use {
	index := map[string]int{}
	var list []Use
	for _, r := range runs {
		i, ok := index[name(r)]
		if !ok {
			i = len(list)
			index[name(r)] = i
			list = append(list, Use{Name: name(r)})
		}
		u := &list[i]
		u.Runs++
		u.Ranks = max(u.Ranks, r.Ranks)
		if r.Timed {
			u.Timed++
			u.Elapsed += r.Elapsed
			u.MPI += r.MPI
			u.Lost += r.Lost()
		}
		if r.Matched {
			u.Matched++
			u.Waiting += r.Waiting
		}
	}
	slices.SortFunc(list, func(a, b Use) int {
		return cmp.Or(cmp.Compare(b.Lost, a.Lost), cmp.Compare(b.Elapsed, a.Elapsed), strings.Compare(a.Name, b.Name))
	})
	return list
}

// Change is a run that took longer than those before it.
type Change struct {
	Run     *Run
	Before  *Run    // one that took as long as is usual
	Usual   uint64  // ns: the median of Slowest of the runs before
	Earlier int     // how many these are
	Slower  float64 // percent
	Rebuilt bool    // the program was built anew since Before
	// Sites are where the run took longer than Before, and Compute how much longer it computed, ns for
	// each rank.
	Sites   []Difference
	Compute int64
}

// Difference is how much time the calls at a place take, ns for each rank.
type Difference struct {
	Op, Place     string
	Before, After uint64
}

// recent is how many runs before a run say what is usual.
const recent = 5

// Slower returns the runs that took at least so many percent longer than the median of up to five runs of
// the same program, arguments and number of ranks before it, those that lose most first.
func Slower(runs []*Run, percent float64) []Change {
	groups := map[string][]*Run{}
	for _, r := range runs {
		if r.Timed && r.Slowest > 0 && r.Program != "" {
			key := fmt.Sprintf("%s\x00%s\x00%d", r.Program, r.Arguments, r.Ranks)
			groups[key] = append(groups[key], r)
		}
	}
	var list []Change
	for _, g := range groups {
		slices.SortFunc(g, func(a, b *Run) int { return cmp.Or(a.Started.Compare(b.Started), strings.Compare(a.Name, b.Name)) })
		for i := 1; i < len(g); i++ {
			before := slices.Clone(g[max(0, i-recent):i])
			slices.SortStableFunc(before, func(a, b *Run) int { return cmp.Compare(a.Slowest, b.Slowest) })
			usual := before[(len(before)-1)/2]
			slower := 100*float64(g[i].Slowest)/float64(usual.Slowest) - 100
			if slower < percent {
				continue
			}
			c := Change{Run: g[i], Before: usual, Usual: usual.Slowest, Earlier: len(before), Slower: slower, Rebuilt: g[i].BuildID != usual.BuildID}
			c.compare()
			list = append(list, c)
		}
	}
	slices.SortFunc(list, func(a, b Change) int {
		return cmp.Or(cmp.Compare(b.lost(), a.lost()), strings.Compare(a.Run.Name, b.Run.Name))
	})
	return list
}

// lost is the time that a run took longer, of all ranks.
func (c *Change) lost() float64 {
	return (float64(c.Run.Slowest) - float64(c.Usual)) * float64(c.Run.Ranks)
}

// compare finds where a run took longer.
func (c *Change) compare() {
	ranks := uint64(max(1, c.Run.Ranks))
	c.Compute = (int64(c.Run.Elapsed-c.Run.MPI) - int64(c.Before.Elapsed-c.Before.MPI)) / int64(ranks)
	before := map[[2]string]uint64{}
	for _, s := range c.Before.Sites {
		before[[2]string{s.Op, s.Place}] = s.Time
	}
	for _, s := range c.Run.Sites {
		if was := before[[2]string{s.Op, s.Place}]; s.Time/ranks > was/ranks {
			c.Sites = append(c.Sites, Difference{s.Op, s.Place, was / ranks, s.Time / ranks})
		}
	}
	slices.SortStableFunc(c.Sites, func(a, b Difference) int { return cmp.Compare(b.After-b.Before, a.After-a.Before) })
}

// Series is how a program scales.
type Series struct {
	Program string
	Points  []Point
}

// Point are the runs of a program with a number of ranks.
type Point struct {
	Ranks, Runs int
	Slowest     uint64  // ns: median
	Outside     float64 // mean share of the time outside of MPI
	Waiting     float64 // mean share of the time spent waiting; -1: unknown
}

// Scaling returns the programs of which there are runs with several numbers of ranks, in the order of
// their names.
func Scaling(runs []*Run) []Series {
	type key struct {
		program string
		ranks   int
	}
	groups := map[key][]*Run{}
	for _, r := range runs {
		if r.Timed && r.Elapsed > 0 && r.Program != "" {
			k := key{r.Program, r.Ranks}
			groups[k] = append(groups[k], r)
		}
	}
	points := map[string][]Point{}
	for k, g := range groups {
		points[k.program] = append(points[k.program], pointOf(k.ranks, g))
	}
	var list []Series
	for program, p := range points {
		if len(p) > 1 {
			slices.SortFunc(p, func(a, b Point) int { return a.Ranks - b.Ranks })
			list = append(list, Series{program, p})
		}
	}
	slices.SortFunc(list, func(a, b Series) int { return strings.Compare(a.Program, b.Program) })
	return list
}

func pointOf(ranks int, runs []*Run) Point {
	p := Point{Ranks: ranks, Runs: len(runs), Waiting: -1}
	var times []uint64
	var waiting float64
	matched := 0
	for _, r := range runs {
		times = append(times, r.Slowest)
		p.Outside += 1 - float64(r.MPI)/float64(r.Elapsed)
		if r.Matched {
			matched++
			waiting += float64(r.Waiting) / float64(r.Elapsed)
		}
	}
	slices.Sort(times)
	middle := len(times) / 2
	p.Slowest = times[middle]
	if len(times)%2 == 0 {
		p.Slowest = uint64(math.Round((float64(times[middle-1]) + float64(times[middle])) / 2))
	}
	p.Outside /= float64(len(runs))
	if matched > 0 {
		p.Waiting = waiting / float64(matched)
	}
	return p
}
