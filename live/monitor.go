package live

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/hook/segment"
	"github.com/efg-tools/efg/internal/procfs"
	"github.com/efg-tools/efg/internal/symbolize"
	"github.com/efg-tools/efg/signature"
)

// Monitor looks at a job again and again. It reads counters only, no graphs, so that
// hundreds of ranks can be looked at ten times a second. It is for one goroutine.
type Monitor struct {
	ranks map[string]*watched
	sites map[uint64]efg.Site
}

// watched is a process and what was seen of it last.
type watched struct {
	watch   *segment.Watch
	process bool           // it is running
	is      procfs.Process // which it is, if it is
	checked time.Time
	now     uint64 // CLOCK_MONOTONIC, ns, of the last look
	events  uint64
	inMPI   uint64 // ns, of all threads
	calls   map[callKey]callState
	asked   map[uint64]bool // callsites whose definitions were looked for
}

type callKey struct {
	proc int
	site uint64
}

// callState is what a process has done at a callsite so far: calls that have returned,
// their time, and the time inside of all, the one in progress included; ns.
type callState struct{ count, dur, inside uint64 }

// FrameSchema names Frame's JSON and its version, which is FrameVersion, too.
const (
	FrameSchema  = "efg-top/1"
	FrameVersion = 1
)

// Frame is what a job did between two looks.
type Frame struct {
	Schema  string     `json:"schema"`
	Version int        `json:"version"`
	At      time.Time  `json:"at"`
	Seconds float64    `json:"seconds"` // since the look before
	Command []string   `json:"command"`
	Events  uint64     `json:"events"` // so far
	Rate    float64    `json:"rate"`   // events per second
	InMPI   float64    `json:"inMPI"`  // part of the time of all threads
	Timed   bool       `json:"timed"`  // the job is recorded with times
	Ranks   []RankRate `json:"ranks"`
	Calls   []CallRate `json:"callsites"` // by time
}

// RankRate is what one process did.
type RankRate struct {
	Rank    int     `json:"rank"` // in its MPI_COMM_WORLD; -1: not known
	PID     int     `json:"pid"`
	Host    string  `json:"host"`
	Running bool    `json:"running"`
	Threads int     `json:"threads"`
	Events  uint64  `json:"events"` // so far
	Rate    float64 `json:"rate"`
	InMPI   float64 `json:"inMPI"`
	// Op is the call that the first thread is in, "" between calls; Site is where, also
	// of the last call.
	Op      string  `json:"op,omitempty"`
	Last    string  `json:"last,omitempty"` // the last call, if it is in none
	Site    string  `json:"site,omitempty"`
	Seconds float64 `json:"seconds"` // for how long
}

// CallRate is what was done at one callsite.
type CallRate struct {
	Op    string  `json:"op"`
	Site  string  `json:"site"`
	Ranks int     `json:"ranks"`
	Rate  float64 `json:"rate"`  // calls that returned, per second, of all ranks
	InMPI float64 `json:"inMPI"` // part of the time of all threads
	Mean  float64 `json:"mean"`  // seconds a call, of those that returned
}

// NewMonitor begins to look at a job.
func NewMonitor() *Monitor {
	return &Monitor{ranks: map[string]*watched{}, sites: map[uint64]efg.Site{}}
}

// Close ends it.
func (m *Monitor) Close() {
	for path, w := range m.ranks {
		w.watch.Close()
		delete(m.ranks, path)
	}
}

// checkEvery is how often it is found out whether a process is still there.
const checkEvery = time.Second

// Look returns what the processes with these segments did since the last look. Of
// processes that it sees for the first time there are no rates.
func (m *Monitor) Look(paths []string) (*Frame, error) {
	f := &Frame{Schema: FrameSchema, Version: FrameVersion, At: time.Now().UTC(), Ranks: []RankRate{}, Calls: []CallRate{}}
	sum := &sums{calls: map[callKey]*callSum{}}
	var last error
	for _, path := range paths {
		if err := m.look(path, f, sum); err != nil {
			last = err
		}
	}
	m.forget(paths)
	if len(f.Ranks) == 0 {
		if last == nil {
			last = ErrNoSegments
		}
		return nil, last
	}
	m.finish(f, sum)
	return f, nil
}

// forget drops processes that are not asked for any more.
func (m *Monitor) forget(paths []string) {
	asked := make(map[string]bool, len(paths))
	for _, p := range paths {
		asked[p] = true
	}
	for path, w := range m.ranks {
		if !asked[path] {
			w.watch.Close()
			delete(m.ranks, path)
		}
	}
}

// sums add up what all ranks did.
type sums struct {
	calls   map[callKey]*callSum
	time    float64 // of all threads, ns
	inMPI   float64
	seconds float64
}

type callSum struct {
	calls, dur, inside float64
	ranks              int
}

func (m *Monitor) look(path string, f *Frame, sum *sums) error {
	w := m.ranks[path]
	if w == nil {
		watch, err := segment.OpenWatch(path)
		if err != nil {
			return err
		}
		w = &watched{watch: watch, calls: map[callKey]callState{}, asked: map[uint64]bool{}}
		m.ranks[path] = w
	}
	l, err := w.watch.Look(true)
	if err != nil {
		if !errors.Is(err, os.ErrNotExist) {
			w.watch.Close()
			delete(m.ranks, path)
		}
		return err
	}
	if f.At.Sub(w.checked) >= checkEvery {
		w.check(path)
		w.checked = f.At
	}
	if f.Command == nil {
		f.Command = commandOf(&l.Header)
	}
	f.Timed = f.Timed || l.Header.TimeMode != 0
	f.Ranks = append(f.Ranks, m.rank(w, l, sum))
	return nil
}

// check finds out whether the process is still there. Its memory is looked through once
// only: with hundreds of ranks that takes as long as all else.
func (w *watched) check(path string) {
	if w.is.PID != 0 {
		w.process = w.is.Running()
		return
	}
	if w.process = Running(path); w.process {
		_, pid, _ := parseName(filepath.Base(path))
		if s, ok := procfs.ReadStatus(pid); ok {
			w.is = s.Process
		}
	}
}

func commandOf(h *segment.Header) []string {
	text := string(h.Command[:min(int(h.CommandLen), len(h.Command))])
	return strings.Split(strings.TrimRight(text, "\x00"), "\x00")
}

// rank computes the rates of one process, and adds them up.
func (m *Monitor) rank(w *watched, l *segment.Look, sum *sums) RankRate {
	h := &l.Header
	r := RankRate{Rank: int(h.Rank), PID: int(h.PID), Host: hostOf(h), Running: w.process, Threads: len(l.Activities)}
	now := monotonic()
	calls := map[callKey]callState{}
	for i := range l.Activities {
		a := &l.Activities[i]
		r.Events += a.Events
		if a.InCall && a.Since > 0 && now > a.Since && w.process {
			k := callKey{signature.Header(a.Words[0]).Proc(), a.Words[1]}
			calls[k] = callState{inside: calls[k].inside + now - a.Since}
		}
	}
	for _, c := range l.Calls {
		k := callKey{c.Header.Proc(), c.Site}
		x := calls[k]
		calls[k] = callState{x.count + c.Count, x.dur + c.Dur, x.inside + c.Dur}
	}
	var inMPI uint64
	for _, x := range calls {
		inMPI += x.inside
	}
	if w.now > 0 && now > w.now {
		dt := float64(now - w.now)
		r.Rate = float64(r.Events-min(w.events, r.Events)) / dt * 1e9
		r.InMPI = part(inMPI, w.inMPI, dt*float64(max(r.Threads, 1)))
		sum.add(w, calls, dt, r)
	}
	w.now, w.events, w.inMPI, w.calls = now, r.Events, inMPI, calls
	m.current(w, l, now, &r)
	return r
}

// part is how much of a time has gone by between two readings of a clock.
func part(now, before uint64, time float64) float64 {
	return min(float64(now-min(before, now))/time, 1)
}

func (s *sums) add(w *watched, calls map[callKey]callState, dt float64, r RankRate) {
	s.seconds = max(s.seconds, dt/1e9)
	s.time += dt * float64(r.Threads)
	s.inMPI += r.InMPI * dt * float64(r.Threads)
	for k, now := range calls {
		before := w.calls[k]
		if now == before {
			continue
		}
		c := s.calls[k]
		if c == nil {
			c = &callSum{}
			s.calls[k] = c
		}
		c.calls += float64(now.count - min(before.count, now.count))
		c.dur += float64(now.dur - min(before.dur, now.dur))
		c.inside += float64(now.inside - min(before.inside, now.inside))
		c.ranks++
	}
}

// current tells what the first thread is doing.
func (m *Monitor) current(w *watched, l *segment.Look, now uint64, r *RankRate) {
	if len(l.Activities) == 0 || l.Activities[0].Words == nil {
		return
	}
	a := &l.Activities[0]
	name := procName(signature.Header(a.Words[0]).Proc())
	if a.InCall {
		r.Op = name
	} else {
		r.Last = name
	}
	r.Site = m.site(w, a.Words[1])
	if a.Since > 0 && now > a.Since {
		r.Seconds = float64(now-a.Since) / 1e9
	}
}

func procName(proc int) string {
	if p := signature.ProcByID(proc); p != nil {
		return p.Name
	}
	return "unknown"
}

// site is the place of a callsite in the source.
func (m *Monitor) site(w *watched, word uint64) string {
	s, ok := m.sites[word]
	if !ok && !w.asked[word] {
		w.asked[word] = true
		if defs, err := w.watch.Defs(); err == nil {
			for _, s := range symbolize.Sites([]*efg.Process{{Defs: defs}}) {
				m.sites[s.Word] = s
			}
		}
		s = m.sites[word]
	}
	if s.Func != "" {
		return s.Place + " (" + s.Func + ")"
	}
	return s.Place
}

// finish computes the rates of the job.
func (m *Monitor) finish(f *Frame, sum *sums) {
	f.Seconds = sum.seconds
	slices.SortStableFunc(f.Ranks, func(a, b RankRate) int { return cmp.Compare(uint(a.Rank), uint(b.Rank)) })
	for i := range f.Ranks {
		f.Events += f.Ranks[i].Events
		f.Rate += f.Ranks[i].Rate
	}
	if sum.time == 0 {
		return
	}
	f.InMPI = sum.inMPI / sum.time
	for k, c := range sum.calls {
		x := CallRate{Op: procName(k.proc), Ranks: c.ranks, Rate: c.calls / sum.seconds}
		for _, w := range m.ranks {
			if _, ok := w.calls[k]; ok || x.Site == "" {
				if x.Site = m.site(w, k.site); x.Site != "" {
					break
				}
			}
		}
		x.InMPI = min(c.inside/sum.time, 1)
		if c.calls > 0 {
			x.Mean = c.dur / c.calls / 1e9
		}
		f.Calls = append(f.Calls, x)
	}
	slices.SortFunc(f.Calls, func(a, b CallRate) int {
		return cmp.Or(cmp.Compare(b.InMPI, a.InMPI), cmp.Compare(b.Rate, a.Rate), cmp.Compare(a.Site, b.Site), cmp.Compare(a.Op, b.Op))
	})
}

func hostOf(h *segment.Header) string {
	host, _, _ := strings.Cut(string(h.Host[:]), "\x00")
	return filepath.Base(host)
}

// monotonic is CLOCK_MONOTONIC, which the recorder's times are of.
func monotonic() uint64 {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_MONOTONIC, &t) != nil {
		return 0
	}
	return uint64(t.Nano())
}
