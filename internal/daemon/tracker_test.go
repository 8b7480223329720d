package daemon

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/efg-tools/efg/internal/segment"
)

// rankFiles are the files of segments by their ranks.
func rankFiles(t *testing.T, files []string) map[int]string {
	t.Helper()
	list := map[int]string{}
	for _, file := range files {
		h, err := segment.ReadHeader(file)
		if err != nil {
			t.Fatal(err)
		}
		list[int(h.Rank)] = file
	}
	return list
}

// note writes what an earlier daemon would have recorded about a process.
func note(t *testing.T, file, key string) {
	t.Helper()
	data, err := json.Marshal(origin{Key: key})
	if err != nil {
		t.Fatal(err)
	}
	write(t, file+jobExt, data)
}

// found returns the sizes of the jobs that a daemon finds in a spool when it starts, by key.
func found(t *testing.T, spool string) map[string]int {
	t.Helper()
	f := newTracker(&Spool{spool}, true)
	defer f.close()
	if err := f.listDir(time.Now()); err != nil {
		t.Fatal(err)
	}
	jobs := map[string]int{}
	for _, j := range f.list() {
		jobs[j.Key] = len(j.Segments)
	}
	return jobs
}

// A daemon that was killed had recorded for one process of a launch what started it. The next
// one finds the launch as one job, whichever process it finds first, and so does the one after
// it.
func TestNotedOfOne(t *testing.T) {
	const key = "launcher 17.4"
	for _, job := range []string{"hydra n1:4711", ""} {
		for noted := range 3 {
			spool := privateDir(t)
			for rank, file := range rankFiles(t, madeSegments(t, 3)) {
				launchOn(t, file, 0, job) // the launcher does not name the world
				if to := move(t, file, spool); rank == noted {
					note(t, to, key)
				}
			}
			for daemon := range 2 {
				if jobs := found(t, spool); len(jobs) != 1 || jobs[key] != 3 {
					t.Errorf("%q, noted of rank %d: daemon %d finds %v", job, noted, daemon+1, jobs)
				}
			}
			for _, file := range names(t, spool, "*.seg") {
				if s := (Segment{path: file}); !s.readOrigin() || s.origin.Key != key {
					t.Errorf("%q, noted of rank %d: %+v", job, noted, s.origin)
				}
			}
		}
	}
}

// Processes of another launch remain separate: it has another name or, if launches have none,
// ranks that the first one has.
func TestNotedOfAnother(t *testing.T) {
	const key = "launcher 17.4"
	for _, c := range []struct {
		first, second string // names of the launches
		noted         int    // ranks of the first
	}{{"hydra n1:4711", "hydra n1:4712", 1}, {"", "", 3}} {
		spool := privateDir(t)
		for rank, file := range rankFiles(t, madeSegments(t, 3)) {
			launchOn(t, file, 0, c.first)
			if to := move(t, file, spool); rank < c.noted {
				note(t, to, key)
			}
		}
		for _, file := range madeSegments(t, 3) {
			launchOn(t, file, 0, c.second)
			move(t, file, spool)
		}
		if jobs := found(t, spool); len(jobs) != 2 || jobs[key] != 3 {
			t.Errorf("%+v: %v", c, jobs)
		}
	}
}
