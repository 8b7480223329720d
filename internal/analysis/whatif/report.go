package whatif

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/analysis"
	"github.com/efg-tools/efg/internal/analysis/match"
	"github.com/efg-tools/efg/internal/analysis/waits"
	"github.com/efg-tools/efg/internal/rankset"
	"github.com/efg-tools/efg/reconstruct"
)

// ErrNotMatched: calls of the run depend on others that are not in the recording, or do not fit
// them.
var ErrNotMatched = errors.New("calls of the run could not be matched, so that nothing can be predicted; efg check says more")

// QuestionError is a question that does not fit the run.
type QuestionError struct{ Err error }

func (e *QuestionError) Error() string { return e.Err.Error() }
func (e *QuestionError) Unwrap() error { return e.Err }

// Question is what to predict. The zero value asks for an overview.
type Question struct {
	Changes []Change
	// Latency and Overhead, in ns, and PerByte, in ns per byte, are those of another network; nil:
	// as recorded.
	Latency, Overhead, PerByte *float64
	// Network is another network; Latency, Overhead and PerByte change it. nil: the recorded one.
	Network *Network
	// Own has the parameters of the recorded network, if they are known.
	Own *Network
	// Modelled: calls take what those of their kind typically take.
	Modelled bool
	// Ideal asks for the ideal network, Balance for ranks that compute for equally long.
	Ideal, Balance bool
}

// Change makes computation take longer or shorter: of some ranks, or before the calls at a
// callsite, or all.
type Change struct {
	Ranks  rankset.Set // empty: all
	Site   string      // "file:line", a function, or both; "": anywhere
	Factor float64
}

// asks reports whether the question is about a change.
func (q *Question) asks() bool {
	return len(q.Changes) > 0 || q.Latency != nil || q.Overhead != nil || q.PerByte != nil || q.Network != nil || q.Modelled || q.Ideal || q.Balance
}

// Gain is what a part of the critical path would save if it took a tenth less time.
type Gain struct {
	waits.Region
	OnPath int64 // ns
	Prediction
}

// Report has the predictions.
type Report struct {
	Ranks int
	// End is where what is predicted ends because later calls have no times, ns since the run began;
	// nil: all have some. See match.Trace.End.
	End *int64
	// Recorded is the run as it was, Modelled with typical times of calls.
	Recorded, Modelled Prediction
	// Own is the recorded network, found from so many Messages, or, if it was Given, as it was.
	Own      Network
	Given    bool
	Messages uint64
	// Asked is what was asked for; nil for an overview, which has the rest.
	Asked           *Prediction
	Ideal, Balanced Prediction
	Gains           []Gain // the largest first
	Path            int64  // length of the critical path, ns
}

// mostGains is how many parts of the critical path are tried.
const mostGains = 12

// tenth is the factor of what is tried.
const tenth = 0.9

// New answers a question about a run.
func New(run *runfile.Run, q *Question, progress ...analysis.Progress) (*Report, error) {
	r := &Report{Ranks: len(run.Procs)}
	for _, c := range q.Changes {
		if _, err := c.Ranks.Find(run); err != nil {
			return nil, &QuestionError{err}
		}
	}
	balanced, known, err := r.look(run, q, progress)
	if err != nil {
		return nil, err
	}
	scenarios := []Scenario{{Modelled: true}}
	if q.asks() {
		asked, err := q.scenario(r.Own, balanced)
		if err != nil {
			return nil, err
		}
		scenarios = append(scenarios, asked)
	} else {
		if err := r.candidates(run, progress); err != nil {
			return nil, err
		}
		scenarios = append(scenarios, Scenario{Ideal: true}, Scenario{Ranks: balanced})
		for i := range r.Gains {
			scenarios = append(scenarios, Scenario{Rules: []Rule{ruleOf(&r.Gains[i].Region)}})
		}
	}
	list, err := predict(run, known, scenarios, q.Changes, progress)
	if err != nil {
		return nil, err
	}
	r.Modelled = list[0]
	if q.asks() {
		r.Asked = &list[1]
		return r, nil
	}
	r.Ideal, r.Balanced = list[1], list[2]
	for i := range r.Gains {
		r.Gains[i].Prediction = list[3+i]
	}
	slices.SortStableFunc(r.Gains, func(x, y Gain) int { return cmp.Compare(x.Time, y.Time) })
	return r, nil
}

// record is what the record tells about the run's communication.
type record struct {
	own     Network
	typical *typical
	eager   uint64 // see Fit
}

// look goes through the run as it was. It returns the factors with which all ranks compute for
// equally long, and what else the record tells.
func (r *Report) look(run *runfile.Run, q *Question, progress []analysis.Progress) (map[int]float64, *record, error) {
	trace, err := match.Open(run)
	if err != nil {
		return nil, nil, err
	}
	fit, x := &Fit{}, NewSimulation(trace, Network{}, []Scenario{{}})
	x.learning = newTypical()
	summary, err := walk(trace, match.Visitors{fit, x}, progress)
	if err != nil {
		return nil, nil, err
	}
	if summary.Unmatched+summary.Disagreeing > 0 {
		return nil, nil, ErrNotMatched
	}
	r.Recorded, r.End = x.Predictions()[0], trace.Until()
	if r.Own, r.Messages = fit.Network(); q.Own != nil {
		r.Own, r.Given = *q.Own, true
	}
	return x.balance(), &record{r.Own, x.learning, fit.eager}, nil
}

// balance returns factors with which all ranks compute for as long as they do in the mean.
func (x *Simulation) balance() map[int]float64 {
	useful := make([]float64, len(x.trace.Processes))
	mean := 0.0
	for i, p := range x.trace.Processes {
		for _, t := range p.Threads {
			useful[i] = max(useful[i], x.of(x.useful, t.Index)[0])
		}
		mean += useful[i] / float64(len(useful))
	}
	factors := map[int]float64{}
	for i, p := range x.trace.Processes {
		if useful[i] > 0 {
			factors[p.Rank] = mean / useful[i]
		}
	}
	return factors
}

// scenario is what a question asks for.
func (q *Question) scenario(own Network, balanced map[int]float64) (Scenario, error) {
	s := Scenario{Ideal: q.Ideal, Modelled: q.Modelled}
	if q.Balance {
		s.Ranks = balanced
	}
	if q.Latency != nil || q.Overhead != nil || q.PerByte != nil || q.Network != nil {
		n := own
		if q.Network != nil {
			n = *q.Network
		}
		q.change(&n)
		if n.Between != nil {
			between := *n.Between
			q.change(&between)
			n.Between = &between
		}
		s.Network = &n
	}
	if q.Ideal && (s.Network != nil || s.Modelled) {
		return s, &QuestionError{errors.New("an ideal network has no latency, overhead or bandwidth to choose")}
	}
	for _, c := range q.Changes {
		if c.Site == "" {
			s.Rules = append(s.Rules, Rule{Ranks: c.Ranks, Factor: c.Factor})
		}
	}
	return s, nil
}

// change gives a network the parameters that are asked for.
func (q *Question) change(n *Network) {
	for to, from := range map[*float64]*float64{&n.Latency: q.Latency, &n.Overhead: q.Overhead, &n.PerByte: q.PerByte} {
		if from != nil {
			*to = *from
		}
	}
}

// candidates are the parts of the critical path that take longest.
func (r *Report) candidates(run *runfile.Run, progress []analysis.Progress) error {
	procs := make([]int, len(run.Procs))
	for i := range procs {
		procs[i] = i
	}
	rep, err := waits.New(run, procs, progress...)
	if err != nil {
		return err
	}
	r.Path = rep.Path.Time
	for i := range rep.Path.Rows {
		row := &rep.Path.Rows[i]
		if len(r.Gains) < mostGains && row.At.Op != "" {
			r.Gains = append(r.Gains, Gain{Region: row.Region, OnPath: row.Time})
		}
	}
	return nil
}

// ruleOf makes a region take a tenth less time.
func ruleOf(g *waits.Region) Rule {
	r := Rule{At: map[match.Place]bool{g.At: true}, Call: g.Call, Factor: tenth}
	if !g.Call {
		r.From = &g.From
	}
	return r
}

// predict walks through a run under several scenarios; the last one has the changes at callsites.
func predict(run *runfile.Run, known *record, scenarios []Scenario, changes []Change, progress []analysis.Progress) ([]Prediction, error) {
	trace, err := match.Open(run)
	if err != nil {
		return nil, err
	}
	p, err := placesOf(trace, func(s *match.Sites) ([]match.Place, error) { return s.Places(run) })
	if err != nil {
		return nil, err
	}
	last := &scenarios[len(scenarios)-1]
	for _, c := range changes {
		if c.Site == "" {
			continue
		}
		at, err := p.find(c.Site)
		if err != nil {
			return nil, err
		}
		last.Rules = append(last.Rules, Rule{Ranks: c.Ranks, At: at, Factor: c.Factor})
	}
	x := NewSimulation(trace, known.own, scenarios)
	x.typical, x.eager = known.typical, known.eager
	x.useRules(p)
	if _, err := walk(trace, x, progress); err != nil {
		return nil, err
	}
	return x.Predictions(), nil
}

// find returns the callsites that a text names: "file:line", where the file may have leading
// folders or not, a function, or both as they are shown.
func (p *places) find(text string) (map[match.Place]bool, error) {
	at := map[match.Place]bool{}
	var near []string
	for _, x := range p.texts {
		call, _, _ := strings.Cut(x.Site, reconstruct.PathArrow)
		functions, place := reconstruct.SplitCall(call)
		if x.Site == text || call == text || place == text || slices.Contains(functions, text) || strings.HasSuffix(place, "/"+text) {
			at[x] = true
		}
		if x.Site != "" && !slices.Contains(near, x.Site) {
			near = append(near, x.Site)
		}
	}
	if len(at) == 0 {
		slices.Sort(near)
		return nil, &QuestionError{fmt.Errorf("no calls at %s; there are some at %s", text, strings.Join(near[:min(len(near), fewPlaces)], ", "))}
	}
	return at, nil
}

// fewPlaces is how many callsites an error names.
const fewPlaces = 5

// walk follows a trace; progress counts its events.
func walk(t *match.Trace, v match.Visitor, progress []analysis.Progress) (*match.Summary, error) {
	return t.Walk(context.Background(), v, func(done uint64) {
		for _, p := range progress {
			p(done * uint64(len(t.Processes)) / max(t.Events, 1))
		}
	})
}
