package efficiency

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"

	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/analysis"
)

// Site is a call in the program, or, if Op is "", the computation outside of MPI.
type Site struct{ Op, Site string }

// Model is how the time of a rank at a callsite grows with the number of ranks p, in performance
// model normal form: Constant + Factor · p^Exponent · log₂(p)^Logarithms, in ns.
type Model struct {
	Site
	Times            []float64 // of each run, the mean of the ranks
	Constant, Factor float64
	Exponent         float64
	Logarithms       int
	// Error is the mean relative deviation from the times. Ahead is what the model predicts for
	// four times as many ranks as the largest run has.
	Error, Ahead float64
}

// leastRuns is how many numbers of ranks a model needs.
const leastRuns = 3

// Terms of the models: those of Extra-P, and negative exponents for strong scaling.
var (
	exponents  = []float64{-1, -0.5, 0, 0.25, 1.0 / 3, 0.5, 2.0 / 3, 0.75, 1, 1.25, 4.0 / 3, 1.5, 2, 2.5, 3}
	logarithms = []int{0, 1, 2}
)

// SiteTimes are the mean times of the ranks of a run at each callsite, without those that begin
// and end MPI.
func SiteTimes(run *runfile.Run, r *Run) (map[Site]float64, error) {
	procs := make([]int, len(run.Procs))
	for i := range procs {
		procs[i] = i
	}
	report, err := analysis.NewReport(run, procs)
	if err != nil {
		return nil, err
	}
	n := float64(max(len(procs), 1))
	times := map[Site]float64{{}: float64(r.Useful) / n}
	for i := range report.Callsites {
		c := &report.Callsites[i]
		if analysis.Running(c.Op) {
			times[Site{c.Op, c.Site}] += float64(c.Time.Sum) / n
		}
	}
	return times, nil
}

// Models fits a model to the times at each callsite that all runs have; nil if there are too few
// different numbers of ranks. Those that will take most come first.
func Models(runs []*Run, times []map[Site]float64) []Model {
	var ranks []float64
	for _, r := range runs {
		ranks = append(ranks, float64(r.Ranks))
	}
	distinct := slices.Clone(ranks)
	slices.Sort(distinct)
	if distinct = slices.Compact(distinct); len(distinct) < leastRuns {
		return nil
	}
	var list []Model
	for site := range times[0] {
		m := Model{Site: site}
		for _, t := range times {
			if v, ok := t[site]; ok {
				m.Times = append(m.Times, v)
			}
		}
		if len(m.Times) < len(runs) {
			continue
		}
		m.fit(ranks)
		m.Ahead = max(m.At(4*distinct[len(distinct)-1]), 0)
		list = append(list, m)
	}
	slices.SortFunc(list, func(x, y Model) int {
		return cmp.Or(cmp.Compare(y.Ahead, x.Ahead), cmp.Compare(x.Op, y.Op), cmp.Compare(x.Site.Site, y.Site.Site))
	})
	return list
}

// At is what the model predicts for a number of ranks.
func (m *Model) At(ranks float64) float64 {
	return m.Constant + m.Factor*term(ranks, m.Exponent, m.Logarithms)
}

func term(p, exponent float64, logs int) float64 {
	return math.Pow(p, exponent) * math.Pow(math.Log2(max(p, 1)), float64(logs))
}

// simpler is how much better than a constant a model must predict what is left out.
const simpler = 0.5

// fit chooses the terms that predict each time best from the others.
func (m *Model) fit(ranks []float64) {
	m.Constant = stat.Mean(m.Times, nil)
	least := simpler * leftOut(ranks, m.Times, nil)
	for _, e := range exponents {
		for _, logs := range logarithms {
			if e == 0 && logs == 0 {
				continue
			}
			of := func(p float64) float64 { return term(p, e, logs) }
			off := leftOut(ranks, m.Times, of)
			constant, factor := line(ranks, m.Times, of)
			if off < least*(1-1e-9) && factor > 0 {
				least = off
				m.Constant, m.Factor, m.Exponent, m.Logarithms = constant, factor, e, logs
			}
		}
	}
	sum := 0.0
	for i, p := range ranks {
		sum += math.Abs(m.At(p)-m.Times[i]) / max(math.Abs(m.Times[i]), 1)
	}
	m.Error = sum / float64(len(ranks))
}

func line(x, y []float64, of func(float64) float64) (constant, factor float64) {
	terms := make([]float64, len(x))
	for i := range x {
		terms[i] = of(x[i])
	}
	return stat.LinearRegression(terms, y, nil, false)
}

// leftOut is the sum of the squared deviations of each time from what a model predicts that is
// fitted to the others. of is its term; nil: the model is a constant.
func leftOut(ranks, times []float64, of func(float64) float64) float64 {
	sum := 0.0
	for i := range ranks {
		x, y := slices.Delete(slices.Clone(ranks), i, i+1), slices.Delete(slices.Clone(times), i, i+1)
		guess := stat.Mean(y, nil)
		if of != nil {
			constant, factor := line(x, y, of)
			guess = constant + factor*of(ranks[i])
		}
		if math.IsNaN(guess) {
			return math.Inf(1)
		}
		sum += (guess - times[i]) * (guess - times[i])
	}
	return sum
}

// Growth is the growing part of the model: "p^2 log p"; "" if it does not grow.
func (m *Model) Growth() string {
	if m.Factor == 0 {
		return ""
	}
	var parts []string
	switch m.Exponent {
	case 0:
	case 1:
		parts = append(parts, "p")
	default:
		parts = append(parts, fmt.Sprintf("p^%.3g", m.Exponent))
	}
	switch m.Logarithms {
	case 1:
		parts = append(parts, "log p")
	case 2:
		parts = append(parts, "log² p")
	}
	return strings.Join(parts, " ")
}
