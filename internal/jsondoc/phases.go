package jsondoc

import (
	"github.com/efg-tools/efg/internal/analysis/phases"
)

// Phases are the phases of a run; docs/phases.md describes the document.
type Phases struct {
	Schema     string  `json:"schema"`
	File       string  `json:"file"`
	Ranks      int     `json:"ranks"`
	Phases     uint64  `json:"phases"`
	Timed      bool    `json:"timed"`
	Traced     bool    `json:"traced"`
	Incomplete int     `json:"incomplete"`
	Rows       []Phase `json:"rows"`
	Others     *Phase  `json:"others,omitempty"`
	// Regions are those that the program names, if they were asked for.
	Regions []Region `json:"regions,omitempty"`
	Setup   float64  `json:"setup"` // time in MPI_Init, MPI_Finalize and the like, summed over ranks
}

type Phase struct {
	From     *Place     `json:"from"`
	Until    *Place     `json:"until"`
	Times    uint64     `json:"times"`
	Least    uint64     `json:"least"`
	Ranks    int        `json:"ranks"`
	Calls    uint64     `json:"calls"`
	Sent     uint64     `json:"sent"`
	Received uint64     `json:"received"`
	Read     uint64     `json:"read"`
	Written  uint64     `json:"written"`
	Unknown  uint64     `json:"unknown"`
	Time     *PhaseTime `json:"time,omitempty"`
	Dilation *Dilation  `json:"dilation,omitempty"`
}

type Place struct {
	Op   string `json:"op"`
	Site string `json:"site"`
}

type PhaseTime struct {
	MPI       float64 `json:"mpi"`
	App       float64 `json:"app"`
	Meeting   float64 `json:"meeting"`
	About     bool    `json:"about"`
	Rate      float64 `json:"rate"`
	Busy      float64 `json:"busy"`
	MostBusy  float64 `json:"most_busy"`
	MostRank  int     `json:"most_rank"`
	Imbalance float64 `json:"imbalance"`
}

type Dilation struct {
	Count    uint64  `json:"count"`
	Mean     float64 `json:"mean"`
	Max      int64   `json:"max"`
	MaxRank  int     `json:"max_rank"`
	MaxPhase uint64  `json:"max_phase"`
}

func NewPhases(path string, rep *phases.Report) *Phases {
	j := &Phases{
		Schema: "efg-phases/1", File: path, Ranks: rep.Ranks, Phases: rep.Phases, Timed: rep.Timed, Traced: rep.Traced,
		Incomplete: rep.Incomplete, Rows: []Phase{}, Setup: rep.Setup,
	}
	for i := range rep.Rows {
		j.Rows = append(j.Rows, asPhase(&rep.Rows[i], rep.Timed))
	}
	if rep.Others.Calls > 0 {
		o := asPhase(&rep.Others, rep.Timed)
		j.Others = &o
	}
	return j
}

// asPlace returns nil if there is no call.
func asPlace(op, site string) *Place {
	if op == "" {
		return nil
	}
	return &Place{op, site}
}

func asPhase(r *phases.Row, timed bool) Phase {
	v := &r.Volume
	j := Phase{
		From: asPlace(r.From.Op, r.From.Site), Until: asPlace(r.Until.Op, r.Until.Site), Times: r.Times, Least: r.Least, Ranks: r.Ranks, Calls: r.Calls,
		Sent: v.Sent, Received: v.Received, Read: v.Read, Written: v.Written, Unknown: v.Unknown,
	}
	if timed {
		j.Time = &PhaseTime{r.MPI, r.App, r.Meeting, r.About, r.Rate(), r.Busy, r.MostBusy, r.MostRank, r.Imbalance()}
	}
	if d := r.Dilation; d != nil {
		j.Dilation = &Dilation{d.Count, d.Mean(), d.Max, d.MaxRank, d.MaxPhase}
	}
	return j
}
