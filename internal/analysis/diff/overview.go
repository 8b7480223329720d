package diff

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/analysis"
)

// Overview is how the ranks of a run differ.
type Overview struct {
	Timed   bool
	Ranks   int // processes
	Total   Totals
	Shapes  int
	Classes []Class // by shape
	// Imbalance and Outliers exclude MPI_Init and MPI_Finalize. The largest cost comes first.
	// All, and outliers without Op, are of all calls together.
	All       Imbalance
	Imbalance []Imbalance
	Outliers  []Outlier
	side      *side
}

// Spread is how a number is distributed over the ranks that make a call.
type Spread struct {
	Sum, Least, Most    uint64
	LeastRank, MostRank int // the lowest such ranks
	ranks               int
}

func (s *Spread) add(rank int, v uint64) {
	if s.ranks == 0 || v < s.Least {
		s.Least, s.LeastRank = v, rank
	}
	if s.ranks == 0 || v > s.Most {
		s.Most, s.MostRank = v, rank
	}
	s.Sum += v
	s.ranks++
}

// Mean is the mean over the ranks that make the call.
func (s *Spread) Mean() float64 { return float64(s.Sum) / float64(max(s.ranks, 1)) }

// Imbalance returns the excess of the maximum over the mean, as a fraction of the mean.
func (s *Spread) Imbalance() float64 {
	if s.Sum == 0 {
		return 0
	}
	return float64(s.Most)/s.Mean() - 1
}

// Cost returns the excess of the maximum over the mean.
func (s *Spread) Cost() float64 { return float64(s.Most) - s.Mean() }

// Imbalance is how the ranks that make a call at a callsite differ.
type Imbalance struct {
	Op, Site           string
	Ranks              int
	Calls, Bytes, Time Spread
}

// Metric is what is compared.
type Metric string

const (
	CallsMetric Metric = "calls"
	BytesMetric Metric = "bytes"
	TimeMetric  Metric = "time"
)

// Outlier describes ranks that have far more or less of something at a callsite than others of
// their shape; shapes of fewer than Few ranks are combined.
type Outlier struct {
	Op, Site string
	Metric   Metric
	Among    int   // ranks that were compared
	Ranks    []int // outliers, ascending
	// Rank is the farthest one, Value its value.
	Rank   int
	Value  float64
	Median float64 // of the ranks that were compared
	// Score is the distance of Value from the median, in median absolute deviations scaled to a
	// standard deviation.
	Score float64
	// Distance of the durations of the rank's calls from those of all ranks' calls.
	Distance
	worst  Rank
	number int // of the call
}

// Cost returns the distance of the farthest rank from the median.
func (o *Outlier) Cost() float64 { return math.Abs(o.Value - o.Median) }

const (
	// Few is the minimum number of ranks of a shape whose outliers are determined separately.
	Few = 8
	// minSample is the minimum number of ranks of which one can be an outlier.
	minSample = 5
	// outlierScore is the minimum score of an outlier: Iglewicz and Hoaglin, "How to Detect and
	// Handle Outliers", 1993.
	outlierScore = 3.5
	// minDistance is the minimum distance of an outlier from the median, as a fraction of the median.
	minDistance = 0.01
	// maxDescribed is the number of outliers for which the distance is computed.
	maxDescribed = 100
)

// NewOverview compares processes of a run. It calls progress, one call at a time, with the
// number of processes read so far.
func NewOverview(run *runfile.Run, procs []int, progress func(done uint64)) (*Overview, error) {
	s, err := newSide(run)
	if err != nil {
		return nil, err
	}
	v, err := newSurvey(s, procs, counter(progress), false)
	if err != nil {
		return nil, err
	}
	o := &Overview{side: s, Timed: v.timed, Ranks: len(v.summaries)}
	o.Classes, o.Shapes = v.classes()
	for i := range v.summaries {
		o.Total.addSummary(&v.summaries[i])
	}
	o.All = v.imbalance(allCalls)
	o.Outliers = v.outliers(allCalls)
	for _, i := range v.inOrder() {
		if !analysis.Running(v.list[i].op) {
			continue
		}
		o.Imbalance = append(o.Imbalance, v.imbalance(i))
		o.Outliers = append(o.Outliers, v.outliers(i)...)
	}
	o.sort()
	return o, v.describe(o.Outliers[:min(len(o.Outliers), maxDescribed)])
}

// counter returns a function that counts its calls.
func counter(progress func(done uint64)) func() {
	done := uint64(0)
	return func() {
		done++
		progress(done)
	}
}

// sort orders the results by time, then bytes, then calls. Several callsites may have the same
// text.
func (o *Overview) sort() {
	slices.SortStableFunc(o.Imbalance, func(x, y Imbalance) int {
		return cmp.Or(cmp.Compare(y.Time.Cost(), x.Time.Cost()), cmp.Compare(y.Bytes.Cost(), x.Bytes.Cost()),
			cmp.Compare(y.Calls.Cost(), x.Calls.Cost()), cmp.Compare(x.Op, y.Op), cmp.Compare(x.Site, y.Site))
	})
	order := map[Metric]int{TimeMetric: 0, BytesMetric: 1, CallsMetric: 2}
	slices.SortStableFunc(o.Outliers, func(x, y Outlier) int {
		return cmp.Or(cmp.Compare(order[x.Metric], order[y.Metric]), cmp.Compare(y.Cost(), x.Cost()),
			cmp.Compare(x.Op, y.Op), cmp.Compare(x.Site, y.Site), cmp.Compare(uint(x.Rank), uint(y.Rank)))
	})
}

// allCalls is the number that stands for all calls together.
const allCalls = -2

// amounts returns the totals of a call in a process; ok is false if the process does not make
// it.
func (s *summary) amounts(number int) (calls, bytes, time uint64, ok bool) {
	if number == allCalls {
		return s.profile.total.calls, s.profile.total.bytes, s.running, true
	}
	k := s.row(number)
	if k == none {
		return 0, 0, 0, false
	}
	if s.time != nil {
		time = s.time[k]
	}
	r := &s.profile.rows[k]
	return r.calls, r.bytes, time, true
}

// texts are procedure and callsite of a call.
func (v *survey) texts(number int) (op, site string) {
	if number == allCalls {
		return "", ""
	}
	c := v.list[number]
	return c.op, v.sites.text(c.site)
}

func (v *survey) imbalance(number int) Imbalance {
	b := Imbalance{}
	b.Op, b.Site = v.texts(number)
	for s := range v.making(number) {
		calls, bytes, time, _ := s.amounts(number)
		b.Ranks++
		b.Calls.add(s.rank, calls)
		b.Bytes.add(s.rank, bytes)
		b.Time.add(s.rank, time)
	}
	return b
}

// sample holds values of ranks that can be compared.
type sample struct {
	of     []*summary
	values [3][]float64 // by metric
}

var metrics = [3]Metric{TimeMetric, BytesMetric, CallsMetric}

// outliers finds the outliers at a call.
func (v *survey) outliers(number int) []Outlier {
	makers := make([]int, v.shapes) // by shape
	for s := range v.making(number) {
		makers[s.shapeNumber]++
	}
	large := map[int]*sample{} // by shape
	var order []int            // of these
	var few []*summary
	for s := range v.making(number) {
		k := s.shapeNumber
		if makers[k] < Few {
			few = append(few, s)
			continue
		}
		if large[k] == nil {
			large[k] = &sample{}
			order = append(order, k)
		}
		large[k].add(s, number)
	}
	var list []Outlier
	for _, k := range order {
		list = append(list, large[k].outliers()...)
	}
	slices.SortStableFunc(few, func(x, y *summary) int { return cmp.Compare(x.shapeNumber, y.shapeNumber) })
	small := &sample{}
	for _, s := range few {
		small.add(s, number)
	}
	list = append(list, small.outliers()...)
	for i := range list {
		o := &list[i]
		o.Op, o.Site = v.texts(number)
		o.number, o.worst.Run = number, v.run
	}
	return list
}

// add adds the amounts of a call that a process makes.
func (m *sample) add(s *summary, number int) {
	calls, bytes, time, _ := s.amounts(number)
	m.of = append(m.of, s)
	for k, x := range [...]uint64{time, bytes, calls} {
		m.values[k] = append(m.values[k], float64(x))
	}
}

func (m *sample) outliers() (list []Outlier) {
	for i, metric := range metrics {
		if o := m.outlier(m.values[i]); o != nil {
			o.Metric = metric
			list = append(list, *o)
		}
	}
	return list
}

// outlier finds the outliers among values; nil if there are none.
func (m *sample) outlier(values []float64) *Outlier {
	if len(values) < minSample {
		return nil
	}
	centre, scale := robust(values)
	if scale == 0 {
		return nil
	}
	o := &Outlier{Among: len(values), Median: centre}
	for i, x := range values {
		away := math.Abs(x - centre)
		if away/scale <= outlierScore || away <= minDistance*centre {
			continue
		}
		o.Ranks = append(o.Ranks, m.of[i].rank)
		if away/scale > o.Score {
			o.Rank, o.Value, o.Score, o.worst.Proc = m.of[i].rank, x, away/scale, m.of[i].proc
		}
	}
	if len(o.Ranks) == 0 {
		return nil
	}
	slices.Sort(o.Ranks)
	return o
}

// robust returns the median, and an estimate of the standard deviation that is robust against
// outliers: from the median absolute deviation, or, if more than half of the values are equal,
// from the mean absolute deviation.
func robust(values []float64) (centre, scale float64) {
	centre = median(values)
	away := make([]float64, len(values))
	for i, x := range values {
		away[i] = math.Abs(x - centre)
	}
	if mad := median(away); mad > 0 {
		return centre, 1.4826 * mad
	}
	return centre, 1.2533 * stat.Mean(away, nil)
}

func median(values []float64) float64 {
	sorted := slices.Clone(values)
	slices.Sort(sorted)
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// describe computes how the durations of outlying ranks are distributed.
func (v *survey) describe(list []Outlier) error {
	for i := range list {
		o := &list[i]
		if o.Metric != TimeMetric || o.Rank < 0 {
			continue
		}
		p, err := v.side.process(o.worst)
		if err != nil {
			return err
		}
		var own, all Totals
		for _, s := range p.streams {
			for k := range s.nodes {
				if c := s.nodes[k].call; o.is(v.numbers[c], c.op) {
					own.addNode(s.nodes[k].facts)
				}
			}
		}
		for k, c := range v.list {
			if o.is(k, c.op) {
				all.Time.Merge(&v.sums[k].Time)
			}
		}
		o.Distance = DistanceOf(&own.Time, &all.Time)
	}
	return nil
}

// is reports whether a call, of procedure op, is one that the outlier is about.
func (o *Outlier) is(number int, op string) bool {
	return number == o.number || o.number == allCalls && analysis.Running(op)
}

// Against compares one rank of the first class with one of class i. The result has no
// Items.
func (o *Overview) Against(i int) (*Pair, error) {
	x, err := o.side.process(o.Classes[0].First)
	if err != nil {
		return nil, err
	}
	y, err := o.side.process(o.Classes[i].First)
	if err != nil {
		return nil, err
	}
	return pairOf(x, y, true)
}
