package jsondoc

import (
	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/analysis/counted"
)

// Counters are what was counted in a run; docs/counters.md describes it.
type Counters struct {
	Schema    string    `json:"schema"`
	File      string    `json:"file"`
	Command   []string  `json:"command"`
	Processes int       `json:"processes"`
	Useful    uint64    `json:"useful"` // ns
	Counters  []Counter `json:"counters"`
	// IPC are the instructions of a cycle; absent if that is not known.
	IPC  *IPC          `json:"ipc,omitempty"`
	Rows []CountersRow `json:"rows"`
	// Energy is that of the machines, absent if it was not counted.
	Energy *Energy `json:"energy,omitempty"`
}

// Counter is a counter, and what it counted in all.
type Counter struct {
	Name        string `json:"name"`
	Unit        string `json:"unit,omitempty"`
	Missing     int    `json:"missing"`
	Multiplexed int    `json:"multiplexed"`
	Calls       uint64 `json:"calls"`
	Before      uint64 `json:"before"`
}

// IPC are the instructions of a cycle, in calls and before them; null where there were no cycles.
type IPC struct {
	Calls  *float64 `json:"calls"`
	Before *float64 `json:"before"`
}

// CountersRow is what was counted at a callsite.
type CountersRow struct {
	Place
	Events uint64 `json:"events"`
	Setup  bool   `json:"setup,omitempty"`
	IPC    *IPC   `json:"ipc,omitempty"`
	// Values of each counter, null where there are none.
	Values []*CounterValues `json:"values"`
}

type CounterValues struct {
	Counted uint64 `json:"counted"`
	Calls   Tally  `json:"calls"`
	Before  Tally  `json:"before"`
}

// Tally sums up values. Bins[i] are how many have i bits; the last ones that are 0 are left out.
type Tally struct {
	Sum  uint64   `json:"sum"`
	Min  uint64   `json:"min"`
	Max  uint64   `json:"max"`
	Bins []uint32 `json:"bins"`
}

// NewCounters makes the document.
func NewCounters(path string, r *runfile.Run, t *counted.Table) *Counters {
	j := &Counters{Schema: "efg-counters/1", File: path, Command: r.Meta.Command, Processes: t.Ranks, Useful: t.Useful, Counters: []Counter{}, Rows: []CountersRow{}, Energy: NewEnergy(&r.Meta)}
	for i, c := range t.Counters {
		j.Counters = append(j.Counters, Counter{c.Name, c.Unit, c.Missing, c.Multiplexed, t.Total[i].Calls, t.Total[i].Before})
	}
	instructions, cycles := t.Find(counted.Instructions), t.Find(counted.Cycles)
	ipc := func(of func(i int) (calls, before uint64)) *IPC {
		if instructions < 0 || cycles < 0 {
			return nil
		}
		ic, ib := of(instructions)
		cc, cb := of(cycles)
		return &IPC{asRatio(ic, cc), asRatio(ib, cb)}
	}
	j.IPC = ipc(func(i int) (calls, before uint64) { return t.Total[i].Calls, t.Total[i].Before })
	for i := range t.Rows {
		row := &t.Rows[i]
		k := CountersRow{Place: Place{row.Op, row.Site}, Events: row.Calls, Setup: row.Setup, Values: []*CounterValues{}}
		k.IPC = ipc(func(i int) (calls, before uint64) { return row.Counters[i].Call.Sum, row.Counters[i].Before.Sum })
		for n := range row.Counters {
			c := &row.Counters[n]
			if c.Count == 0 {
				k.Values = append(k.Values, nil)
				continue
			}
			k.Values = append(k.Values, &CounterValues{c.Count, asTally(&c.Call), asTally(&c.Before)})
		}
		j.Rows = append(j.Rows, k)
	}
	return j
}

func asRatio(instructions, cycles uint64) *float64 {
	if ipc, ok := counted.IPC(instructions, cycles); ok {
		return &ipc
	}
	return nil
}

func asTally(t *efg.Tally) Tally {
	n := len(t.Bins)
	for n > 0 && t.Bins[n-1] == 0 {
		n--
	}
	return Tally{t.Sum, t.Min, t.Max, append([]uint32{}, t.Bins[:n]...)}
}
