package jsondoc

import "github.com/efg-tools/efg/internal/analysis/whatif"

// Whatif predicts how long a run takes under other conditions; docs/whatif.md describes the
// document. Times are in nanoseconds.
type Whatif struct {
	Schema   string         `json:"schema"`
	File     string         `json:"file"`
	Ranks    int            `json:"ranks"`
	Network  WhatifNetwork  `json:"network"`
	Recorded Prediction     `json:"recorded"`
	Modelled Prediction     `json:"modelled"`
	Asked    *Prediction    `json:"asked"`
	Overview *WhatifOverall `json:"overview"`
	// End is where the run that is predicted ends because later calls have no times, ns since the
	// run began.
	End *int64 `json:"end,omitempty"`
}

// WhatifNetwork has the LogGPS parameters of the recorded network; Messages is how many they are
// from.
type WhatifNetwork struct {
	Latency  float64 `json:"latency"`
	Overhead float64 `json:"overhead"`
	PerByte  float64 `json:"per_byte"`
	Messages uint64  `json:"messages"`
}

// Prediction is what a change gives.
type Prediction struct {
	Time          float64 `json:"time"`
	Useful        float64 `json:"useful"`
	Most          float64 `json:"most"`
	MostRank      int     `json:"most_rank"`
	Parallel      float64 `json:"parallel"`
	LoadBalance   float64 `json:"load_balance"`
	Communication float64 `json:"communication"`
}

// WhatifOverall is what is shown if nothing is asked for.
type WhatifOverall struct {
	Ideal    Prediction   `json:"ideal"`
	Balanced Prediction   `json:"balanced"`
	Path     int64        `json:"path"`
	Gains    []WhatifGain `json:"gains"`
}

type WhatifGain struct {
	WaitRegion
	OnPath int64      `json:"on_path"`
	Then   Prediction `json:"then"`
}

func NewWhatif(path string, r *whatif.Report) *Whatif {
	j := &Whatif{
		Schema: "efg-whatif/1", File: path, Ranks: r.Ranks, Network: WhatifNetwork{r.Own.Latency, r.Own.Overhead, r.Own.PerByte, r.Messages},
		Recorded: asPrediction(&r.Recorded), Modelled: asPrediction(&r.Modelled), End: r.End,
	}
	if r.Asked != nil {
		p := asPrediction(r.Asked)
		j.Asked = &p
		return j
	}
	j.Overview = &WhatifOverall{Ideal: asPrediction(&r.Ideal), Balanced: asPrediction(&r.Balanced), Path: r.Path, Gains: []WhatifGain{}}
	for i := range r.Gains {
		g := &r.Gains[i]
		j.Overview.Gains = append(j.Overview.Gains, WhatifGain{asWaitRegion(&g.Region), g.OnPath, asPrediction(&g.Prediction)})
	}
	return j
}

func asPrediction(p *whatif.Prediction) Prediction {
	return Prediction{p.Time, p.Useful, p.Most, p.MostRank, p.Parallel(), p.LoadBalance(), p.Communication()}
}
