// Package hdtrace writes a run as XML in the format of HDTrace, for PIOsimHD and HDJumpshot: a trace for
// each thread, and a description of the project, with what traces refer to by number. docs/exchange.md
// says what becomes of what.
//
// Threads are written one after another. Memory grows with the communicators, files and datatypes of the run,
// and the open requests of one process.
package hdtrace

import (
	"bufio"
	"encoding/xml"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/analysis"
	"github.com/efg-tools/efg/internal/analysis/clocks"
	"github.com/efg-tools/efg/internal/analysis/match"
	"github.com/efg-tools/efg/internal/export"
	"github.com/efg-tools/efg/reconstruct"
	"github.com/efg-tools/efg/signature"
)

// ErrNoTimes: a trace is made of times.
var ErrNoTimes = match.ErrNoTimes

const extension = ".trc"

// Parts of a trace besides calls and their times, see export.Job: without any, all are written.
const (
	Attributes = "attributes"
	Requests   = "requests" // that calls are given
)

// writer writes a run.
type writer struct {
	job   *export.Job
	run   *runfile.Run
	dir   string
	name  string         // of the program
	files map[string]int // numbers, by name
	names []string       // of files
	comms map[analysis.CommKey]int
	lists []communicator
	known map[int]bool // ranks that are written
	types strings.Builder
	tree  []label
	inner uint64 // calls inside others
}

// label is a thread in the topology.
type label struct {
	host         string
	rank, thread int
}

// process is a process that is being written.
type process struct {
	*writer
	facts    *analysis.Process
	names    *reconstruct.Names
	texts    map[uint64]string
	contents map[uint64]*efg.Def // of datatypes
	types    map[uint64]int      // numbers of datatypes
	order    []uint64            // datatypes by number
	requests map[uint64]int      // numbers, by word
	halves   map[uint64]int      // numbers of the split operations of files
	issued   int                 // requests
	began    int64               // Unix time, ns
}

// Write writes the selected part of a run into a directory that exists and is empty. Without the
// times of each call the error is ErrNoTimes.
func Write(dir string, job *export.Job) error {
	w := &writer{job: job, run: job.Run, dir: dir, name: "program", files: map[string]int{}, comms: map[analysis.CommKey]int{}, known: map[int]bool{}}
	if len(w.run.Meta.Command) > 0 {
		w.name = fileName(filepath.Base(w.run.Meta.Command[0]))
	}
	if !match.Traced(w.run) {
		return ErrNoTimes
	}
	if !job.RawClock && !w.run.Corrected() {
		if err := clocks.Order(jobContext(job), w.run, job.Matched(), nil, nil); err != nil {
			return err
		}
	}
	for _, i := range job.Procs {
		w.known[w.run.Procs[i].Rank] = true
	}
	source, err := reconstruct.NewRun(w.run)
	if err != nil {
		return err
	}
	worlds := analysis.FirstRanks(w.run.Procs)
	for _, i := range job.Procs {
		if err := w.process(source, i, worlds[i]); err != nil {
			return fmt.Errorf("rank %d: %w", w.run.Procs[i].Rank, err)
		}
	}
	if w.inner > 0 && job.Note != nil {
		job.Note(fmt.Sprintf("left out: %d calls inside calls", w.inner))
	}
	return w.describe()
}

// wants reports whether a part is written.
func (w *writer) wants(part string) bool {
	return len(w.job.What) == 0 || slices.Contains(w.job.What, part)
}

// fileName is a part of the name of a file: an underscore separates those.
func fileName(s string) string {
	if s == "" || s == "." || s == "/" {
		return "unknown"
	}
	return strings.Map(func(r rune) rune {
		if r > ' ' && r < 0x7f && !strings.ContainsRune("/_'\"<>&", r) {
			return r
		}
		return '-'
	}, s)
}

func (w *writer) process(source *reconstruct.Run, i, first int) error {
	replay, err := source.Process(i)
	if err != nil {
		return err
	}
	data := replay.Data()
	facts, err := analysis.NewProcess(data, first)
	if err != nil {
		return err
	}
	p := &process{
		writer: w, facts: facts, names: replay.Names(), texts: map[uint64]string{}, contents: map[uint64]*efg.Def{}, types: map[uint64]int{},
		requests: map[uint64]int{}, halves: map[uint64]int{}, began: w.run.Meta.Started,
	}
	for k := range data.Defs {
		switch d := &data.Defs[k]; d.Kind {
		case efg.DefString:
			p.texts[d.Word] = string(d.Data)
		case efg.DefType:
			p.contents[d.Word] = d
		}
	}
	for j := range data.Streams {
		if thread := data.Streams[j].Thread; w.job.Thread < 0 || uint32(w.job.Thread) == thread {
			if err := p.thread(replay, j, label{fileName(data.Host), data.Rank, int(thread)}); err != nil {
				return err
			}
		}
	}
	return nil
}

// thread writes the trace of a thread, and the datatypes that it uses.
func (p *process) thread(replay *reconstruct.Process, stream int, l label) (err error) {
	p.tree = append(p.tree, l)
	f, err := os.Create(filepath.Join(p.dir, fmt.Sprintf("%s_%s_%d_%d%s", p.name, l.host, l.rank, l.thread, extension)))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	b := bufio.NewWriterSize(f, 1<<16)
	b.WriteString("<Program>\n")
	const often = 1 << 12
	n, last := uint64(0), int64(0)
	p.types, p.order = map[uint64]int{}, nil
	var line []byte
	for e, err := range replay.Events(stream, reconstruct.Options{}) {
		if err != nil {
			return err
		}
		start, end, ok := e.Times()
		switch {
		case e.Proc() == nil || e.Proc().Annotates():
			continue
		case e.Depth() > 0:
			p.inner++
			continue
		}
		if !ok || !p.selected(e.Seq, start, end) {
			p.note(e)
			continue
		}
		if line = p.element(line[:0], stream, e, start, end); n%often == often-1 {
			if err := p.job.Done(often); err != nil {
				return err
			}
		}
		n++
		last = max(last, end)
		b.Write(line)
	}
	b.Write(p.unfinished(replay, stream, last))
	b.WriteString("</Program>\n")
	p.describeTypes(l)
	return errors.Join(p.job.Done(n%often), b.Flush())
}

// selected reports whether a call is in the part of the time that is written.
func (w *writer) selected(seq uint64, start, end int64) bool {
	sel := &w.job.Selection
	if sel.Time != nil {
		return sel.Time.Has(start, end)
	}
	return seq >= sel.From && (sel.To == 0 || seq < sel.To)
}

// note numbers the request of a call that is not written.
func (p *process) note(e *reconstruct.Event) { p.request(e) }

// appendTime appends a time in seconds since 1970, with six digits.
func (p *process) appendTime(b []byte, name string, at int64) []byte {
	us := (p.began + at) / 1000
	return fmt.Appendf(b, " %s='%d.%06d'", name, us/1e6, us%1e6)
}

// element appends the element of a call.
func (p *process) element(b []byte, stream int, e *reconstruct.Event, start, end int64) []byte {
	name := elementOf(e.Op())
	b = append(append(b, '<'), name...)
	c := call{process: p, stream: stream, event: e, proc: e.Proc(), roles: &e.Proc().Roles, rid: p.request(e)}
	for _, attribute := range logged[name] {
		if !p.wants(Attributes) {
			break
		}
		if value, ok := c.attribute(attribute); ok {
			b = append(b, ' ')
			b = append(append(append(append(b, attribute...), "='"...), escaped(value)...), '\'')
		}
	}
	b = p.appendTime(p.appendTime(b, "time", start), "end", end)
	awaited := c.awaited()
	if len(awaited) == 0 || !p.wants(Requests) {
		return append(b, " />\n"...)
	}
	b = append(b, " >\n"...)
	for _, id := range awaited {
		b = fmt.Appendf(b, "  <For rid='%d' />\n", id)
	}
	return append(append(append(b, "</"...), name...), ">\n"...)
}

// unfinished is the element of the call that a thread was in when its recording ended, nothing if there is none. last
// is when the call before it ended. It has an attribute that the format does not know, which readers show as the others.
func (p *process) unfinished(replay *reconstruct.Process, stream int, last int64) []byte {
	start, end, ok := p.job.InProgress(replay, stream, last)
	if !ok {
		return nil
	}
	proc := replay.Pending(stream).Proc()
	if proc == nil || proc.Annotates() {
		return nil
	}
	b := fmt.Appendf(nil, "<%s unfinished='1'", elementOf(proc.Name))
	return append(p.appendTime(p.appendTime(b, "time", start), "end", end), " />\n"...)
}

func escaped(s string) string {
	var b strings.Builder
	xml.EscapeText(&b, []byte(s))
	return b.String()
}

// request numbers the request that a call issues, or the first half of a split operation on a file; -1: there is none.
func (p *process) request(e *reconstruct.Event) int {
	proc := e.Proc()
	if e.Failed() {
		return -1
	}
	if slot := proc.Roles.Request; slot != 0 && signature.IsPlain(e.Word(slot)) {
		id := p.issued
		p.issued++
		p.requests[signature.ID{Thread: e.Thread(), Node: uint32(e.Node()), Slot: uint32(e.Word(slot))}.Word()] = id
		return id
	}
	if proc.OnFiles() && proc.Split == "begin" {
		id := p.issued
		p.issued++
		p.halves[e.Word(signature.ObjectWord)] = id
		return id
	}
	return -1
}

// awaited are the requests that a call waits for, or tests.
func (c *call) awaited() (list []int) {
	if c.proc.OnFiles() && c.proc.Split == "end" {
		file := c.event.Word(signature.ObjectWord)
		if id, ok := c.process.halves[file]; ok {
			delete(c.process.halves, file)
			return []int{id}
		}
		return nil
	}
	if c.proc.Completes == "" {
		return nil
	}
	words := []uint64{c.event.Word(c.roles.Requests)}
	if c.proc.Vector(c.roles.Requests) {
		words, _ = c.event.Vec(c.roles.Requests)
	}
	for _, w := range words {
		if id, ok := c.process.requests[w]; ok {
			list = append(list, id)
		}
	}
	return list
}

// Owns reports whether a directory was written by Write, and may be replaced.
func Owns(dir string) bool {
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) == 0 {
		return false
	}
	return !slices.ContainsFunc(entries, func(e os.DirEntry) bool { return filepath.Ext(e.Name()) != extension })
}
