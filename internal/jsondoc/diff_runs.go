package jsondoc

import "github.com/efg-tools/efg/internal/analysis/diff"

type RunsDiff struct {
	Schema    string      `json:"schema"`
	Files     []string    `json:"files"`
	Identical bool        `json:"identical"`
	Timed     [2]bool     `json:"timed"`
	Processes [2]int      `json:"processes"`
	Calls     [2]uint64   `json:"calls"`
	Errors    [2]uint64   `json:"errors"`
	Bytes     [2]uint64   `json:"bytes"`
	Time      *[2]uint64  `json:"time,omitempty"`
	Running   *[2]uint64  `json:"running,omitempty"`
	Failed    []string    `json:"failed"`
	Classes   []ClassPair `json:"classes"`
	Structure []Step      `json:"structure"`
	Callsites []Change    `json:"callsites"`
}

type ClassPair struct {
	Match   string      `json:"match"`
	Ranks   [2][][3]int `json:"ranks"`
	Count   [2]int      `json:"count"`
	Calls   [2]uint64   `json:"calls"`
	Bytes   [2]uint64   `json:"bytes"`
	Time    *[2]uint64  `json:"time,omitempty"`
	Running *[2]uint64  `json:"running,omitempty"`
}

type Step struct {
	Side   int    `json:"side"`
	Op     string `json:"op"`
	Site   string `json:"site"`
	ToOp   string `json:"to_op,omitempty"`
	ToSite string `json:"to_site,omitempty"`
	Ranks  int    `json:"ranks"`
}

func NewRunsDiff(files []string, r *diff.Runs, held []string) *RunsDiff {
	a, b := &r.Total[0], &r.Total[1]
	j := &RunsDiff{
		Schema: "efg-diff-runs/1", Files: files, Identical: r.Identical(), Timed: r.Timed, Processes: r.Ranks, Calls: [2]uint64{a.Calls, b.Calls},
		Errors: [2]uint64{a.Errors, b.Errors}, Bytes: [2]uint64{a.Bytes, b.Bytes}, Failed: held,
		Classes: []ClassPair{}, Structure: []Step{}, Callsites: asChanges(r.Changes),
	}
	timed := r.Timed[0] && r.Timed[1]
	if timed {
		j.Time, j.Running = &[2]uint64{a.Time.Sum, b.Time.Sum}, &r.Running
	}
	for i := range r.Classes {
		c := &r.Classes[i]
		a, b := &c.Total[0], &c.Total[1]
		k := ClassPair{Match: string(c.Match), Ranks: [2][][3]int{rankRanges(c.Ranks[0]), rankRanges(c.Ranks[1])},
			Count: [2]int{len(c.Ranks[0]), len(c.Ranks[1])}, Calls: [2]uint64{a.Calls, b.Calls}, Bytes: [2]uint64{a.Bytes, b.Bytes}}
		if timed {
			k.Time, k.Running = &[2]uint64{a.Time, b.Time}, &c.Running
		}
		j.Classes = append(j.Classes, k)
	}
	for i := range r.Structure {
		s := &r.Structure[i]
		j.Structure = append(j.Structure, Step{s.Side, s.Op, s.Site, s.To, s.ToSite, s.Ranks})
	}
	return j
}
