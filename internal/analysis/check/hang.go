package check

import (
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/analysis"
	"github.com/efg-tools/efg/internal/analysis/waitfor"
)

// Kinds of faults of runs whose ranks were in calls when the recording ended.
const (
	Deadlock           Kind = "deadlock"
	WaitInVain         Kind = "wait for a process that has ended"
	CollectiveMismatch Kind = "mismatched collective calls in progress"
)

// hangKinds say that the run hung.
var hangKinds = []Kind{Deadlock, WaitInVain, CollectiveMismatch}

// Hangs reports whether ranks were blocked forever, or wait in mismatched calls.
func (r *Report) Hangs() bool {
	return slices.ContainsFunc(r.Findings, func(f Finding) bool { return f.Hang() && f.Remark == "" })
}

// Hang reports whether the finding is that the ranks in Ranks were blocked forever.
func (f *Finding) Hang() bool { return slices.Contains(hangKinds, f.Kind) }

// hangs finds ranks that were blocked forever from where the recording ended.
func (b *builder) hangs() error {
	if !endsInCalls(b.run) {
		return nil
	}
	sites, err := b.run.Sites()
	if err != nil {
		return err
	}
	h := &hang{texts: waitfor.NewTexts(sites)}
	first := analysis.FirstRanks(b.run.Procs)
	for i := range b.run.Procs {
		p, err := b.run.Process(i)
		if err != nil {
			return err
		}
		h.ranks = append(h.ranks, waitfor.Recorded(p, first[i]))
	}
	for i := range b.ends {
		if s := &b.ends[i]; s.causes() {
			h.ranks[b.number[s.rank]].Died()
		}
	}
	h.verdict = waitfor.Judge(h.ranks)
	list := h.findings()
	if crashed(&b.run.Meta) {
		for i := range list {
			if list[i].Kind != CollectiveMismatch { // an error in any case
				list[i].Remark = "a process was ended by a signal, perhaps during its call"
			}
		}
	}
	b.report.Findings = append(b.report.Findings, list...)
	return nil
}

// crashed reports whether the exit status shows that a process crashed: then it does not wait
// in its last call.
func crashed(m *runfile.Meta) bool {
	switch unix.Signal(m.Status - 128) {
	case unix.SIGSEGV, unix.SIGBUS, unix.SIGFPE, unix.SIGILL, unix.SIGABRT:
		return !m.StatusUnknown
	}
	return false
}

// endsInCalls reports whether a thread of a process that had not finished is in a call.
func endsInCalls(run *runfile.Run) bool {
	for i := range run.Procs {
		for k := range run.Procs[i].Streams {
			if s := &run.Procs[i].Streams[k]; s.InCall && s.End == efg.EndOpen {
				return true
			}
		}
	}
	return false
}

// hang turns a verdict into findings.
type hang struct {
	ranks   []*waitfor.Rank
	verdict *waitfor.Verdict
	texts   *waitfor.Texts
}

func (h *hang) findings() []Finding {
	var list []Finding
	for _, ranks := range h.verdict.Cycles {
		cycle := h.verdict.Cycle(ranks)
		f := h.finding(Deadlock, ranks, cycle[0])
		f.Text = h.cycleText(ranks, cycle)
		list = append(list, f)
	}
	if len(list) > 0 && len(h.verdict.Behind) > 0 {
		list[0].Text += fmt.Sprintf("; behind them %s", waitfor.RanksText(h.verdict.Behind))
	}
	for _, rank := range h.verdict.InVain {
		list = h.neverMatched(list, rank)
	}
	for i := range h.verdict.Mismatches {
		list = append(list, h.mismatch(&h.verdict.Mismatches[i]))
	}
	return list
}

// finding returns a finding for some ranks, with the call that one of them is in.
func (h *hang) finding(kind Kind, ranks []int, rank int) Finding {
	f := Finding{Kind: kind, Rank: rank, Count: 1, Ranks: ranks}
	if i, t := h.waiting(rank); i >= 0 {
		r := h.ranks[i]
		s := &r.Process.Streams[t]
		f.Thread, f.Event = s.Thread, s.Events
		f.Op, f.Site = h.texts.Caller(r.Process, r.Threads[t].Words)
	}
	return f
}

// waiting finds the thread of a rank that waits for others; position and thread are -1 if none
// does.
func (h *hang) waiting(rank int) (position, thread int) {
	for i, r := range h.ranks {
		if r.Number != rank {
			continue
		}
		for t := range r.Threads {
			if awaited, _ := h.verdict.Awaits(i, t); len(awaited) > 0 {
				return i, t
			}
		}
	}
	return -1, 0
}

// longestCycle is the maximum number of ranks of a cycle that are listed with their calls.
const longestCycle = 8

// cycleText describes which rank waits for which.
func (h *hang) cycleText(ranks, cycle []int) string {
	var parts []string
	for i, rank := range cycle[:min(len(cycle), longestCycle)] {
		parts = append(parts, fmt.Sprintf("rank %d in %s needs rank %d", rank, h.callText(rank), cycle[(i+1)%len(cycle)]))
	}
	if n := len(cycle) - len(parts); n > 0 {
		parts = append(parts, fmt.Sprintf("and so on for %d more", n))
	}
	return waitfor.CycleText(ranks) + ": " + strings.Join(parts, "; ")
}

func (h *hang) callText(rank int) string {
	i, t := h.waiting(rank)
	if i < 0 {
		return "a call"
	}
	r := h.ranks[i]
	x := h.texts.Call(r.Process, rank, r.Process.Streams[t].Thread, r.Threads[t].Words)
	return fmt.Sprintf("%s(%s) at %s", x.Op, strings.Join(x.Args, ", "), x.Site)
}

// neverMatched adds a rank that waits for one that has ended to the finding of those that do so
// in the same call.
func (h *hang) neverMatched(list []Finding, rank int) []Finding {
	f := h.finding(WaitInVain, []int{rank}, rank)
	f.Text = "waits for a process that has ended"
	if i, t := h.waiting(rank); i >= 0 {
		awaited, _ := h.verdict.Awaits(i, t)
		var ended []int
		for _, r := range h.ranks {
			if _, found := slices.BinarySearch(awaited, r.Number); found && r.Ended {
				ended = append(ended, r.Number)
			}
		}
		f.Text = fmt.Sprintf("waits in %s for %s, which has ended", h.callText(rank), waitfor.RanksText(ended))
	}
	for i := range list {
		if x := &list[i]; x.Kind == f.Kind && x.Op == f.Op && x.Site == f.Site && x.Text == f.Text {
			x.Ranks = append(x.Ranks, rank)
			return list
		}
	}
	return append(list, f)
}

// mismatch describes the calls that do not match.
func (h *hang) mismatch(m *waitfor.Mismatch) Finding {
	var ranks []int
	var parts []string
	for _, x := range h.texts.Places(m) {
		ranks = append(ranks, x.Ranks...)
		verb := "in"
		if !x.Calls[0].In {
			verb = "past"
		}
		parts = append(parts, fmt.Sprintf("%s %s %s(%s) at %s", waitfor.RanksText(x.Ranks), verb, x.Text.Op, strings.Join(x.Text.Args, ", "), x.Text.Site))
	}
	slices.Sort(ranks)
	c := &m.Calls[0].Calls[0]
	f := h.finding(CollectiveMismatch, ranks, c.Rank.Number)
	if f.Op == "" {
		f.Op, f.Site = h.texts.Caller(c.Rank.Process, c.Words)
	}
	f.Text = fmt.Sprintf("another %s in the same place of the collectives on %s: %s", m.Difference, h.texts.Object(m), strings.Join(parts, "; "))
	if m.Difference == waitfor.OtherData {
		f.Text = strings.Replace(f.Text, "another data", "other data", 1)
	}
	return f
}
