package jsondoc

import (
	"slices"

	"github.com/efg-tools/efg/internal/analysis"
)

// Matrix is a communication matrix; docs/report.md describes it.
type Matrix struct {
	Schema      string      `json:"schema"`
	File        string      `json:"file"`
	Ranks       int         `json:"ranks"`
	OneSided    bool        `json:"one_sided"`
	Collectives bool        `json:"collectives"`
	From        *[2]int     `json:"from,omitempty"` // of a block: the first and last sender
	To          *[2]int     `json:"to,omitempty"`   // and receiver
	Total       Cell        `json:"total"`
	Outside     Cell        `json:"outside"`
	Entries     [][4]uint64 `json:"entries"`
	Fans        []Fan       `json:"fans"`
	Unmatched   []Unmatched `json:"unmatched"`
}

type Cell struct {
	Bytes    uint64 `json:"bytes"`
	Messages uint64 `json:"messages"`
}

// Fan says that each of From sends Bytes in Messages to each of the other Members, or only to
// those after it.
type Fan struct {
	From     [][3]int `json:"from"`
	Members  [][3]int `json:"members"`
	Behind   bool     `json:"behind"`
	Bytes    uint64   `json:"bytes"`
	Messages uint64   `json:"messages"`
}

type Unmatched struct {
	Rank     int    `json:"rank"`
	Sent     uint64 `json:"sent"`
	Receives uint64 `json:"receives"`
}

func NewMatrix(path string, m *analysis.Matrix, opt analysis.MatrixOptions) *Matrix {
	all, _, _ := m.Totals()
	j := &Matrix{
		Schema: "efg-matrix/1", File: path, Ranks: m.Size, OneSided: opt.OneSided, Collectives: opt.Collectives,
		Total: Cell(all), Outside: Cell(m.Outside),
		Entries: make([][4]uint64, 0, len(m.Entries)), Fans: []Fan{}, Unmatched: []Unmatched{},
	}
	for _, e := range m.Entries {
		j.Entries = append(j.Entries, [4]uint64{uint64(e.From), uint64(e.To), e.Bytes, e.Messages})
	}
	j.Fans = joinFans(m.Fans)
	for _, u := range m.Unmatched {
		j.Unmatched = append(j.Unmatched, Unmatched{u.Rank, u.Sent, u.Received})
	}
	return j
}

// NewMatrixBlock holds a block that was cut out of a matrix.
func NewMatrixBlock(path string, cut *analysis.Matrix, opt analysis.MatrixOptions, b analysis.Block) *Matrix {
	j := NewMatrix(path, cut, opt)
	j.From, j.To = asSpan(b.From), asSpan(b.To)
	return j
}

// BlockOf returns the block of a matrix from some ranks to others, each a first and last rank
// or nil for all. It may not be Valid. given: it was requested.
func BlockOf(m *analysis.Matrix, from, to *[2]int) (b analysis.Block, given bool) {
	b = m.All()
	if from != nil {
		b.From = analysis.Range{First: from[0], Last: from[1]}
	}
	if to != nil {
		b.To = analysis.Range{First: to[0], Last: to[1]}
	}
	return b, from != nil || to != nil
}

func asSpan(r analysis.Range) *[2]int { return &[2]int{r.First, r.Last} }

// joinFans combines fans that differ only in the sender.
func joinFans(fans []analysis.Fan) []Fan {
	type key struct {
		many   *analysis.Members
		higher bool
		cell   analysis.Cell
	}
	from := map[key][]int{}
	var order []key
	for _, f := range fans {
		k := key{f.Many, f.Higher, f.Cell}
		if from[k] == nil {
			order = append(order, k)
		}
		from[k] = append(from[k], f.From)
	}
	list := []Fan{}
	for _, k := range order {
		senders := from[k]
		slices.Sort(senders)
		list = append(list, Fan{
			From:    ranges(len(senders), func(i int) int { return senders[i] }),
			Members: ranges(k.many.Size(), k.many.At), Behind: k.higher, Bytes: k.cell.Bytes, Messages: k.cell.Messages,
		})
	}
	return list
}

// ranges converts a list into runs of first, count and stride.
func ranges(n int, at func(int) int) [][3]int {
	list := [][3]int{}
	for i := 0; i < n; {
		first, stride, j := at(i), 0, i+1
		if j < n {
			stride = at(j) - first
			for j < n && at(j)-at(j-1) == stride {
				j++
			}
		}
		if j-i == 1 {
			stride = 0
		}
		list = append(list, [3]int{first, j - i, stride})
		i = j
	}
	return list
}

// MatrixBins is a block of a matrix of many ranks, binned: Bytes[i][j] is what Width ranks
// beginning with From[0]+i*Width sent to Width ranks beginning with To[0]+j*Width. In another
// order than by rank these are places: Senders and Receivers have the ranks at those of the block,
// as runs of first, count and stride, unless there are more than mostRuns of them.
type MatrixBins struct {
	Schema      string     `json:"schema"`
	File        string     `json:"file"`
	Ranks       int        `json:"ranks"`
	OneSided    bool       `json:"one_sided"`
	Collectives bool       `json:"collectives"`
	Total       Cell       `json:"total"`
	Outside     Cell       `json:"outside"`
	Order       string     `json:"order"`
	From        *[2]int    `json:"from"` // the first and last sender
	To          *[2]int    `json:"to"`   // and receiver
	Senders     [][3]int   `json:"senders,omitempty"`
	Receivers   [][3]int   `json:"receivers,omitempty"`
	Width       int        `json:"width"`
	Size        int        `json:"size"` // the larger one of Rows and Columns
	Rows        int        `json:"rows"`
	Columns     int        `json:"columns"`
	Bytes       [][]uint64 `json:"bytes"`
	Messages    [][]uint64 `json:"messages"`
	Unmatched   int        `json:"unmatched"` // receivers where sends and receives differ in number
}

func (*MatrixBins) compact() {}

// mostRuns bounds the size of an answer.
const mostRuns = 4096

// NewMatrixBins sums a block of a matrix that is Valid into at most this many rows and columns.
func NewMatrixBins(path string, m *analysis.Matrix, opt analysis.MatrixOptions, order analysis.RankOrder, block analysis.Block, most int) *MatrixBins {
	b := m.Bin(block, most)
	j := &MatrixBins{
		Schema: "efg-matrix-bins/1", File: path, Ranks: m.Size, OneSided: opt.OneSided, Collectives: opt.Collectives,
		Order: string(order), From: asSpan(block.From), To: asSpan(block.To), Total: Cell(b.Total()),
		Width: b.Width, Size: max(b.Rows, b.Columns), Rows: b.Rows, Columns: b.Columns, Bytes: b.Bytes, Messages: b.Messages,
	}
	if block == m.All() {
		j.Outside = Cell(m.Outside)
	}
	if order != analysis.ByRank {
		j.Senders, j.Receivers = runsOf(m.Ranks(block.From)), runsOf(m.Ranks(block.To))
	}
	for _, u := range m.Unmatched {
		if m.Receives(u.Rank, block) {
			j.Unmatched++
		}
	}
	return j
}

// runsOf converts ranks into runs; nil if these are too many.
func runsOf(ranks []int) [][3]int {
	list := ranges(len(ranks), func(i int) int { return ranks[i] })
	if len(list) > mostRuns {
		return nil
	}
	return list
}
