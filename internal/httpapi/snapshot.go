package httpapi

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/efg-tools/efg/internal/merge"
)

// snapshots are run files of running jobs, as they were a moment ago. The files are unnamed:
// nothing of them remains.
type snapshots struct {
	dir  string
	turn *semaphore.Weighted // one is made at a time

	mu   sync.Mutex
	shot map[string]*snapshot
}

type snapshot struct {
	file  *os.File
	at    time.Time
	fresh time.Duration // how long it counts as current
}

const (
	// minFresh is the minimum time that a snapshot is used; it is used for this multiple of
	// the time it took to create it and to answer requests about it.
	minFresh   = time.Second
	freshTimes = 10
	// keptShots is the number of snapshots that are kept.
	keptShots = 4
)

func newSnapshots(dir string) *snapshots {
	return &snapshots{dir: dir, turn: semaphore.NewWeighted(1), shot: map[string]*snapshot{}}
}

// source is a snapshot of a job.
func (s *snapshots) source(ctx context.Context, e *Entry) (*source, error) {
	x := s.find(e.Name)
	if x == nil {
		if err := s.turn.Acquire(ctx, 1); err != nil {
			return nil, err
		}
		defer s.turn.Release(1)
		if x = s.find(e.Name); x == nil {
			var err error
			if x, err = s.make(e); err != nil {
				return nil, err
			}
		}
	}
	return &source{
		name: e.Name, tag: fmt.Sprintf("%s\x00snapshot\x00%d", e.Name, x.at.UnixNano()), at: x.at,
		open: func() (*os.File, error) { return s.reopen(x) }, spent: func(took time.Duration) { s.spent(x, took) },
	}, nil
}

// spent prolongs the use of a snapshot by the cost of requests about it: clients that follow a
// job cannot keep the processor busy, however many they are.
func (s *snapshots) spent(x *snapshot, took time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	x.fresh += freshTimes * took
}

// find returns the snapshot of a job, if it is fresh.
func (s *snapshots) find(name string) *snapshot {
	s.mu.Lock()
	defer s.mu.Unlock()
	if x := s.shot[name]; x != nil && time.Since(x.at) < x.fresh {
		return x
	}
	return nil
}

// make creates a snapshot of a job. Segments that can no longer be read are left out.
func (s *snapshots) make(e *Entry) (*snapshot, error) {
	began := time.Now()
	tmp, err := os.CreateTemp(s.dir, ".snapshot-*.tmp") // a daemon removes it at its start
	if err != nil {
		return nil, err
	}
	path := tmp.Name()
	defer os.Remove(path)
	if err := tmp.Close(); err != nil {
		return nil, err
	}
	if _, err := merge.Run(e.Segments, merge.Options{Output: path, Workers: 1, SkipBroken: true, Tool: "efg snapshot", Ended: began.UnixNano()}); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, gone(e.Name, err)
		}
		return nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	x := &snapshot{file: f, at: began, fresh: max(minFresh, freshTimes*time.Since(began))}
	s.mu.Lock()
	defer s.mu.Unlock()
	if old := s.shot[e.Name]; old != nil {
		old.file.Close()
	}
	s.shot[e.Name] = x
	s.dropOldest()
	return x, nil
}

func (s *snapshots) dropOldest() {
	for len(s.shot) > keptShots {
		oldest := ""
		for name, x := range s.shot {
			if oldest == "" || x.at.Before(s.shot[oldest].at) {
				oldest = name
			}
		}
		s.shot[oldest].file.Close()
		delete(s.shot, oldest)
	}
}

// reopen opens a snapshot's file once more.
func (s *snapshots) reopen(x *snapshot) (*os.File, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f, err := os.Open(fmt.Sprintf("/proc/self/fd/%d", x.file.Fd()))
	if err != nil {
		return nil, &statusError{503, "the snapshot has just been replaced; try again"}
	}
	return f, nil
}

func (s *snapshots) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for name, x := range s.shot {
		x.file.Close()
		delete(s.shot, name)
	}
}
