package jsondoc

import (
	"slices"

	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/analysis"
	"github.com/efg-tools/efg/internal/analysis/findings"
)

// Report is a report; docs/report.md describes it. Times are in nanoseconds.
type Report struct {
	Schema     string      `json:"schema"`
	File       string      `json:"file"`
	Command    []string    `json:"command"`
	Timed      bool        `json:"timed"`
	Processes  int         `json:"processes"`
	Total      Row         `json:"total"`
	App        *uint64     `json:"app,omitempty"`
	Setup      *Times      `json:"setup,omitempty"` // the time in MPI_Init, MPI_Finalize and the like
	WithSetup  bool        `json:"with_setup"`      // total, app and ranks include it
	Untimed    uint64      `json:"untimed"`
	Dropped    uint64      `json:"dropped"`
	Incomplete int         `json:"incomplete"`
	InProgress *InProgress `json:"in_progress,omitempty"`
	Findings   []Sentence  `json:"findings,omitempty"`
	Procedures []OpRow     `json:"procedures,omitempty"`
	Callsites  []OpRow     `json:"callsites,omitempty"`
	Ranks      []RankRow   `json:"ranks,omitempty"`
	Imbalance  []Imbalance `json:"imbalance,omitempty"`
	Waits      []Wait      `json:"waits,omitempty"`
	Regions    []Region    `json:"regions,omitempty"`
}

// Sentence is one about the time of the run, and its evidence: a time that is part of another,
// ns, the ranks that it is about, and where.
type Sentence struct {
	Kind  string      `json:"kind"`
	Text  string      `json:"text"`
	Time  int64       `json:"time"`
	Of    int64       `json:"of"`
	Ranks []int       `json:"ranks"`
	Where *WaitRegion `json:"where"`
	Loop  *LoopName   `json:"loop"`
}

func asSentence(f *findings.Finding) Sentence {
	j := Sentence{Kind: string(f.Kind), Text: f.Text, Time: f.Time, Of: f.Of, Ranks: f.Ranks, Loop: asLoopName(f.Loop)}
	if j.Ranks == nil {
		j.Ranks = []int{}
	}
	if f.Region != nil {
		w := asWaitRegion(f.Region)
		j.Where = &w
	}
	return j
}

// InProgress are calls that had not returned when the recording ended.
type InProgress struct {
	Calls uint64 `json:"calls"`
	Time  uint64 `json:"time"` // until then
}

// Row is what calls have in common.
type Row struct {
	Counts
	Time *Times `json:"time,omitempty"`
}

// Counts holds the number of calls and what they moved, in bytes and messages.
type Counts struct {
	Calls    uint64 `json:"calls"`
	Errors   uint64 `json:"errors"`
	Sent     uint64 `json:"sent"`
	Received uint64 `json:"received"`
	Read     uint64 `json:"read"`
	Written  uint64 `json:"written"`
	Messages uint64 `json:"messages"`
	Receives uint64 `json:"receives"`
	Unknown  uint64 `json:"unknown"`
}

// Interval summarizes durations.
type Interval struct {
	Count uint64 `json:"count"`
	Sum   uint64 `json:"sum"`
	Min   uint64 `json:"min"`
	Max   uint64 `json:"max"`
}

// Times is an Interval with the distribution.
type Times struct {
	Interval
	Bins []uint64 `json:"bins"`
}

type OpRow struct {
	Op   string `json:"op"`
	Site string `json:"site,omitempty"`
	Row
	Ranks    int     `json:"ranks"`
	Least    *uint64 `json:"least,omitempty"`
	Most     *uint64 `json:"most,omitempty"`
	MostRank *int    `json:"most_rank,omitempty"`
	Apart    bool    `json:"apart,omitempty"` // its time is not in the total
	// Inclusive is the time with that of calls inside these calls, if there are any; Time is without.
	Inclusive *uint64 `json:"inclusive,omitempty"`
	// Sizes are how many messages and calls move 0 bytes, 1, at least 2, 4, 8 …
	Sizes []uint64 `json:"sizes,omitempty"`
}

type RankRow struct {
	Rank    int     `json:"rank"`
	PID     int     `json:"pid"`
	Threads int     `json:"threads"`
	App     *uint64 `json:"app,omitempty"`
	Setup   *uint64 `json:"setup,omitempty"`
	Row
}

type Imbalance struct {
	Op        string  `json:"op"`
	Site      string  `json:"site"`
	Ranks     int     `json:"ranks"`
	Mean      float64 `json:"mean"`
	Most      uint64  `json:"most"`
	MostRank  int     `json:"most_rank"`
	Imbalance float64 `json:"imbalance"`
	Cost      float64 `json:"cost"`
}

type Wait struct {
	Rank  int    `json:"rank"`
	Op    string `json:"op"`
	Site  string `json:"site"`
	Time  uint64 `json:"time"`
	Calls uint64 `json:"calls"`
}

// ReportTables are the tables of a report.
var ReportTables = []string{"procedure", "callsite", "rank", "region"}

// Lengths of the shorter lists.
const (
	MostImbalanced = 10
	LongestWaits   = 10
)

// NewReport contains all rows of these tables, or of all tables if none are given.
func NewReport(path string, r *runfile.Run, rep *analysis.Report, tables []string, found []findings.Finding) *Report {
	j := &Report{
		Schema: "efg-report/1", File: path, Command: r.Meta.Command, Timed: rep.Timed, Processes: len(rep.Ranks),
		Total: asRow(&rep.Total), Setup: asTimes(&rep.Setup), WithSetup: rep.WithSetup, Untimed: rep.Untimed, Dropped: rep.Dropped, Incomplete: rep.Incomplete,
	}
	if rep.Timed {
		j.App = &rep.App
	}
	for i := range found {
		j.Findings = append(j.Findings, asSentence(&found[i]))
	}
	if x := rep.InProgress; x.Calls > 0 {
		j.InProgress = &InProgress{x.Calls, x.Time}
	}
	wanted := func(table string) bool { return len(tables) == 0 || slices.Contains(tables, table) }
	if wanted("procedure") {
		j.Procedures = asOps(rep.Procedures, rep.Timed)
	}
	if wanted("callsite") {
		j.Callsites = asOps(rep.Callsites, rep.Timed)
		for _, c := range rep.Imbalanced(MostImbalanced) {
			j.Imbalance = append(j.Imbalance, Imbalance{c.Op, c.Site, c.Ranks, c.Mean(), c.Most, c.MostRank, c.Imbalance(), c.Cost()})
		}
		for _, w := range rep.Waits[:min(len(rep.Waits), LongestWaits)] {
			j.Waits = append(j.Waits, Wait{w.Rank, w.Op, w.Site, w.Time, w.Calls})
		}
	}
	if wanted("rank") {
		for i := range rep.Ranks {
			k := &rep.Ranks[i]
			sums := k.Row()
			row := RankRow{Rank: k.Rank, PID: k.PID, Threads: k.Threads, Row: asRow(&sums)}
			if rep.Timed {
				row.App, row.Setup = &k.App, &k.Setup
			}
			j.Ranks = append(j.Ranks, row)
		}
	}
	return j
}

// Keep removes all other tables.
func (j *Report) Keep(tables []string) {
	if !slices.Contains(tables, "procedure") {
		j.Procedures = nil
	}
	if !slices.Contains(tables, "callsite") {
		j.Callsites, j.Imbalance, j.Waits = nil, nil, nil
	}
	if !slices.Contains(tables, "rank") {
		j.Ranks = nil
	}
}

func asRow(r *analysis.Row) Row {
	return Row{asCounts(r), asTimes(&r.Time)}
}

func asCounts(r *analysis.Row) Counts {
	return Counts{
		Calls: r.Calls, Errors: r.Errors, Sent: r.Sent, Received: r.Received, Read: r.Read, Written: r.Written,
		Messages: r.Messages, Receives: r.Receives, Unknown: r.Unknown,
	}
}

// asTimes returns nil if no times were recorded.
func asTimes(t *analysis.Times) *Times {
	i := asInterval(t)
	if i == nil {
		return nil
	}
	return &Times{*i, slices.Clone(t.Bins[:t.Used()])}
}

// asInterval returns nil if no times were recorded.
func asInterval(t *analysis.Times) *Interval {
	if t.Count == 0 {
		return nil
	}
	return &Interval{t.Count, t.Sum, t.Min, t.Max}
}

func asOps(rows []analysis.OpRow, timed bool) []OpRow {
	list := make([]OpRow, 0, len(rows))
	for i := range rows {
		r := &rows[i]
		j := OpRow{Op: r.Op, Site: r.Site, Row: asRow(&r.Row), Ranks: r.Ranks, Apart: r.Apart, Sizes: slices.Clone(r.Sizes[:r.Sizes.Used()])}
		if timed {
			j.Least, j.Most, j.MostRank = &r.Least, &r.Most, &r.MostRank
			if r.Inclusive > r.Time.Sum {
				j.Inclusive = &r.Inclusive
			}
		}
		list = append(list, j)
	}
	return list
}
