// Package findings says in a few sentences what a run's time went into, and why its ranks wait:
// each with a number, a place, and the ranks that it is about.
package findings

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/analysis"
	"github.com/efg-tools/efg/internal/analysis/efficiency"
	"github.com/efg-tools/efg/internal/analysis/loops"
	"github.com/efg-tools/efg/internal/analysis/match"
	"github.com/efg-tools/efg/internal/analysis/sections"
	"github.com/efg-tools/efg/internal/analysis/unfinished"
	"github.com/efg-tools/efg/internal/analysis/waits"
	"github.com/efg-tools/efg/internal/analysis/whatif"
	"github.com/efg-tools/efg/internal/rankset"
	"github.com/efg-tools/efg/internal/units"
)

// Kind is what a finding is about.
type Kind string

// Kinds of findings, in the order in which they are told.
const (
	Unfinished Kind = "unfinished" // calls that had not returned when the recording ended
	Efficiency Kind = "efficiency" // how much of the time the ranks compute
	Waiting    Kind = "waiting"    // how much of it they wait
	State      Kind = "state"      // the wait state that takes most
	Cause      Kind = "cause"      // what causes most waiting
	Balance    Kind = "balance"    // what equal computation would save
	Network    Kind = "network"    // what an ideal network would save
	Path       Kind = "path"       // which part of the critical path takes longest
	Processors Kind = "processors" // on which host more ranks ran than there were processors
	Missing    Kind = "missing"    // what was not recorded
)

// Finding is a sentence and its evidence.
type Finding struct {
	Kind Kind
	Text string
	// Time is what it is about, Of what it is a part of; ns. Both are 0 if there is no number.
	Time, Of int64
	Ranks    []int         // that it is about; nil: all, or none
	Region   *waits.Region // where; nil: nowhere
	Loop     *loops.Name   // in which loop; nil: in none, or it is not known
}

// MostEvents bounds the runs whose calls are followed one by one. Of larger ones, less is said.
const MostEvents = 2_000_000

// least is the smallest part of the time that is worth a sentence.
const least = 0.02

// few is how many ranks are named one by one.
const few = 4

// New finds what there is to say about a run, at most six sentences.
func New(run *runfile.Run, progress ...analysis.Progress) ([]Finding, error) {
	all := everyProcess(run)
	open, err := unfinished.New(run, all)
	if err != nil {
		return nil, err
	}
	list, total, err := ofTimes(run, progress)
	if f := crowded(run); f != nil && total > 0 {
		list = append(list[:min(len(list), most-1)], *f)
	}
	if f := inCalls(open, total); f != nil {
		list = append([]Finding{*f}, list[:min(len(list), most-1)]...)
	}
	return list, err
}

// ofTimes finds what the times of calls say, and how long the run took, ns (0: unknown).
func ofTimes(run *runfile.Run, progress []analysis.Progress) (list []Finding, total int64, err error) {
	e, err := efficiency.TimesWithLoops(run, progress...)
	if errors.Is(err, efficiency.ErrNoTimes) {
		return []Finding{{Kind: Missing, Text: "Nothing is known about time: " + err.Error() + "."}}, 0, nil
	}
	if err != nil {
		return nil, 0, err
	}
	list = []Finding{utilization(e)}
	switch events := events(run); {
	case !run.Meta.Traced():
		return append(list, missing("Why ranks wait is not known: "+efficiency.NoTrace+".")), e.Time, nil
	case events > MostEvents:
		return append(list, missing(fmt.Sprintf("The run has %d calls: efg waits and efg whatif say why ranks wait.", events))), e.Time, nil
	}
	more, err := explain(run, e, progress)
	if errors.Is(err, match.ErrNoTimes) {
		return append(list, missing("Why ranks wait is not known: "+efficiency.NoTrace+".")), e.Time, nil
	}
	return append(list, more...), e.Time, err
}

// First is the first sentence about a run, without following its calls; "" if there are no times.
func First(run *runfile.Run) (string, error) {
	open, err := unfinished.New(run, everyProcess(run))
	if err != nil {
		return "", err
	}
	e, err := efficiency.Times(run)
	if err != nil && !errors.Is(err, efficiency.ErrNoTimes) {
		return "", err
	}
	total := int64(0)
	if err == nil {
		total = e.Time
	}
	if f := inCalls(open, total); f != nil {
		return f.Text, nil
	}
	if err != nil {
		return "", nil
	}
	return utilization(e).Text, nil
}

func everyProcess(run *runfile.Run) []int {
	procs := make([]int, len(run.Procs))
	for i := range procs {
		procs[i] = i
	}
	return procs
}

// inCalls tells in which calls ranks were for longest when the recording ended, or in which those
// were for which they waited, and what for; nil if that is not worth a sentence in a run that took
// so long. Calls that could never have returned always are, however soon after them the recording ended.
func inCalls(rows []unfinished.Row, total int64) *Finding {
	worth := func(r *unfinished.Row) bool {
		return r.Blocked || r.Ranks[0].Time != 0 && float64(r.Ranks[0].Time) >= least*float64(total)
	}
	first := slices.IndexFunc(rows, func(r unfinished.Row) bool { return worth(&r) })
	if first < 0 {
		return nil
	}
	r := rootOf(rows, first)
	if !worth(r) {
		r = &rows[first]
	}
	var who []int
	for _, x := range r.Ranks {
		who = append(who, x.Rank)
	}
	slices.Sort(who)
	who = slices.Compact(who)
	longest := r.Ranks[0].Time
	f := &Finding{Kind: Unfinished, Time: longest, Of: total + longest, Ranks: who, Region: &waits.Region{At: waits.Place(r.Place), Call: true}}
	was := "was"
	if len(who) > 1 {
		was = "were"
	}
	f.Text = fmt.Sprintf("When the recording ended, %s %s in %s%s", count(who), was, strings.TrimSpace(r.Op+" "+r.Site), howLong(r))
	var awaited []string
	for _, a := range rootsFirst(r.Awaited) {
		awaited = append(awaited, fmt.Sprintf("%s (%s)", count(a.Ranks), a.Text()))
	}
	if len(awaited) > 0 {
		and := " and "
		if r.Any {
			and = " or "
		}
		f.Text += ", waiting for " + strings.Join(awaited[:min(len(awaited), 2)], and)
	}
	f.Text += "."
	return f
}

// howLong says for how long ranks had been in the calls of a row; "" if that is unknown.
func howLong(r *unfinished.Row) string {
	longest, shortest := r.Ranks[0].Time, r.Ranks[len(r.Ranks)-1].Time
	switch {
	case longest == 0:
		return ""
	case float64(shortest) < (1-least)*float64(longest):
		return " for up to " + ns(longest)
	}
	return " for " + ns(longest)
}

// rootOf follows what the calls of a row needed to calls that needed something else than
// that further ranks leave their calls, or that needed each other.
func rootOf(rows []unfinished.Row, first int) *unfinished.Row {
	seen := map[unfinished.Place]bool{}
	r := &rows[first]
	for {
		seen[r.Place] = true
		next := slices.IndexFunc(rows, func(o unfinished.Row) bool {
			return slices.ContainsFunc(r.Awaited, func(a unfinished.Awaited) bool { return a.Doing == unfinished.InCall && a.Place == o.Place })
		})
		if next < 0 || seen[rows[next].Place] || slices.ContainsFunc(r.Awaited, func(a unfinished.Awaited) bool { return a.Doing != unfinished.InCall }) {
			return r
		}
		r = &rows[next]
	}
}

// rootsFirst puts ranks that were in no call first: of those in calls, something else is the cause.
func rootsFirst(list []unfinished.Awaited) []unfinished.Awaited {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(x, y unfinished.Awaited) int { return cmp.Compare(inCall(x), inCall(y)) })
	return list
}

func inCall(a unfinished.Awaited) int {
	if a.Doing == unfinished.InCall {
		return 1
	}
	return 0
}

// count names ranks, in ascending order, or says how many they are.
func count(list []int) string {
	switch {
	case len(list) == 1:
		return fmt.Sprintf("rank %d", list[0])
	case len(rankset.Text(list)) <= widest:
		return "ranks " + rankset.Text(list)
	}
	return fmt.Sprintf("%d ranks", len(list))
}

// widest is how long the text of a list of ranks may be.
const widest = 16

// Followed reports whether the calls of a run can be followed one by one in little time: their times were
// recorded, and they are no more than MostEvents.
func Followed(run *runfile.Run) bool { return run.Meta.Traced() && events(run) <= MostEvents }

func missing(text string) Finding { return Finding{Kind: Missing, Text: text} }

func events(run *runfile.Run) (n uint64) {
	for i := range run.Procs {
		for _, s := range run.Procs[i].Streams {
			n += s.Events
		}
	}
	return n
}

// utilization tells the parallel efficiency, and the rank that computes longest.
func utilization(e *efficiency.Run) Finding {
	mean := float64(e.Useful) / float64(max(e.Ranks, 1))
	f := Finding{Kind: Efficiency, Time: int64(mean), Of: e.Time}
	f.Text = fmt.Sprintf("Ranks compute %s of %s", percent(f.Time, f.Of), ns(e.Time))
	if mean > 0 && float64(e.Most) > (1+least)*mean {
		f.Ranks = []int{e.MostRank}
		f.Text += fmt.Sprintf("; rank %d computes longest, %.0f %% longer than the mean", e.MostRank, 100*(float64(e.Most)/mean-1))
		if f.Loop = longerIn(e, float64(e.Most)-mean); f.Loop != nil {
			f.Text += ", mostly" + inLoop(f.Loop)
		}
	}
	f.Text += "."
	return f
}

// longerIn is the innermost loop in which the rank that computes longest takes at least half of its
// excess longer than the mean; nil if there is none.
func longerIn(e *efficiency.Run, excess float64) (in *loops.Name) {
	for i := range e.Loops {
		l := &e.Loops[i]
		mean := float64(l.Useful) / float64(max(l.Ranks, 1))
		if l.MostRank == e.MostRank && l.Ranks == e.Ranks && 2*(float64(l.Most)-mean) >= excess && (in == nil || strings.Count(l.Loop.Number, ".") > strings.Count(in.Number, ".")) {
			in = &l.Loop
		}
	}
	return in
}

// explain follows the calls one by one.
func explain(run *runfile.Run, e *efficiency.Run, progress []analysis.Progress) ([]Finding, error) {
	w, err := waits.New(run, everyProcess(run), progress...)
	if err != nil {
		return nil, err
	}
	list := waiting(w)
	if w.Matched.Unmatched+w.Matched.Disagreeing > 0 {
		return append(list, missing("What would shorten the run is not known: calls could not be matched (efg check says more).")), nil
	}
	if e.LoadBalance() < 1-least {
		r, err := whatif.New(run, &whatif.Question{Balance: true}, progress...)
		if err != nil {
			return nil, err
		}
		list = append(list, gain(r.Asked, r, Balance, "If all ranks computed for equally long, the run would take %s less of %s.")...)
	}
	r, err := whatif.New(run, &whatif.Question{Ideal: true}, progress...)
	if err != nil {
		return nil, err
	}
	list = append(list, gain(r.Asked, r, Network, "On an ideal network it would take %s less of %s.")...)
	if p := longest(w); p != nil {
		list = append(list, *p)
	}
	return list[:min(len(list), most-1)], nil
}

// most is how many findings there are at most.
const most = 6

// waiting tells how much ranks wait, for what, and what causes it.
func waiting(w *waits.Report) []Finding {
	if float64(w.Waiting) < least*float64(w.Time) {
		return []Finding{{Kind: Waiting, Text: fmt.Sprintf("Ranks hardly wait for each other: %s of the time.", percent(w.Waiting, w.Time)), Time: w.Waiting, Of: w.Time}}
	}
	list := []Finding{{Kind: Waiting, Text: fmt.Sprintf("Ranks wait for each other %s of the time.", percent(w.Waiting, w.Time)), Time: w.Waiting, Of: w.Time}}
	if r := &w.Rows[0]; !r.State.Apart() {
		text := fmt.Sprintf("%s of the waiting is %s in %s", percent(r.Time, w.Waiting), r.State, place(r.Waiting))
		if r.Culprit.Op != "" {
			text += fmt.Sprintf(": %s %s for %s", ranks(r.Ranks), verb(r.Ranks, "waits", "wait"), others(r.Ranks, r.Culprits))
		}
		list = append(list, Finding{Kind: State, Text: text + ".", Time: r.Time, Of: w.Waiting, Ranks: numbers(r.Ranks), Region: &waits.Region{At: r.Waiting, Call: true}})
	}
	for i := range w.Causes {
		if c := &w.Causes[i]; c.At.Op != "" {
			took := c.Short + c.Long
			text := fmt.Sprintf("%s of the waiting is caused by %s%s, where %s %s longer than those that wait.", percent(took, w.Waiting), region(&c.Region), inLoop(c.Loop), ranks(c.Ranks), verb(c.Ranks, "takes", "take"))
			return append(list, Finding{Kind: Cause, Text: text, Time: took, Of: w.Waiting, Ranks: numbers(c.Ranks), Region: &c.Region, Loop: c.Loop})
		}
	}
	return list
}

// longest is the part of the critical path that takes longest.
func longest(w *waits.Report) *Finding {
	for i := range w.Path.Rows {
		if r := &w.Path.Rows[i]; r.At.Op != "" {
			text := fmt.Sprintf("The critical path is for %s of its time in %s%s.", percent(r.Time, w.Path.Time), region(&r.Region), inLoop(r.Loop))
			return &Finding{Kind: Path, Text: text, Time: r.Time, Of: w.Path.Time, Region: &r.Region, Loop: r.Loop}
		}
	}
	return nil
}

// gain is what a prediction saves, if that is much.
func gain(p *whatif.Prediction, r *whatif.Report, kind Kind, format string) []Finding {
	saved := r.Recorded.Time - p.Time
	if saved < least*r.Recorded.Time {
		return nil
	}
	return []Finding{{Kind: kind, Text: fmt.Sprintf(format, units.Nanoseconds(saved), units.Nanoseconds(r.Recorded.Time)), Time: int64(saved), Of: int64(r.Recorded.Time)}}
}

func ns(t int64) string { return units.Nanoseconds(float64(t)) }

func percent(part, of int64) string {
	v := 100 * float64(part) / float64(max(of, 1))
	if part > 0 && v < 0.5 {
		return "less than 1 %"
	}
	return fmt.Sprintf("%.0f %%", v)
}

// numbers are the ranks that matter: those with a twentieth of the time, or more.
func numbers(list []waits.RankTime) []int {
	var n []int
	sum := int64(0)
	for _, r := range list {
		sum += r.Time
	}
	for _, r := range list {
		if 20*r.Time >= sum {
			n = append(n, r.Rank)
		}
	}
	slices.Sort(n)
	return n
}

// ranks names ranks: all if they are few, else the one with the longest time.
func ranks(list []waits.RankTime) string {
	switch n := numbers(list); {
	case len(n) == 0:
		return "many ranks"
	case len(n) == 1:
		return fmt.Sprintf("rank %d", n[0])
	case len(n) <= few:
		return "ranks " + rankset.Text(n)
	}
	return fmt.Sprintf("rank %d and %d others", list[0].Rank, len(numbers(list))-1)
}

// others names the ranks that some wait for.
func others(waiting, late []waits.RankTime) string {
	if len(late) > 1 && slices.Equal(numbers(waiting), numbers(late)) {
		return "each other"
	}
	return ranks(late)
}

func verb(list []waits.RankTime, one, many string) string {
	if len(numbers(list)) == 1 {
		return one
	}
	return many
}

func inLoop(l *loops.Name) string {
	if l == nil {
		return ""
	}
	return " in " + sections.LoopText(*l)
}

func place(p waits.Place) string { return strings.TrimSpace(p.Op + " " + p.Site) }

func region(r *waits.Region) string {
	switch {
	case r.Call:
		return place(r.At)
	case r.From.Op == "":
		return "the computation before " + place(r.At)
	}
	return "the computation from " + place(r.From) + " to " + place(r.At)
}
