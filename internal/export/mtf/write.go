package mtf

import (
	"bytes"
	"fmt"
	"io"
	"slices"

	"github.com/vmihailenco/msgpack/v5"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/efg/seq"
	"github.com/efg-tools/efg/internal/analysis"
	"github.com/efg-tools/efg/internal/export"
	"github.com/efg-tools/efg/reconstruct"
	"github.com/efg-tools/efg/signature"
)

// Write writes the selected part of a run. It needs memory for the largest process and for what
// processes share. progress, if not nil, is called from time to time with the number of events
// written.
func Write(out io.Writer, run *runfile.Run, sel export.Selection, progress func(events uint64)) error {
	source, err := reconstruct.NewRun(run)
	if err != nil {
		return err
	}
	records, err := newRecordWriter(out)
	if err != nil {
		return err
	}
	w := &writer{recordWriter: records, folded: map[string][]item{}, progress: progress}
	if err := w.begin(run, &sel); err != nil {
		return err
	}
	for _, i := range sel.Procs {
		whole, err := source.Process(i)
		if err != nil {
			return err
		}
		data, err := sel.Process(whole)
		if err == nil && sel.Window() {
			data, err = packed(data)
		}
		if err == nil {
			err = w.process(data)
		}
		if err != nil {
			return fmt.Errorf("rank %d: %w", run.Procs[i].Rank, err)
		}
	}
	return w.close()
}

// packed returns a process as a run file would hold it: with packed sequences.
func packed(p *efg.Process) (*efg.Process, error) {
	var b bytes.Buffer
	if err := runfile.EncodeRun(&b, []*efg.Process{p}, runfile.Meta{}); err != nil {
		return nil, err
	}
	r, err := runfile.NewRun(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		return nil, err
	}
	q, err := r.Process(0)
	if err != nil {
		return nil, err
	}
	for i := range q.Streams {
		if err := q.Streams[i].LoadTimes(); err != nil {
			return nil, err
		}
	}
	p.Defs, p.Streams = q.Defs, q.Streams
	return p, nil
}

type writer struct {
	version uint64 // of the form
	*recordWriter
	folded   map[string][]item // by the flow of a graph
	start    int64             // of the previous process
	rank     int64
	events   uint64
	progress func(uint64)
}

func (w *writer) begin(run *runfile.Run, sel *export.Selection) error {
	meta := sel.Meta(run.Meta)
	about, err := msgpack.Marshal(&meta)
	if err != nil {
		return err
	}
	w.recordWriter.begin(kindRun, 2)
	if w.version, err = versionOf(run, sel); err != nil {
		return err
	}
	w.uint(w.version)
	w.data(about)
	w.write()
	sites, err := run.StoredSites()
	if err != nil {
		return err
	}
	for i := range sites {
		s := &sites[i]
		module, offset := s.Module()
		w.recordWriter.begin(kindSite, 5)
		w.text(module)
		w.uint(offset)
		word := s.Word
		if module != "" {
			word = 0 // it follows from these
		}
		w.uint(word)
		w.text(s.Place)
		w.text(s.Func)
		w.write()
	}
	return nil
}

// versionOf is the version that the selected processes need.
func versionOf(run *runfile.Run, sel *export.Selection) (uint64, error) {
	if slices.ContainsFunc(sel.Procs, func(i int) bool { return run.Procs[i].Gone > 0 }) {
		return goneVersion, nil
	}
	version := uint64(plainVersion)
	if slices.ContainsFunc(sel.Procs, run.Traced) {
		version = timesVersion
	}
	for _, i := range sel.Procs {
		for j, s := range run.Procs[i].Streams {
			if !s.InCall {
				continue
			}
			call, _, err := run.Pending(i, j)
			if err != nil {
				return 0, fmt.Errorf("rank %d: %w", run.Procs[i].Rank, err)
			}
			if call.Inner != nil {
				return innerVersion, nil
			}
			version = max(version, callsVersion)
		}
	}
	return version, nil
}

// process writes a process, preceded by what it refers to.
func (w *writer) process(p *efg.Process) error {
	w.recordWriter.begin(kindProcessor, 5)
	w.uint(p.World)
	w.int(int64(p.Size))
	w.text(p.Host)
	w.text(p.MPI)
	w.texts(p.Command)
	on := w.share(kindProcessor)
	words, err := wordsOf(p)
	if err != nil {
		return err
	}
	defs := w.definitions(p, words)
	bodies, calls := make([]int, len(p.Streams)), make([][]uint64, len(p.Streams))
	for i := range p.Streams {
		s := &p.Streams[i]
		if bodies[i], err = w.trace(p, s, words); err != nil {
			return err
		}
		for _, c := range s.Pending.Calls() {
			calls[i] = append(calls[i], uint64(w.class(&efg.Node{Words: c.Words}, words)), c.Since)
		}
	}
	fields := 8
	if w.version >= timesVersion {
		fields++
	}
	if w.version >= goneVersion {
		fields++
	}
	w.recordWriter.begin(kindProcess, fields)
	w.uint(uint64(on))
	w.int(int64(p.WorldRank()) - w.rank)
	w.rank = int64(p.WorldRank())
	w.int(int64(p.PID))
	w.int(p.Start - w.start)
	w.start = p.Start
	w.int(p.Began)
	w.int(p.Mono)
	if w.version >= timesVersion {
		w.anchors(p.Anchors)
	}
	if w.version >= goneVersion {
		w.uint(p.Gone)
	}
	w.uint(uint64(defs))
	w.list(len(p.Streams))
	for i := range p.Streams {
		if err := w.stream(&p.Streams[i], bodies[i], calls[i], p.Sum == nil); err != nil {
			return err
		}
	}
	w.write()
	return w.err
}

// anchors writes the anchors of a process's clock.
func (w *writer) anchors(list []efg.Anchor) {
	var v []uint64
	for _, a := range list {
		v = append(v, a.Tick, a.Mono, uint64(a.Real), a.Width)
	}
	w.uints(v)
}

// wordsOf prepares the tokens of a process's words.
func wordsOf(p *efg.Process) (*words, error) {
	w := newWords(p.Defs)
	w.rank = p.WorldRank()
	var err error
	w.facts, err = analysis.NewProcess(&efg.Process{Rank: w.rank, Size: p.Size, Defs: p.Defs}, 0)
	return w, err
}

func (w *writer) definitions(p *efg.Process, words *words) int {
	list := make([]int, len(p.Defs))
	for i := range p.Defs {
		d := &p.Defs[i]
		words.current = [2]int64{}
		var tokens, own []uint64
		if d.Word != d.Identity() {
			own = words.append(own, d.Word, i, false)
		}
		for _, v := range d.Words {
			tokens = words.append(tokens, v, i, false)
		}
		w.recordWriter.begin(kindDefinition, 4)
		w.uint(uint64(d.Kind))
		w.uints(own)
		w.uints(tokens)
		w.data(d.Data)
		list[i] = w.share(kindDefinition)
	}
	w.recordWriter.begin(kindDefinitions, 1)
	w.runs(list)
	return w.share(kindDefinitions)
}

// trace writes what streams may share: classes of events, the values that they leave open, and
// the events themselves.
func (w *writer) trace(p *efg.Process, s *efg.Stream, words *words) (int, error) {
	classes := make([]int, len(s.Nodes))
	var columns []int
	var counted []uint64
	for i := range s.Nodes {
		n := &s.Nodes[i]
		classes[i] = w.class(n, words)
		if n.Counted > 0 {
			counted = append(counted, uint64(i), n.Counted)
		}
		for k := range n.Attrs {
			list := []*seq.Seq{n.Attrs[k].Values, n.Attrs[k].Elems}
			if !vector(n.Words[0], n.Mask, k) {
				list = list[:1]
			}
			for _, seq := range list {
				c, err := w.column(seq)
				if err != nil {
					return 0, err
				}
				columns = append(columns, c)
			}
		}
	}
	items, err := w.items(s, p.Defs)
	if err != nil {
		return 0, err
	}
	w.recordWriter.begin(kindTrace, 5)
	w.uint(s.Events)
	w.runs(classes)
	w.runs(columns)
	w.itemList(items)
	w.uints(counted)
	return w.share(kindTrace), w.err
}

// class writes the class of a node's events.
func (w *writer) class(n *efg.Node, words *words) int {
	operation := w.operation(n)
	words.in(0)
	if n.Mask>>2&1 == 0 {
		words.in(n.Words[signature.ObjectWord])
	}
	var tokens []uint64
	for i := 1; i < len(n.Words); i++ {
		if n.Mask>>i&1 == 0 {
			tokens = words.append(tokens, n.Words[i], len(words.defs), isPeer(n.Words[0], i))
		}
	}
	w.recordWriter.begin(kindClass, 3)
	w.uint(uint64(operation))
	w.uint(n.Mask)
	w.uints(tokens)
	return w.share(kindClass)
}

// operation writes the properties of events with a header: the procedure, MTF's classes, and
// the names of its words.
func (w *writer) operation(n *efg.Node) int {
	name, classes := "", []string(nil)
	names := make([]string, len(n.Words))
	if p := signature.ProcByID(signature.Header(n.Words[0]).Proc()); p != nil {
		name, classes = p.Name, p.MTF
		for i := range names {
			if i < len(p.Words) {
				names[i] = p.Words[i].Name
			}
		}
	}
	w.recordWriter.begin(kindOperation, 4)
	w.uint(n.Words[0])
	w.text(name)
	w.texts(classes)
	w.texts(names[min(2, len(names)):])
	return w.share(kindOperation)
}

// column writes a sequence of values.
func (w *writer) column(s *seq.Seq) (int, error) {
	if s == nil {
		s = &seq.Seq{}
	}
	parts, err := s.Parts()
	if err != nil {
		return 0, err
	}
	ids := make([]int, len(parts))
	for i, p := range parts {
		if ids[i], err = w.column(p); err != nil {
			return 0, err
		}
	}
	w.recordWriter.begin(kindAttribute, 4)
	w.uint(s.Len())
	w.uint(uint64(s.Form()))
	w.runs(ids)
	n := 0
	for range s.Symbols() {
		n++
	}
	w.list(n)
	for y := range s.Symbols() {
		w.symbol(y)
	}
	return w.share(kindAttribute), w.err
}

// symbol writes a literal, or a repeat as a list of level, distance and length, which is 0 for
// one that does not end.
func (w *writer) symbol(y seq.Symbol) {
	if y.Distance == 0 {
		w.uint(y.Value)
		return
	}
	length := y.Length
	if length >= seq.Endless {
		length = 0
	}
	w.uints([]uint64{uint64(y.Level), y.Distance, length})
}
