package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"strings"
	"time"

	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/jsondoc"
	"github.com/efg-tools/efg/internal/live"
)

const (
	// settle is the time between the two samples of a job state: a rank that has done nothing
	// in between is waiting, or in a long computation.
	settle = 200 * time.Millisecond
	// shortLook is the interval of the rates in a single frame.
	shortLook = 250 * time.Millisecond
	// listInterval is the interval between checks of the list of runs.
	listInterval = 500 * time.Millisecond

	minInterval, usualInterval, maxInterval = 100, 1000, 60_000 // ms, of frames
)

// where answers where the ranks are or, for a stored run, where they were when it ended.
func (s *Server) where(w http.ResponseWriter, r *http.Request, q *query) error {
	e, err := s.find(r.PathValue("id"))
	if err != nil {
		return err
	}
	if e.File != "" {
		return s.asking(wherePath)(w, r, q)
	}
	groups := q.flag("groups")
	if q.has(siteDepth) {
		return badRequest("%s: %s is running; it is for stored runs", siteDepth, e.Name)
	}
	if q.err != nil {
		return q.err
	}
	x, err := s.answers.get(r.Context(), fmt.Sprint("where ", groups, " ", e.Name), func(_ context.Context, w io.Writer) (string, bool, error) {
		j, err := live.Read(e.Segments, settle)
		if err == nil {
			err = jsondoc.Write(w, jobState(j, groups))
		}
		return jsonType, false, err
	})
	if err != nil {
		return err
	}
	return x.send(w, r)
}

// wherePath is the path of the question where ranks are, which is answered differently for
// jobs.
const wherePath = "/where"

var whereQuestion = question{[]string{"groups", siteDepth}, askWhere}

// jobState returns the state of the job; with groups, without listing each thread.
func jobState(j *live.Job, groups bool) *live.JobState {
	c := live.NewJobState(j)
	if groups {
		c.Threads = []live.Thread{}
	}
	return c
}

// nobodyInCall is the state of a run that ended with no rank in a call: it has no groups and threads.
func nobodyInCall(run *runfile.Run) *live.JobState {
	return &live.JobState{
		Schema: live.JobStateSchema, Version: live.JobStateVersion, Command: run.Meta.Command, At: time.Unix(0, run.Meta.Ended).UTC(), Size: len(run.Procs),
		Missing: []int{}, Deadlocks: []live.Deadlock{}, InVain: []int{}, Behind: []int{}, Mismatches: []live.Mismatch{}, Groups: []live.Group{}, Threads: []live.Thread{}, Broken: []string{},
	}
}

func askWhere(q *query) answerer {
	groups := q.flag("groups")
	return asJSON(func(in *input) (any, error) {
		j, err := live.OfRun(in.run)
		if errors.Is(err, fs.ErrNotExist) {
			return nobodyInCall(in.run), nil
		}
		if err != nil {
			return nil, err
		}
		return jobState(j, groups), nil
	})
}

// live reports what a running job does: once or, as server-sent events, repeatedly.
func (s *Server) live(w http.ResponseWriter, r *http.Request, q *query) error {
	interval := time.Duration(q.number("interval", usualInterval, minInterval, maxInterval)) * time.Millisecond
	if q.err != nil {
		return q.err
	}
	e, err := s.find(r.PathValue("id"))
	if err != nil {
		return err
	}
	if e.File != "" {
		return &statusError{http.StatusConflict, e.Name + " is not running"}
	}
	w.Header().Set("Vary", "Accept")
	if strings.Contains(r.Header.Get("Accept"), "text/event-stream") {
		return s.stream(w, r, "live "+e.Name+" "+interval.String(), s.frames(e.Name, interval))
	}
	x, err := s.answers.get(r.Context(), "live "+e.Name, func(ctx context.Context, w io.Writer) (string, bool, error) {
		f, err := oneFrame(ctx, e.Segments)
		if err == nil {
			err = json.NewEncoder(w).Encode(f)
		}
		return jsonType, false, err
	})
	if err != nil {
		return err
	}
	return x.send(w, r)
}

// oneFrame samples a job twice.
func oneFrame(ctx context.Context, segments []string) (*live.Frame, error) {
	m := live.NewMonitor()
	defer m.Close()
	if _, err := m.Look(segments); err != nil {
		return nil, err
	}
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-time.After(shortLook):
	}
	return m.Look(segments)
}

// frames produces "frame" events of a job, and finally "end", which says whether the job is
// stored.
func (s *Server) frames(name string, interval time.Duration) producer {
	return func(ctx context.Context, emit func(string, []byte)) {
		m := live.NewMonitor()
		defer m.Close()
		tick := time.NewTicker(interval)
		defer tick.Stop()
		for first := true; ; first = false {
			e, err := s.opt.Runs.Find(name)
			if err == nil && (e == nil || e.File != "") {
				emitJSON(emit, "end", ended{e != nil})
				return
			}
			if err == nil {
				var f *live.Frame
				if f, err = m.Look(e.Segments); err == nil && !first { // the first sample has no rates
					emitJSON(emit, "frame", f)
				}
			}
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
		}
	}
}

// ended is the last event of a job.
type ended struct {
	Stored bool `json:"stored"` // there is a run with the job's name
}

// change is an event of the list of runs.
type change struct {
	Version  int           `json:"version"`
	Daemon   bool          `json:"daemon"`
	Total    int           `json:"total"`  // runs
	Newest   string        `json:"newest"` // name of the newest run, "" if there is none
	Jobs     []jsondoc.Job `json:"jobs"`
	Problems []string      `json:"problems"`
}

// events says when the list of runs and jobs changes.
func (s *Server) events(w http.ResponseWriter, r *http.Request, _ *query) error {
	return s.stream(w, r, "events", func(ctx context.Context, emit func(string, []byte)) {
		tick := time.NewTicker(listInterval)
		defer tick.Stop()
		for last := []byte(nil); ; {
			if l, err := s.opt.Runs.List(); err == nil {
				c := change{Version: 1, Daemon: l.Daemon, Total: l.Total, Jobs: l.Jobs, Problems: l.Problems}
				if n := len(l.Runs); n > 0 {
					c.Newest = l.Runs[n-1].Name
				}
				if data, err := json.Marshal(&c); err == nil && !bytes.Equal(data, last) {
					last = data
					emit("runs", data)
				}
			}
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
		}
	})
}

func emitJSON(emit func(string, []byte), name string, v any) {
	if data, err := json.Marshal(v); err == nil {
		emit(name, data)
	}
}
