package daemon

import (
	"sync"
	"time"
)

// Follower finds the jobs in a spool repeatedly. Unlike a daemon it only observes, and it reads
// again only what may have changed.
type Follower struct {
	mu      sync.Mutex
	tracker *tracker
	list    []*Job // as of version
	version uint64
}

// Follow begins to follow the jobs in a spool.
func Follow(s *Spool) *Follower { return &Follower{tracker: newTracker(s, false)} }

// Jobs returns the current jobs, by start time. No two jobs have the same name. The list is
// immutable: after a change another one is returned.
func (f *Follower) Jobs() ([]*Job, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	t := f.tracker
	if err := t.scan(time.Now()); err != nil {
		return nil, err
	}
	if f.list == nil || f.version != t.version {
		f.list, f.version = named(t.list()), t.version
	}
	return f.list, nil
}

// named returns copies of jobs, numbered if their names would be the same.
func named(jobs []*Job) []*Job {
	taken, list := map[string]int{}, make([]*Job, 0, len(jobs))
	for _, j := range jobs {
		c := j.clone()
		name := c.Name()
		taken[name]++
		c.nth = taken[name]
		list = append(list, c)
	}
	return list
}

// clone returns an immutable copy of a job.
func (j *Job) clone() *Job {
	c := *j
	c.starter = nil
	c.Segments = make([]*Segment, len(j.Segments))
	for i, s := range j.Segments {
		g := *s
		g.process = nil
		c.Segments[i] = &g
	}
	return &c
}

// Close releases the resources of the follower.
func (f *Follower) Close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.tracker.close()
}

// Jobs returns the current jobs in a spool, without a daemon. No two have the same name.
func Jobs(s *Spool) ([]*Job, error) {
	f := Follow(s)
	defer f.Close()
	return f.Jobs()
}

// JobsIn returns the jobs in a spool directory, or in the user's spool if dir is empty; none if
// it cannot be read.
func JobsIn(dir string) []*Job {
	if dir == "" {
		dir = DefaultSpool()
	}
	spool, err := OpenSpool(dir, false)
	if err != nil {
		return nil
	}
	jobs, err := Jobs(spool)
	if err != nil {
		return nil
	}
	return jobs
}
