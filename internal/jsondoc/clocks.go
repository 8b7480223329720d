package jsondoc

import (
	"github.com/efg-tools/efg/internal/analysis/clocks"
)

// Clocks say how the clocks of machines differ, and what is corrected; docs/clocks.md describes the
// document. Times are in nanoseconds.
type Clocks struct {
	Schema    string         `json:"schema"`
	File      string         `json:"file"`
	Ranks     int            `json:"ranks"`
	Machines  []ClockMachine `json:"machines"`
	Recorded  ClockFaults    `json:"recorded"`
	Aligned   *ClockFaults   `json:"aligned"`
	Remaining uint64         `json:"remaining"`
	Shifted   []ClockShift   `json:"shifted"`
	Matched   ClockMatched   `json:"matched"`
}

// ClockMachine is a machine; Reference counts in the array of machines.
type ClockMachine struct {
	Host      string        `json:"host"`
	Ranks     []int         `json:"ranks"`
	Reference int           `json:"reference"`
	Aligned   bool          `json:"aligned"`
	Limits    int           `json:"limits"`
	Windows   []ClockWindow `json:"windows"`
}

type ClockWindow struct {
	From   int64   `json:"from"`
	To     int64   `json:"to"`
	Offset int64   `json:"offset"`
	Rate   float64 `json:"rate_ppm"`
	Error  *int64  `json:"error"`
}

// ClockFaults are calls that are over before something that had to come first has begun.
type ClockFaults struct {
	Calls uint64 `json:"calls"`
	Worst int64  `json:"worst"`
}

type ClockShift struct {
	Rank    int    `json:"rank"`
	Calls   uint64 `json:"calls"`
	Longest int64  `json:"longest"`
	Total   int64  `json:"total"`
	First   int64  `json:"first"`
}

type ClockMatched struct {
	Calls       uint64 `json:"calls"`
	Messages    uint64 `json:"messages"`
	Collectives uint64 `json:"collectives"`
}

func NewClocks(path string, ranks int, r *clocks.Report) *Clocks {
	j := &Clocks{
		Schema: "efg-clocks/1", File: path, Ranks: ranks, Machines: []ClockMachine{}, Recorded: ClockFaults(r.Raw),
		Remaining: r.Remaining, Shifted: []ClockShift{}, Matched: ClockMatched{r.Matched.Calls, r.Matched.Messages, r.Matched.Collectives},
	}
	if len(r.Machines) > 1 {
		j.Aligned = &ClockFaults{r.Aligned.Calls, r.Aligned.Worst}
	} else {
		j.Remaining = r.Raw.Calls
	}
	for i := range r.Machines {
		m := &r.Machines[i]
		x := ClockMachine{Host: m.Host, Ranks: m.Ranks, Reference: m.Reference, Aligned: m.Aligned, Limits: m.Limits, Windows: []ClockWindow{}}
		for k := range m.Windows {
			w := &m.Windows[k]
			y := ClockWindow{From: w.From, To: w.To, Offset: w.Offset, Rate: w.Rate * 1e6}
			if w.Error >= 0 {
				y.Error = &w.Error
			}
			x.Windows = append(x.Windows, y)
		}
		j.Machines = append(j.Machines, x)
	}
	for _, s := range r.Ranks {
		j.Shifted = append(j.Shifted, ClockShift(s))
	}
	return j
}
