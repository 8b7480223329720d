package main

import (
	"github.com/efg-tools/efg/analysis/loops"
	"github.com/efg-tools/efg/efg"
)

// The JSON form of loops is documented in docs/loops.md. Times are in
// nanoseconds.
type loopsJSON struct {
	Schema    string           `json:"schema"`
	File      string           `json:"file"`
	Command   []string         `json:"command"`
	Timed     bool             `json:"timed"`
	Processes int              `json:"processes"`
	Groups    []loopsGroupJSON `json:"groups"`
}

type loopsGroupJSON struct {
	Ranks  [][3]int   `json:"ranks"`
	Thread uint32     `json:"thread"`
	Calls  uint64     `json:"calls"`
	App    *uint64    `json:"app,omitempty"`
	Loops  []loopJSON `json:"loops"`
}

type loopJSON struct {
	Number      string      `json:"number"`
	Parent      int         `json:"parent"`
	Depth       int         `json:"depth"`
	Op          string      `json:"op"`
	Site        string      `json:"site"`
	Irreducible bool        `json:"irreducible"`
	Entrances   int         `json:"entrances"`
	Entries     perRankJSON `json:"entries"`
	Iterations  perRankJSON `json:"iterations"`
	PerEntry    perJSON     `json:"per_entry"`
	Gap         *uint64     `json:"gap,omitempty"`
	rowJSON
}

type perRankJSON struct {
	Sum   uint64 `json:"sum"`
	Least uint64 `json:"least"`
	Most  uint64 `json:"most"`
}

type perJSON struct {
	Mean  float64 `json:"mean"`
	Least uint64  `json:"least"`
	Most  uint64  `json:"most"`
}

func loopsAsJSON(path string, r *efg.Run, s *loops.Summary, procs int) *loopsJSON {
	j := &loopsJSON{
		Schema: "efg-loops/1", File: path, Command: r.Meta.Command, Timed: s.Timed, Processes: procs, Groups: []loopsGroupJSON{},
	}
	for i := range s.Groups {
		g := &s.Groups[i]
		k := loopsGroupJSON{
			Ranks:  ranges(len(g.Ranks), func(i int) int { return g.Ranks[i] }),
			Thread: g.Thread, Calls: g.Calls, Loops: make([]loopJSON, len(g.Rows)),
		}
		if s.Timed {
			k.App = &g.App
		}
		numbers := loopNumbers(g.Rows)
		for i := range g.Rows {
			k.Loops[i] = loopAsJSON(&g.Rows[i], numbers[i], s.Timed)
		}
		j.Groups = append(j.Groups, k)
	}
	return j
}

func loopAsJSON(row *loops.Row, number string, timed bool) loopJSON {
	j := loopJSON{
		Number: number, Parent: row.Parent, Depth: row.Depth, Op: row.Op, Site: row.Site,
		Irreducible: row.Irreducible, Entrances: row.Entrances,
		Entries: perRankJSON(row.Entries), Iterations: perRankJSON(row.Iterations),
		PerEntry: perJSON{row.PerEntry(), row.Least, row.Most},
		rowJSON:  asRow(&row.Row),
	}
	if timed {
		j.Gap = &row.Gap
	}
	return j
}
