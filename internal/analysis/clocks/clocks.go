package clocks

import (
	"context"
	"math"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/analysis/match"
)

// Machine says how the clock of a machine was corrected.
type Machine struct {
	Host  string
	Ranks []int
	// Reference is the number of the machine to whose clock this one is aligned: its own if it is
	// that machine, or nothing is known of its clock.
	Reference int
	Aligned   bool
	// Windows are where one line describes the difference; Limits is how many
	// inequalities it follows from, without those that others imply.
	Windows []Window
	Limits  int
}

// Shifted says how many calls of a rank ended before something began that they needed, although
// clocks are aligned, and by how much, ns, they end later now.
type Shifted struct {
	Rank           int
	Calls          uint64
	Longest, Total int64
	First          int64 // when the first of them ended before, ns since the run began
}

// Contradictions are calls that are over before something has begun that they needed.
type Contradictions struct {
	Calls uint64
	Worst int64 // ns
}

// Report says what was changed.
type Report struct {
	Machines []Machine
	// Raw is what the recorded times contradict, Aligned what is left if the clocks of machines are
	// aligned. Remaining is how many calls are not shifted, because there are too many.
	Raw, Aligned Contradictions
	Remaining    uint64
	Ranks        []Shifted // those with calls that were shifted
	Matched      match.Summary

	lines []efg.Line   // of machines
	warps [][]efg.Warp // of each stream of each process
}

// Needed reports whether a run has times of each call, and of more than one machine.
func Needed(run *runfile.Run) bool {
	if !run.Meta.Traced() {
		return false
	}
	for _, m := range run.Machines() {
		if m > 0 {
			return true
		}
	}
	return false
}

// Correct corrects the times that are read from a run from now on, if it is of several machines, and
// reports what that changes. The report of one machine only has what contradicts. progress, if not
// nil, is called with how many events of how many are done. Without times of each call the error
// is match.ErrNoTimes.
func Correct(ctx context.Context, run *runfile.Run, progress func(done, total uint64)) (*Report, error) {
	return CorrectPart(ctx, run, nil, progress)
}

// CorrectPart is Correct for the times of some processes, by their numbers in the run, as if the others were not in
// the file; nil stands for all. The machines of the report are those of the run; others than those of the part
// have no ranks.
func CorrectPart(ctx context.Context, run *runfile.Run, procs []int, progress func(done, total uint64)) (*Report, error) {
	run.Correct(nil, nil)
	of := run.Machines()
	x := newObserver(of)
	trace, err := match.OpenPart(run, procs)
	if err != nil {
		return nil, err
	}
	trace.End = math.MaxInt64 // before clocks agree it says nothing
	several := Needed(run)
	passes, events := uint64(1), trace.Events // what show refers to must not keep the trace
	if several {
		passes = 2
	}
	show := func(pass uint64) func(uint64) {
		return func(done uint64) {
			if progress != nil {
				progress(done+pass*events, passes*events)
			}
		}
	}
	summary, err := trace.Walk(ctx, x, show(0))
	if err != nil {
		return nil, err
	}
	r := &Report{Raw: Contradictions{x.contradictions, x.worst}, Matched: *summary}
	machines := 0
	for _, m := range of {
		machines = max(machines, m+1)
	}
	var lines []efg.Line
	lines, r.Machines = align(machines, x.passages)
	for _, p := range trace.Processes {
		m := &r.Machines[of[p.Number]]
		m.Host = run.Procs[p.Number].Host
		m.Ranks = append(m.Ranks, p.Rank)
	}
	if !several {
		return r, nil
	}
	keepBeginning(lines, of, trace)
	r.lines = lines
	run.Correct(lines, nil)
	return r, r.amend(ctx, run, procs, lines, nil, show(1))
}

// Order makes sure that no call of a run, be it of one machine, seems over before something has
// begun that it needed: times of one machine, too, are only as exact as they were recorded. The
// clocks of several machines must have been aligned by Correct. The visitor that watch makes sees the
// calls, by their times before. procs are the processes that are read, nil stands for all.
func Order(ctx context.Context, run *runfile.Run, procs []int, watch func(*match.Trace) match.Visitor, progress func(done uint64)) error {
	if run.Corrected() { // nothing is left to do
		trace, err := match.OpenPart(run, procs)
		if err != nil {
			return err
		}
		_, err = trace.Walk(ctx, watch(trace), progress)
		return err
	}
	return new(Report).amend(ctx, run, procs, nil, watch, progress)
}

// keepBeginning shifts lines such that the run begins when it did.
func keepBeginning(lines []efg.Line, machine []int, t *match.Trace) {
	raw, corrected := int64(math.MaxInt64), int64(math.MaxInt64)
	for _, th := range t.Threads {
		at := int64(th.Trace.BeginMono()) + th.Process.Facts.Data.Clock
		raw = min(raw, at)
		corrected = min(corrected, lines[machine[th.Process.Number]].Time(at))
	}
	for i := range lines {
		if len(lines[i]) == 0 {
			lines[i] = efg.Line{{}}
		}
		for k := range lines[i] {
			lines[i][k].Shift += raw - corrected
		}
	}
}

// amend shifts what still contradicts.
func (r *Report) amend(ctx context.Context, run *runfile.Run, procs []int, lines []efg.Line, watch func(*match.Trace) match.Visitor, progress func(uint64)) error {
	trace, err := match.OpenPart(run, procs)
	if err != nil {
		return err
	}
	x := newLogicalClock(trace)
	o := &observer{}
	visitors := match.Visitors{o, x}
	if watch != nil {
		visitors = append(visitors, watch(trace))
	}
	if _, err := trace.Walk(ctx, visitors, progress); err != nil {
		return err
	}
	r.Aligned, r.Remaining = Contradictions{o.contradictions, o.worst}, x.remaining
	warps := make([][]efg.Warp, len(run.Procs))
	for i := range run.Procs {
		warps[i] = make([]efg.Warp, len(run.Procs[i].Streams))
	}
	for _, p := range trace.Processes {
		total := Shifted{Rank: p.Rank}
		for j := range p.Facts.Data.Streams {
			for _, th := range p.Threads {
				if th.Stream == &p.Facts.Data.Streams[j] {
					warps[p.Number][j] = x.threads[th.Index].warp
					total.add(&x.threads[th.Index])
				}
			}
		}
		if total.Calls > 0 {
			r.Ranks = append(r.Ranks, total)
		}
	}
	r.warps = warps
	run.Correct(lines, warps)
	return nil
}

func (t *Shifted) add(s *shifted) {
	if s.moved == 0 {
		return
	}
	if t.Calls == 0 || s.first < t.First {
		t.First = s.first
	}
	t.Calls += s.moved
	t.Total += s.total
	t.Longest = max(t.Longest, s.longest)
}
