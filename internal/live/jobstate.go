package live

import (
	"cmp"
	"slices"
	"time"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/internal/analysis/waitfor"
)

// RollCallSchema names RollCall's JSON and its version, which is RollCallVersion, too. It is
// raised when the meaning of a field changes; fields may be added without raising it.
const (
	JobStateSchema  = "efg-where/1"
	JobStateVersion = 1
)

// JobState says for each thread of a job what it is doing.
type JobState struct {
	Schema  string    `json:"schema"`
	Version int       `json:"version"`
	Command []string  `json:"command"`
	MPI     string    `json:"mpi"`
	Running bool      `json:"running"`
	At      time.Time `json:"at"` // for a job that has ended: its last heartbeat
	Size    int       `json:"ranks"`
	Missing []int     `json:"missing"` // ranks without a segment
	// Deadlocks are sets of ranks that wait for each other, so that none can continue.
	Deadlocks []Deadlock `json:"deadlocks"`
	// InVain are ranks that wait for one that has ended.
	InVain []int `json:"inVain"`
	// Behind are ranks that are blocked by those in Deadlocks and InVain.
	Behind []int `json:"behind"`
	// Mismatches are collective calls of one communicator that do not match.
	Mismatches []Mismatch `json:"mismatches"`
	Groups     []Group    `json:"groups"`
	Threads    []Thread   `json:"threads"`
	Broken     []string   `json:"broken"` // segments that could not be read, and why
}

// Deadlock is a set of ranks that need each other.
type Deadlock struct {
	Ranks []int `json:"ranks"`
	// Cycle is a shortest cycle: each rank needs the next, and the last the first.
	Cycle []int `json:"cycle"`
}

// Mismatch is a set of calls of members of a communicator that should match each other, and do
// not.
type Mismatch struct {
	Differ string          `json:"differ"` // in their procedure, root, operation or data
	On     string          `json:"on"`     // the communicator, window or file
	Calls  []MismatchCalls `json:"calls"`
}

// MismatchCalls are calls of a mismatch that match each other, made at the same callsite.
type MismatchCalls struct {
	Ranks []int    `json:"ranks"`
	Op    string   `json:"op"`
	Args  []string `json:"args"` // of the first rank
	Site  string   `json:"site"`
	// In: these ranks wait in it; else it has returned.
	In bool `json:"in"`
}

// Hangs reports whether any rank can never continue, or ranks wait in mismatched calls.
func (c *JobState) Hangs() bool {
	return len(c.Deadlocks)+len(c.InVain)+len(c.Behind)+len(c.Mismatches) > 0
}

// State says what a thread is doing.
type State string

const (
	InCall    State = "in call"     // waits in, or works on, a call
	Computing State = "computing"   // between two calls
	Moving    State = "moving"      // made other calls while it was examined
	Finalized State = "finalized"   // its process is past MPI_Finalize
	Exited    State = "exited"      // its process has exited without MPI_Finalize
	Ended     State = "ended"       // the thread has ended
	Killed    State = "killed"      // its process is gone, but others of the job exist
	NoCalls   State = "no call yet" // it has not called MPI so far
)

// Thread is what one thread is doing.
type Thread struct {
	Rank   int      `json:"rank"` // -1 if unknown
	Thread uint32   `json:"thread"`
	PID    int      `json:"pid"`
	TID    int      `json:"tid"`
	Host   string   `json:"host"`
	State  State    `json:"state"`
	Op     string   `json:"op,omitempty"` // of the call in progress, otherwise of the last one
	Args   []string `json:"args,omitempty"`
	Site   string   `json:"site,omitempty"`
	Event  uint64   `json:"event"` // number of that call, or of the next
	// Inner is the innermost call in progress, if it was made inside the one in progress.
	Inner *InnerCall `json:"inner,omitempty"`
	// Seconds is how long it has been in the state; with Since, if times were recorded.
	Seconds *float64   `json:"seconds,omitempty"`
	Since   *time.Time `json:"since,omitempty"`
	// Awaits are the ranks that the call waits for: all of them, or if Any is set one of them.
	Awaits []int `json:"awaits,omitempty"`
	Any    bool  `json:"any,omitempty"`
	Stuck  bool  `json:"stuck,omitempty"` // it can never continue
}

// InnerCall is a call that the program makes inside another one, in a reduction operation for example.
type InnerCall struct {
	Op   string   `json:"op"`
	Args []string `json:"args,omitempty"` // "tag=*" where those of a group differ
	Site string   `json:"site,omitempty"`
}

// Group is threads in the same state, in calls of the same procedure on the same
// communicator, at the same callsite.
type Group struct {
	State State    `json:"state"`
	Op    string   `json:"op,omitempty"`
	Args  []string `json:"args,omitempty"` // "tag=*" where they differ
	// Varying are the values of these.
	Varying []Varying `json:"varying,omitempty"`
	Site    string    `json:"site,omitempty"`
	// Inner is as in Thread; the members have the same one, but for its arguments.
	Inner  *InnerCall `json:"inner,omitempty"`
	Ranks  []int      `json:"ranks"`
	Number int        `json:"threads"`
	// Shortest and Longest are the shortest and longest time in the state, in seconds.
	Shortest *float64 `json:"shortest,omitempty"`
	Longest  *float64 `json:"longest,omitempty"`
	Awaits   []int    `json:"awaits,omitempty"`
	Any      bool     `json:"any,omitempty"`
	// Offset, if it is not 0: each needs the rank that is its own plus Offset, modulo
	// the number of ranks.
	Offset int  `json:"offset,omitempty"`
	Stuck  bool `json:"stuck,omitempty"`
}

// Varying are the values that an argument has in the calls of a group.
type Varying struct {
	Name   string   `json:"name"`
	Values []string `json:"values"` // the first 64 distinct ones
	Number int      `json:"number"` // number of distinct ones
}

// NewJobState determines the state of a job.
func NewJobState(j *Job) *JobState {
	v := waitfor.Judge(j.waiting())
	first := &j.Ranks[0].Process
	c := &JobState{
		Schema: JobStateSchema, Version: JobStateVersion, Command: first.Command, MPI: first.MPI, Running: j.Running, At: j.Real.UTC(),
		Size: j.Size, Missing: notNil(j.Missing()), InVain: notNil(v.InVain), Behind: notNil(v.Behind),
		Deadlocks: []Deadlock{}, Threads: []Thread{}, Broken: notNil(j.Broken),
	}
	for _, ranks := range v.Cycles {
		c.Deadlocks = append(c.Deadlocks, Deadlock{ranks, v.Cycle(ranks)})
	}
	names := newTexts(j)
	c.Mismatches = names.mismatches(v)
	for i, r := range j.Ranks {
		for t := range r.Activities {
			c.Threads = append(c.Threads, j.thread(v, names, i, r, t))
		}
	}
	c.group()
	return c
}

func notNil[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

func (j *Job) thread(v *waitfor.Verdict, names *texts, i int, r *Rank, t int) Thread {
	a := &r.Activities[t]
	x := Thread{
		Rank: r.Number, Thread: a.Thread, PID: r.Process.PID, TID: a.TID, Host: r.Process.Host,
		State: j.state(r, t), Event: a.Events, Stuck: v.Stuck[i],
	}
	if a.Since > 0 && x.State != Moving {
		seconds := float64(j.Now-min(a.Since, j.Now)) / 1e9
		since := time.Unix(0, int64(r.Header.StartReal)+int64(a.Since-r.Header.StartMono())).UTC()
		x.Seconds, x.Since = &seconds, &since
	}
	if a.Words != nil && x.State != Moving {
		text := names.of(r, t)
		x.Op, x.Site = text.Op, text.Site
		if a.InCall {
			x.Args = text.Args
		}
		if a.Inner != nil {
			inner := names.Call(&r.Process, r.Number, a.Thread, a.Inner)
			x.Inner = &InnerCall{inner.Op, inner.Args, inner.Site}
		}
	}
	x.Awaits, x.Any = v.Awaits(i, t)
	return x
}

func (j *Job) state(r *Rank, t int) State {
	switch end := efg.End(r.Header.State); {
	case end == efg.EndFinalized:
		return Finalized
	case end == efg.EndExit:
		return Exited
	case r.Process.Streams[t].End == efg.EndThread:
		return Ended
	case j.hasEnded(r):
		return Killed
	case r.Moved[t]:
		return Moving
	case r.Activities[t].InCall:
		return InCall
	case r.Activities[t].Events == 0:
		return NoCalls
	}
	return Computing
}

// maxAwaited bounds the lists of ranks that a group awaits.
const maxAwaited = 1 << 16

// groupKey is what the threads of a group have in common.
type groupKey struct {
	state    State
	op, site string
	object   string // the argument that names the communicator, window or file
	stuck    bool
	// of the innermost call, if that is inside another one
	innerOp, innerSite string
}

// key is what the thread has in common with the others of its group.
func (t *Thread) key() groupKey {
	k := groupKey{state: t.State, op: t.Op, site: t.Site, object: objectArg(t.Op, t.Args), stuck: t.Stuck}
	if t.Inner != nil {
		k.innerOp, k.innerSite = t.Inner.Op, t.Inner.Site
	}
	return k
}

func (c *JobState) group() {
	at := map[groupKey]int{}
	var members [][]*Thread
	for i := range c.Threads {
		t := &c.Threads[i]
		k := t.key()
		n, ok := at[k]
		if !ok {
			n = len(members)
			at[k] = n
			members = append(members, nil)
		}
		members[n] = append(members[n], t)
	}
	c.Groups = make([]Group, len(members))
	for i, m := range members {
		c.Groups[i] = newGroup(m, c.Size)
	}
	slices.SortStableFunc(c.Groups, func(a, b Group) int {
		return cmp.Or(cmp.Compare(order(&a), order(&b)), slices.Compare(a.Ranks, b.Ranks))
	})
}

// order ranks groups: the most important first.
func order(g *Group) int {
	if g.Stuck {
		return -1
	}
	return slices.Index([]State{InCall, Computing, Moving, NoCalls, Killed, Exited, Ended, Finalized}, g.State)
}

func newGroup(members []*Thread, size int) Group {
	first := members[0]
	g := Group{State: first.State, Op: first.Op, Site: first.Site, Args: slices.Clone(first.Args), Stuck: first.Stuck, Number: len(members)}
	if first.Inner != nil {
		inner := *first.Inner
		g.Inner = &inner
	}
	for _, t := range members {
		g.Ranks = append(g.Ranks, t.Rank)
		if g.Args = merged(g.Args, t.Args); g.Inner != nil {
			g.Inner.Args = merged(g.Inner.Args, t.Inner.Args)
		}
		if t.Seconds != nil {
			g.Shortest, g.Longest = pick(g.Shortest, t.Seconds, true), pick(g.Longest, t.Seconds, false)
		}
		g.Any = g.Any || t.Any
	}
	g.Varying = varying(g.Args, members)
	g.awaits(members, size)
	slices.Sort(g.Ranks)
	g.Ranks = slices.Compact(g.Ranks)
	return g
}

// pick returns b if a is nil or less says so.
func pick(a, b *float64, less bool) *float64 {
	if a == nil || (*b < *a) == less {
		return b
	}
	return a
}

// awaits combines what the members wait for.
func (g *Group) awaits(members []*Thread, size int) {
	offset, same := -1, true
	for _, t := range members {
		same = same && slices.Equal(t.Awaits, members[0].Awaits)
		d := -1
		if len(t.Awaits) == 1 && t.Rank >= 0 {
			d = ((t.Awaits[0]-t.Rank)%size + size) % size
		}
		if t != members[0] && d != offset {
			d = -1
		}
		offset = d
	}
	if same {
		g.Awaits = members[0].Awaits
		return
	}
	if offset > 0 {
		if g.Offset = offset; offset > size/2 {
			g.Offset -= size
		}
	}
	for _, t := range members {
		if len(g.Awaits) < maxAwaited {
			g.Awaits = append(g.Awaits, t.Awaits...)
		}
	}
	slices.Sort(g.Awaits)
	g.Awaits = slices.Compact(g.Awaits)
}
