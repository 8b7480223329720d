package daemon

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/efg-tools/efg/internal/procfs"
	"github.com/efg-tools/efg/internal/segment"
)

// Job is a set of processes that belong together and are not sealed yet.
type Job struct {
	Key      string
	Segments []*Segment
	// Problem is why sealing it has failed so far, "" if it has not.
	Problem string

	nth      int // number among the jobs of a list with the same name
	launcher procfs.Process
	starter  *procfs.Watched // the launcher that the user started; nil if unknown
	changed  time.Time       // when a process last began or ended
	gone     time.Time       // when the last process was seen to have ended; zero if that was not seen
	retry    time.Time
	failures int
}

// Segment is a process's segment in the spool.
type Segment struct {
	Name    string
	Header  segment.Header
	Begun   bool // the header has been read
	Running bool
	layout  uint64 // of another version, which wrote it; otherwise 0
	origin  origin
	known   bool            // origin was determined by a daemon
	process *procfs.Watched // nil if it was gone when it was first examined
	path    string
}

// origin is what can be determined about a process only while it exists. It is kept in a file.
type origin struct {
	Key      string         `json:"job"`
	Process  procfs.Process `json:"process"`
	Launcher procfs.Process `json:"launcher"`
	Starter  procfs.Process `json:"starter"`            // the launcher that the user started
	Launched []string       `json:"launched,omitempty"` // its command line
	Command  []string       `json:"command,omitempty"`  // of the process
	Tool     string         `json:"tool,omitempty"`     // the one that was running when the process began
}

// Started is when the first process began.
func (j *Job) Started() time.Time {
	var first uint64
	for _, s := range j.Segments {
		began := s.Header.StartReal
		if !s.Begun {
			began = startIn(s.Name)
		}
		if began != 0 && (first == 0 || began < first) {
			first = began
		}
	}
	return time.Unix(0, int64(first)).UTC()
}

// Running returns the number of running processes of the job.
func (j *Job) Running() (n int) {
	for _, s := range j.Segments {
		if s.Running {
			n++
		}
	}
	return n
}

// ended reports whether the job is complete: all processes have ended, and so has their
// launcher or, if that is unknown, all ranks have been seen; or nothing has happened during the
// quiet time.
func (j *Job) ended(now time.Time, quiet time.Duration) bool {
	switch {
	case j.Running() > 0:
		return false
	case j.launcher.PID != 0 && !j.launcher.Running(), j.launcher.PID == 0 && j.whole():
		return true
	}
	return now.Sub(j.changed) >= quiet
}

// whole reports whether every rank that the processes know about has been seen.
func (j *Job) whole() bool {
	type world struct {
		id   uint64
		size uint32
	}
	ranks := map[world]map[int32]bool{}
	for _, s := range j.Segments {
		if !s.Begun || s.Header.Rank < 0 {
			return false
		}
		w := world{s.Header.World, s.Header.Size}
		if ranks[w] == nil {
			ranks[w] = map[int32]bool{}
		}
		ranks[w][s.Header.Rank] = true
	}
	for w, have := range ranks {
		if len(have) < int(w.size) {
			return false
		}
	}
	return true
}

// The first words of the keys of jobs of which only the segments are known.
const (
	worldKey   = "world "
	segmentKey = "segment "
)

// isGuessed reports whether nothing is known about what started the job.
func (j *Job) isGuessed() bool {
	return strings.HasPrefix(j.Key, worldKey) || strings.HasPrefix(j.Key, segmentKey)
}

// together is the maximum time between the starts of a job's ranks.
const together = 5 * time.Second

// accepts reports whether a process belongs to the job, according to the headers: it belongs to a
// world of the job; or to the launch that the launcher names; or, if the launcher names none,
// began at about the same time with the same command, and the job does not have its rank.
func (j *Job) accepts(s *Segment) bool {
	h := &s.Header
	if !s.Begun || h.Rank < 0 {
		return false
	}
	fits, taken := false, false
	for _, x := range j.Segments {
		g := &x.Header
		if !x.Begun || g.Host != h.Host || g.Job != h.Job {
			continue
		}
		if h.World != 0 && sameWorld(g, h) {
			return true
		}
		same, within := g.Size == h.Size && g.Command == h.Command, together
		if h.Job[0] != 0 {
			same, within = true, apart
		}
		fits = fits || same && time.Duration(g.StartReal-h.StartReal).Abs() < within
		taken = taken || same && g.World == h.World && g.Size == h.Size && g.Rank == h.Rank
	}
	return fits && !taken
}

// sameWorld reports whether two processes have the same MPI_COMM_WORLD, if the launcher names it.
func sameWorld(g, h *segment.Header) bool {
	return g.World == h.World && g.Size == h.Size && g.Host == h.Host
}

// Command is the command line of the job's first process.
func (j *Job) Command() []string {
	for _, s := range j.Segments {
		if s.Begun {
			return commandOf(&s.Header)
		}
	}
	if len(j.Segments) > 0 {
		return j.Segments[0].origin.Command
	}
	return nil
}

func commandOf(h *segment.Header) []string {
	text := string(h.Command[:min(int(h.CommandLen), len(h.Command))])
	return strings.Split(strings.TrimRight(text, "\x00"), "\x00")
}

// Name is the name of the run that the job becomes, unless it is already used.
func (j *Job) Name() string {
	program := "run"
	if c := j.Command(); len(c) > 0 {
		program = filepath.Base(c[0])
		if len(c) > 1 && (strings.HasPrefix(program, "python") || program == "sh" || program == "bash") && !strings.HasPrefix(c[1], "-") {
			program = filepath.Base(c[1])
		}
	}
	program = strings.Trim(plainName(program), "-")
	name := j.Started().Format("20060102-150405-") + program[:min(len(program), 40)]
	if j.nth > 1 {
		name = fmt.Sprintf("%s-%d", name, j.nth)
	}
	return name
}

// Paths are the files of the segments.
func (j *Job) Paths() []string {
	var list []string
	for _, s := range j.Segments {
		list = append(list, s.path)
	}
	return list
}
