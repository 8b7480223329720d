package jsondoc

import (
	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/analysis/loops"
)

// Loops are the loops of a run; docs/loops.md describes the document. Times are in
// nanoseconds.
type Loops struct {
	Schema    string      `json:"schema"`
	File      string      `json:"file"`
	Command   []string    `json:"command"`
	Timed     bool        `json:"timed"`
	Processes int         `json:"processes"`
	Groups    []LoopGroup `json:"groups"`
}

type LoopGroup struct {
	Ranks  [][3]int `json:"ranks"`
	Thread uint32   `json:"thread"`
	Calls  uint64   `json:"calls"`
	App    *uint64  `json:"app,omitempty"`
	Loops  []Loop   `json:"loops"`
}

type Loop struct {
	Number      string   `json:"number"`
	Parent      int      `json:"parent"`
	Depth       int      `json:"depth"`
	Op          string   `json:"op"`
	Site        string   `json:"site"`
	Irreducible bool     `json:"irreducible"`
	Entrances   int      `json:"entrances"`
	Entries     PerRank  `json:"entries"`
	Iterations  PerRank  `json:"iterations"`
	PerEntry    PerEntry `json:"per_entry"`
	Gap         *uint64  `json:"gap,omitempty"`
	Row
}

type PerRank struct {
	Sum   uint64 `json:"sum"`
	Least uint64 `json:"least"`
	Most  uint64 `json:"most"`
}

type PerEntry struct {
	Mean  float64 `json:"mean"`
	Least uint64  `json:"least"`
	Most  uint64  `json:"most"`
}

func NewLoops(path string, r *runfile.Run, s *loops.Summary, procs int) *Loops {
	j := &Loops{
		Schema: "efg-loops/1", File: path, Command: r.Meta.Command, Timed: s.Timed, Processes: procs, Groups: []LoopGroup{},
	}
	for i := range s.Groups {
		g := &s.Groups[i]
		k := LoopGroup{
			Ranks:  ranges(len(g.Ranks), func(i int) int { return g.Ranks[i] }),
			Thread: g.Thread, Calls: g.Calls, Loops: make([]Loop, len(g.Rows)),
		}
		if s.Timed {
			k.App = &g.App
		}
		numbers := loops.Numbers(g.Rows)
		for i := range g.Rows {
			k.Loops[i] = asLoop(&g.Rows[i], numbers[i], s.Timed)
		}
		j.Groups = append(j.Groups, k)
	}
	return j
}

func asLoop(row *loops.Row, number string, timed bool) Loop {
	j := Loop{
		Number: number, Parent: row.Parent, Depth: row.Depth, Op: row.Op, Site: row.Site,
		Irreducible: row.Irreducible, Entrances: row.Entrances,
		Entries: PerRank(row.Entries), Iterations: PerRank(row.Iterations),
		PerEntry: PerEntry{row.PerEntry(), row.Least, row.Most},
		Row:      asRow(&row.Row),
	}
	if timed {
		j.Gap = &row.Gap
	}
	return j
}
