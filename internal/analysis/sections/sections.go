// Package sections says in which loop, in which phase and in which region of the program calls are,
// while the calls of a run are visited: with the names of loops and the numbers of phases that the
// reports about these have.
package sections

import (
	"fmt"
	"strings"

	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/analysis/loops"
	"github.com/efg-tools/efg/internal/analysis/match"
	"github.com/efg-tools/efg/internal/analysis/phases"
	"github.com/efg-tools/efg/internal/analysis/regions"
)

// Section is a part of the program: a loop, a kind of phases, and a region. Loop and Phase are indices, of
// Loops and of Phases; -1 is none, or unknown. Region is a number of Regions.
type Section struct{ Loop, Phase, Region int32 }

// Sections are those of a run. Its memory grows with the graphs, not with the events.
type Sections struct {
	// Loops are those of all threads; equal ones of different threads count once.
	Loops []loops.Name
	// Phases are the rows of the report about phases.
	Phases []phases.Row
	// Regions are those that calls have been in so far.
	Regions *regions.Paths
	list    []Section // by number

	loops   map[loops.Name]int32
	numbers map[Section]int32
	threads []thread
}

// thread is where a thread is.
type thread struct {
	loops   *loops.Located
	names   []int32 // of its loops, indices of Sections.Loops
	phases  *phases.Follower
	nodes   []inLoop
	regions *regions.Follower
	paths   regions.Numbers
	last    int   // node of the last call, -1: there was none
	now     known // the section of the call at hand
	before  known // and that of the computation before it
}

// inLoop is the loop of a node, and that of the computation before it after the node that was last; -1 is
// none, last is -1 while neither is known.
type inLoop struct{ own, last, before int32 }

// known is a section whose number is known.
type known struct {
	Section
	number int32 // None: no section
}

// numberOf is the number of a section, which is most often the one that is known.
func (s *Sections) numberOf(x Section, k *known) int32 {
	if k.number == None || k.Section != x {
		*k = known{x, s.number(x)}
	}
	return k.number
}

// None is the number of the section that is no loop, and whose phase is unknown.
const None = 0

// New finds the loops and phases of a run that is about to be walked.
func New(run *runfile.Run, t *match.Trace) (*Sections, error) {
	s := &Sections{Regions: regions.NewPaths(), loops: map[loops.Name]int32{}, numbers: map[Section]int32{}, threads: make([]thread, len(t.Threads))}
	s.number(Section{-1, -1, 0})
	numbering, err := phases.Number(run)
	if err != nil {
		return nil, err
	}
	s.Phases = numbering.Rows
	locator, err := loops.NewLocator(run)
	if err != nil {
		return nil, err
	}
	for _, p := range t.Processes {
		main, follower, err := numbering.Follow(p.Facts, p.Number)
		if err != nil {
			return nil, err
		}
		for _, th := range p.Threads {
			x := &s.threads[th.Index]
			*x = thread{last: -1}
			i := streamOf(p, th)
			if i == main {
				x.phases = follower
			}
			if i >= 0 {
				x.regions = regions.NewFollower(p.Facts.Data, i)
			}
			if err := x.locate(s, locator, p, i); err != nil {
				return nil, err
			}
		}
	}
	return s, nil
}

func streamOf(p *match.Process, t *match.Thread) int {
	for i := range p.Facts.Data.Streams {
		if &p.Facts.Data.Streams[i] == t.Stream {
			return i
		}
	}
	return -1
}

func (x *thread) locate(s *Sections, locator *loops.Locator, p *match.Process, i int) (err error) {
	if i < 0 {
		return nil
	}
	if x.loops, err = locator.Find(p.Facts, i); err != nil {
		return err
	}
	x.nodes = make([]inLoop, len(x.loops.Forest.Inner))
	for k := range x.nodes {
		x.nodes[k].last = -1
	}
	x.names = make([]int32, len(x.loops.Names))
	for k, name := range x.loops.Names {
		n, ok := s.loops[name]
		if !ok {
			n = int32(len(s.Loops))
			s.loops[name], s.Loops = n, append(s.Loops, name)
		}
		x.names[k] = n
	}
	return nil
}

// number is the number of a section.
func (s *Sections) number(x Section) int32 {
	n, ok := s.numbers[x]
	if !ok {
		n = int32(len(s.list))
		s.numbers[x], s.list = n, append(s.list, x)
	}
	return n
}

// At returns the section of a number.
func (s *Sections) At(number int32) Section { return s.list[number] }

// Enter returns the numbers of the sections of the computation before a call and of the call. It
// is asked when the call is entered, of each call of a thread.
func (s *Sections) Enter(c *match.Call) (before, in int32) {
	x := &s.threads[c.Thread.Index]
	phase := int32(-1)
	if x.phases != nil {
		phase = int32(x.phases.Row(c.Event))
	}
	region := int32(0)
	if x.regions != nil {
		region = x.paths.Of(x.regions, x.regions.At(c.Event), s.Regions)
	}
	own, gap := int32(-1), int32(-1)
	switch {
	case c.Node >= len(x.nodes):
	case x.last < 0:
		own = x.loop(c.Node, c.Node)
	default:
		n := &x.nodes[c.Node]
		if int(n.last) != x.last {
			*n = inLoop{x.loop(c.Node, c.Node), int32(x.last), x.loop(x.last, c.Node)}
		}
		own, gap = n.own, n.before
	}
	x.last = c.Node
	return s.numberOf(Section{gap, phase, region}, &x.before), s.numberOf(Section{own, phase, region}, &x.now)
}

// Now returns the number of the section of the call at hand.
func (s *Sections) Now(t *match.Thread) int32 { return s.threads[t.Index].now.number }

// loop is the innermost loop with two nodes, -1 if there is none.
func (x *thread) loop(a, b int) int32 {
	if n := x.loops.Forest.Common(a, b); n >= 0 {
		return x.names[n]
	}
	return -1
}

// LoopText names a loop with the function or the callsite where its iterations begin, as
// "loop 1.2 (exchange)".
func LoopText(l loops.Name) string {
	at, _, _ := strings.Cut(l.Site, " ")
	if at == "" {
		at = l.Op
	}
	return fmt.Sprintf("loop %s (%s)", l.Number, at)
}
