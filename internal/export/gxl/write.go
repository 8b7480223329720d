package gxl

import (
	"bufio"
	"fmt"
	"io"
	"iter"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/efg/text"
	"github.com/efg-tools/efg/internal/analysis"
	"github.com/efg-tools/efg/internal/export"
	"github.com/efg-tools/efg/reconstruct"
	"github.com/efg-tools/efg/signature"
)

// version is the version of the document's form, in the trace's efg.version.
const version = 1

const prolog = `<?xml version="1.0" encoding="UTF-8"?>
<gxl xmlns:xlink="http://www.w3.org/1999/xlink">
`

// Write writes the selected part of a run. It needs memory for the largest process, with about
// a byte for each traced time, but not for its events. progress, if not nil, is called from
// time to time with the number of events written.
func Write(out io.Writer, run *runfile.Run, sel export.Selection, progress func(events uint64)) error {
	w := &writer{run: run, sel: &sel, firsts: analysis.FirstRanks(run.Procs), comms: map[string]bool{}, ranks: map[int]bool{},
		stubs: map[int]bool{}, progress: progress}
	w.p.file.w = out
	w.p.w = bufio.NewWriterSize(&w.p.file, 1<<16)
	sites, err := run.StoredSites()
	if err != nil {
		return err
	}
	source, err := reconstruct.NewRun(run)
	if err != nil {
		return err
	}
	w.p.raw(prolog)
	w.p.schema()
	w.begin(sites)
	for n, i := range sel.Procs {
		if err := w.process(source, n, i); err != nil {
			return err
		}
	}
	w.end()
	return w.p.w.Flush()
}

// writer writes a document.
type writer struct {
	p        printer
	run      *runfile.Run
	sel      *export.Selection
	firsts   []int // rank in the run of rank 0 of each process's world
	comms    map[string]bool
	ranks    map[int]bool // processes that are written
	stubs    map[int]bool // that are referred to but not written
	events   uint64
	progress func(uint64)

	// Of the current process:
	id      string
	number  int                  // in the document
	whole   *reconstruct.Process // as it was recorded
	proc    *reconstruct.Process // its selected part
	facts   *analysis.Process
	first   int
	members map[uint64]*analysis.Members
	codes   []codes // by node of the stream; nil if its times were not traced
	line    []byte
}

type codes struct{ gap, dur efg.TimeIter }

func itoa(n int) string { return strconv.Itoa(n) }

// begin writes the metadata of the run, and its processes.
func (w *writer) begin(sites []runfile.Site) {
	p, m := &w.p, w.sel.Meta(w.run.Meta)
	p.raw("<graph id=\"trace\" edgeids=\"false\">\n<type xlink:href=\"#MPITrace\"/>\n")
	p.int("efg.version", version)
	p.text("TraceID", fmt.Sprintf("%x", m.Started))
	p.int("StartTime", m.Started)
	p.int("EndTime", m.Ended)
	p.text("efg.tool", m.Tool)
	p.list("efg.command", m.Command)
	if len(m.Launcher) > 0 {
		p.list("efg.launcher", m.Launcher)
	}
	p.int("efg.status", int64(m.Status))
	if m.StatusUnknown {
		p.bool("efg.status_unknown", true)
	}
	p.text("efg.time", m.Time)
	p.text("efg.polls", m.Polls)
	p.bool("efg.queries", m.Queries)
	p.bool("efg.buffers", m.Buffers)
	if m.CallPath > 0 {
		p.int("efg.callpath", int64(m.CallPath))
	}
	w.machines(&m)
	p.raw("\n")
	p.node("scenario", "Scenario")
	p.text("desc", strings.Join(m.Command, " "))
	p.endNode()
	for i := range sites {
		w.site(i, &sites[i])
	}
	hosts := map[string]int{}
	for n, i := range w.sel.Procs {
		info := &w.run.Procs[i]
		if _, ok := hosts[info.Host]; !ok {
			hosts[info.Host] = len(hosts)
			p.node("h"+itoa(hosts[info.Host]), "Processor")
			p.int("ProcessorID", int64(hosts[info.Host]))
			p.text("ProcessorName", info.Host)
			p.endNode()
		}
		w.ranks[info.Rank] = true
		w.processNode(n, i, hosts[info.Host])
	}
}

// machines writes what is known of the machines, and of processes that were not recorded.
func (w *writer) machines(m *runfile.Meta) {
	for _, x := range []struct {
		name string
		list []string
	}{{"efg.forks", m.Forks}, {"efg.energy", m.Energy}, {"efg.processors", m.Processors}} {
		if len(x.list) > 0 {
			w.p.list(x.name, x.list)
		}
	}
}

func (w *writer) site(i int, s *runfile.Site) {
	w.p.node("l"+itoa(i), "efg.Site")
	w.p.hex("word", s.Word)
	if module, offset := s.Module(); module != "" {
		w.p.text("module", module)
		w.p.uint("offset", offset)
	}
	w.p.text("place", s.Place)
	w.p.text("function", s.Func)
	w.p.endNode()
}

// processID is the id of the node of a process: n is its number in the document.
func processID(rank, n int) string {
	if rank < 0 {
		return "q" + itoa(n)
	}
	return "p" + itoa(rank)
}

func (w *writer) processNode(n, i, host int) {
	p, info := &w.p, &w.run.Procs[i]
	id := processID(info.Rank, n)
	p.node(id, "Process")
	p.text("ProcessID", id)
	p.int("Rank", int64(info.Rank))
	p.text("ProcessName", strings.Join(info.Command, " "))
	p.endNode()
	p.edge(id, "h"+itoa(host), "processor")
}

// end writes processes that are only referred to.
func (w *writer) end() {
	ranks := make([]int, 0, len(w.stubs))
	for r := range w.stubs {
		ranks = append(ranks, r)
	}
	slices.Sort(ranks)
	for _, r := range ranks {
		id := processID(r, 0)
		w.p.node(id, "Process")
		w.p.text("ProcessID", id)
		w.p.int("Rank", int64(r))
		w.p.endNode()
	}
	w.p.raw("</graph>\n</gxl>\n")
}

// process writes the definitions of process i of the run, number n of the document,
// and the events of its streams.
func (w *writer) process(source *reconstruct.Run, n, i int) error {
	whole, err := source.Process(i)
	if err != nil {
		return err
	}
	data, err := w.sel.Process(whole)
	if err != nil {
		return fmt.Errorf("rank %d: %w", w.run.Procs[i].Rank, err)
	}
	w.first = w.firsts[i]
	if w.facts, err = analysis.NewProcess(data, w.first); err != nil {
		return err
	}
	w.id, w.number = processID(data.Rank, n), n
	w.whole, w.proc, w.members = whole, reconstruct.NewProcess(data, whole.Names()), map[uint64]*analysis.Members{}
	w.description(data)
	for k := range data.Defs {
		w.definition(k, &data.Defs[k])
	}
	for j := range data.Streams {
		if err := w.stream(j, &data.Streams[j], data.Sum == nil); err != nil {
			return fmt.Errorf("rank %d: %w", data.Rank, err)
		}
	}
	return w.p.w.Flush()
}

// description writes what the run file knows of the process.
func (w *writer) description(q *efg.Process) {
	p := &w.p
	p.node("d"+itoa(w.number), "efg.Process")
	p.text("ProcessID", w.id)
	p.int("rank", int64(q.WorldRank()))
	p.int("size", int64(q.Size))
	p.hex("world", q.World)
	p.int("pid", int64(q.PID))
	p.text("host", q.Host)
	p.text("mpi", q.MPI)
	p.list("command", q.Command)
	p.int("start", q.Start)
	if q.Began != 0 {
		p.int("began", q.Began)
	}
	if q.Mono != 0 {
		p.int("mono", q.Mono)
	}
	if q.Gone != 0 {
		p.uint("gone", q.Gone)
	}
	if len(q.Anchors) > 0 {
		var list []string
		for _, a := range q.Anchors {
			list = append(list, text.AnchorText(a))
		}
		p.list("anchors", list)
	}
	p.endNode()
}

func (w *writer) definition(k int, d *efg.Def) {
	p := &w.p
	p.node(fmt.Sprintf("d%d.%d", w.number, k), "efg.Definition")
	p.text("kind", text.KindName(d.Kind))
	p.hex("word", d.Word)
	if len(d.Words) > 0 {
		p.list("words", wordTexts(d.Words))
	}
	if len(d.Data) > 0 {
		p.text("data", string(d.Data))
	}
	p.endNode()
}

func wordTexts(words []uint64) []string {
	list := make([]string, len(words))
	for i, w := range words {
		list[i] = text.WordText(w)
	}
	return list
}

// signatureTexts are the texts of words that begin with a header.
func signatureTexts(words []uint64) []string {
	list := wordTexts(words)
	list[0] = fmt.Sprintf("%#x", words[0])
	return list
}

// insideTexts describes the calls in progress inside another one: of each since when, and its words.
func insideTexts(inner *efg.Pending) (list []string) {
	for _, c := range inner.Calls() {
		list = append(list, fmt.Sprintf("%d %s", c.Since, strings.Join(signatureTexts(c.Words), " ")))
	}
	return list
}

// stream writes a stream's signatures and its events.
func (w *writer) stream(j int, s *efg.Stream, hash bool) error {
	p := &w.p
	id := fmt.Sprintf("s%d.%d", w.number, j)
	p.node(id, "efg.Stream")
	p.int("thread", int64(s.Thread))
	p.uint("events", s.Events)
	p.text("end", text.EndName(s.End))
	p.uint("dropped", s.Dropped)
	if hash {
		p.hex("hash", s.Hash)
	}
	w.codes = nil
	if s.Trace != nil {
		if err := s.LoadTimes(); err != nil {
			return err
		}
		p.int("error", int64(s.Trace.Error))
		p.uint("bound", s.Trace.Bound)
		p.uint("begin", s.Trace.Begin)
		if s.Trace.Untimed > 0 {
			p.uint("untimed", s.Trace.Untimed)
		}
		w.codes = make([]codes, len(s.Nodes))
	}
	if s.Pending != nil {
		p.list("entered", signatureTexts(s.Pending.Words))
		p.uint("since", s.Pending.Since)
		if inner := s.Pending.Inner; inner != nil {
			p.list("inside", insideTexts(inner))
		}
	}
	p.endNode()
	for k := range s.Nodes {
		if w.codes != nil {
			w.codes[k] = codes{s.Nodes[k].Times.Gap.Iter(), s.Nodes[k].Times.Dur.Iter()}
		}
		w.signature(fmt.Sprintf("%s.%d", id, k), j, k, &s.Nodes[k])
	}
	shown, stop := w.recordedEvents(s)
	defer stop()
	for e, err := range w.proc.Events(j, reconstruct.Options{Issues: true}) {
		if err != nil {
			return err
		}
		as, err := shown(e)
		if err != nil {
			return err
		}
		if err := w.event(e, as, j); err != nil {
			return err
		}
		if w.events++; w.progress != nil && w.events%(1<<14) == 0 {
			w.progress(w.events)
		}
	}
	return p.w.Flush()
}

// recordedEvents iterates over the events of a stream as they were recorded. For a window, in
// which objects have other names, it returns the events of the whole run.
func (w *writer) recordedEvents(s *efg.Stream) (next func(e *reconstruct.Event) (*reconstruct.Event, error), stop func()) {
	if !w.sel.Window() {
		return func(e *reconstruct.Event) (*reconstruct.Event, error) { return e, nil }, func() {}
	}
	i := slices.IndexFunc(w.whole.Data().Streams, func(x efg.Stream) bool { return x.Thread == s.Thread })
	pull, stop := iter.Pull2(w.whole.Events(i, reconstruct.Options{From: w.sel.From, To: w.sel.To, Issues: true}))
	return func(e *reconstruct.Event) (*reconstruct.Event, error) {
		as, err, ok := pull()
		if err == nil && (!ok || as.Seq-w.sel.From != e.Seq) {
			err = fmt.Errorf("%w: event %d is not there a second time", efg.ErrWalk, w.sel.From+e.Seq)
		}
		return as, err
	}, stop
}

// signature writes what the events at a node have in common.
func (w *writer) signature(id string, j, k int, n *efg.Node) {
	p := &w.p
	p.node(id, "efg.Signature")
	about := w.proc.Describe(j, k)
	p.text("operation", about.Op)
	p.text("place", about.Site)
	words := signatureTexts(n.Words)
	for i := range words {
		if n.Mask>>i&1 != 0 {
			words[i] = "*"
		}
	}
	p.list("words", words)
	if n.Counted > 0 {
		p.uint("counted", n.Counted)
	}
	if n.Stats != nil {
		p.uint("timed", n.Stats.Count)
		p.text("durations", export.IntervalText(&n.Stats.Dur))
		p.text("gaps", export.IntervalText(&n.Stats.Gap))
	}
	p.endNode()
}

// values are the words of the event that its signature leaves open, and the
// elements of arrays among them, in brackets.
func (w *writer) values(words []uint64, e *reconstruct.Event, n *efg.Node) []string {
	var list []string
	for m := n.Mask; m != 0; m &= m - 1 {
		i := bits.TrailingZeros64(m)
		v := words[i]
		if export.WordForm(n.Words[0], i) != signature.VecForm || signature.IsConst(v) {
			list = append(list, text.WordText(v))
			continue
		}
		elems, _ := e.Vec(i)
		list = append(list, "["+strings.Join(wordTexts(elems), " ")+"]")
	}
	return list
}
