package api

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/efg-tools/efg/daemon"
	"github.com/efg-tools/efg/document"
	"github.com/efg-tools/efg/live"
)

// Store serves the runs of a store and the jobs of a spool.
type Store struct {
	store *daemon.Store
	spool string

	mu      sync.Mutex
	runs    []daemon.Summary // as of changed
	changed time.Time        // of the store's folder; zero: to be read again
}

// NewStore serves what is there. spool may be empty: then it is the one that the daemon
// of the store names.
func NewStore(store *daemon.Store, spool string) *Store { return &Store{store: store, spool: spool} }

// List implements Runs.
func (s *Store) List() (*document.RunList, error) {
	runs, err := s.stored()
	if err != nil {
		return nil, err
	}
	l := document.NewRunList(s.store.Dir)
	l.Runs = runs
	l.Daemon = s.store.Served()
	spool := s.spool
	if state, err := s.store.State(); err == nil {
		if l.Daemon {
			l.Problems = state.Problems
		}
		if spool == "" {
			spool = state.Spool
		}
	}
	for _, j := range jobsIn(spool) {
		l.Jobs = append(l.Jobs, document.NewJob(j.name, j.Job))
	}
	return l, nil
}

// settled is how long a folder must not have changed to be sure that what was read
// after its last change shows it.
const settled = 100 * time.Millisecond

// stored are the runs of the store. They are read again when the folder has changed.
func (s *Store) stored() ([]daemon.Summary, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	fi, err := os.Stat(s.store.Dir)
	if err != nil {
		return nil, err
	}
	if !s.changed.IsZero() && fi.ModTime().Equal(s.changed) {
		return s.runs, nil
	}
	began := time.Now()
	if s.runs, err = s.store.List(); err != nil {
		return nil, err
	}
	s.changed = fi.ModTime()
	if began.Sub(s.changed) < settled {
		s.changed = time.Time{}
	}
	return s.runs, nil
}

// Find implements Runs. Jobs are newer than runs.
func (s *Store) Find(name string) (*Entry, error) {
	jobs := jobsIn(s.spool)
	if name == "last" && len(jobs) > 0 {
		name = jobs[len(jobs)-1].name
	}
	if name == "last" || s.store.Has(name) {
		found, err := s.store.Find(name)
		if errors.Is(err, daemon.ErrNoRun) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		return &Entry{Name: found, File: s.store.RunFile(found), Where: func() (*live.RollCall, error) { return s.store.Where(found) }}, nil
	}
	i := slices.IndexFunc(jobs, func(j namedJob) bool { return j.name == name })
	if i < 0 {
		return nil, nil
	}
	return &Entry{Name: name, Segments: jobs[i].Paths()}, nil
}

// namedJob is a job with a name that no other job has.
type namedJob struct {
	*daemon.Job
	name string
}

// jobsIn are the jobs in a spool; none if it cannot be read.
func jobsIn(dir string) []namedJob {
	if dir == "" {
		dir = daemon.DefaultSpool()
	}
	spool, err := daemon.OpenSpool(dir, false)
	if err != nil {
		return nil
	}
	jobs, err := daemon.Jobs(spool)
	if err != nil {
		return nil
	}
	var list []namedJob
	taken := map[string]bool{}
	for _, j := range jobs {
		name := freeName(j.Name(), taken)
		list = append(list, namedJob{j, name})
	}
	slices.SortFunc(list, func(a, b namedJob) int { return strings.Compare(a.name, b.name) })
	return list
}

// freeName adds a number to a name that is taken, and takes it.
func freeName(name string, taken map[string]bool) string {
	try := name
	for n := 2; taken[try]; n++ {
		try = fmt.Sprintf("%s-%d", name, n)
	}
	taken[try] = true
	return try
}
