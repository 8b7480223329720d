package live

import (
	"cmp"
	"slices"
	"time"
)

// FrameSchema names Frame's JSON and its version, which is also FrameVersion.
const (
	FrameSchema  = "efg-top/1"
	FrameVersion = 1
)

// Frame is what a job did between two samples.
type Frame struct {
	Schema  string     `json:"schema"`
	Version int        `json:"version"`
	At      time.Time  `json:"at"`
	Seconds float64    `json:"seconds"` // since the previous sample
	Command []string   `json:"command"`
	Events  uint64     `json:"events"` // so far
	Rate    float64    `json:"rate"`   // events per second
	InMPI   float64    `json:"inMPI"`  // fraction of the time of all threads
	Timed   bool       `json:"timed"`  // the job is recorded with times
	Ranks   []RankRate `json:"ranks"`
	Calls   []CallRate `json:"callsites"` // by time
}

// RankRate is what one process did.
type RankRate struct {
	Rank    int     `json:"rank"` // in its MPI_COMM_WORLD; -1: not known
	PID     int     `json:"pid"`
	Host    string  `json:"host"`
	Running bool    `json:"running"`
	Threads int     `json:"threads"`
	Events  uint64  `json:"events"` // so far
	Rate    float64 `json:"rate"`
	InMPI   float64 `json:"inMPI"`
	// Op is the call that the first thread is in, "" between calls; Site is its callsite, or
	// that of the last call.
	Op      string  `json:"op,omitempty"`
	Inner   string  `json:"inner,omitempty"` // the innermost call in progress, if it is inside that one
	Last    string  `json:"last,omitempty"`  // the last call, if none is in progress
	Site    string  `json:"site,omitempty"`
	Seconds float64 `json:"seconds"` // in this state
}

// CallRate is what was done at one callsite.
type CallRate struct {
	Op    string  `json:"op"`
	Site  string  `json:"site"`
	Ranks int     `json:"ranks"`
	Rate  float64 `json:"rate"`  // calls that returned, per second, of all ranks
	InMPI float64 `json:"inMPI"` // fraction of the time of all threads
	Mean  float64 `json:"mean"`  // seconds per call that returned
}

// sums are the totals of all ranks between two samples.
type sums struct {
	calls   []callSum // by number of a callKey
	time    float64   // of all threads, ns
	inMPI   float64
	seconds float64
}

// callSum is what was done at a callsite: calls that returned, their time, and the time in all
// calls, including those in progress; ns.
type callSum struct {
	calls, dur, inside float64
	ranks              int
}

// finish computes the rates of the job.
func (f *Frame) finish(sum *sums, keys []keyInfo) {
	f.Seconds = sum.seconds
	slices.SortStableFunc(f.Ranks, func(a, b RankRate) int { return cmp.Compare(uint(a.Rank), uint(b.Rank)) })
	for i := range f.Ranks {
		f.Events += f.Ranks[i].Events
		f.Rate += f.Ranks[i].Rate
	}
	if sum.time == 0 {
		return
	}
	f.InMPI = sum.inMPI / sum.time
	for k, c := range sum.calls {
		if c.ranks == 0 {
			continue
		}
		x := CallRate{Op: keys[k].op, Site: keys[k].place, Ranks: c.ranks, Rate: c.calls / sum.seconds, InMPI: min(c.inside/sum.time, 1)}
		if c.calls > 0 {
			x.Mean = c.dur / c.calls / 1e9
		}
		f.Calls = append(f.Calls, x)
	}
	slices.SortFunc(f.Calls, func(a, b CallRate) int {
		return cmp.Or(cmp.Compare(b.InMPI, a.InMPI), cmp.Compare(b.Rate, a.Rate), cmp.Compare(a.Site, b.Site), cmp.Compare(a.Op, b.Op))
	})
}
