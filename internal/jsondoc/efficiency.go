package jsondoc

import (
	"github.com/efg-tools/efg/internal/analysis/efficiency"
)

// Efficiency tells how well runs use their processors; docs/efficiency.md describes the document.
// Times are in nanoseconds.
type Efficiency struct {
	Schema   string            `json:"schema"`
	Scaling  *string           `json:"scaling"`
	Exponent *float64          `json:"exponent"`
	Runs     []EfficiencyRun   `json:"runs"`
	Models   []EfficiencyModel `json:"models"`
}

// EfficiencyRun is a run. Serialisation and transfer are null if they are not known, for a reason.
type EfficiencyRun struct {
	File          string             `json:"file"`
	Ranks         int                `json:"ranks"`
	Time          int64              `json:"time"`
	Setup         int64              `json:"setup"`
	Useful        EfficiencyUseful   `json:"useful"`
	Ideal         *int64             `json:"ideal"`
	Parallel      float64            `json:"parallel"`
	LoadBalance   float64            `json:"load_balance"`
	Communication float64            `json:"communication"`
	Serialisation *float64           `json:"serialisation"`
	Transfer      *float64           `json:"transfer"`
	Reason        string             `json:"reason,omitempty"`
	Computation   float64            `json:"computation_scaling"`
	Global        float64            `json:"global"`
	Speedup       float64            `json:"speedup"`
	Untimed       uint64             `json:"untimed"`
	Windows       []EfficiencyWindow `json:"windows"`
	Loops         []EfficiencyLoop   `json:"loops"`
	Phases        []EfficiencyPhase  `json:"phases"`
	Regions       []EfficiencyRegion `json:"regions"`
	// End is where windows end because later calls have no times of their own, ns since the run
	// began.
	End *int64 `json:"end,omitempty"`
	// What the hardware counted in the computation, and factors of the computation scaling that follow from it;
	// absent if it was not counted.
	Instructions       *uint64  `json:"instructions,omitempty"`
	Cycles             *uint64  `json:"cycles,omitempty"`
	IPC                *float64 `json:"ipc,omitempty"`
	InstructionScaling *float64 `json:"instruction_scaling,omitempty"`
	IPCScaling         *float64 `json:"ipc_scaling,omitempty"`
	FrequencyScaling   *float64 `json:"frequency_scaling,omitempty"`
}

// known is a value, nil if it is 0.
func known[T uint64 | float64](v T) *T {
	if v == 0 {
		return nil
	}
	return &v
}

type EfficiencyUseful struct {
	Sum       int64 `json:"sum"`
	Most      int64 `json:"most"`
	MostRank  int   `json:"most_rank"`
	Least     int64 `json:"least"`
	LeastRank int   `json:"least_rank"`
}

type EfficiencyWindow struct {
	Begin    int64 `json:"begin"`
	Time     int64 `json:"time"`
	Useful   int64 `json:"useful"`
	Most     int64 `json:"most"`
	MostRank int   `json:"most_rank"`
}

// EfficiencyPart is a part of the program.
type EfficiencyPart struct {
	Ranks         int     `json:"ranks"`
	Time          int64   `json:"time"`
	Useful        int64   `json:"useful"`
	Most          int64   `json:"most"`
	MostRank      int     `json:"most_rank"`
	Parallel      float64 `json:"parallel"`
	LoadBalance   float64 `json:"load_balance"`
	Communication float64 `json:"communication"`
}

type EfficiencyLoop struct {
	Loop LoopName `json:"loop"`
	EfficiencyPart
}

type EfficiencyRegion struct {
	Region []string `json:"region"` // the outermost first; none: outside of all
	EfficiencyPart
}

type EfficiencyPhase struct {
	Row   int    `json:"row"`
	From  *Place `json:"from"`
	Until *Place `json:"until"`
	EfficiencyPart
}

func asEfficiencyPart(p *efficiency.Part) EfficiencyPart {
	r := p.Run()
	return EfficiencyPart{p.Ranks, p.Time, p.Useful, p.Most, p.MostRank, r.Parallel(), r.LoadBalance(), r.Communication()}
}

// EfficiencyModel is how the time of a rank at a callsite, or outside of MPI, grows with the
// number of ranks.
type EfficiencyModel struct {
	At         *Place    `json:"at"`
	Times      []float64 `json:"times"`
	Constant   float64   `json:"constant"`
	Factor     float64   `json:"factor"`
	Exponent   float64   `json:"exponent_of_ranks"`
	Logarithms int       `json:"logarithms"`
	Error      float64   `json:"error"`
	Ahead      float64   `json:"ahead"`
}

func NewEfficiency(paths []string, runs []*efficiency.Run, c *efficiency.Comparison, models []efficiency.Model) *Efficiency {
	j := &Efficiency{Schema: "efg-efficiency/1", Runs: []EfficiencyRun{}, Models: []EfficiencyModel{}}
	for i := range models {
		m := &models[i]
		k := EfficiencyModel{
			Times: m.Times, Constant: m.Constant, Factor: m.Factor, Exponent: m.Exponent, Logarithms: m.Logarithms, Error: m.Error, Ahead: m.Ahead,
		}
		if m.Op != "" {
			k.At = &Place{m.Op, m.Site.Site}
		}
		j.Models = append(j.Models, k)
	}
	if c.Scaling != efficiency.NoScaling {
		name := c.Scaling.String()
		j.Scaling, j.Exponent = &name, &c.Exponent
	}
	for i, r := range runs {
		k := EfficiencyRun{
			File: paths[i], Ranks: r.Ranks, Time: r.Time, Setup: r.Setup, Useful: EfficiencyUseful{r.Useful, r.Most, r.MostRank, r.Least, r.LeastRank},
			Parallel: r.Parallel(), LoadBalance: r.LoadBalance(), Communication: r.Communication(), Reason: r.Reason,
			Computation: c.Computation[i], Global: c.Computation[i] * r.Parallel(), Speedup: c.Speedup[i], Untimed: r.Untimed, Windows: []EfficiencyWindow{},
			Loops: []EfficiencyLoop{}, Phases: []EfficiencyPhase{}, Regions: []EfficiencyRegion{}, End: r.End,
		}
		k.Instructions, k.Cycles, k.IPC = known(r.Instructions), known(r.Cycles), known(r.IPC())
		k.InstructionScaling, k.IPCScaling, k.FrequencyScaling = known(c.Instructions[i]), known(c.IPC[i]), known(c.Frequency[i])
		if r.Reason == "" {
			serialisation, transfer := r.Serialisation(), r.Transfer()
			k.Ideal, k.Serialisation, k.Transfer = &r.Ideal, &serialisation, &transfer
		}
		for _, w := range r.Windows {
			k.Windows = append(k.Windows, EfficiencyWindow{w.Begin, w.Time, w.Useful, w.Most, w.MostRank})
		}
		for i := range r.Loops {
			l := &r.Loops[i]
			k.Loops = append(k.Loops, EfficiencyLoop{*asLoopName(&l.Loop), asEfficiencyPart(&l.Part)})
		}
		for i := range r.Regions {
			p := &r.Regions[i]
			k.Regions = append(k.Regions, EfficiencyRegion{append([]string{}, p.Region...), asEfficiencyPart(&p.Part)})
		}
		for i := range r.Phases {
			p := &r.Phases[i]
			k.Phases = append(k.Phases, EfficiencyPhase{p.Row, asPlace(p.From.Op, p.From.Site), asPlace(p.Until.Op, p.Until.Site), asEfficiencyPart(&p.Part)})
		}
		j.Runs = append(j.Runs, k)
	}
	return j
}
