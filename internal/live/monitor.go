package live

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/procfs"
	"github.com/efg-tools/efg/internal/segment"
	"github.com/efg-tools/efg/internal/symbolize"
	"github.com/efg-tools/efg/signature"
)

// Monitor samples a job repeatedly. It reads only counters, not graphs, and skips even these
// for idle ranks, so it can sample hundreds of ranks ten times a second. It is not safe for
// concurrent use.
type Monitor struct {
	ranks     map[string]*watched
	paths     []string // of ranks
	processes *procfs.Watch
	sites     map[uint64]runfile.Site
	callsites map[uint64]uint64 // of call paths, and of themselves; words
	numbers   map[callKey]int   // in keys
	keys      []keyInfo
	done      []callDone // by number: what the current rank did
	touched   []int      // numbers of those in done that are nonzero
}

// watched is a process, and its state at the last sample.
type watched struct {
	watch   *segment.Watch
	process *procfs.Watched // nil after it has ended
	checked bool
	host    string
	now     uint64 // CLOCK_MONOTONIC of the last sample, ns
	events  uint64
	inMPI   uint64       // ns, of all threads
	calls   []seenCall   // by index in Watch's samples
	inside  []insideCall // calls in progress
	dur     uint64       // ns of all calls
	asked   map[uint64]bool
}

// callKey is a procedure at a callsite.
type callKey struct {
	proc int
	site uint64
}

// keyInfo is the human-readable form of a callKey.
type keyInfo struct{ op, place string }

// seenCall is what a node had counted.
type seenCall struct {
	count, dur uint64
	key        int
}

// insideCall is a call in progress, with its duration so far.
type insideCall struct {
	key int
	ns  uint64
}

// callDone is what a rank did at a callsite, see callSum.
type callDone struct {
	calls, dur uint64
	inside     int64
	touched    bool
}

// NewMonitor starts to monitor a job.
func NewMonitor() *Monitor {
	return &Monitor{
		ranks: map[string]*watched{}, processes: procfs.NewWatch(), sites: map[uint64]runfile.Site{}, callsites: map[uint64]uint64{}, numbers: map[callKey]int{},
	}
}

// maxKeys limits what is remembered about segments with ever-changing content.
const maxKeys = 1 << 16

// Close stops monitoring.
func (m *Monitor) Close() {
	for path := range m.ranks {
		m.forget(path)
	}
	m.processes.Close()
}

// Look returns what the processes with these segments did since the last sample. Processes that
// it sees for the first time have no rates.
func (m *Monitor) Look(paths []string) (*Frame, error) {
	f := &Frame{Schema: FrameSchema, Version: FrameVersion, At: time.Now().UTC(), Ranks: make([]RankRate, 0, len(paths)), Calls: []CallRate{}}
	sum := &sums{calls: make([]callSum, len(m.keys))}
	m.processes.Update()
	var last error
	for _, path := range paths {
		if err := m.look(path, f, sum); err != nil {
			last = err
		}
	}
	m.only(paths)
	defer m.bound()
	if len(f.Ranks) == 0 {
		if last == nil {
			last = ErrNoSegments
		}
		return nil, last
	}
	f.finish(sum, m.keys)
	return f, nil
}

// only forgets processes that are no longer requested.
func (m *Monitor) only(paths []string) {
	if slices.Equal(paths, m.paths) {
		return
	}
	m.paths = slices.Clone(paths)
	asked := make(map[string]bool, len(paths))
	for _, p := range paths {
		asked[p] = true
	}
	for path := range m.ranks {
		if !asked[path] {
			m.forget(path)
		}
	}
}

// bound starts over if too much is remembered.
func (m *Monitor) bound() {
	if len(m.keys) <= maxKeys {
		return
	}
	for path := range m.ranks {
		m.forget(path)
	}
	m.paths, m.numbers, m.keys, m.done = nil, map[callKey]int{}, nil, nil
}

func (m *Monitor) forget(path string) {
	w := m.ranks[path]
	w.watch.Close()
	if w.process != nil {
		m.processes.Drop(w.process)
	}
	delete(m.ranks, path)
}

func (m *Monitor) look(path string, f *Frame, sum *sums) error {
	w := m.ranks[path]
	if w == nil {
		watch, err := segment.OpenWatch(path)
		if err != nil {
			return err
		}
		w = &watched{watch: watch, asked: map[uint64]bool{}}
		m.ranks[path] = w
	}
	l, err := w.watch.Look(true)
	if err != nil {
		if !errors.Is(err, os.ErrNotExist) {
			m.forget(path)
		}
		return err
	}
	if !w.checked {
		w.checked, w.process, w.host = true, m.processOf(path), hostOf(&l.Header)
	}
	if f.Command == nil {
		f.Command = commandOf(&l.Header)
	}
	f.Timed = f.Timed || l.Header.TimeMode != 0
	f.Ranks = append(f.Ranks, m.rank(w, l, sum))
	return nil
}

// processOf finds the process of a segment, nil if it has ended. It searches the process's
// memory map: with hundreds of ranks that takes longer than everything else.
func (m *Monitor) processOf(path string) *procfs.Watched {
	_, pid, _ := segment.ProcessIn(filepath.Base(path))
	if s, ok := procfs.ReadStatus(pid); ok && segment.Running(path) {
		return m.processes.Add(s.Process)
	}
	return nil
}

func commandOf(h *segment.Header) []string {
	text := string(h.Command[:min(int(h.CommandLen), len(h.Command))])
	return strings.Split(strings.TrimRight(text, "\x00"), "\x00")
}

// rank computes the rates of one process, and adds them to the sums.
func (m *Monitor) rank(w *watched, l *segment.Sample, sum *sums) RankRate {
	h := &l.Header
	r := RankRate{
		Rank: int(h.Rank), PID: int(h.PID), Host: w.host, Threads: len(l.Activities),
		Running: w.process != nil && w.process.Running(),
	}
	now := monotonic()
	for i := range l.Activities {
		r.Events += l.Activities[i].Events
	}
	inMPI := m.progress(w, l, now, r.Running)
	inMPI += m.returned(w, l)
	if w.now > 0 && now > w.now {
		dt := float64(now - w.now)
		r.Rate = float64(r.Events-min(w.events, r.Events)) / dt * 1e9
		r.InMPI = part(inMPI, w.inMPI, dt*float64(max(r.Threads, 1)))
		sum.seconds = max(sum.seconds, dt/1e9)
		sum.time += dt * float64(r.Threads)
		sum.inMPI += r.InMPI * dt * float64(r.Threads)
		sum.add(m)
	}
	m.forgetDone()
	w.now, w.events, w.inMPI = now, r.Events, inMPI
	m.current(w, l, now, &r)
	return r
}

// part is the fraction of a time that has passed between two readings of a clock.
func part(now, before uint64, time float64) float64 {
	return min(float64(now-min(before, now))/time, 1)
}

// progress records the calls in progress, and returns their time so far.
func (m *Monitor) progress(w *watched, l *segment.Sample, now uint64, running bool) (sum uint64) {
	for _, c := range w.inside {
		m.at(c.key).inside -= int64(c.ns)
	}
	w.inside = w.inside[:0]
	for i := range l.Activities {
		a := &l.Activities[i]
		if a.InCall && a.Since > 0 && now > a.Since && running {
			c := insideCall{m.key(w, callKey{signature.Header(a.Words[0]).Proc(), a.Words[1]}), now - a.Since}
			m.at(c.key).inside += int64(c.ns)
			w.inside = append(w.inside, c)
			sum += c.ns
		}
	}
	return sum
}

// returned records the calls that have returned, and returns the total time of all so far.
func (m *Monitor) returned(w *watched, l *segment.Sample) uint64 {
	for i := range l.Calls {
		c := &l.Calls[i]
		if signature.ProcByID(c.Header.Proc()).Annotates() {
			c.Count, c.Dur = 0, 0 // not a call of MPI
		}
		if c.Header.Depth() > 0 {
			c.Dur = 0 // the call around it has its time
		}
		if i == len(w.calls) {
			w.calls = append(w.calls, seenCall{key: m.key(w, callKey{c.Header.Proc(), c.Site})})
		}
		x := &w.calls[i]
		if c.Count == x.count && c.Dur == x.dur {
			continue
		}
		d := m.at(x.key)
		dur := c.Dur - min(x.dur, c.Dur)
		d.calls += c.Count - min(x.count, c.Count)
		d.dur += dur
		d.inside += int64(dur)
		w.dur += dur
		x.count, x.dur = c.Count, c.Dur
	}
	return w.dur
}

// key is the number of a callKey of a process: the same for all call paths that end at the callsite.
func (m *Monitor) key(w *watched, k callKey) int {
	n, ok := m.numbers[k]
	if !ok {
		m.site(w, k.site)
		if site := m.callsites[k.site]; site != 0 && site != k.site {
			n = m.key(w, callKey{k.proc, site})
			m.numbers[k] = n
			return n
		}
		n = len(m.keys)
		m.numbers[k] = n
		m.keys, m.done = append(m.keys, keyInfo{op: procName(k.proc)}), append(m.done, callDone{})
	}
	if x := &m.keys[n]; x.place == "" {
		x.place = m.site(w, k.site)
	}
	return n
}

// at is what the current rank did at a callsite.
func (m *Monitor) at(key int) *callDone {
	d := &m.done[key]
	if !d.touched {
		d.touched = true
		m.touched = append(m.touched, key)
	}
	return d
}

func (m *Monitor) forgetDone() {
	for _, key := range m.touched {
		m.done[key] = callDone{}
	}
	m.touched = m.touched[:0]
}

// add adds what a rank did.
func (s *sums) add(m *Monitor) {
	s.calls = append(s.calls, make([]callSum, len(m.keys)-len(s.calls))...)
	for _, key := range m.touched {
		d, c := &m.done[key], &s.calls[key]
		c.calls += float64(d.calls)
		c.dur += float64(d.dur)
		c.inside += float64(max(d.inside, 0)) // a call is read while it returns: its time may not be stored yet
		c.ranks++
	}
}

// current determines what the first thread is doing.
func (m *Monitor) current(w *watched, l *segment.Sample, now uint64, r *RankRate) {
	if len(l.Activities) == 0 || l.Activities[0].Words == nil {
		return
	}
	a := &l.Activities[0]
	key := &m.keys[m.key(w, callKey{signature.Header(a.Words[0]).Proc(), a.Words[1]})]
	if a.InCall {
		r.Op = key.op
		if a.Inner != nil {
			r.Inner = procName(signature.Header(a.Inner[0]).Proc())
		}
	} else {
		r.Last = key.op
	}
	r.Site = key.place
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

// site is the source location of a callsite.
func (m *Monitor) site(w *watched, word uint64) string {
	s, ok := m.sites[word]
	if !ok && !w.asked[word] {
		w.asked[word] = true
		if defs, err := w.watch.Defs(); err == nil {
			for _, s := range symbolize.Sites([]*efg.Process{{Defs: defs}}) {
				m.sites[s.Word] = s
			}
			for i := range defs {
				if d := &defs[i]; d.Kind == efg.DefSite {
					m.callsites[d.Word] = d.Callsite()
					m.sites[d.Callsite()] = m.sites[d.Word]
				}
			}
		}
		s = m.sites[word]
	}
	if s.Func != "" {
		return s.Func + " " + s.Place
	}
	return s.Place
}

func hostOf(h *segment.Header) string {
	host, _, _ := strings.Cut(string(h.Host[:]), "\x00")
	return filepath.Base(host)
}

// monotonic is CLOCK_MONOTONIC in ns, the clock of the recorder's times.
func monotonic() uint64 {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_MONOTONIC, &t) != nil {
		return 0
	}
	return uint64(t.Nano())
}
