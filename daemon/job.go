package daemon

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/efg-tools/efg/hook/segment"
	"github.com/efg-tools/efg/internal/procfs"
	"github.com/efg-tools/efg/live"
)

// Job is processes that belong together and are not sealed yet.
type Job struct {
	Key      string
	Segments []*Segment
	// Problem is why it could not be sealed so far, "" if nothing went wrong.
	Problem string

	nth      int // of the jobs in a list that would have the same name
	launcher procfs.Process
	changed  time.Time // when a process began or ended
	retry    time.Time
	failures int
}

// Segment is a process's segment in the spool.
type Segment struct {
	Name    string
	Header  segment.Header
	Begun   bool // the header has been read
	Running bool
	origin  origin
	path    string
}

// origin is what is known of a process while it is there. It is kept in a file, for
// afterwards.
type origin struct {
	Key      string         `json:"job"`
	Process  procfs.Process `json:"process"`
	Launcher procfs.Process `json:"launcher"`
}

// tracker follows the segments in a spool.
type tracker struct {
	spool    *Spool
	keep     bool // write what is found out beside the segments
	segments map[string]*Segment
	jobs     map[string]*Job
	sealing  map[string]bool      // segments in lists of runs that are being sealed
	new      map[string]time.Time // segments that have not begun: when they were first seen
	peers    map[string]int       // process numbers that processes' sockets told, by segment
	foreign  int
}

func newTracker(s *Spool, keep bool) *tracker {
	return &tracker{spool: s, keep: keep, segments: map[string]*Segment{}, jobs: map[string]*Job{}, sealing: map[string]bool{}, new: map[string]time.Time{}, peers: map[string]int{}}
}

// Jobs returns what is in a spool by now, without a daemon. No two have the same name.
func Jobs(s *Spool) ([]*Job, error) {
	t := newTracker(s, false)
	if err := t.scan(time.Now()); err != nil {
		return nil, err
	}
	list := t.list()
	taken := map[string]int{}
	for _, j := range list {
		name := j.Name()
		taken[name]++
		j.nth = taken[name]
	}
	return list, nil
}

// JobsIn returns the jobs in a spool folder, or the user's if there is none given; none if
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

// list are the jobs in the order in which they began.
func (t *tracker) list() []*Job {
	var list []*Job
	for _, j := range t.jobs {
		list = append(list, j)
	}
	slices.SortFunc(list, func(a, b *Job) int {
		if c := a.Started().Compare(b.Started()); c != 0 {
			return c
		}
		return strings.Compare(a.Key, b.Key)
	})
	return list
}

// scan takes note of new segments and of processes that have ended.
func (t *tracker) scan(now time.Time) error {
	names, foreign, err := t.spool.segments()
	if err != nil {
		return err
	}
	t.foreign = foreign
	there := make(map[string]bool, len(names))
	for _, name := range names {
		there[name] = true
		if t.segments[name] == nil && !t.sealing[name] {
			t.begin(name, now)
		}
	}
	for name, s := range t.segments {
		if !there[name] || t.sealing[name] {
			t.drop(s)
			continue
		}
		t.update(s, now)
	}
	return nil
}

// begin takes up a new segment.
func (t *tracker) begin(name string, now time.Time) {
	s := &Segment{Name: name, path: t.spool.path(name)}
	if s.look(); !s.Begun && now.Sub(t.firstSeen(name, now)) < beginTime {
		return // its process is just making it: it is not in its memory yet
	}
	delete(t.new, name)
	s.Running = live.Running(s.path)
	if pid := t.peers[name]; pid != 0 && !s.Running {
		// Its number is another one here: it is in a container.
		if p, ok := procfs.ReadStatus(pid); ok && !p.Gone {
			s.Running, s.origin.Process = true, p.Process
		}
	}
	delete(t.peers, name)
	if !t.known(s) {
		t.findOrigin(s)
	}
	t.segments[name] = s
	j := t.jobs[s.origin.Key]
	if j == nil {
		j = &Job{Key: s.origin.Key}
		t.jobs[j.Key] = j
	}
	j.Segments = append(j.Segments, s)
	if s.origin.Launcher.PID != 0 {
		j.launcher = s.origin.Launcher
	}
	j.changed = now
}

// beginTime is more than a process takes to make its segment.
const beginTime = 2 * time.Second

func (t *tracker) firstSeen(name string, now time.Time) time.Time {
	if _, ok := t.new[name]; !ok {
		t.new[name] = now
	}
	return t.new[name]
}

// look reads the header; that of a process that is just beginning may not be there
// yet.
func (s *Segment) look() {
	if h, _, err := segment.Activities(s.path); err == nil {
		s.Header, s.Begun = *h, true
	}
}

// known reads what was kept of a process's origin.
func (t *tracker) known(s *Segment) bool {
	data, err := os.ReadFile(s.path + jobExt)
	var o origin
	if err != nil || json.Unmarshal(data, &o) != nil || o.Key == "" {
		return false
	}
	s.origin = o
	s.Running = o.Process.PID != 0 && o.Process.Running()
	return true
}

// findOrigin finds out which job a process belongs to, and keeps that.
func (t *tracker) findOrigin(s *Segment) {
	o := &s.origin
	if o.Process.PID == 0 && s.Running {
		if p, ok := procfs.ReadStatus(pidIn(s.Name)); ok && !p.Gone {
			o.Process = p.Process
		}
	}
	if o.Process.PID != 0 {
		o.Launcher, _ = launcherOf(o.Process.PID)
	}
	o.Key = t.keyOf(s)
	if t.keep {
		if data, err := json.Marshal(o); err == nil {
			t.spool.write(s.Name+jobExt, data) // without it the job is found anew
		}
	}
}

// keyOf names the job of a process: that of a process of the same MPI_COMM_WORLD; else
// what started it; else, of a process that was gone before anybody
// looked, one that began at about the same time with the same command.
func (t *tracker) keyOf(s *Segment) string {
	h, o := &s.Header, &s.origin
	world := s.Begun && h.World != 0
	for _, x := range t.segments {
		if world && x.Begun && x.Header.World == h.World && x.Header.Host == h.Host && x.Header.Size == h.Size {
			return x.origin.Key
		}
	}
	if o.Launcher.PID != 0 {
		return fmt.Sprintf("launcher %d.%d", o.Launcher.PID, o.Launcher.Start)
	}
	if world {
		return fmt.Sprintf("world %x.%x", h.World, h.Size)
	}
	if o.Process.PID != 0 {
		return fmt.Sprintf("process %d.%d", o.Process.PID, o.Process.Start)
	}
	if key, ok := t.similar(s); ok {
		return key
	}
	return "segment " + s.Name
}

// together is how far apart the ranks of a job begin.
const together = 5 * time.Second

// similar looks for a job that lacks this rank.
func (t *tracker) similar(s *Segment) (key string, ok bool) {
	h := &s.Header
	if !s.Begun || h.Rank < 0 {
		return "", false
	}
	for _, j := range t.list() {
		fits, taken := false, false
		for _, x := range j.Segments {
			g := &x.Header
			same := x.Begun && g.Size == h.Size && g.Host == h.Host && g.Command == h.Command
			apart := time.Duration(g.StartReal - h.StartReal).Abs()
			fits = fits || same && apart < together
			taken = taken || same && g.Rank == h.Rank
		}
		if fits && !taken {
			return j.Key, true
		}
	}
	return "", false
}

// pidIn is the process number in a segment's name, HOST.PID.TIME.seg.
func pidIn(name string) int {
	parts := strings.Split(strings.TrimSuffix(name, segmentExt), ".")
	if len(parts) < 3 {
		return 0
	}
	pid, _ := strconv.Atoi(parts[len(parts)-2])
	return pid
}

// update follows a process.
func (t *tracker) update(s *Segment, now time.Time) {
	if !s.Running {
		return
	}
	s.Running = s.origin.Process.Running()
	if !s.Begun || s.Header.Rank < 0 || !s.Running {
		s.look()
	}
	if !s.Running {
		t.jobs[s.origin.Key].changed = now
	}
}

// drop forgets a segment.
func (t *tracker) drop(s *Segment) {
	delete(t.segments, s.Name)
	j := t.jobs[s.origin.Key]
	if j == nil {
		return
	}
	j.Segments = slices.DeleteFunc(j.Segments, func(x *Segment) bool { return x == s })
	if len(j.Segments) == 0 {
		delete(t.jobs, j.Key)
	}
}

// Started is when the first process began.
func (j *Job) Started() time.Time {
	var first uint64
	for _, s := range j.Segments {
		if s.Begun && (first == 0 || s.Header.StartReal < first) {
			first = s.Header.StartReal
		}
	}
	return time.Unix(0, int64(first)).UTC()
}

// Running is how many of the job's processes are there.
func (j *Job) Running() (n int) {
	for _, s := range j.Segments {
		if s.Running {
			n++
		}
	}
	return n
}

// ended tells whether nothing more is to be expected: all processes are gone, and so
// is what started them, or, if that is not known, all ranks have been there; or nothing
// has happened for a quiet time.
func (j *Job) ended(now time.Time, quiet time.Duration) bool {
	switch {
	case j.Running() > 0:
		return false
	case j.launcher.PID != 0 && !j.launcher.Running(), j.launcher.PID == 0 && j.whole():
		return true
	}
	return now.Sub(j.changed) >= quiet
}

// whole tells whether each rank that the processes know of has been there.
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

// Command is the command line of the job's first process.
func (j *Job) Command() []string {
	for _, s := range j.Segments {
		if s.Begun {
			return commandOf(&s.Header)
		}
	}
	return nil
}

func commandOf(h *segment.Header) []string {
	text := string(h.Command[:min(int(h.CommandLen), len(h.Command))])
	return strings.Split(strings.TrimRight(text, "\x00"), "\x00")
}

// Name is that of the run that the job becomes, if nobody else has it.
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

// Paths are the segments' files.
func (j *Job) Paths() []string {
	var list []string
	for _, s := range j.Segments {
		list = append(list, s.path)
	}
	return list
}
