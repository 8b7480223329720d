package main

import (
	"slices"

	"github.com/efg-tools/efg/analysis"
	"github.com/efg-tools/efg/efg"
)

// The JSON form of a report is documented in docs/report.md. Times are in
// nanoseconds.
type reportJSON struct {
	Schema     string          `json:"schema"`
	File       string          `json:"file"`
	Command    []string        `json:"command"`
	Timed      bool            `json:"timed"`
	Processes  int             `json:"processes"`
	Total      rowJSON         `json:"total"`
	App        *uint64         `json:"app,omitempty"`
	Untimed    uint64          `json:"untimed"`
	Dropped    uint64          `json:"dropped"`
	Incomplete int             `json:"incomplete"`
	Procedures []opJSON        `json:"procedures,omitempty"`
	Callsites  []opJSON        `json:"callsites,omitempty"`
	Ranks      []rankJSON      `json:"ranks,omitempty"`
	Imbalance  []imbalanceJSON `json:"imbalance,omitempty"`
	Waits      []waitJSON      `json:"waits,omitempty"`
}

type rowJSON struct {
	Calls    uint64    `json:"calls"`
	Errors   uint64    `json:"errors"`
	Sent     uint64    `json:"sent"`
	Received uint64    `json:"received"`
	Read     uint64    `json:"read"`
	Written  uint64    `json:"written"`
	Messages uint64    `json:"messages"`
	Receives uint64    `json:"receives"`
	Unknown  uint64    `json:"unknown"`
	Time     *timeJSON `json:"time,omitempty"`
}

type timeJSON struct {
	Count uint64   `json:"count"`
	Sum   uint64   `json:"sum"`
	Min   uint64   `json:"min"`
	Max   uint64   `json:"max"`
	Bins  []uint64 `json:"bins"`
}

type opJSON struct {
	Op   string `json:"op"`
	Site string `json:"site,omitempty"`
	rowJSON
	Ranks    int     `json:"ranks"`
	Least    *uint64 `json:"least,omitempty"`
	Most     *uint64 `json:"most,omitempty"`
	MostRank *int    `json:"most_rank,omitempty"`
}

type rankJSON struct {
	Rank    int     `json:"rank"`
	PID     int     `json:"pid"`
	Threads int     `json:"threads"`
	App     *uint64 `json:"app,omitempty"`
	rowJSON
}

type imbalanceJSON struct {
	Op        string  `json:"op"`
	Site      string  `json:"site"`
	Ranks     int     `json:"ranks"`
	Mean      float64 `json:"mean"`
	Most      uint64  `json:"most"`
	MostRank  int     `json:"most_rank"`
	Imbalance float64 `json:"imbalance"`
	Cost      float64 `json:"cost"`
}

type waitJSON struct {
	Rank  int    `json:"rank"`
	Op    string `json:"op"`
	Site  string `json:"site"`
	Time  uint64 `json:"time"`
	Calls uint64 `json:"calls"`
}

// reportAsJSON holds all rows, unless --top says otherwise.
func reportAsJSON(path string, r *efg.Run, rep *analysis.Report, opt *reportOptions) *reportJSON {
	j := &reportJSON{
		Schema: "efg-report/1", File: path, Command: r.Meta.Command, Timed: rep.Timed, Processes: len(rep.Ranks),
		Total: asRow(&rep.Total), Untimed: rep.Untimed, Dropped: rep.Dropped, Incomplete: rep.Incomplete,
	}
	if rep.Timed {
		j.App = &rep.App
	}
	wanted := func(table string) bool { return len(opt.by) == 0 || slices.Contains(opt.by, table) }
	if wanted("procedure") {
		j.Procedures = asOps(rep.Procedures, rep.Timed)
	}
	if wanted("callsite") {
		j.Callsites = asOps(rep.Callsites, rep.Timed)
		for _, c := range rep.Imbalanced(imbalanced) {
			j.Imbalance = append(j.Imbalance, imbalanceJSON{c.Op, c.Site, c.Ranks, c.Mean(), c.Most, c.MostRank, c.Imbalance(), c.Cost()})
		}
		for _, w := range rep.Waits[:min(len(rep.Waits), longestWaits)] {
			j.Waits = append(j.Waits, waitJSON{w.Rank, w.Op, w.Site, w.Time, w.Calls})
		}
	}
	if wanted("rank") {
		for i := range rep.Ranks {
			k := &rep.Ranks[i]
			row := rankJSON{Rank: k.Rank, PID: k.PID, Threads: k.Threads, rowJSON: asRow(&k.Row)}
			if rep.Timed {
				row.App = &k.App
			}
			j.Ranks = append(j.Ranks, row)
		}
	}
	return j
}

func asRow(r *analysis.Row) rowJSON {
	j := rowJSON{
		Calls: r.Calls, Errors: r.Errors, Sent: r.Sent, Received: r.Received, Read: r.Read, Written: r.Written,
		Messages: r.Messages, Receives: r.Receives, Unknown: r.Unknown,
	}
	if t := &r.Time; t.Count > 0 {
		last := len(t.Bins)
		for last > 0 && t.Bins[last-1] == 0 {
			last--
		}
		j.Time = &timeJSON{t.Count, t.Sum, t.Min, t.Max, t.Bins[:last]}
	}
	return j
}

func asOps(rows []analysis.OpRow, timed bool) []opJSON {
	list := make([]opJSON, 0, len(rows))
	for i := range rows {
		r := &rows[i]
		j := opJSON{Op: r.Op, Site: r.Site, rowJSON: asRow(&r.Row), Ranks: r.Ranks}
		if timed {
			j.Least, j.Most, j.MostRank = &r.Least, &r.Most, &r.MostRank
		}
		list = append(list, j)
	}
	return list
}
