package jsondoc

import "github.com/efg-tools/efg/internal/analysis/diff"

// The documents of differences are described in docs/diff.md. Times are in
// nanoseconds. Pairs of values are those of the first and of the second side.

type Totals struct {
	Calls  uint64 `json:"calls"`
	Errors uint64 `json:"errors"`
	Bytes  uint64 `json:"bytes"`
	Time   *Times `json:"time,omitempty"`
}

func asTotals(t *diff.Totals) Totals {
	return Totals{t.Calls, t.Errors, t.Bytes, asTimes(&t.Time)}
}

type Pair struct {
	Schema    string    `json:"schema"`
	Files     []string  `json:"files"`
	Ranks     [2]int    `json:"ranks"`
	Equal     bool      `json:"equal"`
	Timed     [2]bool   `json:"timed"`
	Totals    [2]Totals `json:"totals"`
	Threads   []Thread  `json:"threads"`
	Structure []Item    `json:"structure"`
	Callsites []Change  `json:"callsites"`
}

type Thread struct {
	Thread    uint32      `json:"thread"`
	There     [2]bool     `json:"there"`
	Events    [2]uint64   `json:"events"`
	Nodes     [2]int      `json:"nodes"`
	Edges     [2]int      `json:"edges"`
	Calls     *Divergence `json:"calls_part"`
	Arguments *Divergence `json:"arguments_part"`
}

type Divergence struct {
	Event  uint64    `json:"event"`
	Events [2]string `json:"events"`
}

type Item struct {
	What   string    `json:"what"`
	Thread uint32    `json:"thread"`
	Nodes  [2]int    `json:"nodes"`
	Op     string    `json:"op"`
	Site   string    `json:"site"`
	ToOp   string    `json:"to_op,omitempty"`
	ToSite string    `json:"to_site,omitempty"`
	Calls  [2]uint64 `json:"calls"`
	Bytes  [2]uint64 `json:"bytes"`
	Time   [2]uint64 `json:"time"`
	Run    uint64    `json:"run,omitempty"`
	Call   *uint64   `json:"call,omitempty"`
	Text   [2]string `json:"text"`
}

type Change struct {
	Op        string    `json:"op"`
	Site      string    `json:"site"`
	Sides     [2]Totals `json:"sides"`
	Structure int       `json:"structure"`
	Shift     *float64  `json:"shift,omitempty"`
	KS        *float64  `json:"ks,omitempty"`
}

func NewPair(files []string, p *diff.Pair) *Pair {
	j := &Pair{
		Schema: "efg-diff-pair/1", Files: files, Ranks: p.Ranks, Equal: p.Equal(), Timed: p.Timed,
		Totals:  [2]Totals{asTotals(&p.Total[0]), asTotals(&p.Total[1])},
		Threads: []Thread{}, Structure: []Item{}, Callsites: asChanges(p.Changes),
	}
	for i := range p.Threads {
		t := &p.Threads[i]
		j.Threads = append(j.Threads, Thread{t.Thread, t.There, t.Events, t.Nodes, t.Edges, asDivergence(t.Calls), asDivergence(t.Arguments)})
	}
	for i := range p.Items {
		j.Structure = append(j.Structure, asItem(&p.Items[i]))
	}
	return j
}

func asDivergence(p *diff.Divergence) *Divergence {
	if p == nil {
		return nil
	}
	return &Divergence{p.Event, p.Text}
}

func asItem(it *diff.Item) Item {
	j := Item{What: string(it.Kind), Thread: it.Thread, Nodes: it.Node, Op: it.Op, Site: it.Site, ToOp: it.To, ToSite: it.ToSite,
		Calls: it.Calls, Bytes: it.Bytes, Time: it.Time, Text: it.Text}
	switch it.Kind {
	case diff.BranchRuns:
		j.Run = it.At
	case diff.Arguments:
		j.Call = &it.At
	}
	return j
}

func asChanges(list []diff.Change) []Change {
	out := []Change{}
	for i := range list {
		c := &list[i]
		j := Change{Op: c.Op, Site: c.Site, Sides: [2]Totals{asTotals(&c.Side[0]), asTotals(&c.Side[1])}, Structure: c.Structure}
		if c.Side[0].Time.Count > 0 && c.Side[1].Time.Count > 0 {
			j.Shift, j.KS = &c.Shift, &c.KS
		}
		out = append(out, j)
	}
	return out
}

type Overview struct {
	Schema    string          `json:"schema"`
	File      string          `json:"file"`
	Timed     bool            `json:"timed"`
	Processes int             `json:"processes"`
	Calls     uint64          `json:"calls"`
	Bytes     uint64          `json:"bytes"`
	Time      *uint64         `json:"time,omitempty"`
	Shapes    int             `json:"shapes"`
	Classes   []Class         `json:"classes"`
	All       RankImbalance   `json:"all"`
	Imbalance []RankImbalance `json:"imbalance"`
	Outliers  []Outlier       `json:"outliers"`
}

type Class struct {
	Shape  int      `json:"shape"`
	Number int      `json:"class"`
	Count  int      `json:"count"`
	Ranks  [][3]int `json:"ranks"`
	Events uint64   `json:"events"`
	Nodes  uint64   `json:"nodes"`
	Edges  uint64   `json:"edges"`
	Calls  uint64   `json:"calls"`
	Errors uint64   `json:"errors"`
	Bytes  uint64   `json:"bytes"`
	Time   *uint64  `json:"time,omitempty"`
}

type RankImbalance struct {
	Op    string  `json:"op"`
	Site  string  `json:"site"`
	Ranks int     `json:"ranks"`
	Calls Spread  `json:"calls"`
	Bytes Spread  `json:"bytes"`
	Time  *Spread `json:"time,omitempty"`
}

type Spread struct {
	Sum       uint64  `json:"sum"`
	Mean      float64 `json:"mean"`
	Least     uint64  `json:"least"`
	LeastRank int     `json:"least_rank"`
	Most      uint64  `json:"most"`
	MostRank  int     `json:"most_rank"`
	Imbalance float64 `json:"imbalance"`
	Cost      float64 `json:"cost"`
}

type Outlier struct {
	What   string   `json:"what"`
	Op     string   `json:"op"`
	Site   string   `json:"site"`
	Among  int      `json:"among"`
	Median float64  `json:"median"`
	Value  float64  `json:"value"`
	Rank   int      `json:"rank"`
	Score  float64  `json:"score"`
	Shift  *float64 `json:"shift,omitempty"`
	KS     *float64 `json:"ks,omitempty"`
	Ranks  [][3]int `json:"ranks"`
}

func NewOverview(file string, o *diff.Overview) *Overview {
	j := &Overview{
		Schema: "efg-diff-ranks/1", File: file, Timed: o.Timed, Processes: o.Ranks, Calls: o.Total.Calls, Bytes: o.Total.Bytes,
		Shapes: o.Shapes, Classes: []Class{}, Imbalance: []RankImbalance{}, Outliers: []Outlier{},
	}
	if o.Timed {
		j.Time = &o.Total.Time.Sum
	}
	for i := range o.Classes {
		c := &o.Classes[i]
		k := Class{Shape: c.Shape, Number: c.Number, Count: len(c.Ranks), Ranks: rankRanges(c.Ranks), Events: c.Events, Nodes: c.Nodes,
			Edges: c.Edges, Calls: c.Total.Calls, Errors: c.Total.Errors, Bytes: c.Total.Bytes}
		if o.Timed {
			k.Time = &c.Total.Time
		}
		j.Classes = append(j.Classes, k)
	}
	j.All = asRankImbalance(&o.All, o.Timed)
	for i := range o.Imbalance {
		j.Imbalance = append(j.Imbalance, asRankImbalance(&o.Imbalance[i], o.Timed))
	}
	for i := range o.Outliers {
		x := &o.Outliers[i]
		k := Outlier{What: string(x.Metric), Op: x.Op, Site: x.Site, Among: x.Among, Median: x.Median, Value: x.Value, Rank: x.Rank,
			Score: x.Score, Ranks: rankRanges(x.Ranks)}
		if x.Metric == diff.TimeMetric {
			k.Shift, k.KS = &x.Shift, &x.KS
		}
		j.Outliers = append(j.Outliers, k)
	}
	return j
}

func asRankImbalance(b *diff.Imbalance, timed bool) RankImbalance {
	j := RankImbalance{Op: b.Op, Site: b.Site, Ranks: b.Ranks, Calls: asSpread(&b.Calls), Bytes: asSpread(&b.Bytes)}
	if timed {
		t := asSpread(&b.Time)
		j.Time = &t
	}
	return j
}

func asSpread(s *diff.Spread) Spread {
	return Spread{s.Sum, s.Mean(), s.Least, s.LeastRank, s.Most, s.MostRank, s.Imbalance(), s.Cost()}
}

func rankRanges(list []int) [][3]int { return ranges(len(list), func(i int) int { return list[i] }) }
