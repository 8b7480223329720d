package otf2

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/analysis"
	"github.com/efg-tools/efg/internal/analysis/clocks"
	"github.com/efg-tools/efg/internal/analysis/match"
	"github.com/efg-tools/efg/internal/export"
	"github.com/efg-tools/efg/internal/export/otf2/names"
	"github.com/efg-tools/efg/reconstruct"
	"github.com/efg-tools/efg/signature"
)

// Name is the name of the anchor file without its extension.
const Name = "traces"

// Parts that are written on request, see export.Job.
const (
	Arguments = "arguments"
	Callsites = "callsites"
	Numbers   = "numbers"
)

// archive is an archive that is being written.
type archive struct {
	job    *export.Job
	run    *runfile.Run
	source *reconstruct.Run
	dir    string
	defs   *definitions

	compat                      bool
	numbers, callsites, details bool

	system  system
	first   map[[2]int]int  // locations, by the number of process and stream
	parts   map[[2]int]part // likewise
	program uint32          // region
	base    int64           // what is added to times, so that none is negative
	end     int64           // of the run
	began   int64           // Unix time
	until   *int64          // see match.Trace.Until

	lock   sync.Mutex
	left   counts
	lowest uint64 // timestamp
	latest uint64
}

// counts are operations that are left out.
type counts struct{ sends, receives, collectives, accesses uint64 }

// ErrNoTimes: a trace is made of times.
var ErrNoTimes = match.ErrNoTimes

// Write writes the selected part of a run into a directory that exists and is empty. Without the
// times of each call the error is ErrNoTimes.
//
// With Compat, nonblocking collectives are written as if the call that completes them had made them:
// readers of OTF2 2 skip the records of OTF2 3. With RawClock a message may seem to arrive before it
// was sent.
func Write(dir string, job *export.Job) error {
	a := &archive{job: job, run: job.Run, dir: dir, defs: newDefinitions(), compat: job.Compat, first: map[[2]int]int{}, parts: map[[2]int]part{}, lowest: math.MaxUint64}
	a.numbers, a.callsites, a.details = slices.Contains(job.What, Numbers), slices.Contains(job.What, Callsites), slices.Contains(job.What, Arguments)
	var err error
	if a.source, err = reconstruct.NewRun(a.run); err != nil {
		return err
	}
	a.order()
	if err := a.match(job.RawClock); err != nil {
		return err
	}
	if err := a.define(); err != nil {
		return err
	}
	if err := os.Mkdir(filepath.Join(dir, Name), 0o755); err != nil {
		return err
	}
	if err := a.events(); err != nil {
		return err
	}
	a.note()
	return a.finish()
}

// order puts the selected processes into the order of their ranks; processes that never knew their
// rank come last.
func (a *archive) order() {
	a.job.Procs = slices.Clone(a.job.Procs)
	slices.SortStableFunc(a.job.Procs, func(i, j int) int {
		return cmp.Compare(uint(a.run.Procs[i].Rank), uint(a.run.Procs[j].Rank))
	})
}

func (a *archive) context() context.Context {
	if a.job.Context == nil {
		return context.Background()
	}
	return a.job.Context
}

// match finds out which part of each stream is written, and what has no counterpart there.
func (a *archive) match(raw bool) error {
	var found *counterparts
	var trace *match.Trace
	watch := func(t *match.Trace) match.Visitor {
		trace, found = t, newCounterparts(t, &a.job.Selection)
		return found
	}
	var err error
	if raw {
		if trace, err = match.OpenPart(a.run, a.job.Matched()); err == nil {
			_, err = trace.Walk(a.context(), watch(trace), nil)
		}
	} else {
		err = clocks.Order(a.context(), a.run, a.job.Matched(), watch, nil)
	}
	if err != nil {
		return err
	}
	found.finish()
	a.until = trace.Until()
	for i, t := range trace.Threads {
		for j := range t.Process.Facts.Data.Streams {
			if &t.Process.Facts.Data.Streams[j] == t.Stream {
				a.parts[[2]int{t.Process.Number, j}] = found.parts[i]
			}
		}
		begin := int64(t.Trace.BeginMono()) + t.Process.Facts.Data.Clock
		a.base = max(a.base, -begin)
	}
	return nil
}

// stamp is the timestamp of a time, ns since the run began.
func (a *archive) stamp(at int64) uint64 { return uint64(max(0, at+a.base)) }

// events writes the events of all processes, several at a time. Arguments are written one process at
// a time, so that their strings always have the same numbers.
func (a *archive) events() error {
	workers := runtime.GOMAXPROCS(0)
	if a.details {
		workers = 1
	}
	var next atomic.Int64
	var group sync.WaitGroup
	errs := make([]error, workers)
	var failed atomic.Bool
	for n := range workers {
		group.Go(func() {
			var room [][]byte
			for !failed.Load() {
				k := int(next.Add(1)) - 1
				if k >= len(a.job.Procs) {
					return
				}
				if errs[n] = a.process(a.job.Procs[k], &room); errs[n] != nil {
					failed.Store(true)
				}
			}
		})
	}
	group.Wait()
	return errors.Join(errs...)
}

// process writes the events of a process. room are buffers to use again.
func (a *archive) process(i int, room *[][]byte) (err error) {
	replay, err := a.source.Process(i)
	if err != nil {
		return err
	}
	facts, err := analysis.NewProcess(replay.Data(), a.defs.worlds[i])
	if err != nil {
		return err
	}
	p := &processWriter{archive: a, number: i, facts: facts, messages: map[uint64]uint64{}, comms: map[uint64]*localComm{}, windows: map[uint64]*localWindow{}, files: map[uint64]*localFile{}, texts: textsOf(replay.Data())}
	defer func() { err = errors.Join(err, p.close()) }()
	for j := range replay.Data().Streams {
		if location, ok := a.first[[2]int{i, j}]; ok {
			if err := p.open(replay, j, location, room); err != nil {
				return err
			}
		}
	}
	if err := p.calls(); err != nil {
		return fmt.Errorf("rank %d: %w", a.run.Procs[i].Rank, err)
	}
	for _, t := range p.threads {
		p.last(replay, t)
	}
	return nil
}

// open begins the files of a thread.
func (p *processWriter) open(replay *reconstruct.Process, stream, location int, room *[][]byte) error {
	name := filepath.Join(p.dir, Name, strconv.Itoa(location))
	if err := writeEmpty(name + ".def"); err != nil {
		return err
	}
	f, err := os.Create(name + ".evt")
	if err != nil {
		return err
	}
	for len(*room) <= len(p.threads) {
		*room = append(*room, make([]byte, 0, eventChunk))
	}
	part := p.parts[[2]int{p.number, stream}]
	t := &threadWriter{
		process: p, stream: stream, number: location, reader: replay.Reader(stream), part: part, alone: part.alone,
		b: make([]byte, 0, 128), file: f, out: newChunks(f, eventChunk, true, (*room)[len(p.threads)]),
	}
	t.metrics = p.newThreadMetrics(replay.Data(), stream)
	p.threads = append(p.threads, t)
	nodes := replay.Data().Streams[stream].Nodes
	t.plans = make([]plan, len(nodes))
	for k := range nodes {
		t.plans[k] = p.planOf(&nodes[k], replay.Names())
	}
	return nil
}

// regionOf is the region of the procedure with the words of a call.
func regionOf(words []uint64) region {
	return procedure(signature.ProcByID(signature.Header(words[0]).Proc()), opOf(words))
}

// opOf is the name of the procedure with the words of a call.
func opOf(words []uint64) string {
	h := signature.Header(words[0])
	if p := signature.ProcByID(h.Proc()); p != nil {
		return p.Name
	}
	return "procedure " + strconv.Itoa(h.Proc())
}

// calls writes the calls of all threads, in the order in which they begin: a thread may complete
// what another one issued.
func (p *processWriter) calls() error {
	for _, t := range p.threads {
		if err := t.next(); err != nil {
			return err
		}
	}
	const often = 1 << 12
	for n := uint64(1); ; n++ {
		var t *threadWriter
		for _, o := range p.threads {
			if o.event != nil && (t == nil || o.start < t.start) {
				t = o
			}
		}
		if t == nil {
			return p.job.Done(n % often)
		}
		t.call()
		if err := t.next(); err != nil {
			return err
		}
		if n%often == 0 {
			if err := p.job.Done(often); err != nil {
				return err
			}
		}
	}
}

// last writes the calls that a thread was in when its recording ended, if they are to be written, and leaves
// what is open.
func (p *processWriter) last(replay *reconstruct.Process, t *threadWriter) {
	data := replay.Data()
	s := &data.Streams[t.stream]
	sel := &p.job.Selection
	pending := s.Pending != nil && s.Trace != nil && s.Trace.Untimed == 0 && p.until == nil && sel.To == 0 && sel.From <= s.Events
	since := func(c *efg.Pending) int64 { return max(c.At(data)-p.began, 0) }
	end := data.LatestEnd(p.began+p.end) - p.began
	if !pending || s.Pending.Since == 0 || !sel.Time.Has(since(s.Pending), end) {
		t.finish()
		return
	}
	shown := replay.Pending(t.stream)
	var write func(c *efg.Pending, shown *reconstruct.Pending)
	write = func(c *efg.Pending, shown *reconstruct.Pending) {
		if c.Inner != nil { // like calls that returned: those inside come first
			write(c.Inner, shown.Inner())
		}
		x := p.planOf(&efg.Node{Words: c.Words}, replay.Names())
		t.unfinished(&x, shown, signature.Header(c.Words[0]).Depth(), since(c), end)
	}
	write(s.Pending, shown)
	t.finish()
}

// planOf completes the plan of a node by the numbers of what it refers to.
func (a *archive) planOf(n *efg.Node, places *reconstruct.Names) plan {
	x := planOf(n)
	site, language := n.Words[1], languages[signature.Header(n.Words[0]).Lang()]
	x.region = a.defs.byName[regionOf(n.Words)]
	x.place = a.defs.byPlace[places.Place(site)]
	x.path = undefined
	if a.callsites {
		x.path = a.defs.pathOf(places, site)
	}
	x.function, x.language, x.unused = a.defs.strings[places.Func(site)], a.defs.strings[language], a.defs.strings[unusedBuffers(n.Words)]
	return x
}

// close closes the files of all threads.
func (p *processWriter) close() (err error) {
	a := p.archive
	a.lock.Lock()
	defer a.lock.Unlock()
	for _, t := range p.threads {
		err = errors.Join(err, t.out.close(), t.file.Close())
		a.system.locations[t.number].events = t.out.count
		if t.written {
			a.lowest, a.latest = min(a.lowest, t.lowest), max(a.latest, t.last)
		}
	}
	a.left.add(&p.left)
	return err
}

func (c *counts) add(o *counts) {
	c.sends += o.sends
	c.receives += o.receives
	c.collectives += o.collectives
	c.accesses += o.accesses
}

// note says what was left out.
func (a *archive) note() {
	if a.job.Note == nil {
		return
	}
	c := &a.left
	if n := c.sends + c.receives + c.collectives + c.accesses; n > 0 {
		a.job.Note(fmt.Sprintf("left out, as the other side is not in what was written: %d sends, %d receives, %d collective calls, %d one-sided accesses; the calls themselves are there", c.sends, c.receives, c.collectives, c.accesses))
	}
	if a.until != nil {
		a.job.Note(fmt.Sprintf("written up to %.6f s: later calls of some threads have no times (efg run --time trace records all)", float64(*a.until)/1e9))
	}
}

// writeEmpty writes a file of definitions without any.
func writeEmpty(name string) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	c := newChunks(f, headerSize+2, false, nil)
	return errors.Join(c.close(), f.Close())
}

// finish writes the definitions and the anchor.
func (a *archive) finish() error {
	if a.lowest > a.latest {
		a.lowest = a.latest
	}
	f, err := os.Create(filepath.Join(a.dir, Name+".def"))
	if err != nil {
		return err
	}
	w := &definitionWriter{definitions: a.defs, out: newChunks(f, definitionChunk, false, nil)}
	w.write(&a.system, clock{a.lowest, a.latest - a.lowest, uint64(max(0, a.began-a.base+int64(a.lowest)))})
	if err := errors.Join(w.out.close(), f.Sync(), f.Close()); err != nil {
		return err
	}
	clock := "corrected"
	if a.job.RawClock {
		clock = "raw"
	}
	id := signature.Hash(uint64(a.run.Meta.Started), uint64(a.began), uint64(len(a.system.locations)), w.out.count)
	properties := [][2]string{{names.Clock, clock}, {names.Ranks, strconv.Itoa(a.size())}, {names.Started, strconv.FormatInt(a.began, 10)}}
	if n := a.run.Meta.CallPath; n > 0 && a.callsites {
		properties = append(properties, [2]string{names.CallPaths, strconv.Itoa(n)})
	}
	if a.details {
		properties = append(properties, [2]string{names.Arguments, "1"})
		if handles := a.defs.handles(); handles != "" { // OTF2's library refuses properties without value
			properties = append(properties, [2]string{names.Handles, handles})
		}
	}
	b := anchor(a.system.machine, a.title(), uint64(len(a.system.locations)), w.out.count, id, properties)
	return os.WriteFile(filepath.Join(a.dir, Name+".otf2"), b, 0o644)
}

// size is the number of ranks of the run.
func (a *archive) size() (n int) {
	for i := range a.run.Procs {
		n = max(n, a.run.Procs[i].Rank+1, a.run.Procs[i].Size)
	}
	return n
}

// Owns reports whether a directory is an archive that Write may replace: it has nothing but the
// files of one.
func Owns(dir string) bool {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return false
	}
	for _, e := range entries {
		switch e.Name() {
		case Name, Name + ".def", Name + ".otf2":
		default:
			return false
		}
	}
	_, err = os.Stat(filepath.Join(dir, Name+".otf2"))
	return err == nil
}
