package httpapi

import (
	"context"
	"errors"
	"io"
	"math"
	"net/http"
	"slices"
	"strings"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/analysis"
	"github.com/efg-tools/efg/internal/analysis/check"
	"github.com/efg-tools/efg/internal/analysis/diff"
	"github.com/efg-tools/efg/internal/analysis/efficiency"
	"github.com/efg-tools/efg/internal/analysis/findings"
	"github.com/efg-tools/efg/internal/analysis/flame"
	"github.com/efg-tools/efg/internal/analysis/flows"
	"github.com/efg-tools/efg/internal/analysis/loops"
	"github.com/efg-tools/efg/internal/analysis/match"
	"github.com/efg-tools/efg/internal/analysis/phases"
	"github.com/efg-tools/efg/internal/analysis/waits"
	"github.com/efg-tools/efg/internal/analysis/whatif"
	"github.com/efg-tools/efg/internal/jsondoc"
)

// question is a kind of request about a run file.
type question struct {
	params []string
	// prepare reads the parameters, and returns what answers the request.
	prepare func(q *query) answerer
}

// answerer writes the answer about a run, and returns its type.
type answerer func(in *input, w io.Writer) (contentType string, err error)

// input is what a request is about.
type input struct {
	context.Context
	run  *runfile.Run
	name string
	// correction is how its times are corrected, if that is known.
	correction []byte
	// other is the run that it is compared with, if any.
	other *input
}

const (
	jsonType = "application/json"
	textType = "text/plain; charset=utf-8"
)

// asJSON is an answerer that writes a document.
func asJSON(document func(in *input) (any, error)) answerer {
	return func(in *input, w io.Writer) (string, error) {
		v, err := document(in)
		if err == nil {
			err = jsondoc.Write(w, v)
		}
		return jsonType, err
	}
}

// questions are the requests with a path of their own below a run.
var questions = map[string]question{
	"":              {[]string{"streams", "limit"}, askInfo},
	reportPath:      {[]string{"rank", "by", "setup", siteDepth}, askReport},
	"/graph":        {[]string{"rank", "thread", "collapse", "format", "colour", siteDepth}, askGraph},
	"/graph/layout": {layoutParams, askLayout},
	"/loops":        {[]string{"rank", "ranges", siteDepth}, askLoops},
	"/phases":       {[]string{"rank", "clock", siteDepth}, askPhases},
	"/waits":        {[]string{"rank", "top", "ranges", "clock", siteDepth}, askWaits},
	"/flows":        {[]string{"from", "to", "ranks", "most", "clock", siteDepth}, askFlows},
	"/flame":        {[]string{"of", "with", "clock", siteDepth}, askFlame},
	"/clocks":       {nil, askClocks},
	"/efficiency":   {[]string{"windows", "loops", "phases", "regions", "clock", siteDepth}, askEfficiency},
	"/whatif":       {[]string{"compute", "latency", "overhead", "bandwidth", "ideal", "balance", "network", "clock", siteDepth}, askWhatif},
	"/check":        {[]string{"clock", siteDepth}, askCheck},
	"/counters":     {[]string{"rank", siteDepth}, askCounters},
	"/diff":         {[]string{"ranks", "with", "ranges", siteDepth}, askDiff},
}

// siteDepth is the parameter that says by how many calls of their call paths callsites are told apart.
const siteDepth = "site_depth"

// atSiteDepth lets an answerer see callsites as the request wants them, if its question has that parameter.
func atSiteDepth(ask question, q *query, answer answerer) answerer {
	if !slices.Contains(ask.params, siteDepth) || !q.has(siteDepth) {
		return answer
	}
	depth := q.number(siteDepth, 0, 0, math.MaxInt)
	if depth == 0 {
		depth = efg.AllCalls
	}
	return func(in *input, w io.Writer) (string, error) { return answer(in.at(depth), w) }
}

// at is the same with callsites that are told apart by the last calls of their call paths.
func (in *input) at(depth int) *input {
	if in == nil {
		return nil
	}
	x := *in
	x.run, x.other = in.run.WithSiteDepth(depth), in.other.at(depth)
	return &x
}

func askInfo(q *query) answerer {
	which, most := q.choice("streams", "all", "all", "incomplete", "none"), q.number("limit", jsondoc.AllStreams, 1, jsondoc.AllStreams)
	if which == "none" {
		most = 0
	}
	return asJSON(func(in *input) (any, error) { return jsondoc.NewInfo(in.name, in.run, which == "all", most) })
}

// ofRanks is an answerer that writes a document about the ranks in a parameter.
func ofRanks(q *query, name string, document func(in *input, procs []int) (any, error)) answerer {
	set, ranges := q.ranks(name), q.number("ranges", math.MaxInt, 1, math.MaxInt)
	return asJSON(func(in *input) (any, error) {
		procs, err := set.Find(in.run)
		if err != nil {
			return nil, badRequest("%v", err)
		}
		v, err := document(in, procs)
		jsondoc.CutRanges(v, ranges)
		return v, err
	})
}

func askReport(q *query) answerer {
	by := q.choices("by", reportParts...)
	all := (len(by) == 0 || slices.Contains(by, "findings")) && !q.has("rank")
	compute := analysis.NewReport
	if q.flag("setup") {
		compute = analysis.NewReportWithSetup
	}
	return ofRanks(q, "rank", func(in *input, procs []int) (any, error) {
		rep, err := compute(in.run, procs)
		if err != nil {
			return nil, err
		}
		var found []findings.Finding
		if all {
			if found, err = findingsOf(in); err != nil {
				return nil, err
			}
		}
		j := jsondoc.NewReport(in.name, in.run, rep, by, found)
		if rep.Annotated && (len(by) == 0 || slices.Contains(by, "region")) {
			byRegion, err := waits.ByRegion(in.run, procs, findings.Followed(in.run))
			if err != nil {
				return nil, err
			}
			j.Regions = jsondoc.NewRegions(byRegion)
		}
		return j, nil
	})
}

// findingsOf is what there is to say about a whole run. Clocks matter only if calls are followed from
// rank to rank.
func findingsOf(in *input) ([]findings.Finding, error) {
	if findings.Followed(in.run) {
		if err := in.correct("corrected"); err != nil {
			return nil, err
		}
	}
	return findings.New(in.run)
}

func askLoops(q *query) answerer {
	return ofRanks(q, "rank", func(in *input, procs []int) (any, error) {
		s, err := loops.Summarize(in.run, procs)
		if err != nil {
			return nil, err
		}
		return jsondoc.NewLoops(in.name, in.run, s, len(procs)), nil
	})
}

func askClocks(*query) answerer {
	return asJSON(func(in *input) (any, error) {
		rep, err := in.clockReport()
		if errors.Is(err, match.ErrNoTimes) {
			return nil, &statusError{http.StatusUnprocessableEntity, err.Error()}
		}
		if err != nil {
			return nil, err
		}
		return jsondoc.NewClocks(in.name, len(in.run.Procs), rep), nil
	})
}

func askPhases(q *query) answerer {
	clock := q.clock()
	return ofRanks(q, "rank", func(in *input, procs []int) (any, error) {
		if err := in.correct(clock); err != nil {
			return nil, err
		}
		rep, err := phases.New(in.run, procs)
		if err != nil {
			return nil, err
		}
		return jsondoc.NewPhases(in.name, rep), nil
	})
}

func askWaits(q *query) answerer {
	clock, top := q.clock(), q.number("top", math.MaxInt, 1, math.MaxInt)
	return ofRanks(q, "rank", func(in *input, procs []int) (any, error) {
		if err := in.correct(clock); err != nil {
			return nil, err
		}
		rep, err := waits.New(in.run, procs)
		if errors.Is(err, match.ErrNoTimes) {
			return nil, &statusError{http.StatusUnprocessableEntity, err.Error()}
		}
		if err != nil {
			return nil, err
		}
		j := jsondoc.NewWaits(in.name, rep)
		j.CutRows(top)
		return j, nil
	})
}

// askFlame sums what the places of the program cost, in one run or in two.
func askFlame(q *query) answerer {
	var names []string
	for _, m := range flame.Measures {
		names = append(names, string(m))
	}
	of, clock := flame.Measure(q.choice("of", string(flame.Time), names...)), q.clock()
	return asJSON(func(in *input) (any, error) {
		runs, files := []*runfile.Run{}, []string{}
		for x := in; x != nil; x = x.other {
			if of == flame.Waiting || of == flame.Delay {
				if err := x.correct(clock); err != nil {
					return nil, err
				}
			}
			runs, files = append(runs, x.run), append(files, x.name)
		}
		t, err := flame.New(in, of, nil, runs...)
		if errors.Is(err, flame.ErrNoTimes) {
			return nil, &statusError{http.StatusUnprocessableEntity, err.Error()}
		}
		if err != nil {
			return nil, err
		}
		return jsondoc.NewFlame(files, t), nil
	})
}

// usualFlows and mostFlows bound the messages, and the waits, of an answer.
const (
	usualFlows = 1000
	mostFlows  = 10_000
)

// askFlows finds the messages and waits in a part of the time.
func askFlows(q *query) answerer {
	ask := flows.Query{From: q.long("from"), To: q.long("to"), Most: q.number("most", usualFlows, 0, mostFlows)}
	clock := q.clock()
	set := q.ranks("ranks")
	return asJSON(func(in *input) (any, error) {
		if err := in.correct(clock); err != nil {
			return nil, err
		}
		ask := ask
		if q.has("ranks") {
			var err error
			if ask.Procs, err = set.Find(in.run); err != nil {
				return nil, badRequest("%v", err)
			}
		}
		f, err := flows.New(in, in.run, ask)
		if errors.Is(err, match.ErrNoTimes) || errors.Is(err, flows.ErrTooLarge) {
			return nil, &statusError{http.StatusUnprocessableEntity, err.Error()}
		}
		if err != nil {
			return nil, err
		}
		return jsondoc.NewFlows(in.name, f), nil
	})
}

// askWhatif predicts how long a run takes under other conditions. Changes of computations are
// separated by vertical bars.
func askWhatif(q *query) answerer {
	question := &whatif.Question{Ideal: q.flag("ideal"), Balance: q.flag("balance"), Modelled: q.choice("network", "", "recorded") == "recorded"}
	for text := range strings.SplitSeq(q.text("compute"), "|") {
		if text == "" {
			continue
		}
		c, err := whatif.ParseChange(text)
		if err != nil && q.err == nil {
			q.err = badRequest("compute=%v", err)
		}
		question.Changes = append(question.Changes, c)
	}
	question.Latency, question.Overhead = q.measure("latency", whatif.ParseTime), q.measure("overhead", whatif.ParseTime)
	question.PerByte = q.measure("bandwidth", whatif.ParseBandwidth)
	clock := q.clock()
	return asJSON(func(in *input) (any, error) {
		if err := in.correct(clock); err != nil {
			return nil, err
		}
		r, err := whatif.New(in.run, question)
		var wrong *whatif.QuestionError
		switch {
		case errors.As(err, &wrong):
			return nil, badRequest("%v", err)
		case errors.Is(err, match.ErrNoTimes), errors.Is(err, whatif.ErrNotMatched):
			return nil, &statusError{http.StatusUnprocessableEntity, err.Error()}
		case err != nil:
			return nil, err
		}
		return jsondoc.NewWhatif(in.name, r), nil
	})
}

// measure is a parameter with a unit; nil if it is not given.
func (q *query) measure(name string, parse func(string) (float64, error)) *float64 {
	if !q.has(name) {
		return nil
	}
	v, err := parse(q.text(name))
	if err != nil && q.err == nil {
		q.err = badRequest("%s=%v", name, err)
	}
	return &v
}

// mostWindows bounds the parts of a run.
const mostWindows = 10_000

func askEfficiency(q *query) answerer {
	parts, clock := efficiency.Parts{Windows: q.number("windows", 0, 0, mostWindows), Loops: q.flag("loops"), Phases: q.flag("phases"), Regions: q.flag("regions")}, q.clock()
	return asJSON(func(in *input) (any, error) {
		if err := in.correct(clock); err != nil {
			return nil, err
		}
		r, err := efficiency.New(in.run, parts)
		if errors.Is(err, efficiency.ErrNoTimes) {
			return nil, &statusError{http.StatusUnprocessableEntity, err.Error()}
		}
		if err != nil {
			return nil, err
		}
		runs := []*efficiency.Run{r}
		return jsondoc.NewEfficiency([]string{in.name}, runs, efficiency.Compare(runs, efficiency.NoScaling), nil), nil
	})
}

func askCheck(q *query) answerer {
	clock := q.clock()
	return asJSON(func(in *input) (any, error) {
		if err := in.correct(clock); err != nil {
			return nil, err
		}
		rep, err := check.New(in.run)
		if err != nil {
			return nil, err
		}
		return jsondoc.NewCheck(in.name, rep), nil
	})
}

// askDiff compares like efg diff: with another run, two ranks, or all requested ranks.
func askDiff(q *query) answerer {
	given := q.has("ranks")
	return ofRanks(q, "ranks", func(in *input, procs []int) (any, error) {
		if in.other != nil {
			return diffRuns(in, procs, given)
		}
		files := []string{in.name}
		switch {
		case given && len(procs) == 2:
			return diffPair(files, diff.Rank{Run: in.run, Proc: procs[0]}, diff.Rank{Run: in.run, Proc: procs[1]})
		case given && len(procs) < 2:
			return nil, badRequest("ranks: want at least two")
		}
		o, err := diff.NewOverview(in.run, procs, func(uint64) {})
		if err != nil {
			return nil, err
		}
		return jsondoc.NewOverview(in.name, o), nil
	})
}

// diffRuns compares two runs, or the single requested rank of both.
func diffRuns(in *input, procs []int, given bool) (any, error) {
	set := make([]int, 0, len(procs))
	if given {
		for _, p := range procs {
			rank := in.run.Procs[p].Rank
			i := slices.IndexFunc(in.other.run.Procs, func(p runfile.ProcInfo) bool { return p.Rank == rank })
			if i < 0 {
				return nil, badRequest("no rank %d in %s", rank, in.other.name)
			}
			set = append(set, i)
		}
	} else {
		for i := range in.other.run.Procs {
			set = append(set, i)
		}
	}
	files := []string{in.name, in.other.name}
	if given && len(procs) == 1 {
		return diffPair(files, diff.Rank{Run: in.run, Proc: procs[0]}, diff.Rank{Run: in.other.run, Proc: set[0]})
	}
	r, err := diff.NewRuns(in.run, in.other.run, [2][]int{procs, set}, func(uint64) {})
	if err != nil {
		return nil, err
	}
	return jsondoc.NewRunsDiff(files, r, []string{}), nil
}

func diffPair(files []string, a, b diff.Rank) (any, error) {
	p, err := diff.NewPair(a, b)
	if err != nil {
		return nil, err
	}
	return jsondoc.NewPair(files, p), nil
}
