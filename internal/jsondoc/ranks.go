package jsondoc

import (
	"github.com/efg-tools/efg/internal/analysis"
)

// Ranks is a part of the table of ranks, by columns, with the distribution of all rows;
// docs/api.md describes it. Times are in nanoseconds.
type Ranks struct {
	Schema    string `json:"schema"`
	File      string `json:"file"`
	Timed     bool   `json:"timed"`
	Processes int    `json:"processes"`
	Matching  int    `json:"matching"` // number of matching processes
	Order     string `json:"order"`
	From      int    `json:"from"` // number of rows before the first one here
	// Ranks and the columns have a value for each row. Columns that are all 0 in the run are
	// left out.
	Ranks   []int               `json:"ranks"`
	Columns map[string][]uint64 `json:"columns"`
	// Spread covers all selected processes.
	Spread map[string]Distribution `json:"spread"`
	Bins   *RankBins               `json:"bins,omitempty"`
}

// Distribution says how a column's values are distributed. Quantiles are those at 5, 25, 50, 75
// and 95 percent.
type Distribution struct {
	Sum       uint64    `json:"sum"`
	Mean      float64   `json:"mean"`
	Least     uint64    `json:"least"`
	LeastRank int       `json:"least_rank"`
	Most      uint64    `json:"most"`
	MostRank  int       `json:"most_rank"`
	Quantiles [5]uint64 `json:"quantiles"`
}

// RankBins sums groups of consecutive ranks.
type RankBins struct {
	Width   int                   `json:"width"` // processes in a group
	First   []int                 `json:"first"` // ranks
	Last    []int                 `json:"last"`
	Columns map[string]*BinColumn `json:"columns"`
}

// BinColumn has a value for each group.
type BinColumn struct {
	Least []uint64  `json:"least"`
	Mean  []float64 `json:"mean"`
	Most  []uint64  `json:"most"`
}

// RanksQuery selects a part of a table of ranks.
type RanksQuery struct {
	// Has reports whether a rank is selected; nil: all are.
	Has func(rank int) bool
	// By is the order of the rows, as in analysis.RankTable.Order.
	By          string
	Down        bool
	From, Count int // rows
	// Bins is the maximum number of groups of processes; 0: none.
	Bins int
}

func (*Ranks) compact() {}

// NewRanks returns a part of a table.
func NewRanks(path string, t *analysis.RankTable, q RanksQuery) *Ranks {
	rows := []int{}
	for i, rank := range t.Ranks {
		if q.Has == nil || q.Has(rank) {
			rows = append(rows, i)
		}
	}
	j := &Ranks{
		Schema: "efg-ranks/1", File: path, Timed: t.Timed, Processes: len(t.Ranks), Matching: len(rows), Order: q.By, From: min(q.From, len(rows)),
		Ranks: []int{}, Columns: map[string][]uint64{}, Spread: map[string]Distribution{},
	}
	if q.Down {
		j.Order = "-" + q.By
	}
	columns := used(t)
	if len(rows) > 0 {
		for _, c := range columns {
			j.Spread[c.Name] = asDistribution(t.Spread(c.Values, rows), len(rows))
		}
		if q.Bins > 0 {
			j.Bins = newRankBins(t, columns, analysis.BinRows(rows, q.Bins))
		}
	}
	t.Order(rows, q.By, q.Down)
	rows = rows[j.From:min(len(rows), j.From+q.Count)]
	for _, row := range rows {
		j.Ranks = append(j.Ranks, t.Ranks[row])
	}
	for _, c := range columns {
		values := make([]uint64, len(rows))
		for i, row := range rows {
			values[i] = c.Values[row]
		}
		j.Columns[c.Name] = values
	}
	return j
}

// used returns the columns that are not all zero.
func used(t *analysis.RankTable) []analysis.RankColumn {
	var list []analysis.RankColumn
	for _, c := range t.Columns {
		for _, v := range c.Values {
			if v != 0 {
				list = append(list, c)
				break
			}
		}
	}
	return list
}

func asDistribution(s analysis.Spread, n int) Distribution {
	return Distribution{s.Sum, float64(s.Sum) / float64(n), s.Least, s.LeastRank, s.Most, s.MostRank, s.Quantiles}
}

func newRankBins(t *analysis.RankTable, columns []analysis.RankColumn, groups [][]int) *RankBins {
	b := &RankBins{Width: len(groups[0]), Columns: map[string]*BinColumn{}}
	for _, rows := range groups {
		b.First = append(b.First, t.Ranks[rows[0]])
		b.Last = append(b.Last, t.Ranks[rows[len(rows)-1]])
	}
	for _, c := range columns {
		if c.Name == "pid" || c.Name == "threads" {
			continue
		}
		x := &BinColumn{}
		for _, rows := range groups {
			s := t.Spread(c.Values, rows)
			x.Least, x.Most = append(x.Least, s.Least), append(x.Most, s.Most)
			x.Mean = append(x.Mean, float64(s.Sum)/float64(len(rows)))
		}
		b.Columns[c.Name] = x
	}
	return b
}
