package match

import (
	"errors"
	"math"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/analysis"
	"github.com/efg-tools/efg/reconstruct"
	"github.com/efg-tools/efg/signature"
)

// ErrNoTimes: the run does not have the times of each event.
var ErrNoTimes = errors.New("the times of each call were not recorded (efg run --time trace records them)")

// Process is a process of a run.
type Process struct {
	Number int // in the run file
	Rank   int // in the run
	Facts  *analysis.Process
	// Threads are the streams whose times were recorded.
	Threads []*Thread

	byOrdinal map[uint32]*Thread
	names     map[uint64]uint64 // common names of communicators
	parts     map[uint64]*part  // of communicators, windows and files, by word
	sides     map[*scope][]int32
	epochs    map[uint64]*epoch // by window
	groups    map[uint64][]int  // ranks of members
	made      map[*scope]uint64 // persistent collectives that were made
	requests  requests
	flights   flights
}

// Thread is a stream whose calls are visited.
type Thread struct {
	// What each step needs comes first, and is adjacent.
	call    Call // at hand
	nodes   []node
	window  window
	event   event // of the window
	Process *Process
	key     int64
	Index   int    // among all threads that are visited
	events  uint64 // that were fetched
	polled  int64  // exit of the last poll
	exit    int64  // of the last outermost call
	polling bool
	alone   bool // the process has no other thread
	left    bool // the next step is the exit of the call
	decided bool // its operations are known
	forced  bool // it is not held back any more
	never   bool // the call never returns
	cut     bool // the walk ends in the call at hand
	hides   bool // what its call completes was matched after the call was left
	GoesOn  bool // it makes calls after Trace.End

	*efg.Stream
	Bound  int64 // error of its times, ns
	free   []*Operation
	reader *reconstruct.Reader
	ahead  *analysis.Outcomes
	unread uint64     // of those that have times
	other  window     // the next one
	filled chan error // other is; nil if it is not read ahead
	polls  int64
	tight  int // polls of the loop without a pause
}

// Call is a call of a procedure.
type Call struct {
	Thread *Thread
	Node   int
	Event  uint64          // number in the stream
	Proc   *signature.Proc // nil if it is not in this version's table
	Failed bool
	// FoundNothing: it is an unsuccessful poll. Known when it is left.
	FoundNothing bool
	// Enter and Exit are ns since the run began. Began is where waiting in the call began: Enter,
	// or, after unsuccessful polls with nothing else in between, where the first of them was
	// entered. Pauses of the program end such a loop, see maxPollGap.
	Enter, Exit, Began int64
	// Posted are the operations that the call posts, Done those that it completes. They are valid
	// until the end of the visit.
	Posted, Done []*Operation
}

// Trace is a run that can be walked.
type Trace struct {
	Processes []*Process
	Threads   []*Thread
	Events    uint64
	// Untimed are the streams, and Ended the processes, that have no times, or end early.
	Untimed, Ended int
	// End is where walks end, ns since the run began: the first process whose later calls have no
	// times has no more, and what others did afterwards cannot be matched. math.MaxInt64: there is
	// none.
	End int64

	byRank  map[int]*Process
	flights bool     // see FollowFlights
	turns   []uint32 // see Turn
}

// Open reads the processes of a run, several at a time, without statistics of their times.
func Open(run *runfile.Run) (*Trace, error) { return OpenPart(run, nil) }

// OpenPart is Open of some processes, by their numbers in the run, as if the others were not in the file; nil stands
// for all.
func OpenPart(run *runfile.Run, procs []int) (*Trace, error) {
	if procs == nil {
		for i := range run.Procs {
			procs = append(procs, i)
		}
	}
	if !Traced(run) { // of many ranks, reading them all to find that out takes long
		return nil, ErrNoTimes
	}
	t := &Trace{byRank: map[int]*Process{}, End: math.MaxInt64}
	first := analysis.FirstRanks(run.Procs)
	opened := make([]*opened, len(procs))
	err := eachInParallel(len(procs), func(k int) (err error) {
		opened[k], err = open(run, procs[k], first[procs[k]])
		return err
	})
	if err != nil {
		return nil, err
	}
	for _, x := range opened {
		t.add(x)
	}
	if len(t.Threads) == 0 {
		return nil, ErrNoTimes
	}
	return t, nil
}

// Traced reports whether a run has the times of each call of a process.
func Traced(run *runfile.Run) bool {
	for i := range run.Procs {
		if run.Traced(i) {
			return true
		}
	}
	return false
}

// opened is a process that was read, and what it adds to the trace.
type opened struct {
	*Process
	untimed int
	early   bool
	end     int64
}

// eachInParallel calls f with the numbers below n, several at a time. The error is that of the lowest number with
// one.
func eachInParallel(n int, f func(i int) error) error {
	var next, failed atomic.Int64
	var mu sync.Mutex
	var wg sync.WaitGroup
	var first error
	failed.Store(int64(n))
	for range min(runtime.GOMAXPROCS(0), n) {
		wg.Go(func() {
			for {
				i := next.Add(1) - 1
				if i >= failed.Load() {
					return
				}
				if err := f(int(i)); err != nil {
					mu.Lock()
					if i < failed.Load() {
						first = err
						failed.Store(i)
					}
					mu.Unlock()
				}
			}
		})
	}
	wg.Wait()
	return first
}

// open reads a process of a run.
func open(run *runfile.Run, i, firstRank int) (*opened, error) {
	data, err := run.Timed(i)
	if err != nil {
		return nil, err
	}
	facts, err := analysis.NewProcess(data, firstRank)
	if err != nil {
		return nil, err
	}
	p := &Process{
		Number: i, Rank: data.Rank, Facts: facts, byOrdinal: map[uint32]*Thread{}, names: map[uint64]uint64{},
		parts: map[uint64]*part{}, sides: map[*scope][]int32{}, epochs: map[uint64]*epoch{}, groups: map[uint64][]int{}, made: map[*scope]uint64{},
	}
	x := &opened{Process: p, end: math.MaxInt64}
	replay := reconstruct.NewProcess(data, reconstruct.NewNames(data.Defs, nil))
	for j := range data.Streams {
		s := &data.Streams[j]
		x.early = x.early || s.End == efg.EndOpen || s.Dropped > 0 || s.Pending != nil
		if s.Trace == nil {
			if s.Events > 0 {
				x.untimed++
			}
			continue
		}
		th := &Thread{Stream: s, Process: p, Bound: int64(s.Trace.BoundNS()), reader: replay.Reader(j), unread: s.TimedEvents(), alone: len(data.Streams) == 1}
		th.call.Thread = th
		th.prepare()
		if th.wildcards() {
			th.ahead = analysis.OutcomesOf(replay, j, p.wild)
		}
		p.Threads = append(p.Threads, th)
		p.byOrdinal[s.Thread] = th
		if err := x.endWith(data, s); err != nil {
			return nil, err
		}
	}
	return x, nil
}

func (t *Trace) add(x *opened) {
	p := x.Process
	t.Processes = append(t.Processes, p)
	if p.Rank >= 0 {
		t.byRank[p.Rank] = p
	}
	for _, th := range p.Threads {
		th.Index = len(t.Threads)
		t.Threads = append(t.Threads, th)
		t.Events += th.TimedEvents()
	}
	t.Untimed += x.untimed
	t.End = min(t.End, x.end)
	if x.early {
		t.Ended++
	}
}

// endWith ends walks where the times of a stream do, if not all its calls have some.
func (x *opened) endWith(p *efg.Process, s *efg.Stream) error {
	if s.Trace.Untimed == 0 {
		return nil
	}
	took, err := s.Elapsed()
	x.end = min(x.end, int64(s.Trace.BeginMono())+p.Clock+int64(took))
	return err
}

// Until is End, nil if walks go to the end of the run.
func (t *Trace) Until() *int64 {
	if t.End == math.MaxInt64 {
		return nil
	}
	end := t.End
	return &end
}

// betweenClocks is what the clocks of two processes of a machine differ by at most, as they were read, ns.
const betweenClocks = 1000

// endError is how much earlier than End calls can be left, by recorded times, that depend on what begins after it, ns.
func (t *Trace) endError() int64 {
	bound := int64(0)
	for _, th := range t.Threads {
		bound = max(bound, th.Bound)
	}
	return 2*bound + betweenClocks
}

// name is the name of a communicator that its processes agree on.
func (p *Process) name(comm uint64) uint64 {
	name, ok := p.names[comm]
	if !ok {
		name = p.Facts.CommonName(comm)
		p.names[comm] = name
	}
	return name
}

// forget drops what is known of a communicator, window or file that was freed.
func (p *Process) forget(word uint64) {
	delete(p.names, word)
	delete(p.epochs, word)
	if x := p.parts[word]; x != nil {
		delete(p.parts, word)
		delete(p.sides, x.scope)
	}
}
