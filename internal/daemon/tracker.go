package daemon

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/efg-tools/efg/internal/procfs"
	"github.com/efg-tools/efg/internal/segment"
)

// tracker tracks the segments in a spool. It does not reread unchanged segments, but lists the
// directory periodically in any case.
type tracker struct {
	spool    *Spool
	keep     bool // write the origins of segments beside them
	segments map[string]*Segment
	jobs     map[string]*Job
	sealing  map[string]bool      // segments in lists of runs that are being sealed
	new      map[string]time.Time // segments that have not begun: when they were first seen
	peers    map[string]int       // process numbers learned from sockets, by segment
	foreign  int
	tool     string // this daemon's name and version

	changes   *changes
	processes *procfs.Watch
	listed    time.Time // zero: the directory must be listed
	version   uint64    // of segments and jobs; incremented by each change
}

func newTracker(s *Spool, keep bool) *tracker {
	return &tracker{
		spool: s, keep: keep, segments: map[string]*Segment{}, jobs: map[string]*Job{}, sealing: map[string]bool{}, new: map[string]time.Time{}, peers: map[string]int{},
		changes: watchChanges(s.Dir), processes: procfs.NewWatch(),
	}
}

func (t *tracker) close() {
	t.changes.close()
	t.processes.Close()
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

// listAgain is the interval between listings of the spool, whatever the kernel reports.
const listAgain = 5 * time.Second

// scan records new segments and processes that have ended.
func (t *tracker) scan(now time.Time) error {
	names, complete := t.changes.since()
	if !complete || now.Sub(t.listed) >= listAgain {
		if err := t.listDir(now); err != nil {
			return err
		}
	} else {
		t.look(names, now)
	}
	t.processes.Update()
	for _, s := range t.segments {
		t.update(s, now)
	}
	return nil
}

// listDir compares the known segments with the existing ones.
func (t *tracker) listDir(now time.Time) error {
	names, foreign, err := t.spool.segments()
	if err != nil {
		return err
	}
	t.foreign, t.listed = foreign, now
	there := make(map[string]bool, len(names))
	for _, name := range names {
		there[name] = true
	}
	for name, s := range t.segments {
		if !there[name] || t.sealing[name] || !t.keep && !s.known {
			t.drop(s) // it is found again: by now more may be known
		}
	}
	for name := range t.new {
		if !there[name] {
			delete(t.new, name)
		}
	}
	for _, name := range names {
		if t.segments[name] == nil && !t.sealing[name] {
			t.begin(name, now)
		}
	}
	return nil
}

// look examines the segments that may have been added or removed, and those that had not begun.
func (t *tracker) look(names []string, now time.Time) {
	for name := range t.new {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		s := t.segments[name]
		fi, err := os.Lstat(t.spool.path(name))
		switch {
		case err != nil:
			if delete(t.new, name); s != nil {
				t.drop(s)
			}
		case !isOwn(fi):
			t.listed = time.Time{} // to count them
		case s == nil && !t.sealing[name]:
			t.begin(name, now)
		case s != nil && !t.keep && !s.known: // the daemon may have written more about it
			t.drop(s)
			t.begin(name, now)
		}
	}
}

// begin starts to track a new segment.
func (t *tracker) begin(name string, now time.Time) {
	s := &Segment{Name: name, path: t.spool.path(name)}
	if !s.refresh() && now.Sub(t.firstSeen(name, now)) < beginTime {
		return // its process is just creating it, and has not mapped it yet
	}
	delete(t.new, name)
	if s.known = s.readOrigin(); !s.known {
		t.findOrigin(s)
	}
	delete(t.peers, name)
	if s.origin.Process.PID != 0 {
		s.process = t.processes.Add(s.origin.Process)
		s.Running = s.process.Running()
	}
	t.segments[name] = s
	t.gather(t.assign(s, now), now)
}

// assign adds a segment to its job.
func (t *tracker) assign(s *Segment, now time.Time) *Job {
	j := t.jobs[s.origin.Key]
	if j == nil {
		j = &Job{Key: s.origin.Key}
		t.jobs[j.Key] = j
	}
	j.Segments = append(j.Segments, s)
	if s.origin.Launcher.PID != 0 {
		j.launcher = s.origin.Launcher
	}
	if s.origin.Starter.PID != 0 && j.starter == nil {
		j.starter = t.processes.Add(s.origin.Starter)
	}
	j.changed = now
	t.version++
	return j
}

// gather merges into a job those of which nothing was known when they were found, if it lacks
// all their processes: the result does not depend on the order in which segments are found.
func (t *tracker) gather(j *Job, now time.Time) {
	if j.isGuessed() {
		return
	}
	for _, other := range t.list() {
		if !other.isGuessed() || slices.ContainsFunc(other.Segments, func(s *Segment) bool { return !j.accepts(s) }) {
			continue
		}
		for _, s := range slices.Clone(other.Segments) {
			t.leave(s)
			s.origin.Key = j.Key
			t.keepOrigin(s)
			t.assign(s, now)
		}
	}
}

// beginTime is longer than a process takes to create its segment.
const beginTime = 2 * time.Second

func (t *tracker) firstSeen(name string, now time.Time) time.Time {
	if _, ok := t.new[name]; !ok {
		t.new[name] = now
	}
	return t.new[name]
}

// refresh reads the header, and reports whether it has changed; a process that is just beginning
// may not have written it yet.
func (s *Segment) refresh() bool {
	h, _, err := segment.Activities(s.path)
	var other *segment.VersionError
	if errors.As(err, &other) && s.layout == 0 {
		s.layout = other.Layout
		return true
	}
	if err != nil || s.Begun && *h == s.Header {
		return false
	}
	s.Header, s.Begun = *h, true
	return true
}

// readOrigin reads what was kept of a process's origin.
func (s *Segment) readOrigin() bool {
	data, err := os.ReadFile(s.path + jobExt)
	var o origin
	if err != nil || json.Unmarshal(data, &o) != nil || o.Key == "" {
		return false
	}
	s.origin = o
	return true
}

// findOrigin determines which job a process belongs to, and stores that.
func (t *tracker) findOrigin(s *Segment) {
	o := &s.origin
	_, pid, _ := segment.ProcessIn(s.Name)
	if !segment.Running(s.path) {
		pid = t.peers[s.Name] // in a container its number differs from the one here
	}
	if p, ok := procfs.ReadStatus(pid); ok && !p.Gone {
		o.Process = p.Process
		o.Launcher, _ = launcherOf(o.Process.PID)
		o.Starter, o.Launched = starterOf(o.Process.PID)
	}
	o.Key = t.keyOf(s)
	if s.Begun {
		o.Command, o.Tool = commandOf(&s.Header), t.tool
	}
	t.keepOrigin(s)
}

// keepOrigin writes a process's origin beside its segment, for the next daemon.
func (t *tracker) keepOrigin(s *Segment) {
	if !t.keep {
		return
	}
	if data, err := json.Marshal(s.origin); err == nil {
		t.spool.write(s.Name+jobExt, data) // without it the job is determined again
	}
}

// keyOf is the key of a process's job: that of a process of the same MPI_COMM_WORLD; otherwise
// what started it; otherwise, for a process that was gone before it could be examined, that of
// a job which lacks this rank.
func (t *tracker) keyOf(s *Segment) string {
	h, o := &s.Header, &s.origin
	world := s.Begun && h.World != 0
	for _, x := range t.segments {
		if world && x.Begun && sameWorld(&x.Header, h) {
			return x.origin.Key
		}
	}
	if o.Launcher.PID != 0 {
		return fmt.Sprintf("launcher %d.%d", o.Launcher.PID, o.Launcher.Start)
	}
	if world {
		return fmt.Sprintf(worldKey+"%x.%x", h.World, h.Size)
	}
	if o.Process.PID != 0 {
		return fmt.Sprintf("process %d.%d", o.Process.PID, o.Process.Start)
	}
	for _, j := range t.list() {
		if j.accepts(s) {
			return j.Key
		}
	}
	return segmentKey + s.Name
}

// startIn returns when a process began, from its segment's name.
func startIn(name string) uint64 {
	name = strings.TrimSuffix(name, segmentExt)
	ns, _ := strconv.ParseUint(name[strings.LastIndexByte(name, '.')+1:], 16, 63)
	return ns
}

// update checks whether a process still runs.
func (t *tracker) update(s *Segment, now time.Time) {
	if !s.Running {
		return
	}
	s.Running = s.process.Running()
	if s.layout == 0 && (!s.Begun || s.Header.Rank < 0 || !s.Running) && s.refresh() {
		t.version++
	}
	if !s.Running {
		j := t.jobs[s.origin.Key]
		j.changed, j.gone = now, now
		t.version++
	}
}

// drop forgets a segment.
func (t *tracker) drop(s *Segment) {
	t.version++
	delete(t.segments, s.Name)
	if s.process != nil {
		t.processes.Drop(s.process)
	}
	t.leave(s)
}

// leave removes a segment from its job.
func (t *tracker) leave(s *Segment) {
	j := t.jobs[s.origin.Key]
	if j == nil {
		return
	}
	j.Segments = slices.DeleteFunc(j.Segments, func(x *Segment) bool { return x == s })
	if len(j.Segments) == 0 {
		delete(t.jobs, j.Key)
		if j.starter != nil {
			t.processes.Drop(j.starter)
		}
	}
}
