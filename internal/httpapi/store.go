package httpapi

import (
	"errors"
	"os"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/efg-tools/efg/internal/daemon"
	"github.com/efg-tools/efg/internal/jsondoc"
)

// Store serves the runs of a store and the jobs of a spool.
type Store struct {
	store *daemon.Store
	spool string

	mu       sync.Mutex
	lister   *daemon.Lister
	runs     []daemon.Summary // as of changed
	texts    []daemon.Text    // of runs
	changed  time.Time        // modification time of the store's directory; zero if it must be read again
	found    []*daemon.Job    // as of looked
	looked   time.Time
	follows  *daemon.Follower // of the followed spool; nil if there is none
	followed string
}

// NewStore serves a store. spool may be empty: then it is the one named by the store's daemon.
func NewStore(store *daemon.Store, spool string) *Store {
	return &Store{store: store, spool: spool, lister: daemon.NewLister(store, jsondoc.RunText)}
}

// List implements Runs.
func (s *Store) List() (*jsondoc.RunList, error) {
	l := jsondoc.NewRunList(s.store.Dir)
	jobs := s.jobs() // first: what is no longer a job is a run by then
	if err := s.stored(l); err != nil {
		return nil, err
	}
	l.Daemon = s.store.Served()
	if state, err := s.store.State(); err == nil && l.Daemon {
		l.Problems = state.Problems
	}
	for _, j := range jobs {
		if !isStored(l, j) {
			l.Jobs = append(l.Jobs, jsondoc.NewJob(j))
		}
	}
	l.Total = len(l.Runs)
	return l, nil
}

// isStored reports whether a job that has ended is a run of the list: its segments remain in
// the spool for a moment.
func isStored(l *jsondoc.RunList, j *daemon.Job) bool {
	return j.Running() == 0 && slices.ContainsFunc(l.Runs, func(x daemon.Summary) bool { return x.Name == j.Name() })
}

// jobs are the jobs in the spool.
func (s *Store) jobs() []*daemon.Job {
	spool := s.spool
	if state, err := s.store.State(); err == nil && spool == "" {
		spool = state.Spool
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.looked.IsZero() || time.Since(s.looked) > minRefresh {
		s.found, s.looked = s.jobsIn(spool), time.Now()
	}
	return s.found
}

// jobsIn returns the jobs in a spool, which is followed from now on; "" is the user's. It
// returns none if the spool cannot be read.
func (s *Store) jobsIn(dir string) []*daemon.Job {
	if dir == "" {
		dir = daemon.DefaultSpool()
	}
	if s.follows == nil || s.followed != dir {
		s.unfollow()
		spool, err := daemon.OpenSpool(dir, false)
		if err != nil {
			return nil
		}
		s.follows, s.followed = daemon.Follow(spool), dir
	}
	jobs, err := s.follows.Jobs()
	if err != nil {
		s.unfollow() // it is gone: another one may replace it
		return nil
	}
	return jobs
}

func (s *Store) unfollow() {
	if s.follows != nil {
		s.follows.Close()
		s.follows = nil
	}
}

// Close releases what following the spool needs.
func (s *Store) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unfollow()
}

// minRefresh is the minimum interval between reads of the spool, however many clients there
// are.
const minRefresh = 100 * time.Millisecond

// settled is the minimum age of a directory's last change from which a read is certain to
// include it.
const settled = 100 * time.Millisecond

// stored adds the runs of the store to a list, with a stamp of this state. They are read again
// after the directory has changed.
func (s *Store) stored(l *jsondoc.RunList) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	fi, err := os.Stat(s.store.Dir)
	if err != nil {
		return err
	}
	sure := true
	if s.changed.IsZero() || !fi.ModTime().Equal(s.changed) {
		began := time.Now()
		if s.runs, s.texts, err = s.lister.List(); err != nil {
			return err
		}
		if s.changed = fi.ModTime(); began.Sub(s.changed) < settled {
			s.changed, sure = time.Time{}, false
		}
	}
	l.Runs, l.Texts = s.runs, s.texts
	if sure {
		l.Stamp = strconv.FormatInt(s.changed.UnixNano(), 36)
	}
	return nil
}

// Find implements Runs. Jobs are newer than runs.
func (s *Store) Find(name string) (*Entry, error) {
	jobs := s.jobs()
	if name == "last" && len(jobs) > 0 {
		name = jobs[len(jobs)-1].Name()
	}
	if name == "last" || s.store.Has(name) {
		found, err := s.store.Find(name)
		if errors.Is(err, daemon.ErrNoRun) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		if _, ok := s.store.Unmerged(found); ok {
			return nil, nil // there is no run file yet
		}
		return &Entry{Name: found, File: s.store.RunFile(found)}, nil
	}
	i := slices.IndexFunc(jobs, func(j *daemon.Job) bool { return j.Name() == name })
	if i < 0 {
		return nil, nil
	}
	return &Entry{Name: name, Segments: jobs[i].Paths()}, nil
}
