package jsondoc

import "github.com/efg-tools/efg/internal/analysis/check"

// Check is what a check found; docs/check.md describes the document.
type Check struct {
	Schema      string    `json:"schema"`
	File        string    `json:"file"`
	Processes   int       `json:"processes"`
	Calls       uint64    `json:"calls"`
	Sent        uint64    `json:"sent"`
	Received    uint64    `json:"received"`
	Requests    uint64    `json:"requests"`
	Objects     uint64    `json:"objects"`
	Collectives uint64    `json:"collectives"`
	Incomplete  []int     `json:"incomplete"`
	Missing     []int     `json:"missing"`
	Unjudged    uint64    `json:"unjudged"`
	Faults      int       `json:"faults"`
	Findings    []Finding `json:"findings"`
	Uncompared  []Stretch `json:"uncompared"`
	Hangs       bool      `json:"hangs"`
}

// Stretch is a sequence of calls of a stream whose times were not compared.
type Stretch struct {
	Rank   int    `json:"rank"`
	Thread uint32 `json:"thread"`
	Event  uint64 `json:"event"`
	Calls  uint64 `json:"calls"`
	Text   string `json:"text"`
}

type Finding struct {
	Kind   string `json:"kind"`
	Rank   int    `json:"rank"`
	Thread uint32 `json:"thread"`
	Event  uint64 `json:"event"`
	Op     string `json:"op"`
	Site   string `json:"site"`
	Text   string `json:"text"`
	Count  uint64 `json:"count"`
	Ranks  []int  `json:"ranks"`
	Remark string `json:"remark,omitempty"`
}

func NewCheck(path string, r *check.Report) *Check {
	j := &Check{
		Schema: "efg-check/1", File: path, Processes: r.Processes, Calls: r.Calls, Sent: r.Sent, Received: r.Received,
		Requests: r.Requests, Objects: r.Objects, Collectives: r.Collectives, Incomplete: append([]int{}, r.Incomplete...),
		Missing: append([]int{}, r.Missing...), Unjudged: r.Unjudged, Faults: r.Faults(), Findings: []Finding{},
		Uncompared: []Stretch{}, Hangs: r.Hangs(),
	}
	for i := range r.Findings {
		f := &r.Findings[i]
		j.Findings = append(j.Findings, Finding{
			string(f.Kind), f.Rank, f.Thread, f.Event, f.Op, f.Site, f.Text, f.Count, f.Ranks, f.Remark,
		})
	}
	for _, u := range r.Uncompared {
		j.Uncompared = append(j.Uncompared, Stretch(u))
	}
	return j
}
