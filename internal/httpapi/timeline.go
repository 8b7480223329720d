package httpapi

import (
	"context"
	"errors"
	"io"
	"math"
	"net/http"
	"os"
	"slices"
	"sync"

	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/analysis/timeline"
	"github.com/efg-tools/efg/internal/analysis/visits"
	"github.com/efg-tools/efg/internal/jsondoc"
)

// timelineType is the type of the encoding that package timeline describes.
const timelineType = "application/vnd.efg.timeline"

const (
	usualWidth, usualRows = 800, 512
	// maxEvents bounds the events that are walked for an answer; repeating the request
	// continues.
	maxEvents = 10_000_000
	// minEvents is more than needed to make progress: opening a rank counts, too.
	minEvents = 100
)

const timelinePath = "/timeline"

var timelineParams = []string{"from", "to", "width", "ranks", "rows", "by", "share", "slices", "events", "trim", "format", "clock"}

// timelines caches the timeline that was requested last: what one request has computed serves
// the next.
type timelines struct {
	mu   sync.Mutex
	tag  string
	kept *keptTimeline
}

// keptTimeline is a timeline and its file. It is closed when it is not in use and another one
// has replaced it.
type keptTimeline struct {
	*timeline.Timeline
	visits *visits.Visits
	run    *runfile.Run
	file   *os.File
	uses   int
}

func timelineTag(x *source, clock string) string { return clock + "\x00" + x.tag }

// holds reports whether the timeline of a run by some clock is cached.
func (t *timelines) holds(x *source, clock string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.kept != nil && t.tag == timelineTag(x, clock)
}

// use returns the timeline of a run by some clock, and a function that ends its use.
func (t *timelines) use(ctx context.Context, x *source, clock string, correction []byte) (*keptTimeline, func(), error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if tag := timelineTag(x, clock); t.kept == nil || t.tag != tag {
		k, err := openTimeline(ctx, x, clock, correction)
		if err != nil {
			return nil, nil, err
		}
		t.drop()
		k.uses++ // ours
		t.kept, t.tag = k, tag
	}
	k := t.kept
	k.uses++
	return k, func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		k.release()
	}, nil
}

func (k *keptTimeline) release() {
	if k.uses--; k.uses == 0 {
		k.file.Close()
	}
}

func (t *timelines) drop() {
	if t.kept != nil {
		t.kept.release()
		t.kept = nil
	}
}

func (t *timelines) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.drop()
}

func openTimeline(ctx context.Context, x *source, clock string, correction []byte) (*keptTimeline, error) {
	f, err := x.open()
	if err != nil {
		return nil, err
	}
	run, err := runOf(x.name, f)
	if err == nil {
		err = correct(ctx, run, clock, correction)
	}
	if err == nil {
		var l *timeline.Timeline
		if l, err = timeline.New(run); err == nil {
			return &keptTimeline{Timeline: l, visits: visits.New(run), run: run, file: f}, nil
		}
	}
	f.Close()
	return nil, err
}

// timeline answers with a view of the timeline.
func (s *Server) timeline(w http.ResponseWriter, r *http.Request, q *query) error {
	view := timeline.Query{
		From: q.long("from"), To: q.long("to"), Width: q.number("width", usualWidth, 1, timeline.MaxWidth),
		Rows: q.number("rows", usualRows, 1, timeline.MaxRows), Share: q.flag("share"), Trim: q.flag("trim"),
		Slices: q.number("slices", 0, 0, timeline.MaxSlices), Events: uint64(q.number("events", maxEvents, minEvents, maxEvents)), By: q.grouping(),
	}
	set, format := q.ranks("ranks"), q.choice("format", "bytes", "bytes", "json")
	return s.view(w, r, q, "timeline", func(ctx context.Context, name string, t *keptTimeline, w io.Writer) (string, bool, error) {
		var err error
		if view.Procs, err = set.Find(t.run); err != nil {
			return "", false, badRequest("%v", err)
		}
		v, err := t.View(ctx, view)
		if err != nil {
			return "", false, asStatus(err)
		}
		if format == "json" {
			return jsonType, v.Complete, jsondoc.Write(w, jsondoc.NewTimeline(name, v))
		}
		return timelineType, v.Complete, v.Encode(w)
	})
}

// shower writes the answer from a timeline, and returns its type and whether it is complete.
type shower func(ctx context.Context, name string, t *keptTimeline, w io.Writer) (string, bool, error)

// view answers a request about what ranks did over time.
func (s *Server) view(w http.ResponseWriter, r *http.Request, q *query, what string, show shower) error {
	clock := q.clock()
	if q.err != nil {
		return q.err
	}
	x, err := s.source(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	x.stamp(w)
	key := tagOf(x.tag, what, q.values.Encode())
	if notModified(w, r, key) { // only complete ones have tags
		return nil
	}
	known := [][]byte{nil}
	if !s.lines.holds(x, clock) {
		if known, err = s.corrections(r.Context(), key, timelinePath, q, []*source{x}); err != nil {
			return err
		}
	}
	a, err := s.answers.get(r.Context(), key, func(ctx context.Context, w io.Writer) (string, bool, error) {
		defer x.count()()
		t, release, err := s.lines.use(ctx, x, clock, known[0])
		if err != nil {
			return "", false, asStatus(err)
		}
		defer release()
		return show(ctx, x.name, t, w)
	})
	if err != nil {
		return err
	}
	return a.send(w, r)
}

// usualVisits and usualDepth bound the visits of regions in an answer.
const (
	usualVisits = 20_000
	usualDepth  = 8
)

var visitsParams = []string{"from", "to", "width", "ranks", "rows", "by", "depth", "most", "events", "clock"}

// visits answers when ranks, of those that share a row of a timeline the first, were in which regions.
func (s *Server) visits(w http.ResponseWriter, r *http.Request, q *query) error {
	ask := visits.Query{
		From: q.long("from"), To: q.long("to"), Width: q.number("width", usualWidth, 1, visits.MaxWidth), Depth: q.number("depth", usualDepth, 1, visits.MaxDepth),
		Most: q.number("most", usualVisits, 1, visits.MaxVisits), Events: uint64(q.number("events", maxEvents, minEvents, maxEvents)),
	}
	rows := timeline.Query{Rows: q.number("rows", usualRows, 1, timeline.MaxRows), By: q.grouping()}
	set := q.ranks("ranks")
	return s.view(w, r, q, "regions", func(ctx context.Context, name string, t *keptTimeline, w io.Writer) (string, bool, error) {
		rows, ask := rows, ask
		var err error
		if rows.Procs, err = set.Find(t.run); err != nil {
			return "", false, badRequest("%v", err)
		}
		if ask.From == 0 && ask.To == 0 {
			if ask.From, ask.To, err = t.Extent(); err != nil {
				return "", false, err
			}
		}
		if ask.From >= ask.To {
			return "", false, badRequest("%v: from %d to %d", timeline.ErrQuery, ask.From, ask.To)
		}
		groups, err := t.Rows(rows)
		if err != nil {
			return "", false, err
		}
		for _, g := range groups {
			ask.Procs = append(ask.Procs, g[0])
		}
		v, err := t.visits.Of(ctx, ask)
		if err != nil {
			return "", false, err
		}
		return jsonType, v.Complete, jsondoc.Write(w, jsondoc.NewVisits(name, v))
	})
}

// grouping is the parameter that says what shares a row.
func (q *query) grouping() timeline.Grouping {
	return timeline.Grouping(slices.Index(timeline.Groupings[:], q.choice("by", timeline.Groupings[0], timeline.Groupings[:]...)))
}

// asStatus maps errors of timelines to statuses.
func asStatus(err error) error {
	switch {
	case errors.Is(err, timeline.ErrNoTimes):
		return &statusError{http.StatusUnprocessableEntity, err.Error()}
	case errors.Is(err, timeline.ErrQuery):
		return badRequest("%v", err)
	}
	return err
}

// long is a number of nanoseconds.
func (q *query) long(name string) int64 {
	return int64(q.number(name, 0, math.MinInt64, math.MaxInt64))
}
