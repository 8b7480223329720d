package live

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/analysis/waitfor"
	"github.com/efg-tools/efg/internal/segment"
	"github.com/efg-tools/efg/internal/symbolize"
	"github.com/efg-tools/efg/internal/worlds"
)

// Job is the content of the segments of a job's processes at approximately one moment.
type Job struct {
	Ranks []*Rank // by rank in the job
	// Size is the number of ranks of all worlds; those not in Ranks are missing.
	Size int
	// Running: at least one process is still running.
	Running bool
	// Now is the time by CLOCK_MONOTONIC in ns, Real as Unix time.
	Now  uint64
	Real time.Time
	// Broken says which segments could not be read, and why.
	Broken []string
	Sites  []runfile.Site
}

// Rank is a process of the job.
type Rank struct {
	*segment.Segment
	Path    string
	Number  int // rank in the job: worlds follow each other, as in run files
	First   int // rank in the job of rank 0 of its MPI_COMM_WORLD
	Running bool
	// Moved[i]: thread i made calls while the job was examined.
	Moved []bool
}

// ErrNoSegments: there are no segments.
var ErrNoSegments = errors.New("no segments (.seg) in it")

// Segments lists the segments in a directory that belong to this user.
func Segments(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var paths []string
	for _, e := range entries {
		if info, err := e.Info(); err == nil && filepath.Ext(e.Name()) == ".seg" && segment.CheckOwner(info) == nil {
			paths = append(paths, filepath.Join(dir, e.Name()))
		}
	}
	if len(paths) == 0 {
		return nil, ErrNoSegments
	}
	return paths, nil
}

// Read reads a job's segments twice, at least pause apart: a thread whose state has changed in
// between is moving.
func Read(paths []string, pause time.Duration) (*Job, error) {
	began := time.Now()
	j := &Job{}
	for i, r := range readAll(paths) {
		switch {
		case r.err == nil:
			j.Ranks = append(j.Ranks, r.rank)
			j.Running = j.Running || r.rank.Running
		case !errors.Is(r.err, os.ErrNotExist): // gone since it was listed
			j.Broken = append(j.Broken, fmt.Sprintf("%s: %v", paths[i], withoutName(r.err)))
		}
	}
	if len(j.Ranks) == 0 {
		return nil, fmt.Errorf("no segment can be read: %s", strings.Join(append(j.Broken, "no segments"), "; "))
	}
	if j.Running {
		time.Sleep(pause - time.Since(began))
	}
	for _, r := range j.Ranks {
		r.lookAgain()
		j.Running = j.Running || r.Running
	}
	j.stamp()
	j.number()
	j.Sites = symbolize.Sites(j.processes())
	return j, nil
}

// withoutName removes the file name that package segment prepends.
func withoutName(err error) error {
	if cause := errors.Unwrap(err); cause != nil {
		return cause
	}
	return err
}

type readResult struct {
	rank *Rank
	err  error
}

func readAll(paths []string) []readResult {
	out := make([]readResult, len(paths))
	var wg sync.WaitGroup
	limit := make(chan struct{}, 4)
	for i, path := range paths {
		limit <- struct{}{}
		wg.Go(func() {
			defer func() { <-limit }()
			running := segment.Running(path) // before it is read, because it may end meanwhile
			s, err := segment.ReadFile(path)
			if err != nil {
				out[i].err = err
				return
			}
			out[i].rank = &Rank{Segment: s, Path: path, Running: running, Moved: make([]bool, len(s.Activities))}
		})
	}
	wg.Wait()
	return out
}

// lookAgain determines which threads have made calls in the meantime. A process that was
// creating its segment when it was first looked for is running after all.
func (r *Rank) lookAgain() {
	r.Running = r.Running || segment.Running(r.Path)
	_, now, err := segment.Activities(r.Path)
	for i := range r.Activities {
		a := &r.Activities[i]
		behind := a.Events != r.Process.Streams[i].Events
		changed := r.Running && (err != nil || i >= len(now) || now[i].Busy || now[i].Events != a.Events || now[i].Tick != a.Tick)
		r.Moved[i] = a.Busy || behind || changed
	}
}

func (j *Job) stamp() {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_MONOTONIC, &t) == nil {
		j.Now = uint64(t.Nano())
	}
	j.Real = time.Now()
	if j.Running {
		return
	}
	// The job has ended: its times are as of its last heartbeat.
	j.Now = 0
	for _, r := range j.Ranks {
		j.Now = max(j.Now, r.Header.LastMono())
		for _, a := range r.Activities {
			j.Now = max(j.Now, a.Since)
		}
	}
	h := &j.Ranks[0].Header
	j.Real = time.Unix(0, int64(h.StartReal)+int64(j.Now-h.StartMono()))
}

// number assigns the processes their ranks in the job: worlds follow each other in the order in
// which they began.
func (j *Job) number() {
	procs := make([]worlds.Process, len(j.Ranks))
	for i, r := range j.Ranks {
		p := &r.Process
		procs[i] = worlds.Process{World: p.World, Rank: p.Rank, Size: p.Size, Began: p.Start, Host: p.Host, PID: p.PID}
	}
	found, places := worlds.Split(procs)
	first := make([]int, len(found))
	for k := range found {
		first[k] = j.Size
		j.Size += found[k].Size
	}
	ranks := make([]*Rank, len(places))
	for i, at := range places {
		r := j.Ranks[at.Process]
		if r.First, r.Number = first[at.World], -1; r.Process.Rank >= 0 {
			r.Number = r.First + r.Process.Rank
			r.Process.Rank = r.Number
		}
		ranks[i] = r
	}
	j.Ranks = ranks
}

// hasEnded reports whether a rank will do nothing more: it has called MPI_Finalize, or it is
// gone while others of the job still exist. (If all are gone, they may have been killed
// together.)
func (j *Job) hasEnded(r *Rank) bool {
	if j.Running && !r.Running {
		return true
	}
	return efg.End(r.Header.State) == efg.EndFinalized
}

// waiting returns the ranks as input of the wait-for graph.
func (j *Job) waiting() []*waitfor.Rank {
	list := make([]*waitfor.Rank, 0, len(j.Ranks))
	for _, r := range j.Ranks {
		w := &waitfor.Rank{Process: &r.Process, Number: r.Number, First: r.First, Ended: j.hasEnded(r)}
		for i := range r.Activities {
			w.Threads = append(w.Threads, waitfor.Thread{InCall: r.Activities[i].InCall, Moved: r.Moved[i], Words: r.Activities[i].Words})
		}
		if efg.End(r.Header.State) == efg.EndExit {
			w.Exited(j.Running)
		}
		list = append(list, w)
	}
	return list
}

func (j *Job) processes() []*efg.Process {
	var list []*efg.Process
	for _, r := range j.Ranks {
		list = append(list, &r.Process)
	}
	return list
}

// Missing returns the ranks of the job that have no segment.
func (j *Job) Missing() []int {
	have := make(map[int]bool, len(j.Ranks))
	for _, r := range j.Ranks {
		have[r.Number] = true
	}
	var list []int
	for i := 0; i < j.Size && len(list) < maxListed; i++ {
		if !have[i] {
			list = append(list, i)
		}
	}
	return list
}

// maxListed bounds lists of ranks: a broken segment can claim any size.
const maxListed = 1 << 17
