package jsondoc

import (
	"math"
	"slices"
	"strings"
	"time"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/analysis"
	"github.com/efg-tools/efg/internal/analysis/regions"
	"github.com/efg-tools/efg/internal/printable"
	"github.com/efg-tools/efg/reconstruct"
)

// Info is the output of efg info for a run file; docs/guide.md describes it.
type Info struct {
	Schema   string    `json:"schema"`
	File     string    `json:"file"`
	Bytes    uint64    `json:"bytes"`
	Tool     string    `json:"tool"`
	Command  []string  `json:"command"`
	Launcher []string  `json:"launcher,omitempty"`
	Started  time.Time `json:"started"`
	Seconds  float64   `json:"seconds"`
	Status   *int      `json:"status,omitempty"`
	Time     string    `json:"time"`
	Polls    string    `json:"polls,omitempty"`
	Queries  bool      `json:"queries"`
	Buffers  bool      `json:"buffers"`
	CallPath int       `json:"callPath,omitempty"` // most calls of a path; 0: none are recorded
	Counters []string  `json:"counters,omitempty"`
	// CounterValues: what the counters counted at each call is recorded.
	CounterValues bool     `json:"counterValues,omitempty"`
	Energy        *Energy  `json:"energy,omitempty"`
	Programs      []string `json:"programs"`
	MPI           []string `json:"mpi"`
	Hosts         []string `json:"hosts"`
	// Processors are how many each host had for the command.
	Processors []Processors `json:"processors,omitempty"`
	Processes  int          `json:"processes"`
	Missing    []int        `json:"missing"` // ranks
	Threads    int          `json:"threads"`
	Events     uint64       `json:"events"`
	Dropped    uint64       `json:"dropped"`
	Nodes      uint64       `json:"nodes"`
	Folded     *uint64      `json:"foldedNodes,omitempty"` // without call paths; nil: there are none
	Edges      uint64       `json:"edges"`
	Graphs     int          `json:"shapes"` // of graphs: equal except for arguments and weights
	Ratio      float64      `json:"ratio"`
	Complete   int          `json:"complete"`
	Early      int          `json:"timesEndEarly,omitempty"` // streams
	Streams    []Stream     `json:"streams"`
	// Unbalanced are regions whose begins and ends do not fit.
	Unbalanced []Unbalanced `json:"unbalancedRegions,omitempty"`
	// RegionsPartial: too many ranks differ, and only the regions of some are among these.
	RegionsPartial bool `json:"unbalancedRegionsPartial,omitempty"`
	// Timed is the number of events that have times of their own, if Early is not 0.
	Timed uint64 `json:"timed,omitempty"`
	// Forks are processes whose forked children called MPI.
	Forks []Fork `json:"forks,omitempty"`
	// Linear is the size in bytes of the run as a list of events.
	Linear uint64 `json:"-"`
	// Ended: the end and exit status of the command are known.
	Ended bool `json:"-"`
}

// Processors are how many a host had for the command.
type Processors struct {
	Host  string `json:"host"`
	Count int    `json:"count"`
}

// Fork is a process whose forked children called MPI.
type Fork struct {
	Rank     int    `json:"rank"`
	Parent   int    `json:"parent"` // its process number
	Children int    `json:"children"`
	PID      int    `json:"pid,omitempty"` // of the first child
	Call     string `json:"call,omitempty"`
}

// Stream is a thread of a rank.
type Stream struct {
	Rank     int    `json:"rank"`
	PID      int    `json:"pid"`
	Thread   uint32 `json:"thread"`
	Events   uint64 `json:"events"`
	Nodes    uint64 `json:"nodes"`
	Edges    uint64 `json:"edges"`
	Bytes    uint64 `json:"bytes"`
	Dropped  uint64 `json:"dropped"`
	End      string `json:"end"`
	Complete bool   `json:"complete"`
	// Timed is the number of events that have times, the first ones, if others have none although
	// the times of each event were recorded.
	Timed *uint64 `json:"timed,omitempty"`
	// Regions are those that were open when the recording ended early, the outermost first.
	Regions []string `json:"openRegions,omitempty"`
	// InCall is the call that the thread was in when its recording ended; nil: none.
	InCall *Call `json:"inCall,omitempty"`
}

// Unbalanced is a fault in the begins and ends of regions, at one place of the program.
type Unbalanced struct {
	Op    string `json:"op"`
	Site  string `json:"site"`
	Text  string `json:"text"`
	Count uint64 `json:"count"`
	Ranks []int  `json:"ranks"`
}

// Call is a call in progress.
type Call struct {
	Op    string     `json:"op"`
	Args  []string   `json:"args"` // "source=3"
	Site  string     `json:"site"`
	Since *time.Time `json:"since,omitempty"` // if times were recorded
	Inner *Call      `json:"inner,omitempty"` // the call in progress inside it, nil: none
}

var endTexts = map[efg.End]string{
	efg.EndOpen: "killed or running", efg.EndThread: "thread ended",
	efg.EndFinalized: "finalized", efg.EndExit: "exit without MPI_Finalize",
}

// AllStreams makes NewInfo list all streams.
const AllStreams = math.MaxInt

// NewInfo summarizes a run. It lists at most this many streams, or, unless all is set,
// incomplete streams.
func NewInfo(path string, r *runfile.Run, all bool, most int) (*Info, error) {
	sites, err := r.Sites()
	if err != nil {
		return nil, err
	}

	m := &r.Meta
	s := &Info{
		Schema: "efg-info/1", File: path, Bytes: r.Size(), Tool: m.Tool, Command: m.Command, Launcher: m.Launcher, Started: time.Unix(0, m.Started).UTC(),
		Seconds: max(0, float64(m.Ended-m.Started)/1e9), Ended: m.Ended != 0, Time: m.Time,
		Polls: m.Polls, Queries: m.Queries, Buffers: m.Buffers, CallPath: m.CallPath, Processes: len(r.Procs), Missing: missing(r),
		Streams: []Stream{},
	}
	s.Energy, s.CounterValues = NewEnergy(m), r.HasCounterValues()
	for _, p := range m.ProcessorsOf() {
		s.Processors = append(s.Processors, Processors{printable.Line(p.Host), p.Count})
	}
	for _, c := range m.Counters {
		s.Counters = append(s.Counters, printable.Line(c))
	}
	for _, f := range m.ForksOf() {
		s.Forks = append(s.Forks, Fork{f.Rank, f.Parent, f.Children, f.PID, printable.Line(f.Call)})
	}
	if s.Ended && !m.StatusUnknown {
		s.Status = &m.Status
	}
	if m.CallPath > 0 {
		folded, err := analysis.FoldedNodes(r)
		if err != nil {
			return nil, err
		}
		s.Folded = &folded
	}
	graphs := map[int]bool{}
	hosts := map[string]bool{}
	last, graph := &runfile.ProcInfo{ProcShared: &runfile.ProcShared{}}, -1 // most processes are like the previous one
	for i := range r.Procs {
		p := &r.Procs[i]
		if !slices.Equal(p.Command, last.Command) || p.MPI != last.MPI {
			s.Programs = addOnce(s.Programs, strings.Join(p.Command, " "))
			s.MPI = addOnce(s.MPI, p.MPI)
		}
		if p.Host != last.Host && !hosts[p.Host] && p.Host != "" {
			hosts[p.Host] = true
			s.Hosts = append(s.Hosts, p.Host)
		}
		for j := range p.Streams {
			t := &p.Streams[j]
			s.add(t)
			if t.Class != graph {
				graph = t.Class
				graphs[graph] = true
			}
			if (all || !t.Complete()) && len(s.Streams) < most {
				s.Streams = append(s.Streams, asStream(p, t))
				if s.Streams[len(s.Streams)-1].InCall, err = callOf(r, sites, i, j); err != nil {
					return nil, err
				}
			}
		}
		last = p
	}
	if err := s.addRegions(r); err != nil {
		return nil, err
	}
	if s.Graphs = len(graphs); s.Early == 0 {
		s.Timed = 0
	}
	if s.Bytes > 0 {
		s.Ratio = float64(s.Linear) / float64(s.Bytes)
	}
	return s, nil
}

// addRegions adds what is known of regions that were not ended.
func (s *Info) addRegions(r *runfile.Run) error {
	b, err := regions.BalanceOf(r)
	if err != nil {
		return err
	}
	for i := range b.Unbalanced {
		s.Unbalanced = append(s.Unbalanced, Unbalanced(b.Unbalanced[i]))
	}
	s.RegionsPartial = b.Partial
	type thread struct {
		rank   int
		number uint32
	}
	open := map[thread][]string{}
	for i := range b.Open {
		open[thread{b.Open[i].Rank, b.Open[i].Thread}] = b.Open[i].Regions
	}
	for i := range s.Streams {
		s.Streams[i].Regions = open[thread{s.Streams[i].Rank, s.Streams[i].Thread}]
	}
	return nil
}

// callOf is the call that a stream was in when its recording ended, nil if there was none.
func callOf(r *runfile.Run, sites []runfile.Site, i, j int) (*Call, error) {
	pending, defs, err := r.Pending(i, j)
	if pending == nil || err != nil {
		return nil, err
	}
	info := &r.Procs[i]
	p := &efg.Process{Rank: info.Rank, Size: info.Size, Start: info.Start, Defs: defs}
	names := reconstruct.NewNames(defs, sites)
	var outermost *Call
	at := &outermost
	for _, call := range pending.Calls() {
		*at = describedCall(p, info.Streams[j].Thread, call, names)
		at = &(*at).Inner
	}
	return outermost, nil
}

func describedCall(p *efg.Process, thread uint32, pending *efg.Pending, names *reconstruct.Names) *Call {
	text := reconstruct.DescribePending(p, thread, pending, names)
	c := &Call{Op: text.Op, Args: append([]string{}, text.Args...), Site: text.Site}
	if at := pending.At(p); at != 0 {
		since := time.Unix(0, at).UTC()
		c.Since = &since
	}
	return c
}

func (s *Info) add(t *runfile.StreamInfo) {
	s.Threads++
	s.Events += t.Events
	s.Dropped += t.Dropped
	s.Nodes += t.Nodes
	s.Edges += t.Edges
	s.Linear += 8 * t.Words
	if t.Complete() {
		s.Complete++
	}
	s.Timed += t.Events - t.Untimed
	if t.Untimed > 0 {
		s.Early++
	}
}

func asStream(p *runfile.ProcInfo, t *runfile.StreamInfo) Stream {
	s := Stream{
		Rank: p.Rank, PID: p.PID, Thread: t.Thread, Events: t.Events, Nodes: t.Nodes, Edges: t.Edges, Bytes: t.Bytes,
		Dropped: t.Dropped, End: endTexts[t.End], Complete: t.Complete(),
	}
	if t.Untimed > 0 {
		timed := t.Events - t.Untimed
		s.Timed = &timed
	}
	return s
}

// addOnce appends v unless it is empty or already in the list.
func addOnce(list []string, v string) []string {
	if v == "" {
		return list
	}
	for _, l := range list {
		if l == v {
			return list
		}
	}
	return append(list, v)
}

// missing returns the ranks of the worlds that the file does not have. The ranks of a world
// follow those of the previous one.
func missing(r *runfile.Run) []int {
	const most = 1000
	list := []int{}
	next, end := 0, 0 // next rank, end of the current world
	for _, p := range r.Procs {
		if p.Rank < 0 {
			break
		}
		for ; next < p.Rank && len(list) < most; next++ {
			list = append(list, next)
		}
		if p.Rank >= end {
			end += p.Size
		}
		next = p.Rank + 1
	}
	for ; next < end && len(list) < most; next++ {
		list = append(list, next)
	}
	return list
}
