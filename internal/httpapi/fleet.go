package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"time"

	"github.com/efg-tools/efg/internal/fleet"
	"github.com/efg-tools/efg/internal/jsondoc"
)

var fleetParams = []string{"slower", "top"}

// Bounds of the parameters, and what they are if they are not given, as in efg fleet.
const (
	usualSlower, mostSlower = 10, 1e6
	usualTop                = 10
)

// fleetTime is how long a request may take to read runs that are not kept. The rest are left for the next one.
const fleetTime = 5 * time.Second

// fleetPath is what a worker is asked to read of a run.
const fleetPath = "/fleet"

var fleetQuestion = question{nil, func(*query) answerer {
	return asJSON(func(in *input) (any, error) { return fleet.Read(in, in.run) })
}}

// fleet compares all runs.
func (s *Server) fleet(w http.ResponseWriter, r *http.Request, q *query) error {
	percent, top := q.positive("slower", usualSlower, mostSlower), q.number("top", usualTop, 0, maxListed)
	if q.err != nil {
		return q.err
	}
	list, err := s.opt.Runs.List()
	if err != nil {
		return err
	}
	runs, tag := s.storedRuns(list)
	key := tagOf("fleet", tag, q.values.Encode())
	if notModified(w, r, key) {
		return nil
	}
	x, err := s.answers.get(r.Context(), key, func(ctx context.Context, w io.Writer) (string, bool, error) {
		doc := s.newFleet(ctx, runs, percent, top)
		if err := ctx.Err(); err != nil {
			return "", false, err
		}
		return jsonType, doc.Pending == 0, jsondoc.Write(w, doc)
	})
	if err != nil {
		return err
	}
	return x.send(w, r)
}

// storedRun is a run file of the list.
type storedRun struct {
	source *source
	info   fs.FileInfo
}

// storedRuns are the files of the listed runs, and what identifies all their contents. A run that was removed
// since it was listed is left out.
func (s *Server) storedRuns(list *jsondoc.RunList) (runs []storedRun, tag string) {
	var tags bytes.Buffer
	for i := range list.Runs {
		e, err := s.opt.Runs.Find(list.Runs[i].Name)
		if err != nil || e == nil || e.File == "" {
			continue
		}
		info, err := os.Stat(e.File)
		if err != nil {
			continue
		}
		runs = append(runs, storedRun{&source{name: e.Name, open: func() (*os.File, error) { return os.Open(e.File) }}, info})
		fmt.Fprintf(&tags, "%s\x00%s\x00%d\x00%d\x00", e.Name, e.File, info.Size(), info.ModTime().UnixNano())
	}
	return runs, tags.String()
}

// newFleet reads runs, as many as there is time for.
func (s *Server) newFleet(ctx context.Context, list []storedRun, percent float64, top int) *jsondoc.Fleet {
	until := time.Now().Add(fleetTime)
	var runs []*fleet.Run
	var unread []jsondoc.Unread
	seen, pending := map[string]bool{}, 0
	for i := range list {
		x := &list[i]
		r := s.opt.Fleet.Get(x.info)
		if r == nil {
			if ctx.Err() != nil || s.opt.Fleet != nil && time.Now().After(until) {
				pending++
				continue
			}
			var err error
			if r, err = s.fleetRun(ctx, x); err != nil {
				unread = append(unread, jsondoc.Unread{File: x.source.name, Error: err.Error()})
				continue
			}
		}
		r.Name, r.User = runName(x.source.name), fleet.Owner(x.info)
		if !seen[r.ID] {
			seen[r.ID] = true
			runs = append(runs, r)
		}
	}
	doc := jsondoc.NewFleet(runs, unread, percent, top)
	doc.Pending = pending
	return doc
}

// fleetRun reads a run, here or in a worker, and keeps what it has read.
func (s *Server) fleetRun(ctx context.Context, x *storedRun) (*fleet.Run, error) {
	var text bytes.Buffer
	if _, err := s.answer(ctx, fleetPath, &query{values: url.Values{}}, []*source{x.source}, nil, &text); err != nil {
		return nil, err
	}
	r := &fleet.Run{}
	if err := json.Unmarshal(text.Bytes(), r); err != nil {
		return nil, err
	}
	s.opt.Fleet.Put(x.info, r)
	return r, nil
}

// positive is a number above 0.
func (q *query) positive(name string, missing, most float64) float64 {
	if !q.has(name) {
		return missing
	}
	v, err := strconv.ParseFloat(q.values.Get(name), 64)
	if err != nil || !(v > 0 && v <= most) {
		q.fail(name, fmt.Sprintf("a number above 0, at most %g", most))
		return missing
	}
	return v
}
