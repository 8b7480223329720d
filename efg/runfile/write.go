package runfile

import (
	"bufio"
	"container/list"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/vmihailenco/msgpack/v5"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/block"
	"github.com/efg-tools/efg/efg/seq"
	"github.com/efg-tools/efg/internal/durable"
)

// WriteRun writes a run file. The file appears under its name when it is complete and on disk,
// or not at all; an existing file is replaced. The processes are stored in the order of their
// ranks. If several have one rank, because there were several MPI_COMM_WORLDs, the ranks of
// later worlds follow those of earlier ones.
func WriteRun(path string, procs []*efg.Process, meta Meta) error {
	return writeFile(path, func(w io.Writer) error { return EncodeRun(w, procs, meta) })
}

// writeFile writes a file atomically: it exists as a whole or not at all.
func writeFile(path string, content func(io.Writer) error) error {
	return durable.Write(path, func(w io.Writer) error {
		if err := content(w); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		return nil
	})
}

// EncodeRun writes the content of a run file.
func EncodeRun(w io.Writer, procs []*efg.Process, meta Meta) error {
	return new(Writer).EncodeRun(w, procs, meta)
}

// EncodePart writes the content of a run file that is to be merged: it keeps what a file of
// many processes omits, whatever the number of processes.
func EncodePart(w io.Writer, procs []*efg.Process, meta Meta) error {
	return new(Writer).EncodePart(w, procs, meta)
}

// Writer writes the content of run files, and remembers of the last one what it decoded and
// compared while it wrote: ReadBack does not decode that again.
type Writer struct {
	decoded decodedEvents
	totals  Totals // see ReadBack
}

// EncodeRun is like the function of that name.
func (w *Writer) EncodeRun(out io.Writer, procs []*efg.Process, meta Meta) error {
	return w.encodeProcs(out, procs, meta, false)
}

// EncodePart is like the function of that name.
func (w *Writer) EncodePart(out io.Writer, procs []*efg.Process, meta Meta) error {
	return w.encodeProcs(out, procs, meta, true)
}

func (w *Writer) encodeProcs(out io.Writer, procs []*efg.Process, meta Meta, part bool) error {
	sources := make([]source, len(procs))
	for i, p := range procs {
		sources[i] = &memorySource{proc: p}
	}
	meta.Sites = findSites(meta.Sites, procs)
	return w.pack(out, sources, meta, part)
}

// source is a process that is to be packed.
type source interface {
	// info returns everything about the process except its records. World, rank and size are
	// those of its MPI_COMM_WORLD.
	info() *ProcInfo
	// began is when the process began, or the first of its world, Unix ns.
	began() int64
	// inCall reports whether a stream has a call in progress.
	inCall() bool
	// inInner reports whether a stream may have one inside another one.
	inInner() bool
	// traced reports whether a stream may have the times of each event.
	traced() bool
	// untimed reports whether a stream has the times of its first events only.
	untimed() bool
	// open gives the process its rank in its world; the methods below need it.
	open(rank int)
	// keys are the keys of the records.
	keys() ([]shapeKey, error)
	// records returns the definitions, the graph of each stream, the checkpoints of those that
	// have some, and their calls in progress. It is called once.
	records() ([]*record, error)
	// hasTimes reports whether there may be times.
	hasTimes() bool
	// times returns all nodes of each stream, for their statistics, and the definitions.
	times() ([][]efg.Node, []efg.Def, error)
	// traces returns the streams with all their times, and their checkpoints.
	traces() ([]*efg.Stream, []*efg.Checkpoints, error)
	// valued reports whether the events that have times may have counters' values.
	valued() bool
	// counters are those whose values streams from traces have; their states mean nothing.
	counters() []efg.Counter
	// exact reports whether the hash of each stream is known.
	exact() bool
	// counted returns the counters, and with them all nodes of each stream.
	counted() ([]efg.Counter, [][]efg.Node, error)
	// hash is what the process's hashes add to the sum of their group.
	hash() uint64
}

// runWriter writes a run file: it adds processes in the order of their ranks, their records to
// groups, and groups to blocks when they have all their members.
type runWriter struct {
	packing
	w         io.Writer
	offset    uint64
	blocks    []blockRef
	queue     []queuedBlock
	strings   map[string]uint32
	strs      []string
	expect    map[shapeKey]uint64 // number of members still to come
	open      map[shapeKey]*openGroup
	recent    list.List // open groups, the one that got a member last at the end
	held      int       // approximate size of these in memory
	filling   *groupWriter
	fillingOf []int // groups in the block that is being filled
	parts     int   // of long sequences
	size      int   // of the block that is being filled
	groups    []writtenGroup
	procs     []ProcInfo
	streams   int
	common    known[StreamShared, StreamShared]
	stats     []statsBlock
	traces    []traceBlock
	exact     bool // few processes: each stream's hash is kept, and each process's id
	noTimes   bool
	rounded   bool // statistics are rounded
	partial   bool // a part of a run, to be merged: it keeps what distinguishes processes
	hashes    map[hashGroup]uint64
	worlds    []worldInfo

	features uint32
	counters []string      // see Meta
	tables   block.Columns // the small tables, if they are part of the index
	byEvents bool          // graphs are set aside, for an event block
	aside    []*openGroup  // groups of graphs, in the order of their ends
	// eventCode is their event block, or nil if columns are smaller.
	eventCode chan decodedEvents
	decoded   decodedEvents
}

// openGroup is a group that may get more members.
type openGroup struct {
	*recordGroup
	id     int // in the order of their beginnings
	memory int // when it was last estimated
	place  *list.Element
}

// writtenGroup is a group in the index. The groups, which are in the order of their beginnings,
// get their positions in the file when they are written.
type writtenGroup struct {
	key          shapeKey
	place        int // in the file
	nodes, edges uint64
}

// groupSize is the target size of the groups of a block together, before compression, and the
// largest size of a group that can be divided.
const groupSize = 128 << 10

// openLimit is the maximum memory of open groups in bytes. A program whose ranks have little in
// common has very many; those that have not got a member for longest are written then, and
// later members go to a new group. This depends only on the processes in their order.
const openLimit = 128 << 20

// pack writes a run file, or a part of one.
func (w *Writer) pack(out io.Writer, sources []source, meta Meta, part bool) (err error) {
	w.decoded, err = packWith(out, sources, meta, part, packing{openLimit: openLimit, events: maxBlockEvents, mixed: true})
	return err
}

// packing says how a file is packed. Tests change it.
type packing struct {
	openLimit int    // maximum memory of open groups in bytes
	events    uint64 // maximum number of events in an event block; 0 if there is none
	mixed     bool   // blocks may be mixed
}

func packWith(w io.Writer, sources []source, meta Meta, part bool, how packing) (decodedEvents, error) {
	bw := bufio.NewWriterSize(w, 1<<16)
	rw := &runWriter{
		packing: how,
		w:       bw, strings: map[string]uint32{}, expect: map[shapeKey]uint64{}, open: map[shapeKey]*openGroup{},
		hashes: map[hashGroup]uint64{}, noTimes: meta.Time == "off", rounded: meta.Time == RoundedStats, partial: part,
	}
	rw.filling = newGroupWriter(rw.part)
	ordered, worlds := inOrder(sources)
	rw.worlds = worlds
	rw.exact = isExact(ordered, worlds, part)
	if isPartOfLarge(sources) {
		rw.mixed, rw.packing.events = false, 0
	}
	rw.byEvents = !part && fewEvents(sources, rw.packing.events)
	if rw.counters = meta.Counters; len(rw.counters) > efg.MaxCounters {
		return decodedEvents{}, fmt.Errorf("%d counters", len(rw.counters))
	}
	rw.features = rw.featuresOf(sources, &meta)
	if err := rw.all(ordered, meta); err != nil {
		return decodedEvents{}, err
	}
	return rw.decoded, bw.Flush()
}

// all writes everything.
func (rw *runWriter) all(ordered []placed, meta Meta) error {
	if err := rw.count(ordered); err != nil {
		return err
	}
	if err := rw.header(); err != nil {
		return err
	}
	if err := rw.processes(ordered); err != nil {
		return err
	}
	return rw.finish(meta)
}

// isExact reports whether each stream gets its hash. In a part it does if its sources have
// them, whatever their number.
func isExact(ordered []placed, worlds []worldInfo, part bool) bool {
	if part {
		return !slices.ContainsFunc(ordered, func(p placed) bool { return !p.source.exact() })
	}
	largest := len(ordered)
	for _, w := range worlds {
		largest = max(largest, w.size)
	}
	return largest <= exactHashes
}

func (rw *runWriter) write(b []byte) error {
	n, err := rw.w.Write(b)
	rw.offset += uint64(n)
	return err
}

func (rw *runWriter) header() error {
	return rw.write(appendHeader(nil, rw.features))
}

// process adds a prepared process.
func (rw *runWriter) process(at *placed, records []*record) error {
	info := *at.source.info()
	info.world, info.inIts = int32(at.world), int32(at.rank)
	switch {
	case rw.noTimes && rw.partial:
		info.Start = at.source.began()
	case rw.noTimes:
		info.Start = 0
	}
	if !rw.exact && !rw.partial {
		info.PID = 0 // would take more than all the rest of the index
	}
	info.Streams = slices.Clone(info.Streams)
	streams := make([]StreamShared, len(info.Streams))
	for i := range streams {
		streams[i] = *info.Streams[i].StreamShared
	}
	rw.str(info.Host)
	rw.str(info.MPI)
	rw.str(strings.Join(info.Command, "\x00"))
	for i, u := range records {
		id, err := rw.record(u)
		if err != nil {
			return err
		}
		switch u.kind {
		case recordDefs:
			info.defs = int32(id)
		case recordGraph:
			streams[i-1].group = id
		case recordCheckpoints:
			streams[u.stream].checkpoints = id + 1
		case recordPending:
			streams[u.stream].pending = id
		}
	}
	for i := range streams {
		info.Streams[i].StreamShared = rw.common.of(streams[i], func() *StreamShared { return &streams[i] })
	}
	if !rw.exact {
		rw.hashes[hashGroupOf(&info, rw.worlds)] += at.source.hash()
	}
	rw.procs = append(rw.procs, info)
	rw.streams += len(info.Streams)
	return nil
}

// record adds a record to its group and returns the group's number. A group is written when all
// records of its class have been added, when it is large, or when open groups take too much
// memory.
func (rw *runWriter) record(u *record) (int, error) {
	p := rw.open[u.key]
	if p == nil {
		p = rw.begin(u)
	}
	p.add(u, rw.str)
	rw.expect[u.key]--
	estimate := p.members&(p.members-1) == 0 || p.members%256 == 0
	if rw.expect[u.key] == 0 || estimate && p.members > 1 && p.size() > groupSize {
		return p.id, rw.end(p)
	}
	rw.recent.MoveToBack(p.place)
	if estimate {
		was := p.memory
		p.memory = p.recordGroup.memory()
		rw.held += p.memory - was
	}
	for rw.held > rw.openLimit && rw.recent.Len() > 1 {
		if err := rw.end(rw.recent.Front().Value.(*openGroup)); err != nil {
			return 0, err
		}
	}
	return p.id, nil
}

// begin opens a group for a record.
func (rw *runWriter) begin(u *record) *openGroup {
	p := &openGroup{recordGroup: newGroup(u), id: len(rw.groups)}
	p.place = rw.recent.PushBack(p)
	rw.open[u.key] = p
	w := writtenGroup{key: u.key}
	if u.kind == recordGraph {
		w.nodes, w.edges = shapeSizes(u.shape)
	}
	rw.groups = append(rw.groups, w)
	return p
}

// end ends an open group: it gets no more members.
func (rw *runWriter) end(p *openGroup) error {
	delete(rw.open, rw.groups[p.id].key)
	rw.recent.Remove(p.place)
	rw.held -= p.memory
	if rw.byEvents && (p.kind == recordGraph || p.kind == recordDefs) {
		rw.aside = append(rw.aside, p)
		return nil
	}
	return rw.put(p)
}

// put adds a group that has ended to the block that is being filled.
func (rw *runWriter) put(p *openGroup) error {
	rw.filling.group(p.recordGroup)
	if rw.filling.err != nil {
		return rw.filling.err
	}
	rw.fillingOf = append(rw.fillingOf, p.id)
	if rw.size += p.size(); rw.size < groupSize {
		return nil
	}
	return rw.endGroup()
}

// part writes a part of a long sequence and returns its number.
func (rw *runWriter) part(b *seq.Body) (int, error) {
	var cols block.Columns
	seq.PutBody(&cols, 0, b)
	_, err := rw.block(blockPart, cols)
	rw.parts++
	return rw.parts - 1, err
}

func shapeSizes(shape []uint64) (nodes, edges uint64) {
	for at := shape[1:]; len(at) > 0; at = at[4+at[3]:] {
		edges += at[3]
	}
	return shape[0], edges
}

// endGroup writes the groups that have been collected.
func (rw *runWriter) endGroup() error {
	if len(rw.fillingOf) == 0 {
		return nil
	}
	n, err := rw.block(blockGroups, rw.filling.cols)
	for i, id := range rw.fillingOf {
		rw.groups[id].place = n<<20 | i
	}
	rw.filling, rw.fillingOf, rw.size = newGroupWriter(rw.part), nil, 0
	return err
}

func (rw *runWriter) str(s string) uint64 {
	n, ok := rw.strings[s]
	if !ok {
		n = uint32(len(rw.strs))
		rw.strings[s] = n
		rw.strs = append(rw.strs, s)
	}
	return uint64(n)
}

// finish writes the rest after all processes have been added.
func (rw *runWriter) finish(meta Meta) error {
	meta.Command = cutCommand(meta.Command)
	m, err := msgpack.Marshal(&meta)
	if err != nil {
		return err
	}
	if len(m) > maxMeta {
		return fmt.Errorf("%d bytes of metadata", len(m))
	}
	if err := rw.endGraphs(); err != nil {
		return err
	}
	list := uniqueSites(WithoutPaths(meta.Sites))
	if rw.mixed && len(rw.strs)+len(list) < fewTexts {
		if err := rw.tablesOf(m, list); err != nil {
			return err
		}
		return rw.index()
	}
	var metaCols block.Columns
	metaCols.PutBytes(0, m)
	sites := rw.siteColumns(list)
	for _, b := range []struct {
		kind block.Kind
		cols block.Columns
	}{{blockMeta, metaCols}, {blockSites, sites}, {blockStrings, stringColumns(rw.strs)}} {
		if _, err := rw.block(b.kind, b.cols); err != nil {
			return err
		}
	}
	return rw.index()
}

// cutCommand removes the end of a command line that is too long to store.
func cutCommand(args []string) []string {
	size := 0
	for i, a := range args {
		if size += len(a) + 8; size > maxMeta/2 {
			return append(append([]string(nil), args[:i]...), "...")
		}
	}
	return args
}

// index writes the index block and the trailer.
func (rw *runWriter) index() error {
	if err := rw.flush(0); err != nil {
		return err
	}
	start := rw.offset
	least := (max(rw.streams, len(rw.procs))-freeProcesses)/maxProcesses - int(start)
	kind, cols := blockIndex, rw.indexColumns()
	if rw.tables != nil {
		kind, cols = blockIndexTables, append(rw.tables, cols...)
	}
	if err := rw.write(rw.encoded(kind, cols, least)); err != nil {
		return err
	}
	return rw.write(appendTrailer(nil, rw.features, start, rw.offset-start))
}
