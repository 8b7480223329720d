package runfile

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"sync"

	"github.com/vmihailenco/msgpack/v5"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/block"
	"github.com/efg-tools/efg/efg/seq"
)

// Run is an open run file. It reads the index immediately and a process's blocks on request.
// Its methods may be called from several goroutines.
type Run struct {
	Meta  Meta
	Procs []ProcInfo

	*content

	depth    int  // see WithSiteDepth
	opened   *Run // the run that this is a view of, nil if it is none
	sites    sync.Once
	sitesErr error
}

// content is what all views of a run share.
type content struct {
	r      io.ReaderAt
	closer io.Closer
	path   string // if it is merged with others
	size   uint64

	features uint32
	blocks   []blockRef
	strs     []string
	worlds   []worldInfo
	groups   []groupRef
	shapes   []uint32 // of each class of streams: their number
	parts    []int    // numbers of the blocks with parts of long sequences
	stats    []statsBlock
	counters []int // numbers of the blocks of counters
	traces   []traceBlock
	exact    bool // each stream has its hash
	hashes   []uint64
	streams  []StreamInfo // not yet assigned to a process, while the index is read

	commands    map[string][]string
	lastLine    string // of commands: the last one requested
	lastCommand []string

	tables   *block.Block // columns of the small tables, if they are in the index
	hashSums sync.Once
	firsts   map[int]uint64 // see hashOfFirst

	cache       *blockCache
	times       timesCache
	counted     timesCache // blocks of counters
	shared      timesCache // blocks with the times of each event of several streams
	ofOne       partCache  // blocks with those of one
	clocks      hostClocks
	machines    machineClocks
	corrections []*efg.Correction // of each stream, see Correct
	mu          sync.Mutex
	keys        map[int]shapeKey    // of groups
	classKeys   map[int]*memberKeys // of groups, see RankClass
	decoded     decodedEvents       // what the writer of the file decoded already
}

// groupRef is what the index says about a group.
type groupRef struct {
	block, at    int // number of the block, and of the group in it
	class        int
	nodes, edges uint64
	members      uint64
}

// OpenRun opens a run file. The errors are those of the file system and, prefixed with the
// path, ErrNotEFG, ErrNewerVersion, ErrTruncated and CorruptError.
func OpenRun(path string) (*Run, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	st, err := f.Stat()
	if err == nil && !st.Mode().IsRegular() {
		err = ErrNotEFG
	}
	var r *Run
	if err == nil {
		r, err = NewRun(f, st.Size())
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	r.closer = f
	return r, nil
}

// Close closes the file that OpenRun opened.
func (r *Run) Close() error {
	if r.closer == nil {
		return nil
	}
	return r.closer.Close()
}

// Size is the size of the file in bytes.
func (r *Run) Size() uint64 { return r.size }

// NewRun opens a run file's content of the given size.
func NewRun(file io.ReaderAt, size int64) (*Run, error) {
	r := &Run{content: &content{r: file, size: uint64(size), cache: newBlockCache(cacheSize), keys: map[int]shapeKey{}, shared: timesCache{limit: keptShared}, commands: map[string][]string{}}}
	b, err := r.index()
	if err != nil {
		return nil, err
	}
	if r.tables != nil {
		err = r.tablesOfIndex()
	} else {
		err = r.smallTables()
	}
	if err != nil {
		return nil, err
	}
	r.readIndex(b)
	return r, b.Close()
}

// index reads the index block up to the table of blocks.
func (r *Run) index() (*block.Block, error) {
	if err := r.checkHeader(); err != nil {
		return nil, err
	}
	index, err := r.trailer()
	if err != nil {
		return nil, err
	}
	if index.Kind, err = block.KindAt(r.r, index.Offset); err != nil {
		return nil, err
	}
	if index.Kind != blockIndexTables {
		index.Kind = blockIndex
	}
	b, err := block.Read(r.r, index, "index")
	if err != nil {
		return nil, err
	}
	if index.Kind == blockIndexTables {
		r.tables, b = b.Split(tableColumns)
	}
	r.blockTable(b, index.Offset)
	return b, b.Err
}

// blockTable reads the positions of the blocks. They fill the file up to the index.
func (r *Run) blockTable(b *block.Block, end uint64) {
	offset := uint64(headerSize)
	for b.Err == nil && b.Left(indexBlockKind) > 0 {
		kind, length := block.Kind(b.Below(indexBlockKind, uint64(lastBlockKind)+1, "kind")), b.Get(indexBlockLen)
		if kind == 0 || kind == blockIndex || kind == blockIndexTables || length > end-offset {
			b.Failf("block %d of kind %d and length %d does not fit", len(r.blocks), kind, length)
			return
		}
		if kind == blockPart {
			r.parts = append(r.parts, len(r.blocks))
		}
		r.blocks = append(r.blocks, blockRef{Ref: block.Ref{Kind: kind, Offset: offset, Length: length}})
		offset += length
	}
	if b.Err == nil && offset != end {
		b.Failf("gap before the index")
	}
}

// read reads block n.
func (r *Run) read(n int) (*block.Block, error) {
	_, b, err := r.readRaw(n)
	return b, err
}

// readRaw also returns the bytes of the block.
func (r *Run) readRaw(n int) ([]byte, *block.Block, error) { return r.readColumns(n, block.MaxColumns) }

// readColumns is readRaw of the first columns only.
func (r *Run) readColumns(n, columns int) ([]byte, *block.Block, error) {
	if r.blocks[n].Kind == blockStatsCode {
		return r.readStatsCode(n)
	}
	return block.ReadRaw(r.r, r.blocks[n].Ref, r.section(n), columns)
}

// section names block n in errors.
func (r *Run) section(n int) string { return fmt.Sprintf("%s block %d", kindName(r.blocks[n].Kind), n) }

// one reads the only block of a kind.
func (r *Run) one(kind block.Kind) (*block.Block, error) {
	found := -1
	for i, b := range r.blocks {
		if b.Kind != kind {
			continue
		}
		if found >= 0 {
			return nil, &CorruptError{Section: kindName(kind), Offset: b.Offset, Cause: errors.New("second block of its kind")}
		}
		found = i
	}
	if found < 0 {
		return nil, &CorruptError{Section: "index", Cause: fmt.Errorf("no %s block", kindName(kind))}
	}
	return r.read(found)
}

// smallTables reads the tables that the index refers to.
func (r *Run) smallTables() error {
	b, err := r.one(blockStrings)
	if err != nil {
		return err
	}
	r.strs = takeStrings(b)
	if err := b.Close(); err != nil {
		return err
	}
	if b, err = r.one(blockMeta); err != nil {
		return err
	}
	size := b.Left(0)
	if size > maxMeta {
		return &CorruptError{Section: "meta block", Cause: fmt.Errorf("%d bytes of metadata", size)}
	}
	m := b.Bytes(0, uint64(size))
	if err := b.Close(); err != nil {
		return err
	}
	return r.readMeta(m)
}

func (r *Run) readMeta(m []byte) error {
	if err := msgpack.Unmarshal(m, &r.Meta); err != nil {
		return &CorruptError{Section: "meta block", Cause: err}
	}
	return nil
}

// tablesOfIndex reads strings and meta from the columns before the index.
func (r *Run) tablesOfIndex() error {
	b := r.tables
	r.strs = takeLines(b)
	if size := b.Left(tableMeta); size > maxMeta {
		b.Failf("%d bytes of metadata", size)
	}
	m := b.Bytes(tableMeta, uint64(b.Left(tableMeta)))
	if b.Err != nil {
		return b.Err
	}
	return r.readMeta(m)
}

func (r *Run) str(n uint64) (string, error) {
	if n >= uint64(len(r.strs)) {
		return "", fmt.Errorf("string %d of %d", n, len(r.strs))
	}
	return r.strs[n], nil
}

// command splits a command line; equal ones are shared. Most are equal to the previous one.
func (r *Run) command(s string) []string {
	if s == r.lastLine && r.lastCommand != nil {
		return r.lastCommand
	}
	c, ok := r.commands[s]
	if !ok {
		c = strings.Split(s, "\x00")
		r.commands[s] = c
	}
	r.lastLine, r.lastCommand = s, c
	return c
}

// A file has at most freeProcesses processes and streams, and maxProcesses more for each of its
// bytes. A file that would have more is padded.
const (
	maxProcesses  = 8
	freeProcesses = 1 << 18
)

// counts reads the numbers of processes and streams.
func (r *Run) counts(b *block.Block) (procs, streams uint64) {
	procs, streams = b.Get(indexCounts), b.Get(indexCounts)
	r.exact = b.Below(indexCounts, 2, "flag") == 1
	if limit := min(freeProcesses+maxProcesses*r.size, math.MaxInt32); procs > limit || streams > limit {
		b.Failf("%d processes, %d streams in a file of %d bytes", procs, streams, r.size)
	}
	return procs, streams
}

// readIndex reads processes and streams.
func (r *Run) readIndex(b *block.Block) {
	procs, streams := r.counts(b)
	if b.Err != nil {
		return
	}
	for b.Err == nil && b.Left(indexWorldID) > 0 {
		w := worldInfo{id: b.Get(indexWorldID), size: int(b.Below(indexWorldSize, 1<<32, "size"))}
		w.start = block.Unzigzag(b.Get(indexWorldStart))
		r.worlds = append(r.worlds, w)
	}
	r.groupTable(b)
	first := 0
	for n := range r.blocks {
		if r.blocks[n].holdsStats() {
			first += int(b.Below(indexStatsFirst, procs-uint64(first), "process"))
			count := int(b.Below(indexStatsProcs, procs-uint64(first)+1, "number of processes"))
			r.stats = append(r.stats, statsBlock{first, count, n})
		}
	}
	first = 0
	for n := range r.blocks {
		if k := r.blocks[n].Kind; k == blockTrace || k == blockTimes || k == blockValues {
			first += int(b.Below(indexTraceFirst, streams-uint64(first), "stream"))
			count := int(b.Below(indexTraceStreams, streams-uint64(first)+1, "number of streams"))
			r.traces = append(r.traces, traceBlock{first, count, n})
			if k == blockValues && r.features&featureValues == 0 {
				b.Failf("counters' values in a file without them")
			}
		}
	}
	if err := r.findCounters(); err != nil && b.Err == nil {
		b.Failf("%w", err)
	}
	if b.Err == nil {
		r.hashes = b.Rest(indexHash)
	}
	if r.exact && uint64(len(r.hashes)) != streams {
		b.Failf("%d hashes of %d streams", len(r.hashes), streams)
	}
	if b.Err != nil {
		return
	}
	r.readRows(b, int(procs), int(streams))
}

func (r *Run) groupTable(b *block.Block) {
	classes := uint64(0)
	for n := range r.blocks {
		if !r.blocks[n].holdsGroups() {
			continue
		}
		for at := range b.Count(indexGroups, indexClass, "groups") {
			back := b.Below(indexClass, classes+1, "class")
			if back == 0 {
				classes++
				back = 1
			}
			r.groups = append(r.groups, groupRef{n, at, int(classes - back), b.Get(indexNodes), b.Get(indexEdges), 0})
		}
	}
}

// part reads a part of a long sequence.
func (r *Run) part(n uint64) (*seq.Body, error) {
	body, err := r.readPart(n)
	if err != nil && r.path != "" {
		err = &PartError{r.path, err} // several runs are read: the error names this one
	}
	return body, err
}

func (r *Run) readPart(n uint64) (*seq.Body, error) {
	if n >= uint64(len(r.parts)) {
		return nil, &CorruptError{Section: "index", Cause: fmt.Errorf("part %d of %d of long sequences", n, len(r.parts))}
	}
	b, err := r.read(r.parts[n])
	if err != nil {
		return nil, err
	}
	body := seq.TakeBody(b, 0, nil)
	return body, b.Close()
}

// group reads a group.
func (r *Run) group(n int) (*readGroup, error) {
	ref := &r.groups[n]
	groups, err := r.cache.get(r, ref.block)
	if err != nil {
		return nil, err
	}
	if ref.at >= len(groups) {
		return nil, &CorruptError{Section: "index", Cause: fmt.Errorf("group %d of %d in block %d", ref.at, len(groups), ref.block)}
	}
	return groups[ref.at], nil
}

// groupKey is the key of a group's class.
func (r *Run) groupKey(n int) (shapeKey, error) {
	r.mu.Lock()
	key, ok := r.keys[n]
	r.mu.Unlock()
	if ok {
		return key, nil
	}
	p, err := r.group(n)
	if err != nil {
		return key, err
	}
	r.mu.Lock()
	r.keys[n] = p.key
	r.mu.Unlock()
	return p.key, nil
}

// groupOf reads a group that must be of a kind.
func (r *Run) groupOf(n int, kind recordKind) (*readGroup, error) {
	p, err := r.group(n)
	switch {
	case err != nil:
	case p.kind != kind:
		err = &CorruptError{Section: "index", Cause: fmt.Errorf("group %d is of kind %d, not %d", n, p.kind, kind)}
	case p.members != r.groups[n].members:
		err = &CorruptError{Section: "index", Cause: fmt.Errorf("group %d has %d members, not %d", n, p.members, r.groups[n].members)}
	}
	return p, err
}

// Sites returns the callsites' places, and those of call paths, which are the places of their last
// calls.
func (r *Run) Sites() ([]Site, error) {
	r.sites.Do(func() {
		if r.opened != nil {
			r.Meta.Sites, r.sitesErr = r.opened.Sites()
		} else {
			r.Meta.Sites, r.sitesErr = r.storedSites()
		}
		if r.sitesErr == nil && r.features&featurePaths != 0 {
			r.Meta.Sites, r.sitesErr = r.withPaths(r.Meta.Sites)
		}
	})
	return r.Meta.Sites, r.sitesErr
}

// storedSites returns the callsites without their paths.
func (r *Run) storedSites() ([]Site, error) {
	if r.tables != nil {
		return r.sitesOfIndex()
	}
	b, err := r.one(blockSites)
	if err != nil {
		return nil, err
	}
	sites := r.readSites(b)
	return sites, b.Close()
}
