package mtf

import (
	"errors"
	"fmt"
	"io"

	"github.com/vmihailenco/msgpack/v5"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/efg/seq"
	"github.com/efg-tools/efg/internal/analysis"
	"github.com/efg-tools/efg/internal/export"
)

// Read reads a file that Write wrote, and hands its processes to sink. name is its name in
// errors, which are of type Error unless sink fails. It needs memory for a process and for what
// processes share, and time for all events. progress, if not nil, is called from time to time
// with the number of bytes read.
func Read(name string, in io.Reader, sink export.Sink, progress func(bytes int64)) error {
	records, err := newRecordReader(name, in)
	if err != nil {
		return err
	}
	defer records.zip.Close()
	r := &reader{recordReader: records, sink: sink, defs: map[int][]efg.Def{}}
	for !r.ended {
		if err := r.next(); err != nil {
			return err
		}
		r.take()
		if r.err != nil {
			return r.err
		}
		if progress != nil {
			progress(r.file.n)
		}
	}
	if _, err := r.dec.PeekCode(); err != io.EOF {
		return r.fail(errors.New("content after the end"))
	}
	if r.procs == 0 {
		r.record = -1
		return r.fail(errors.New("no processes"))
	}
	return nil
}

// reader keeps what records refer to.
type reader struct {
	*recordReader
	version uint64 // of the form
	sink    export.Sink
	meta    runfile.Meta
	procs   int
	ended   bool
	start   int64 // of the process before
	rank    int64

	processors []processor
	definition []definition
	lists      [][]int           // of definitions
	defs       map[int][]efg.Def // by list
	operations []operation
	classes    []class
	columns    []*seq.Seq
	patterns   [][]item
	sizes      []uint64 // number of events of each pattern
	traces     []trace
}

type processor struct {
	world     uint64
	size      int
	host, mpi string
	command   []string
}

type definition struct {
	kind        efg.DefKind
	own, tokens []uint64
	data        []byte
}

type operation struct {
	header uint64
	words  int
}

type class struct {
	operation int
	mask      uint64
	tokens    []uint64
}

type trace struct {
	events           uint64
	classes, columns []int
	items            []item
	counted          []uint64
}

// take reads the fields of a record.
func (r *reader) take() {
	fields := [kinds]int{kindRun: 2, kindSite: 5, kindProcessor: 5, kindDefinition: 4, kindDefinitions: 1, kindOperation: 4,
		kindClass: 3, kindAttribute: 4, kindPattern: 1, kindTrace: 5, kindProcess: 8}
	if r.version >= timesVersion {
		fields[kindProcess]++
	}
	if r.version >= goneVersion {
		fields[kindProcess]++
	}
	if r.fields(fields[r.kind]); r.err != nil {
		return
	}
	if (r.kind == kindRun) != (r.record == 0) {
		r.fail(errors.New("the run must be described first, and once"))
		return
	}
	switch r.kind {
	case kindEnd:
		r.ended = true
	case kindRun:
		r.metadata()
	case kindSite:
		r.site()
	case kindProcessor:
		r.processors = append(r.processors, processor{r.uint(), int(int32(r.int())), r.text(), r.text(), r.texts()})
	case kindDefinition:
		r.definition = append(r.definition, definition{efg.DefKind(r.number("kind", uint64(efg.DefRegion)+1)), r.uints(), r.uints(), r.data()})
	case kindDefinitions:
		r.lists = append(r.lists, r.runs("definitions", len(r.definition)))
	case kindOperation:
		o := operation{header: r.uint()}
		r.text()
		r.texts()
		o.words = len(r.texts()) + 2
		r.operations = append(r.operations, o)
	case kindClass:
		r.classes = append(r.classes, class{r.number("operation", uint64(len(r.operations))), r.uint(), r.uints()})
	case kindAttribute:
		r.attribute()
	case kindPattern:
		r.pattern()
	case kindTrace:
		r.trace()
	case kindProcess:
		r.process()
	}
}

// maxMeta bounds the metadata, so that nesting cannot exhaust the decoder's stack.
const maxMeta = 1 << 20

func (r *reader) metadata() {
	if r.version = r.uint(); r.err == nil && r.version > goneVersion {
		r.fail(fmt.Errorf("written by a newer version of efg: form %d", r.version))
		return
	}
	b := r.data()
	if len(b) > maxMeta {
		r.fail(fmt.Errorf("%d bytes of metadata", len(b)))
	}
	if r.err == nil {
		if err := msgpack.Unmarshal(b, &r.meta); err != nil {
			r.fail(err)
		}
	}
}

func (r *reader) site() {
	module, offset, word := r.text(), r.uint(), r.uint()
	s := runfile.Site{Word: word}
	if module != "" {
		s = runfile.MakeSite(module, offset)
	}
	s.Place, s.Func = r.text(), r.text()
	r.meta.Sites = append(r.meta.Sites, s)
}

// attribute reads a sequence of values.
func (r *reader) attribute() {
	n, form := r.uint(), seq.Form(r.number("form", 256))
	parts := r.runs("attributes", len(r.columns))
	var symbols []seq.Symbol
	for range r.list() {
		if r.err != nil {
			return
		}
		symbols = append(symbols, r.symbol())
	}
	if r.err != nil {
		return
	}
	s, err := makeSeq(n, form, symbols, parts, r.columns)
	if err == nil {
		err = s.Check()
	}
	if err != nil {
		r.fail(err)
	}
	r.columns = append(r.columns, s)
}

func makeSeq(n uint64, form seq.Form, symbols []seq.Symbol, parts []int, known []*seq.Seq) (*seq.Seq, error) {
	if parts == nil {
		return seq.Make(n, form, symbols)
	}
	list := make([]*seq.Seq, len(parts))
	for i, p := range parts {
		list[i] = known[p]
	}
	return seq.MakeLong(n, form, list)
}

func (r *reader) symbol() (y seq.Symbol) {
	code, err := r.dec.PeekCode()
	if err != nil {
		r.fail(err)
		return y
	}
	if !isList(code) {
		y.Value = r.uint()
		return y
	}
	list := r.short(3)
	if r.err != nil {
		return y
	}
	y = seq.Symbol{Level: int(min(list[0], 1<<16)), Distance: list[1], Length: list[2]}
	if y.Length == 0 {
		y.Length = seq.Endless
	}
	if y.Distance == 0 {
		r.fail(errors.New("a repeat of distance 0"))
	}
	return y
}

func isList(code byte) bool { return code>>4 == 9 || code == 0xdc || code == 0xdd }

// short reads a list of n numbers.
func (r *reader) short(n int) []uint64 {
	if got := r.list(); r.err == nil && got != n {
		r.fail(fmt.Errorf("a list of %d numbers, want %d", got, n))
	}
	list := make([]uint64, n)
	for i := range list {
		list[i] = r.uint()
	}
	return list
}

// items reads items, and the number of events that they stand for.
func (r *reader) items() (items []item, events uint64) {
	for range r.list() {
		if r.err != nil {
			return nil, 0
		}
		code, err := r.dec.PeekCode()
		if err != nil {
			r.fail(err)
			return nil, 0
		}
		if !isList(code) {
			items = append(items, item{n: uint32(r.number("class", 1<<32))})
			events++
			continue
		}
		v := r.short(2)
		if r.err != nil {
			return nil, 0
		}
		if v[0] >= uint64(len(r.patterns)) || v[1] == 0 {
			r.fail(fmt.Errorf("%d occurrences of pattern %d: there are %d so far", v[1], v[0], len(r.patterns)))
			return nil, 0
		}
		size := r.sizes[v[0]]
		if size > maxEvents/v[1] || size*v[1] > maxEvents-min(events, maxEvents) {
			r.fail(fmt.Errorf("more than %d events", maxEvents))
			return nil, 0
		}
		items, events = append(items, item{uint32(v[0]), v[1]}), events+size*v[1]
	}
	return items, events
}

// maxEvents is the maximum number of events of a trace, because reading iterates over all of
// them. Tests change it.
var maxEvents uint64 = 1 << 40

func (r *reader) pattern() {
	items, events := r.items()
	if r.err == nil && len(items) == 0 {
		r.fail(errors.New("an empty pattern"))
	}
	r.patterns, r.sizes = append(r.patterns, items), append(r.sizes, events)
}

func (r *reader) trace() {
	t := trace{events: r.uint(), classes: r.runs("classes", len(r.classes)), columns: r.runs("attributes", len(r.columns))}
	events := uint64(0)
	if t.items, events = r.items(); r.err == nil && events != t.events {
		r.fail(fmt.Errorf("%w: the items are %d events, not %d", export.ErrContent, events, t.events))
	}
	t.counted = r.uints()
	r.traces = append(r.traces, t)
}

// anchors reads the anchors of a process's clock.
func (r *reader) anchors() (list []efg.Anchor) {
	v := r.uints()
	if r.err == nil && len(v)%4 != 0 {
		r.fail(errors.New("an anchor of not four numbers"))
	}
	for ; r.err == nil && len(v) > 0; v = v[4:] {
		list = append(list, efg.Anchor{Tick: v[0], Mono: v[1], Real: int64(v[2]), Width: v[3]})
	}
	return list
}

// process reads a process and makes its graphs.
func (r *reader) process() {
	on := r.number("processor", uint64(len(r.processors)))
	if r.err != nil {
		return
	}
	q := &r.processors[on]
	p := &efg.Process{World: q.world, Size: q.size, Host: q.host, MPI: q.mpi, Command: q.command}
	r.rank += r.int()
	p.Rank, p.PID = int(int32(r.rank)), int(r.int())
	r.start += r.int()
	p.Start, p.Began, p.Mono = r.start, r.int(), r.int()
	if r.version >= timesVersion {
		p.Anchors = r.anchors()
	}
	if r.version >= goneVersion {
		p.Gone = uint64(r.number("time at which the process was gone", 1<<61))
	}
	list := r.number("definitions", uint64(len(r.lists)))
	if r.err == nil && (p.Rank < -1 || p.Size < 0 || p.PID < 0) {
		r.fail(fmt.Errorf("rank %d of %d, process %d", p.Rank, p.Size, p.PID))
	}
	if r.err != nil {
		return
	}
	var err error
	if p.Defs, err = r.definitions(list); err != nil {
		r.fail(err)
		return
	}
	words := newWords(p.Defs)
	words.rank = p.Rank
	if words.facts, err = analysis.NewProcess(&efg.Process{Rank: p.Rank, Size: p.Size, Defs: p.Defs}, 0); err != nil {
		r.fail(err)
		return
	}
	defs := efg.NewDefinitions(append([]efg.Def(nil), p.Defs...))
	for range r.list() {
		if r.err == nil {
			r.stream(p, words, defs)
		}
	}
	if r.err != nil {
		return
	}
	p.Defs = defs.List
	if err := export.Check(p); err != nil {
		r.fail(err)
		return
	}
	if err := r.sink(&r.meta, p); err != nil {
		r.err = &export.SinkError{Err: err}
	}
	r.procs++
}

// definitions returns the definitions of a list. Processes share them.
func (r *reader) definitions(list int) ([]efg.Def, error) {
	if defs, ok := r.defs[list]; ok {
		return defs, nil
	}
	defs := make([]efg.Def, len(r.lists[list]))
	words := newWords(nil)
	words.defs = defs
	for i, n := range r.lists[list] {
		d := &r.definition[n]
		defs[i] = efg.Def{Kind: d.kind, Data: d.data}
		for rest := d.tokens; len(rest) > 0; {
			var v uint64
			var err error
			if v, rest, err = words.word(rest, i); err != nil {
				return nil, fmt.Errorf("definition %d: %w", i, err)
			}
			defs[i].Words = append(defs[i].Words, v)
		}
		defs[i].Word = defs[i].Identity()
		if len(d.own) > 0 {
			v, _, err := words.word(d.own, i)
			if err != nil {
				return nil, fmt.Errorf("definition %d: %w", i, err)
			}
			defs[i].Word = v
		}
	}
	r.defs[list] = defs
	return defs, nil
}
