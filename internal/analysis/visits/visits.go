// Package visits finds when threads were in the regions that the program names, for a picture of a
// part of the time.
//
// A visit lasts from when the call that begins the region is entered to when the one that ends it is
// left. What is shorter than a pixel is joined with what else of its depth is within that pixel, so that
// an answer has at most about twice as many visits of a thread and a depth as the picture is wide,
// however many there are.
package visits

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/analysis/regions"
)

// Bounds of queries and answers.
const (
	MaxWidth  = 8192
	MaxDepth  = 64
	MaxVisits = 200_000
	MaxTracks = 4096
)

// cacheBytes is the approximate maximum size of the visits of a run that are kept.
const cacheBytes = 64 << 20

// Query selects visits.
type Query struct {
	From, To int64 // ns since the run began
	Width    int   // pixels
	Procs    []int // numbers of processes, in the order of the answer; nil: all
	Depth    int   // regions in so many others are left out
	Most     int   // of visits in the answer: if there are more, pixels are made longer
	// Events is the approximate limit of the number of events that are walked; 0: none.
	Events uint64
}

// View is the answer.
type View struct {
	From, To int64
	Pixel    int64 // ns
	Depth    int   // how many regions are open at once, at most, in the view; may be more than the query's
	Complete bool  // all threads were looked at
	LeftOut  int   // threads beyond MaxTracks
	Regions  []Region
	Tracks   []Track
}

// Region is a region that is visited in a view.
type Region struct {
	Names  []string // the outermost first
	Visits uint64   // by all tracks, in the view
	Time   int64    // of these within the view, ns; with the regions in it
}

// Name is the name of the region itself.
func (r *Region) Name() string {
	if len(r.Names) == 0 { // one of very many
		return ""
	}
	return r.Names[len(r.Names)-1]
}

// Track is the visits of a thread, in the order in which they begin, outer ones first.
type Track struct {
	Rank   int
	Thread uint32
	Visits []Visit
}

// Visit is a visit of a region, or several that are joined.
type Visit struct {
	Region     int // index of View.Regions: the one with most of the time
	Depth      int // of regions around it
	Begin, End int64
	Visits     uint64
	Time       int64 // that is spent in them
	Mixed      bool  // of several regions
	Open       bool  // it was not ended: End is where the recording, or the thread, ends
}

// Visits answers queries about a run. Its methods are safe for concurrent use.
type Visits struct {
	run   *runfile.Run
	paths *regions.Paths

	mu    sync.Mutex
	kept  map[int][]track // by process
	bytes int
	order []int // processes that are kept, the oldest first
}

// New prepares the answers about a run with the times of each event; of others they are empty.
func New(run *runfile.Run) *Visits {
	return &Visits{run: run, paths: regions.NewPaths(), kept: map[int][]track{}}
}

// Of answers a query. If it limits the events, some processes may be missing in the answer, which the
// next one has.
func (v *Visits) Of(ctx context.Context, q Query) (*View, error) {
	if q.Procs == nil {
		for i := range v.run.Procs {
			q.Procs = append(q.Procs, i)
		}
	}
	tracks, complete, err := v.tracks(ctx, &q)
	if err != nil {
		return nil, err
	}
	out := &View{From: q.From, To: q.To, Pixel: max(1, (q.To-q.From)/int64(max(1, q.Width))), Complete: complete}
	if out.LeftOut = max(0, len(tracks)-MaxTracks); out.LeftOut > 0 {
		tracks = tracks[:MaxTracks]
	}
	lists := make([][]span, len(tracks))
	for more := true; more; out.Pixel *= 2 {
		n := 0
		for i := range tracks {
			lists[i] = join(tracks[i].spans, q.From, q.To, out.Pixel, q.Depth)
			n += len(lists[i])
		}
		if more = n > q.Most && out.Pixel <= q.To-q.From; !more {
			break
		}
	}
	v.number(out, tracks, lists)
	return out, nil
}

// number fills in the tracks, and the regions that are visited in a view, those with most time first.
func (v *Visits) number(out *View, tracks []track, lists [][]span) {
	sums := map[int32]*Region{}
	for i := range tracks {
		for k := range tracks[i].spans {
			s := &tracks[i].spans[k]
			if !s.within(out.From, out.To) {
				continue
			}
			r := sums[s.region]
			if r == nil {
				r = &Region{Names: v.paths.At(s.region).Names}
				sums[s.region] = r
			}
			r.Visits += uint64(s.visits)
			r.Time += s.part(out.From, out.To)
			out.Depth = max(out.Depth, int(s.depth)+1)
		}
	}
	order := make([]int32, 0, len(sums))
	for n := range sums {
		order = append(order, n)
	}
	slices.SortFunc(order, func(a, b int32) int {
		return cmp.Or(cmp.Compare(sums[b].Time, sums[a].Time), slices.Compare(sums[a].Names, sums[b].Names))
	})
	index := map[int32]int{}
	for k, n := range order {
		index[n] = k
		out.Regions = append(out.Regions, *sums[n])
	}
	for i := range tracks {
		t := Track{tracks[i].rank, tracks[i].thread, make([]Visit, len(lists[i]))}
		for k, s := range lists[i] {
			t.Visits[k] = Visit{index[s.region], int(s.depth), s.begin, s.end, uint64(s.visits), s.time, s.mixed, s.open}
		}
		out.Tracks = append(out.Tracks, t)
	}
}

// tracks are those of the processes of a query, as far as it has events left.
func (v *Visits) tracks(ctx context.Context, q *Query) ([]track, bool, error) {
	lists := make([][]track, len(q.Procs))
	var todo []int // indices
	left, complete := q.Events, true
	for k, i := range q.Procs {
		kept, ok := v.get(i)
		switch {
		case ok:
			lists[k] = kept
		case q.Events > 0 && left == 0:
			complete = false
		default:
			todo = append(todo, k)
			left -= min(left, max(1, v.events(i)))
		}
	}
	var mu sync.Mutex
	var failed error
	var wg sync.WaitGroup
	for w := range min(runtime.GOMAXPROCS(0), len(todo)) {
		wg.Go(func() {
			for n := w; n < len(todo); n += runtime.GOMAXPROCS(0) {
				list, err := v.collect(ctx, q.Procs[todo[n]])
				lists[todo[n]] = list
				if err != nil {
					mu.Lock()
					failed = err
					mu.Unlock()
					return
				}
			}
		})
	}
	wg.Wait()
	return slices.Concat(lists...), complete, failed
}

func (v *Visits) events(i int) (n uint64) {
	for j := range v.run.Procs[i].Streams {
		n += v.run.Procs[i].Streams[j].Events
	}
	return n
}

// collect finds the visits of a process, and keeps them.
func (v *Visits) collect(ctx context.Context, i int) ([]track, error) {
	p, err := v.run.Process(i)
	if err != nil {
		return nil, err
	}
	list := []track{}
	for j := range p.Streams {
		if p.Streams[j].Trace == nil {
			continue
		}
		spans, err := v.spans(ctx, p, j)
		if err != nil {
			return nil, fmt.Errorf("rank %d, thread %d: %w", p.Rank, p.Streams[j].Thread, err)
		}
		if len(spans) > 0 {
			list = append(list, track{p.Rank, p.Streams[j].Thread, spans})
		}
	}
	v.put(i, list)
	return list, nil
}

// spans are the visits of Streams[j], in the order in which they begin, outer ones first.
func (v *Visits) spans(ctx context.Context, p *efg.Process, j int) ([]span, error) {
	f := regions.NewFollower(p, j)
	if f == nil {
		return nil, nil
	}
	s := &p.Streams[j]
	clock, err := s.ClockFrom(0)
	if err != nil {
		return nil, err
	}
	c := collector{paths: v.paths, follower: f}
	begin := int64(s.Trace.BeginMono()) + p.Clock
	last := begin
	for n := uint64(0); n < s.TimedEvents(); n++ {
		node, ok := f.Next()
		if !ok {
			break
		}
		a, b, err := clock.Next(uint32(node))
		if err != nil {
			return nil, err
		}
		last = max(last, begin+int64(b))
		c.step(begin+int64(a), begin+int64(b))
		if n&0xfff == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	if err := f.Err(); err != nil {
		return nil, err
	}
	return c.finish(last), nil
}

func (v *Visits) get(i int) ([]track, bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	list, ok := v.kept[i]
	return list, ok
}

func (v *Visits) put(i int, list []track) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if _, ok := v.kept[i]; ok {
		return
	}
	v.kept[i] = list
	v.order = append(v.order, i)
	for v.bytes += memory(list); v.bytes > cacheBytes && len(v.order) > 1; v.order = v.order[1:] {
		v.bytes -= memory(v.kept[v.order[0]])
		delete(v.kept, v.order[0])
	}
}
