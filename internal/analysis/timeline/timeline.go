package timeline

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/reconstruct"
)

// ErrNoTimes: the run does not have the times of each event.
var ErrNoTimes = errors.New("the times of each call were not recorded (efg run --time trace records them)")

// ErrQuery is wrapped by errors about what was requested.
var ErrQuery = errors.New("no such view")

// Bounds of queries.
const (
	MaxWidth  = 8192
	MaxRows   = 8192
	MaxSlices = 100_000
	maxTime   = 1 << 60
	maxLevel  = 48
)

// cacheBytes is the approximate maximum size of the kept cells of a run.
const cacheBytes = 32 << 20

// Timeline answers queries about a run. Its methods are safe for concurrent use.
type Timeline struct {
	run    *runfile.Run
	first  []int // number of each process's first stream
	marks  []checkpointTimes
	cache  *cache
	names  *reconstruct.Names
	places sync.Mutex
	sites  map[uint64]string // texts of callsites

	extent     sync.Once
	begin, end int64
	extentErr  error

	work             sync.Once
	workFrom, workTo int64
	workErr          error
}

// New prepares the timeline of a run; the error is ErrNoTimes if it has none.
func New(run *runfile.Run) (*Timeline, error) {
	sites, err := run.Sites()
	if err != nil {
		return nil, err
	}
	t := &Timeline{run: run, cache: newCache(cacheBytes), names: reconstruct.NewNames(nil, sites), sites: map[uint64]string{}}
	n := 0
	for i := range run.Procs {
		t.first = append(t.first, n)
		n += len(run.Procs[i].Streams)
	}
	t.marks = make([]checkpointTimes, n)
	for i := range run.Procs {
		for j := range run.Procs[i].Streams {
			if run.Procs[i].Streams[j].Events == 0 {
				continue
			}
			p, err := run.Process(i)
			if err != nil {
				return nil, err
			}
			if p.Streams[j].Trace == nil {
				return nil, ErrNoTimes
			}
			return t, nil
		}
	}
	return nil, ErrNoTimes
}

// Extent returns the start and end of the run, in ns since the command was started: from the
// first stream's start to the last one's end, or slightly later; if a thread was in a call when its recording ended, until its
// process was gone or, if that is not known, to the end of the command.
func (t *Timeline) Extent() (begin, end int64, err error) {
	t.extent.Do(func() { t.begin, t.end, t.extentErr = t.measure() })
	return t.begin, t.end, t.extentErr
}

func (t *Timeline) measure() (begin, end int64, err error) {
	var mu sync.Mutex
	begin, end = math.MaxInt64, math.MinInt64
	err = parallel(len(t.run.Procs), func(i int) error {
		spans, err := t.run.Spans(i)
		mu.Lock()
		defer mu.Unlock()
		for _, s := range spans {
			begin, end = min(begin, s.Begin), max(end, s.End)
		}
		end = max(end, t.unfinishedUntil(i))
		return err
	})
	// Hostile files may contain any times.
	begin = max(-maxTime, min(begin, maxTime-1))
	return begin, max(begin+1, min(end, maxTime)), err
}

// parallel calls f for the numbers below n, several at a time. The first error ends
// it.
func parallel(n int, f func(i int) error) error {
	var next atomic.Int64
	var once sync.Once
	var failed error
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), n) {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				if err := f(i); err != nil {
					once.Do(func() { failed = err })
					next.Store(int64(n))
				}
			}
		})
	}
	wg.Wait()
	return failed
}

// Query selects what a view shows.
type Query struct {
	// From and To are ns since the run began; both 0: all of the run, or, with Trim, the part of
	// it that Timeline.Work returns.
	From, To int64
	Trim     bool
	// Width is the minimum number of pixels, unless they would be shorter than a nanosecond.
	// There are at most about twice as many.
	Width int
	// Procs are numbers of processes of the run file, in the order of the rows; nil: all.
	Procs []int
	// Rows is the maximum number of rows. If there are more processes, neighbours share a row.
	Rows int
	// By says which processes share a row, unless it is ByRank.
	By Grouping
	// Share requests the fraction of the time in MPI.
	Share bool
	// Slices requests the calls themselves if there are at most this many.
	Slices int
	// Progress, if there is one, is called with how many processes are done.
	Progress func(done int)
	// Events is the approximate limit of the number of events that are walked; 0: none.
	Events uint64
}

// View is the answer.
type View struct {
	Begin, End int64    // see Timeline.Extent
	Work       [2]int64 // see Timeline.Work
	From       int64    // start of the first pixel
	Pixel      int64    // ns
	Width      int      // pixels of a row
	Rows       []Row
	Complete   bool // the limit was not reached
	Legend     []Procedure
	// Pixels and Share have a byte of each pixel of each row; see the package's comment.
	Pixels, Share []byte
	Slices        []Slice // nil if not requested, or too many

	procs [][]int         // of each row: the numbers of its processes
	index map[uint16]byte // pixel of each procedure of the legend
}

// Row describes a row. Read is how many of its ranks were read, Last the last one of them.
type Row struct {
	First, Last, Ranks, Read int
	Members                  string // its ranks, as in "0,3-5", if ranks between First and Last may be in other rows
}

// Label names the ranks of a row: "3", "8-15", or "3 +11" for rank 3 and 11 like it.
func (r Row) Label() string {
	switch {
	case r.Ranks == 1:
		return strconv.Itoa(r.First)
	case r.Members != "":
		return fmt.Sprintf("%d +%d", r.First, r.Ranks-1)
	}
	return fmt.Sprintf("%d-%d", r.First, r.Last)
}

// Procedure is an entry of a legend.
type Procedure struct {
	Op, Class string
	Time      uint64 // in the view, ns
	// Apart: it begins or ends MPI. Fractions of the time in MPI are those of the others.
	Apart bool
}

// InMPI is the time in MPI in the view, of all procedures but those that begin or end MPI, ns.
func (v *View) InMPI() (total uint64) {
	for _, p := range v.Legend {
		if !p.Apart {
			total += p.Time
		}
	}
	return total
}

// Slice is a call.
type Slice struct {
	Rank       int
	Thread     uint32
	Start, End int64
	Proc       byte // as in Pixels
	Site       string
	Unfinished bool // it had not returned: it ends when the process was gone, or with the run
}

// To is when the last pixel ends.
func (v *View) To() int64 { return v.From + int64(v.Width)*v.Pixel }

// Pixels that stand for no procedure of the legend.
const (
	Outside  = 0
	Other    = 251
	NoTime   = 252 // of slices
	Unread   = 254
	Nothing  = 255
	maxProcs = 250 // of a legend
)

// View answers a query.
func (t *Timeline) View(ctx context.Context, q Query) (*View, error) {
	v, level, err := t.frame(&q)
	if err != nil {
		return nil, err
	}
	b := &budget{left: q.Events, all: q.Events == 0}
	parts, err := t.readAhead(ctx, v, level, b)
	if err != nil {
		return nil, err
	}
	lines := make([]line, len(v.Rows))
	var progress sync.Mutex
	done := 0
	err = parallel(len(v.Rows), func(y int) error {
		sums := newRowSums(v)
		for _, i := range v.procs[y] {
			have, err := parts[i], error(nil)
			if have == nil {
				have, err = t.chunks(ctx, i, v, level, b)
			}
			if err != nil {
				return err
			}
			sums.addProcess(have, &v.Rows[y])
			progress.Lock()
			if done++; q.Progress != nil {
				q.Progress(done)
			}
			progress.Unlock()
		}
		lines[y] = sums.line(q.Share)
		return nil
	})
	if err != nil {
		return nil, err
	}
	v.draw(lines)
	if q.Slices > 0 {
		return v, t.slices(ctx, v, &q, b)
	}
	return v, nil
}

// readAhead reads, if the number of events is limited, the first ranks of all rows before the
// others, so that each row has something when the limit is reached. It returns only what was
// read in part; the rest is in the cache.
func (t *Timeline) readAhead(ctx context.Context, v *View, level uint8, b *budget) (map[int]map[place]*chunk, error) {
	if b.all {
		return nil, nil
	}
	var mu sync.Mutex
	parts := map[int]map[place]*chunk{}
	err := t.inTurns(v, func(i int) error {
		have, err := t.chunks(ctx, i, v, level, b)
		if err != nil {
			return err
		}
		for _, c := range have {
			if len(c.missing) > 0 {
				mu.Lock()
				parts[i] = have
				mu.Unlock()
				break
			}
		}
		return nil
	})
	return parts, err
}

// inTurns calls f for the first process of each row, then for the second one of each, and so
// on.
func (t *Timeline) inTurns(v *View, f func(i int) error) error {
	for turn, more := 0, true; more; turn++ {
		more = false
		for y := range v.Rows {
			more = more || turn+1 < v.Rows[y].Ranks
		}
		err := parallel(len(v.Rows), func(y int) error {
			if list := v.procs[y]; turn < len(list) {
				return f(list[turn])
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// frame validates a query and lays out its answer.
func (t *Timeline) frame(q *Query) (*View, uint8, error) {
	begin, end, err := t.Extent()
	if err != nil {
		return nil, 0, err
	}
	from, to, err := t.Work()
	if err != nil {
		return nil, 0, err
	}
	switch {
	case q.From != 0 || q.To != 0:
	case q.Trim:
		q.From, q.To = from, to
	default:
		q.From, q.To = begin, end
	}
	switch {
	case q.From >= q.To || q.From < -maxTime || q.To > maxTime:
		return nil, 0, fmt.Errorf("%w: from %d to %d", ErrQuery, q.From, q.To)
	case q.Width < 1 || q.Width > MaxWidth:
		return nil, 0, fmt.Errorf("%w: width %d, want 1 to %d", ErrQuery, q.Width, MaxWidth)
	case q.Rows < 1 || q.Rows > MaxRows:
		return nil, 0, fmt.Errorf("%w: %d rows, want 1 to %d", ErrQuery, q.Rows, MaxRows)
	case q.Slices < 0 || q.Slices > MaxSlices:
		return nil, 0, fmt.Errorf("%w: %d slices, want up to %d", ErrQuery, q.Slices, MaxSlices)
	}
	if q.Procs == nil {
		for i := range t.run.Procs {
			q.Procs = append(q.Procs, i)
		}
	}
	for _, i := range q.Procs {
		if i < 0 || i >= len(t.run.Procs) {
			return nil, 0, fmt.Errorf("%w: process %d of %d", ErrQuery, i, len(t.run.Procs))
		}
	}
	level := uint8(0)
	if ns := (q.To - q.From) / int64(q.Width); ns > 1 {
		level = uint8(min(maxLevel, bits.Len64(uint64(ns))-1))
	}
	first, last := q.From>>level, (q.To-1)>>level
	v := &View{Begin: begin, End: end, Work: [2]int64{from, to}, From: first << level, Pixel: 1 << level, Width: int(last - first + 1), Complete: true}
	return v, level, t.divide(v, q)
}

// chunksOf returns the places of the chunks of a stream that a view needs.
func chunksOf(v *View, stream int, level uint8) []place {
	var out []place
	for i := v.From >> level >> chunkBits; i <= (v.To()-1)>>level>>chunkBits; i++ {
		out = append(out, place{stream, level, i})
	}
	return out
}

// chunks returns the chunks of a process that a view needs; nil if they were not read because
// of the limit of events.
func (t *Timeline) chunks(ctx context.Context, i int, v *View, level uint8, b *budget) (map[place]*chunk, error) {
	have := map[place]*chunk{}
	var need []place
	for j := range t.run.Procs[i].Streams {
		for _, p := range chunksOf(v, t.first[i]+j, level) {
			if c := t.cache.get(p); c != nil {
				have[p] = c
			} else {
				need = append(need, p)
			}
		}
	}
	if len(need) == 0 {
		return have, nil
	}
	if !b.take(1) {
		return nil, nil
	}
	return have, t.make(ctx, i, need, have, b)
}

// make makes chunks of a process.
func (t *Timeline) make(ctx context.Context, i int, need []place, have map[place]*chunk, b *budget) error {
	p, err := t.run.Process(i)
	if err != nil {
		return err
	}
	m := maker{ctx: ctx, cache: t.cache, budget: b}
	for _, at := range need {
		s := &p.Streams[at.stream-t.first[i]]
		if s.Trace == nil {
			have[at] = &chunk{}
			continue
		}
		if m.stream == nil || m.stream.number != at.stream {
			if m.stream, err = t.open(p, at.stream-t.first[i], at.stream); err != nil {
				return err
			}
		}
		c, err := m.make(at)
		if err != nil {
			return fmt.Errorf("rank %d, thread %d: %w", p.Rank, s.Thread, err)
		}
		have[at] = c
	}
	return nil
}
