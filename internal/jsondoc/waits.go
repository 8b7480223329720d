package jsondoc

import (
	"github.com/efg-tools/efg/internal/analysis/loops"
	"github.com/efg-tools/efg/internal/analysis/unfinished"
	"github.com/efg-tools/efg/internal/analysis/waits"
)

// Waits are the wait states of a run; docs/waits.md describes the document. Times are in
// nanoseconds.
type Waits struct {
	Schema       string      `json:"schema"`
	File         string      `json:"file"`
	Ranks        int         `json:"ranks"`
	Time         int64       `json:"time"`
	MPI          int64       `json:"mpi"`
	Waiting      int64       `json:"waiting"`
	Setup        int64       `json:"setup"`
	SetupWaiting int64       `json:"setup_waiting"`
	Bound        int64       `json:"bound"`
	States       []WaitState `json:"states"`
	Rows         []WaitRow   `json:"rows"`
	ByRank       []WaitRank  `json:"by_rank"`
	Pairs        WaitPairs   `json:"pairs"`
	Causes       []WaitCause `json:"causes"`
	Path         WaitPath    `json:"path"`
	Loops        []WaitLoop  `json:"loops"`
	Phases       []WaitPhase `json:"phases"`
	Regions      []WaitNamed `json:"regions"`
	Matched      WaitMatched `json:"matched"`
	// Unfinished are calls that had not returned when the recording ended.
	Unfinished []WaitUnfinished `json:"unfinished"`
}

// WaitUnfinished are the calls of a procedure at a callsite that had not returned.
type WaitUnfinished struct {
	At    Place      `json:"at"`
	Time  int64      `json:"time"`
	Ranks [][2]int64 `json:"ranks"`
	Any   bool       `json:"any"`
	For   []WaitNeed `json:"for"`
}

// WaitNeed are ranks that something was needed of.
type WaitNeed struct {
	Ranks []int  `json:"ranks"`
	Doing string `json:"doing"`
	Place *Place `json:"place"`
}

type WaitState struct {
	State string `json:"state"`
	Name  string `json:"name"`
	Waits uint64 `json:"waits"`
	Time  int64  `json:"time"`
	Apart bool   `json:"apart"`
}

// WaitRow has the waits of a state at a callsite for another.
type WaitRow struct {
	State    string      `json:"state"`
	At       Place       `json:"at"`
	For      *Place      `json:"for"`
	Waits    uint64      `json:"waits"`
	Time     int64       `json:"time"`
	Longest  WaitLongest `json:"longest"`
	Ranks    [][2]int64  `json:"ranks"`
	ForRanks [][2]int64  `json:"for_ranks"`
}

type WaitLongest struct {
	Time int64 `json:"time"`
	At   int64 `json:"at"`
	Rank int   `json:"rank"`
	For  *int  `json:"for"`
}

type WaitRank struct {
	Rank    int   `json:"rank"`
	Time    int64 `json:"time"`
	MPI     int64 `json:"mpi"`
	Waiting int64 `json:"waiting"`
	Caused  int64 `json:"caused"`
}

// WaitPairs says which blocks of ranks wait for which: [rank, rank, time].
type WaitPairs struct {
	Width int        `json:"width"`
	Cells [][3]int64 `json:"cells"`
}

// WaitRegion is a call, or a computation between two calls.
type WaitRegion struct {
	Kind string `json:"kind"`
	From *Place `json:"from"`
	At   *Place `json:"at"`
}

type WaitCause struct {
	WaitRegion
	Time   int64      `json:"time"`
	Direct int64      `json:"direct"`
	Ranks  [][2]int64 `json:"ranks"`
	Loop   *LoopName  `json:"loop"`
}

// LoopName is a loop as the document about loops has it.
type LoopName struct {
	Number string `json:"number"`
	Op     string `json:"op"`
	Site   string `json:"site"`
}

// WaitSection is what a loop or a kind of phases has of the caused waiting and of the critical path.
type WaitSection struct {
	Time   int64      `json:"time"`
	Direct int64      `json:"direct"`
	Ranks  [][2]int64 `json:"ranks"`
	Path   int64      `json:"path"`
	Mean   float64    `json:"mean"`
}

type WaitLoop struct {
	Loop *LoopName `json:"loop"`
	WaitSection
}

type WaitPhase struct {
	Row   int    `json:"row"` // in the document about phases, from 1; 0: unknown
	From  *Place `json:"from"`
	Until *Place `json:"until"`
	WaitSection
}

// WaitNamed is a region that the program names, without the regions in it.
type WaitNamed struct {
	Region  []string `json:"region"`  // the outermost first; none: outside of all
	Waiting int64    `json:"waiting"` // of calls in it
	WaitSection
}

type WaitPath struct {
	Time  int64         `json:"time"`
	Setup int64         `json:"setup"`
	Hops  int           `json:"hops"`
	Rows  []WaitPathRow `json:"rows"`
	Ranks [][2]int64    `json:"ranks"`
	// Segments are [rank, begin, end].
	Segments [][3]int64 `json:"segments"`
}

type WaitPathRow struct {
	WaitRegion
	Time int64     `json:"time"`
	Mean float64   `json:"mean"`
	Loop *LoopName `json:"loop"`
}

// WaitMatched says what the waits are of, and what is missing.
type WaitMatched struct {
	Calls       uint64 `json:"calls"`
	Messages    uint64 `json:"messages"`
	Collectives uint64 `json:"collectives"`
	Unmatched   uint64 `json:"unmatched"`
	Outside     uint64 `json:"outside"`
	Disagreeing uint64 `json:"disagreeing"`
	Unfinished  uint64 `json:"unfinished"`
	Incomplete  int    `json:"incomplete"`
	Untimed     int    `json:"untimed"`
	// End is where the analysis ends because later calls have no times, ns since the run began.
	End *int64 `json:"end,omitempty"`
}

func NewWaits(path string, r *waits.Report) *Waits {
	m := &r.Matched
	j := &Waits{
		Schema: "efg-waits/1", File: path, Ranks: r.Ranks, Time: r.Time, MPI: r.MPI, Waiting: r.Waiting, Setup: r.Setup, SetupWaiting: r.SetupWaiting,
		Bound: r.Bound, States: []WaitState{}, Rows: []WaitRow{}, ByRank: []WaitRank{},
		Loops: []WaitLoop{}, Phases: []WaitPhase{}, Regions: []WaitNamed{}, Causes: []WaitCause{}, Path: WaitPath{Time: r.Path.Time, Setup: r.Path.Setup, Hops: r.Path.Hops, Rows: []WaitPathRow{}, Ranks: rankTimes(r.Path.Ranks)},
		Matched: WaitMatched{
			Calls: m.Calls, Messages: m.Messages, Collectives: m.Collectives, Unmatched: m.Unmatched, Outside: m.Outside, Disagreeing: m.Disagreeing,
			Unfinished: m.Unfinished, Incomplete: r.Ended, Untimed: r.Untimed, End: r.End,
		},
	}
	for _, s := range r.States {
		j.States = append(j.States, WaitState{s.State.Key(), s.State.String(), s.Count, s.Time, s.State.Apart()})
	}
	for i := range r.Rows {
		j.Rows = append(j.Rows, asWait(&r.Rows[i]))
	}
	for i := range r.Causes {
		c := &r.Causes[i]
		j.Causes = append(j.Causes, WaitCause{asWaitRegion(&c.Region), c.Short + c.Long, c.Short, rankTimes(c.Ranks), asLoopName(c.Loop)})
	}
	for i := range r.Path.Rows {
		p := &r.Path.Rows[i]
		j.Path.Rows = append(j.Path.Rows, WaitPathRow{asWaitRegion(&p.Region), p.Time, p.Mean, asLoopName(p.Loop)})
	}
	for i := range r.Loops {
		j.Loops = append(j.Loops, WaitLoop{asLoopName(&r.Loops[i].Loop), asWaitSection(&r.Loops[i].SectionTimes)})
	}
	for i := range r.Phases {
		p := &r.Phases[i]
		j.Phases = append(j.Phases, WaitPhase{p.Row, asPlace(p.From.Op, p.From.Site), asPlace(p.Until.Op, p.Until.Site), asWaitSection(&p.SectionTimes)})
	}
	j.Unfinished = make([]WaitUnfinished, len(r.Unfinished))
	for i := range r.Unfinished {
		j.Unfinished[i] = asUnfinished(&r.Unfinished[i])
	}
	for i := range r.Regions {
		p := &r.Regions[i]
		j.Regions = append(j.Regions, WaitNamed{append([]string{}, p.Region...), p.Waiting, asWaitSection(&p.SectionTimes)})
	}
	for _, p := range r.ByRank {
		j.ByRank = append(j.ByRank, WaitRank{p.Rank, p.Time, p.MPI, p.Waiting, p.Caused})
	}
	j.Path.Segments = make([][3]int64, len(r.Path.Segments))
	for i, s := range r.Path.Segments {
		j.Path.Segments[i] = [3]int64{int64(s.Rank), s.Begin, s.End}
	}
	j.Pairs = WaitPairs{Width: r.Pairs.Width, Cells: make([][3]int64, len(r.Pairs.Cells))}
	for i, c := range r.Pairs.Cells {
		j.Pairs.Cells[i] = [3]int64{int64(c.Waiting), int64(c.Culprit), c.Time}
	}
	return j
}

// asLoopName returns nil for no loop.
func asLoopName(l *loops.Name) *LoopName {
	if l == nil || l.Number == "" {
		return nil
	}
	return &LoopName{l.Number, l.Op, l.Site}
}

func asWaitSection(s *waits.SectionTimes) WaitSection {
	return WaitSection{s.Short + s.Long, s.Short, rankTimes(s.Ranks), s.Path, s.Mean}
}

func asWait(r *waits.Row) WaitRow {
	w := WaitRow{
		State: r.State.Key(), At: Place{r.Waiting.Op, r.Waiting.Site}, Waits: r.Count, Time: r.Time,
		Longest: WaitLongest{Time: r.Longest.Time, At: r.Longest.At, Rank: r.Longest.Rank},
		Ranks:   rankTimes(r.Ranks), ForRanks: rankTimes(r.Culprits),
	}
	if r.Culprit.Op != "" {
		w.For = &Place{r.Culprit.Op, r.Culprit.Site}
	}
	if r.Longest.Culprit >= 0 {
		w.Longest.For = &r.Longest.Culprit
	}
	return w
}

func asWaitRegion(r *waits.Region) WaitRegion {
	w := WaitRegion{Kind: "computation"}
	switch {
	case r.At.Op == "":
		w.Kind = "unknown"
		return w
	case r.Call:
		w.Kind = "call"
	case r.From.Op != "":
		w.From = &Place{r.From.Op, r.From.Site}
	}
	w.At = &Place{r.At.Op, r.At.Site}
	return w
}

func rankTimes(list []waits.RankTime) [][2]int64 {
	pairs := make([][2]int64, len(list))
	for i, r := range list {
		pairs[i] = [2]int64{int64(r.Rank), r.Time}
	}
	return pairs
}

func asUnfinished(r *unfinished.Row) WaitUnfinished {
	u := WaitUnfinished{At: Place{r.Op, r.Site}, Time: r.Time, Ranks: [][2]int64{}, Any: r.Any, For: []WaitNeed{}}
	for _, x := range r.Ranks {
		u.Ranks = append(u.Ranks, [2]int64{int64(x.Rank), x.Time})
	}
	for _, a := range r.Awaited {
		u.For = append(u.For, WaitNeed{a.Ranks, a.Doing.String(), asPlace(a.Op, a.Site)})
	}
	return u
}
