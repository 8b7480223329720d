package daemon

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/efg-tools/efg/internal/peercred"
	"github.com/efg-tools/efg/internal/service"
)

// Options are the options of a daemon.
type Options struct {
	Store, Spool string
	Node         string // this machine's name in the store; see NodeName
	// Settings returns the hook's settings, as NAME and value. It is called every few hours, so
	// that builds in a cache stay in use, and at each poll as long as it returns
	// EFG_BUILDING=1, so that finished builds are published.
	Settings func() ([][2]string, error)
	Tool     string
	// Reader, if any, finds the program of another version that reads segments of a layout.
	Reader func(layout uint64) (program string, ok bool)
	// Quiet is how long a job whose processes have ended must have been idle, if its launcher
	// is still running or unknown.
	Quiet time.Duration
	Keep  time.Duration // runs that ended before are removed; 0: none
	Max   int64         // bytes that all runs may have; 0: no bound
	// Merge is the maximum total size of the parts of a launch on several machines that the
	// daemon merges.
	Merge int64
	Log   *slog.Logger
	// Serve, if any, is called when recording can begin; its result is published in State, and
	// stop is called at the end.
	Serve func(store *Store, spool *Spool) (served Served, stop func(), err error)
	// Sealed, if any, is called for each run that was stored, SealFailed for each attempt that
	// failed, and LeftOut with the number of segments that were set aside.
	Sealed     func(sum *Summary, file string, took time.Duration)
	SealFailed func()
	LeftOut    func(n int)
	// Ready, if any, is called when programs are being recorded, and Works regularly: at most
	// one job is sealed between two calls.
	Ready func(spool string)
	Works func(now time.Time)
	// Occupied, if any, is called at each poll of the spool with whether there is anything to
	// record, store or merge.
	Occupied func(occupied bool)

	poll time.Duration
}

const (
	defaultPoll     = 250 * time.Millisecond
	maintenance     = time.Hour
	refreshTime     = time.Minute
	firstRetry      = time.Second
	longestRetry    = time.Minute
	registerTimeout = time.Second
)

// daemon is a running daemon.
type daemon struct {
	opt      Options
	store    *Store
	lister   *Lister
	spool    *Spool
	tracker  *tracker
	sealer   *sealer
	pending  []*pending // interrupted sealings
	news     chan registration
	changed  bool   // runs were added or removed
	building bool   // the hook is still being built
	state    string // as last written
	served   Served
	problems []string

	joining      map[string]*joining // launches on several machines, by name
	joinProblems map[string]string
}

// pending is a sealing that is to be retried.
type pending struct {
	*sealing
	retry    time.Time
	failures int
	problem  string
}

// registration is what a process has reported about itself.
type registration struct {
	segment string
	pid     int
}

// Run works until the context ends. Running processes then continue to record; the next daemon
// handles their segments.
func Run(ctx context.Context, opt Options) error {
	d := &daemon{opt: opt, news: make(chan registration, 1024), joinProblems: map[string]string{}}
	if d.opt.poll == 0 {
		d.opt.poll = defaultPoll
	}
	if d.opt.Node == "" {
		d.opt.Node = NodeName()
	}
	unlock, err := d.lock()
	if err != nil {
		return err
	}
	defer unlock()
	if err := d.open(); err != nil {
		return err
	}
	defer d.tracker.close()
	d.sealer.stop = ctx.Done()
	listener, err := d.listen()
	if err != nil {
		return err
	}
	defer listener.Close()
	if err := d.publish(); err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return err
	}
	defer d.spool.Withdraw()
	if opt.Serve != nil {
		served, stop, err := opt.Serve(d.store, d.spool)
		if err != nil {
			return err
		}
		defer stop()
		d.served = served
	}
	opt.Log.Info("recording", "spool", d.spool.Dir, "store", d.store.Dir)
	go d.accept(listener)
	if opt.Ready != nil {
		opt.Ready(d.spool.Dir)
	}
	return d.work(ctx)
}

// lock makes this process the only one that uses the spool, and the only one of the machine
// that uses the store.
func (d *daemon) lock() (unlock func(), err error) {
	if d.store, err = OpenStore(d.opt.Store, true); err != nil {
		return nil, err
	}
	if d.spool, err = OpenSpool(d.opt.Spool, true); err != nil {
		return nil, err
	}
	store, err := d.store.lock(d.opt.Node)
	if err != nil {
		return nil, err
	}
	spool, err := d.spool.lock()
	if err != nil {
		store.Close()
		return nil, err
	}
	return func() { spool.Close(); store.Close() }, nil
}

// open loads the state that an earlier daemon left.
func (d *daemon) open() error {
	d.tracker = newTracker(d.spool, true)
	d.lister = NewLister(d.store, nil)
	d.tracker.tool = d.opt.Tool
	if d.opt.Reader == nil {
		d.opt.Reader = func(uint64) (string, bool) { return "", false }
	}
	d.sealer = &sealer{store: d.store, node: d.opt.Node, tool: d.opt.Tool, reader: d.opt.Reader}
	list, err := d.sealer.unfinished()
	if err != nil {
		return err
	}
	for _, s := range list {
		d.addPending(s)
	}
	d.findJoining()
	return nil
}

func (d *daemon) addPending(s *sealing) {
	d.pending = append(d.pending, &pending{sealing: s})
	if s.Spool == d.spool.Dir {
		for _, name := range s.Segments {
			d.tracker.sealing[name] = true
		}
	}
}

// publish tells the hook how to record.
func (d *daemon) publish() error {
	settings, err := d.opt.Settings()
	if err != nil {
		return err
	}
	d.building = slices.Contains(settings, [2]string{service.BuildingName, "1"})
	return d.spool.Publish(settings)
}

// publishBuilt tells the hook which parts have been built meanwhile. It is an error if nothing
// can be built.
func (d *daemon) publishBuilt(ctx context.Context) error {
	if !d.building {
		return nil
	}
	err := d.publish()
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// listen opens the socket at which processes register when they start.
func (d *daemon) listen() (*net.UnixListener, error) {
	path := d.spool.path(socketFile)
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return nil, err
	}
	return l, os.Chmod(path, 0o600)
}

// accept accepts registrations until the socket is closed.
func (d *daemon) accept(l *net.UnixListener) {
	for {
		c, err := l.AcceptUnix()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			time.Sleep(10 * time.Millisecond) // no descriptors left, for example
			continue
		}
		if r, ok := d.register(c); ok {
			select {
			case d.news <- r:
			default: // a scan finds it, too
			}
		}
		c.Close()
	}
}

// register reads a registration. The kernel identifies its sender.
func (d *daemon) register(c *net.UnixConn) (r registration, ok bool) {
	peer, err := peercred.Of(c)
	if err != nil || int(peer.Uid) != os.Geteuid() {
		return r, false
	}
	c.SetReadDeadline(time.Now().Add(registerTimeout))
	text, err := bufio.NewReader(io.LimitReader(c, 8192)).ReadString(0)
	if err != nil && !errors.Is(err, io.EOF) || filepath.Dir(text) != d.spool.Dir {
		return r, false
	}
	return registration{filepath.Base(text), int(peer.Pid)}, true
}

// work is the daemon's loop.
func (d *daemon) work(ctx context.Context) error {
	tick := time.NewTicker(d.opt.poll)
	defer tick.Stop()
	d.maintain()
	refresh := time.Now()
	for next := refresh.Add(maintenance); ; {
		if err := d.publishBuilt(ctx); err != nil {
			return err
		}
		d.poll(time.Now())
		if now := time.Now(); now.After(next) {
			next = now.Add(maintenance)
			d.maintain()
		}
		if now := time.Now(); now.After(refresh) {
			refresh = now.Add(refreshTime)
			if err := d.spool.Refresh(now); err != nil {
				d.opt.Log.Warn("cannot tell the hook", "problem", err)
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		case r := <-d.news:
			d.tracker.peers[r.segment] = r.pid
			d.handleRegistrations()
		}
	}
}

// handleRegistrations handles the registrations that are already queued: many processes begin together.
func (d *daemon) handleRegistrations() {
	for {
		select {
		case r := <-d.news:
			d.tracker.peers[r.segment] = r.pid
		default:
			return
		}
	}
}

// poll scans the spool and seals the jobs that have ended.
func (d *daemon) poll(now time.Time) {
	d.problems = d.problems[:0]
	for _, p := range d.pending {
		if now.After(p.retry) {
			d.finish(p, now)
		}
		if p.problem != "" {
			d.problems = append(d.problems, p.Name+": "+p.problem)
		}
	}
	d.forgetDone()
	if err := d.tracker.scan(now); err != nil {
		d.problems = append(d.problems, err.Error())
	}
	for _, j := range d.tracker.list() {
		if now.After(j.retry) && d.canRead(j, now) && j.ended(now, d.opt.Quiet) && j.exitRecorded(now) {
			d.seal(j, now)
		}
		if j.Problem != "" {
			d.problems = append(d.problems, j.Name()+": "+j.Problem)
		}
	}
	d.joinDue(now)
	if d.changed {
		if err := d.applyRetention(now); err != nil {
			d.problems = append(d.problems, err.Error())
		}
		d.changed = false
	}
	d.writeState()
	d.works()
	if d.opt.Occupied != nil {
		d.opt.Occupied(d.occupied())
	}
}

func (d *daemon) occupied() bool {
	return len(d.pending) > 0 || len(d.tracker.jobs) > 0 || len(d.tracker.new) > 0 || len(d.joining) > 0
}

func (d *daemon) works() {
	if d.opt.Works != nil {
		d.opt.Works(time.Now())
	}
}

// canRead reports whether a job can be read, possibly with the help of other versions. If not,
// it stays where it is.
func (d *daemon) canRead(j *Job, now time.Time) bool {
	for _, s := range j.Segments {
		if s.layout == 0 {
			continue
		}
		j.Problem = ""
		if _, ok := d.opt.Reader(s.layout); !ok {
			j.Problem, j.retry = fmt.Sprintf("recorded by %s, which %s cannot read: kept in %s; efg merge of that version turns it into a run file",
				cmp.Or(s.origin.Tool, "another version of efg"), cmp.Or(d.opt.Tool, "this version"), d.spool.Dir), now.Add(unreadable)
			return false
		}
	}
	return true
}

// unreadable is the interval between checks whether there is a program that can read a job.
const unreadable = 10 * time.Second

// seal begins to make a run from a job.
func (d *daemon) seal(j *Job, now time.Time) {
	s, err := d.sealer.begin(j, d.spool)
	if err != nil {
		j.failures++
		j.Problem, j.retry = d.failed(j.Name(), err, j.Problem), now.Add(backoff(j.failures))
		return
	}
	d.addPending(s)
	for _, g := range append([]*Segment(nil), j.Segments...) {
		d.tracker.drop(g)
	}
	p := d.pending[len(d.pending)-1]
	d.finish(p, now)
	d.forgetDone()
}

// finish tries to finish a sealing.
func (d *daemon) finish(p *pending, now time.Time) {
	defer d.works()
	began := time.Now()
	sum, leftOut, err := d.sealer.finish(p.sealing)
	if err != nil {
		p.failures++
		p.problem, p.retry = d.failed(p.Name, err, p.problem), now.Add(backoff(p.failures))
		return
	}
	d.changed = true
	for _, name := range p.Segments {
		delete(d.tracker.sealing, name)
	}
	d.tracker.listed = time.Time{} // what was not sealed becomes a job again
	if p.Job != "" {
		name, _, _ := strings.Cut(p.Name, "/")
		d.joining[name] = &joining{}
	}
	for _, text := range leftOut {
		d.opt.Log.Warn("left out, and put aside in "+brokenDir, "run", p.Name, "segment", text)
	}
	if d.opt.LeftOut != nil {
		d.opt.LeftOut(len(leftOut))
	}
	p.sealing, p.problem = nil, ""
	if sum == nil {
		return
	}
	if d.opt.Sealed != nil {
		d.opt.Sealed(sum, d.store.RunFile(sum.Name), time.Since(began))
	}
	d.opt.Log.Info("sealed", "run", sum.Name, "ranks", sum.Ranks, "events", sum.Events, "bytes", sum.Bytes,
		"complete", sum.Complete, "seconds", time.Since(began).Seconds())
}

func (d *daemon) forgetDone() {
	var left []*pending
	for _, p := range d.pending {
		if p.sealing != nil {
			left = append(left, p)
		}
	}
	d.pending = left
}

// failed logs that sealing a run has failed, and returns the reason. It does not log the same
// message twice.
func (d *daemon) failed(run string, err error, before string) (text string) {
	if d.opt.SealFailed != nil {
		d.opt.SealFailed()
	}
	if text = problem(err); text != before {
		d.opt.Log.Warn("cannot seal", "run", run, "problem", text)
	}
	return text
}

// problem returns an error in human-readable form.
func problem(err error) string {
	if isFull(err) {
		return "no space in the store: sealing waits, recording continues"
	}
	return strings.ReplaceAll(err.Error(), "\n", " ")
}

func backoff(failures int) time.Duration {
	return min(firstRetry<<min(failures-1, 16), longestRetry)
}

// maintain does periodic work.
func (d *daemon) maintain() {
	if err := d.publish(); err != nil {
		d.opt.Log.Warn("cannot tell the hook", "problem", err)
	}
	d.store.tidyDirs(time.Now())
	d.changed = true
}

// applyRetention removes runs that need not be kept any longer, and writes the index of the
// rest.
func (d *daemon) applyRetention(now time.Time) error {
	list, _, err := d.lister.List()
	if err != nil {
		return err
	}
	removed, err := d.store.retain(list, now, d.opt.Keep, d.opt.Max)
	if err != nil {
		d.problems = append(d.problems, fmt.Sprintf("removing old runs: %v", err))
	}
	for _, name := range removed {
		d.opt.Log.Info("removed", "run", name)
	}
	if len(removed) > 0 {
		if list, _, err = d.lister.List(); err != nil {
			return err
		}
	}
	return d.store.writeIndex(d.opt.Node, list)
}
