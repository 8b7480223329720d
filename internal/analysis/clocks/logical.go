package clocks

import (
	"math"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/internal/analysis/match"
)

// logicalClock finds the shifts after which no call is over before something has begun that it
// needed: the controlled logical clock with forward and backward amortisation. A call that was
// over too early ends when the last thing that it needed began. What the thread did before is
// stretched, back to the last thing that others may need; afterwards the shift fades out.
type logicalClock struct {
	threads []shifted
	entered []int64 // of each operation, by ID: when it began, corrected
	latest  map[*match.Collective]int64
	left    int // knots that may still be made
	// remaining are contradictions that were not mended, because there were too many.
	remaining uint64
}

// mostKnots bounds the knots of all threads together: they take about 8 bytes each.
const mostKnots = 1 << 26

// shifted is what was found of a thread.
type shifted struct {
	warp  efg.Warp
	fixed efg.Knot // of the last beginning of something that others may need
	began bool
	// moved are the calls that ended too early, by longest at most and by total together, ns. The
	// first of them ended at first.
	moved   uint64
	longest int64
	total   int64
	first   int64
}

func newLogicalClock(t *match.Trace) *logicalClock {
	return &logicalClock{threads: make([]shifted, len(t.Threads)), latest: map[*match.Collective]int64{}, left: mostKnots}
}

// at corrects a time at or after the last knot.
func (s *shifted) at(time int64) int64 {
	if s.warp.Knots() == 0 {
		return time
	}
	last := s.warp.Last()
	return last.Fade(time)
}

// Enter implements match.Visitor.
func (x *logicalClock) Enter(c *match.Call) {
	s := &x.threads[c.Thread.Index]
	position := 2 * int64(c.Event)
	at := s.at(c.Enter)
	if !s.began {
		s.began = true
		s.fix(c.Enter, position, at)
	}
	for _, o := range c.Posted {
		for o.ID >= len(x.entered) {
			x.entered = append(x.entered, 0)
		}
		x.entered[o.ID] = at
		if n := o.Collective; n != nil {
			if last, ok := x.latest[n]; !ok || at > last {
				x.latest[n] = at
			}
		}
		if o.Kind != match.ReceiveMessage && o.Kind != match.ProbeMessage || len(c.Thread.Process.Threads) > 1 {
			s.fix(c.Enter, position, at)
		}
	}
}

func (s *shifted) fix(time, position, corrected int64) {
	s.fixed = efg.Knot{Position: position, Point: efg.Point{At: time, Shift: corrected - time}, Stretch: true}
}

// Exit implements match.Visitor.
func (x *logicalClock) Exit(c *match.Call) {
	if len(c.Done) == 0 {
		return
	}
	need := int64(math.MinInt64)
	for _, o := range c.Done {
		need = max(need, x.needed(o, c))
	}
	s := &x.threads[c.Thread.Index]
	position := 2*int64(c.Event) + 1
	if early := need - s.at(c.Exit); early > 0 {
		x.shift(s, c.Exit, position, need, early)
	}
}

// needed is when the last thing began that an operation needed, and the operation itself.
func (x *logicalClock) needed(o *match.Operation, c *match.Call) int64 {
	need := int64(math.MinInt64)
	if o.Kind != match.LockWindow && o.ID < len(x.entered) {
		need = x.entered[o.ID]
	}
	n := o.Collective
	if n != nil && n.NeedsAll(o) {
		need = max(need, x.latest[n])
	} else {
		o.EachNeeded(func(w *match.Operation) { need = max(need, x.entered[w.ID]) })
	}
	if n != nil && n.Left+1 == n.Members {
		delete(x.latest, n)
	}
	return need
}

// shift moves the end of a call to a later time.
func (x *logicalClock) shift(s *shifted, time, position, to, early int64) {
	if x.left < 2 {
		x.remaining++
		return
	}
	before := s.warp.Knots()
	if before > 0 && s.warp.Last().Position >= s.fixed.Position {
		s.warp.Stretch()
	} else {
		s.warp.Append(s.fixed)
	}
	s.warp.Append(efg.Knot{Position: position, Point: efg.Point{At: time, Shift: to - time}})
	x.left -= s.warp.Knots() - before
	if s.moved == 0 {
		s.first = time
	}
	s.moved++
	s.total += early
	s.longest = max(s.longest, early)
}
