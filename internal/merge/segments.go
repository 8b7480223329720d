package merge

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"sync"
	"syscall"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/durable"
	"github.com/efg-tools/efg/internal/segment"
	"github.com/efg-tools/efg/internal/symbolize"
	"github.com/efg-tools/efg/internal/worlds"
)

// encoder writes a run file, or a part of one, from processes.
type encoder func(w *runfile.Writer, out io.Writer, procs []*efg.Process, meta runfile.Meta) error

// makeOfSegments writes a file from a chunk of segments.
func (m *merger) makeOfSegments(c *chunk, out *durable.File, encode encoder) (*outcome, error) {
	o := &outcome{}
	var procs []*efg.Process
	var paths []string
	var meta runfile.Meta
	for i, r := range readSegments(c.inputs, &m.opt) {
		path := c.inputs[i].path
		if r.err != nil {
			if !m.opt.SkipBroken {
				return nil, r.err
			}
			o.LeftOut = append(o.LeftOut, r.err.Error())
			continue
		}
		procs, paths = append(procs, r.process), append(paths, path)
		if len(procs) == 1 {
			meta = r.meta
		}
		if err := m.join(&meta, paths[0], &r, path); err != nil {
			return nil, err
		}
		if r.running {
			o.Running = append(o.Running, path)
		}
		if world, ok := m.worlds[path]; ok {
			r.process.World = world
		}
	}
	if len(procs) == 0 {
		return o, nil
	}
	if err := m.checkTwice(procs, paths); err != nil {
		return nil, err
	}
	o.HasPart = true
	if slices.ContainsFunc(procs, isOpen) {
		meta.Ended = max(meta.Ended, m.opt.Ended)
	}
	meta = m.withKnown(meta)
	meta.Sites = m.places.of(procs)
	left, err := m.writeOf(procs, paths, meta, out, encode)
	o.LeftOut = append(o.LeftOut, left...)
	o.HasPart = err == nil && len(left) < len(procs)
	return o, err
}

// writeOf writes a file from segments. Those from which no readable file can be written are
// omitted if that was requested.
func (m *merger) writeOf(procs []*efg.Process, paths []string, meta runfile.Meta, out *durable.File, encode encoder) (left []string, err error) {
	for len(procs) > 0 {
		var rw runfile.Writer
		err := out.Write(func(w io.Writer) error { return encode(&rw, w, procs, meta) }, rw.ReadBack)
		if err == nil || isSystem(err) {
			m.wrote = rw.Totals()
			return left, err
		}
		bad, cause := firstBroken(procs, meta, encode)
		if bad < 0 {
			return left, err
		}
		if cause = (&runfile.PartError{Part: paths[bad], Cause: cause}); !m.opt.SkipBroken {
			return left, cause
		}
		left = append(left, cause.Error())
		procs, paths = slices.Delete(slices.Clone(procs), bad, bad+1), slices.Delete(slices.Clone(paths), bad, bad+1)
	}
	return left, nil
}

// firstBroken finds the first process from which alone no readable file can be written; -1 if
// there is none.
func firstBroken(procs []*efg.Process, meta runfile.Meta, encode encoder) (int, error) {
	for i := range procs {
		var file bytes.Buffer
		var rw runfile.Writer
		err := encode(&rw, &file, procs[i:i+1], meta)
		if err == nil {
			err = rw.ReadBack(bytes.NewReader(file.Bytes()), int64(file.Len()))
		}
		if err != nil {
			return i, err
		}
	}
	return -1, nil
}

// isSystem reports whether an error is in reading or writing files, independent of their
// content.
func isSystem(err error) bool { return errors.As(err, new(syscall.Errno)) }

// isOpen reports whether a process has not ended regularly.
func isOpen(p *efg.Process) bool {
	return slices.ContainsFunc(p.Streams, func(s efg.Stream) bool { return s.End == efg.EndOpen })
}

// join combines what a segment says about the run with what the previous ones say.
func (m *merger) join(meta *runfile.Meta, first string, r *recording, path string) error {
	if m.opt.Recorded == nil {
		if err := meta.CheckSame(first, &r.meta, path); err != nil {
			return explain(err, nil)
		}
	}
	meta.Join(&r.meta)
	return nil
}

// checkTwice rejects a process that occurs twice.
func (m *merger) checkTwice(procs []*efg.Process, paths []string) error {
	if m.opt.Recorded != nil {
		return nil
	}
	if err := runfile.CheckDuplicates(procs, paths); err != nil {
		return explain(err, nil)
	}
	return nil
}

// withKnown replaces metadata from segments by what is known about the run.
func (m *merger) withKnown(meta runfile.Meta) runfile.Meta {
	if known := m.opt.Recorded; known != nil {
		ended, forks := meta.Ended, meta.Forks
		if meta = *known; meta.Ended == 0 {
			meta.Ended = max(ended, meta.Started)
		}
		meta.Forks = forks
		return meta
	}
	meta.Launcher, meta.Processors = m.opt.Launcher, m.opt.Processors
	if m.opt.Status != nil {
		meta.Status, meta.StatusUnknown = *m.opt.Status, false
	}
	return meta
}

// nameWorlds assigns an ID to each world of the segments, such that no two worlds share one. It
// returns the IDs that differ from those in the segments, by segment path.
func nameWorlds(inputs []input) map[string]uint64 {
	var paths []string
	var procs []worlds.Process
	for i := range inputs {
		h, err := segment.ReadHeader(inputs[i].path)
		if err != nil {
			continue // reading it reports the error
		}
		p := h.Identity()
		paths = append(paths, inputs[i].path)
		procs = append(procs, worlds.Process{World: p.World, Rank: p.Rank, Size: p.Size, Began: p.Start, Host: p.Host, PID: p.PID})
	}
	names := map[string]uint64{}
	found, places := worlds.Split(procs)
	for _, at := range places {
		if w := &found[at.World]; w.Nth > 0 {
			names[paths[at.Process]] = w.Name()
		}
	}
	return names
}

// recording is what a segment holds.
type recording struct {
	process *efg.Process
	meta    runfile.Meta
	running bool
	err     error
}

// readSegments reads segments, several at once.
func readSegments(inputs []input, opt *Options) []recording {
	out := make([]recording, len(inputs))
	var wg sync.WaitGroup
	next := make(chan int)
	for range min(len(inputs), runtime.GOMAXPROCS(0)) {
		wg.Go(func() {
			for i := range next {
				out[i] = readSegment(inputs[i].path, opt)
			}
		})
	}
	for i := range inputs {
		next <- i
	}
	close(next)
	wg.Wait()
	return out
}

func readSegment(path string, opt *Options) recording {
	running := segment.BeingWritten(path) // before it is read, because it may end meanwhile
	s, err := segment.ReadFile(path)
	if err != nil {
		return recording{err: &runfile.PartError{Part: path, Cause: withoutName(err)}}
	}
	s.GoneBy(opt.Gone[path])
	meta, err := metaOf(s, opt.Tool)
	if err == nil {
		err = s.Process.Readable()
	}
	if err == nil && s.Header.TimeError != 0 {
		err = s.Process.Quantize(s.Header.TimeError)
	}
	if err != nil {
		return recording{err: &runfile.PartError{Part: path, Cause: err}}
	}
	return recording{process: &s.Process, meta: meta, running: running}
}

// withoutName removes the file name that ReadFile prepends.
func withoutName(err error) error {
	if cause := errors.Unwrap(err); cause != nil {
		return cause
	}
	return err
}

// timeModes are the names of Header.TimeMode.
var timeModes = []string{"off", "stats", "trace"}

// Bits of Header.Options.
const (
	optionQueries = 1
	optionBuffers = 2
	optionTotals  = 16
	optionDepth   = 16 // the first of the bits of the depth of call paths
)

// metaOf returns the metadata of a run from one process: a segment does not have the launcher's
// command.
func metaOf(s *segment.Segment, tool string) (runfile.Meta, error) {
	h := &s.Header
	if int(h.TimeMode) >= len(timeModes) {
		return runfile.Meta{}, fmt.Errorf("unknown kind %d of times", h.TimeMode)
	}
	time := timeModes[h.TimeMode]
	if time == "trace" {
		time = runfile.TraceTime(h.TimeError, h.TimeBudget)
	}
	m := runfile.Meta{
		CallPath: int(h.Options >> optionDepth),
		Tool:     tool, Command: s.Process.Command, Started: int64(h.StartReal), Time: time, StatusUnknown: true,
		Queries: h.Options&optionQueries != 0, Buffers: h.Options&optionBuffers != 0,
	}
	for _, c := range s.Process.Counters {
		m.Counters = append(m.Counters, c.Text())
	}
	if children, pid, call := h.Forked(); children > 0 {
		f := runfile.Fork{Rank: s.Process.Rank, Parent: s.Process.PID, Children: children, PID: pid, Call: call}
		m.Forks = []string{f.Text()}
	}
	if h.Options&optionTotals != 0 {
		m.Polls = runfile.PollTotals
	}
	end := h.LastMono() // of a process that was killed, its last heartbeat
	for i := range s.Activities {
		end = max(end, s.Activities[i].Since)
	}
	m.Ended = m.Started + int64(max(end, h.StartMono())-h.StartMono())
	return m, nil
}

// places finds the source locations of the callsites of many processes. It looks each up once.
type places struct {
	known map[uint64]runfile.Site
}

func newPlaces() places { return places{map[uint64]runfile.Site{}} }

func (x *places) of(procs []*efg.Process) []runfile.Site {
	var asked []*efg.Process
	needed := map[uint64]bool{}
	for _, p := range procs {
		q := &efg.Process{}
		unknown := 0
		for _, d := range p.Defs {
			_, known := x.known[d.Word]
			switch {
			case d.Kind == efg.DefModule:
				q.Defs = append(q.Defs, d)
			case d.Kind == efg.DefSite && !needed[d.Word]:
				needed[d.Word] = true
				if !known {
					q.Defs = append(q.Defs, d)
					unknown++
				}
			}
		}
		if unknown > 0 {
			asked = append(asked, q)
		}
	}
	for _, s := range symbolize.Sites(asked) {
		x.known[s.Word] = s
	}
	var sites []runfile.Site
	for word := range needed {
		if s, ok := x.known[word]; ok {
			sites = append(sites, s)
		}
	}
	return sites
}
