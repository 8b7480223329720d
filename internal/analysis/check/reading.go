package check

import (
	"fmt"
	"math"
	"sort"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/internal/analysis"
	"github.com/efg-tools/efg/reconstruct"
	"github.com/efg-tools/efg/signature"
)

// callCursor iterates over the collective calls of a rank on one communicator.
type callCursor struct {
	t      *tally
	r      *reader // nil if the process calls no collectives
	key    scopeKey
	names  *reconstruct.Names
	steps  []efg.Step
	weight map[*efg.Step]weight // of bodies of repeats
	all    weight
	skip   uint64 // number of calls to skip
	stack  []frame
	event  uint64 // number of the next event
	now    call
	at     eventRef
}

// weight is the number of events of steps, and of calls on the communicator.
type weight struct {
	events uint64
	calls  sequence
}

// frame is a repeated body that is being iterated.
type frame struct {
	steps []efg.Step
	next  int
	left  uint64 // repeats left
}

// reading reads the process of a rank. With several threads it reads the first one that makes
// calls on the communicator.
func (b *builder) reading(rank int, k scopeKey) (*callCursor, error) {
	i := b.number[rank]
	data, err := b.run.Process(i)
	if err != nil {
		return nil, err
	}
	p, err := analysis.NewProcess(data, b.first[i])
	if err != nil {
		return nil, err
	}
	sites, err := b.run.Sites()
	if err != nil {
		return nil, err
	}
	t := newTally(p)
	x := &callCursor{t: t, key: k, names: reconstruct.NamesOf(data, sites), weight: map[*efg.Step]weight{}}
	for i := range data.Streams {
		r := t.newReader(i)
		if r == nil {
			continue
		}
		x.r, x.steps = r, nil
		if err := x.r.fold.Each(func(steps []efg.Step) error {
			x.steps = append(x.steps, steps...)
			return nil
		}); err != nil {
			return nil, err
		}
		if x.all = x.weigh(x.steps); x.all.calls.length > 0 {
			break
		}
	}
	x.restart(0)
	return x, nil
}

// weigh adds steps.
func (x *callCursor) weigh(steps []efg.Step) (sum weight) {
	for i := range steps {
		s := &steps[i]
		if s.Times == 0 {
			sum.events++
			if c, ok := x.call(s); ok {
				sum.calls = sum.calls.then(single(c.hash))
			}
			continue
		}
		w := x.weigh(s.Body)
		x.weight[s] = w
		sum.events += w.events * s.Times
		sum.calls = sum.calls.then(w.calls.times(s.Times))
	}
	return sum
}

// call returns the call of a step, if it is one on the communicator.
func (x *callCursor) call(s *efg.Step) (call, bool) {
	c, ok := x.r.call(s)
	return c, ok && c.scope == x.key
}

// prefix is the sequence of the first n calls of steps.
func (x *callCursor) prefix(steps []efg.Step, n uint64) (all sequence) {
	for i := range steps {
		s := &steps[i]
		if n == 0 {
			break
		}
		if s.Times == 0 {
			if c, ok := x.call(s); ok {
				all = all.then(single(c.hash))
				n--
			}
			continue
		}
		body := x.weight[s].calls
		if body.length == 0 {
			continue
		}
		turns := min(n/body.length, s.Times)
		all = all.then(body.times(turns))
		if n -= turns * body.length; n > 0 && turns < s.Times {
			return all.then(x.prefix(s.Body, n))
		}
	}
	return all
}

// common is the number of calls that two readings have in common before they diverge.
func (x *callCursor) common(o *callCursor) uint64 {
	most := min(x.all.calls.length, o.all.calls.length)
	n := sort.Search(int(min(most, math.MaxInt-1)), func(k int) bool {
		return x.prefix(x.steps, uint64(k)+1).hash != o.prefix(o.steps, uint64(k)+1).hash
	})
	return uint64(n)
}

// restart moves to the beginning, or to before call n, counted from 1.
func (x *callCursor) restart(n uint64) {
	x.stack, x.event, x.at, x.now = []frame{{x.steps, 0, 0}}, 0, eventRef{}, call{}
	x.skip = n - min(n, 1)
}

// next moves to the next call; false at the end.
func (x *callCursor) next() bool {
	for len(x.stack) > 0 {
		f := &x.stack[len(x.stack)-1]
		switch {
		case f.next < len(f.steps):
			s := &f.steps[f.next]
			f.next++
			if s.Times > 0 {
				x.enter(s)
				continue
			}
			x.event++
			c, ok := x.call(s)
			if ok && x.skip > 0 {
				x.skip--
			} else if ok {
				x.now, x.at = c, eventRef{place{x.t.p.Data.Streams[x.r.i].Thread, int32(s.Node)}, x.event - 1}
				return true
			}
		case f.left > 0:
			f.left--
			f.next = 0
		default:
			x.stack = x.stack[:len(x.stack)-1]
		}
	}
	return false
}

// enter begins a repeat, after the iterations that are skipped.
func (x *callCursor) enter(s *efg.Step) {
	w := x.weight[s]
	turns := s.Times
	if w.calls.length > 0 {
		turns = min(turns, x.skip/w.calls.length)
	}
	x.event += turns * w.events
	x.skip -= turns * w.calls.length
	if turns < s.Times {
		x.stack = append(x.stack, frame{s.Body, 0, s.Times - turns - 1})
	}
}

// addFault sets the place of a suspect to that of the last call.
func (x *callCursor) addFault(f *candidateFault) {
	f.at, f.event = x.at.place, x.at.event
	f.op, f.site = x.t.caller(x.at.place)
}

// place is the source location of the last call.
func (x *callCursor) place() string {
	_, site := x.t.caller(x.at.place)
	return placeText(x.names, x.at.event, site)
}

func placeText(names *reconstruct.Names, event, site uint64) string {
	return fmt.Sprintf("event %d, %s", event, names.Callsite(site))
}

func (x *callCursor) isWindow() bool {
	return x.r != nil && x.t.isWindow(x.now.word)
}

func (t *tally) isWindow(word uint64) bool {
	for i := range t.p.Data.Defs {
		d := &t.p.Data.Defs[i]
		if d.Kind == efg.DefWin && d.Word == signature.Family(word) {
			return true
		}
	}
	return false
}
