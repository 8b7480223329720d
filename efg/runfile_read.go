package efg

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/cespare/xxhash/v2"
	"github.com/vmihailenco/msgpack/v5"
)

// Run is an open run file. It reads the index at once, the shared tables when
// they are first needed, and a process's blocks when they are asked for.
// Its methods may be called from several goroutines.
type Run struct {
	Meta  Meta
	Procs []ProcInfo

	r      io.ReaderAt
	closer io.Closer
	size   uint64
	blocks []blockRef
	strs   []string

	streamsLeft uint64 // while the index is read

	tables sync.Once
	defs   []Def
	sigs   [][]uint64
	err    error
}

// OpenRun opens a run file. The errors are those of the file system and, with
// the path in front, ErrNotEFG, ErrNewerVersion, ErrTruncated and CorruptError.
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
	r := &Run{r: file, size: uint64(size)}
	if err := r.checkHeader(); err != nil {
		return nil, err
	}
	index, err := r.trailer()
	if err != nil {
		return nil, err
	}
	content, err := readBlock(file, index, "index")
	if err != nil {
		return nil, err
	}
	c := &cursor{section: "index", buf: content}
	if r.blocks = c.blockTable(index.offset); c.err != nil {
		return nil, c.err
	}
	if err := r.smallTables(); err != nil {
		return nil, err
	}
	r.Procs = c.processes(r)
	return r, c.close()
}

func (r *Run) checkHeader() error {
	b := make([]byte, headerSize)
	n, err := r.r.ReadAt(b, 0)
	if err != nil && err != io.EOF {
		return err
	}
	if n < len(runMagic) || !bytes.Equal(b[:len(runMagic)], []byte(runMagic)) {
		return ErrNotEFG
	}
	if n < headerSize {
		return ErrTruncated
	}
	version := binary.LittleEndian.Uint32(b[8:])
	if version > runVersion {
		return fmt.Errorf("%w: format %d, this one reads up to %d", ErrNewerVersion, version, runVersion)
	}
	if flags := binary.LittleEndian.Uint32(b[12:]); version == 0 || flags != 0 {
		return &CorruptError{"header", 8, fmt.Errorf("version %d, flags %#x", version, flags)}
	}
	return nil
}

// trailer finds the index block.
func (r *Run) trailer() (blockRef, error) {
	if r.size < headerSize+trailerSize {
		return blockRef{}, ErrTruncated
	}
	at := r.size - trailerSize
	b, err := readAt(r.r, at, trailerSize)
	if err != nil {
		return blockRef{}, err
	}
	if string(b[24:]) != trailerMagic {
		return blockRef{}, ErrTruncated
	}
	c := &cursor{section: "trailer", buf: b}
	ref := blockRef{kind: blockIndex, offset: c.u64(), length: c.u64()}
	switch {
	case c.u64() != xxhash.Sum64(b[:16]):
		err = errors.New("checksum differs")
	case ref.offset < headerSize || ref.offset > at || ref.length != at-ref.offset:
		err = errors.New("index out of place")
	default:
		return ref, nil
	}
	return blockRef{}, &CorruptError{"trailer", at, err}
}

// content reads block n.
func (r *Run) content(n uint32) ([]byte, string, error) {
	section := fmt.Sprintf("%v block %d", r.blocks[n].kind, n)
	b, err := readBlock(r.r, r.blocks[n], section)
	return b, section, err
}

// one reads the only block of a kind; it may be absent.
func (r *Run) one(kind blockKind) (content []byte, section string, err error) {
	for i, b := range r.blocks {
		if b.kind != kind {
			continue
		}
		if content != nil {
			return nil, "", &CorruptError{kind.String(), b.offset, errors.New("second block of its kind")}
		}
		if content, section, err = r.content(uint32(i)); err != nil {
			return nil, "", err
		}
	}
	if content == nil {
		return nil, "", &CorruptError{"index", 0, fmt.Errorf("no %v block", kind)}
	}
	return content, section, nil
}

// smallTables reads what the index refers to.
func (r *Run) smallTables() error {
	b, section, err := r.one(blockStrings)
	if err != nil {
		return err
	}
	c := &cursor{section: section, buf: b}
	r.strs = make([]string, 0, c.count(1))
	for range cap(r.strs) {
		r.strs = append(r.strs, string(c.bytes(c.uvarint())))
	}
	if err := c.close(); err != nil {
		return err
	}
	if b, section, err = r.one(blockMeta); err != nil {
		return err
	}
	if len(b) > maxMeta {
		return &CorruptError{section, 0, fmt.Errorf("%d bytes of metadata", len(b))}
	}
	if err := msgpack.Unmarshal(b, &r.Meta); err != nil {
		return &CorruptError{section, 0, err}
	}
	return nil
}

// load reads the shared tables of definitions, signatures and sites.
func (r *Run) load() error {
	r.tables.Do(func() { r.err = r.loadTables() })
	return r.err
}

func (r *Run) loadTables() error {
	b, section, err := r.one(blockDefs)
	if err != nil {
		return err
	}
	if r.defs, err = decodeDefs(section, b); err != nil {
		return err
	}
	if b, section, err = r.one(blockSignatures); err != nil {
		return err
	}
	if r.sigs, err = decodeSignatures(section, b, r.defs); err != nil {
		return err
	}
	if b, section, err = r.one(blockSites); err != nil {
		return err
	}
	c := &cursor{section: section, buf: b}
	sites := make([]Site, 0, c.count(3))
	for range cap(sites) {
		s := Site{Word: c.word(r.defs)}
		s.Place = c.str(r)
		s.Func = c.str(r)
		sites = append(sites, s)
	}
	r.Meta.Sites = sites
	return c.close()
}

func (c *cursor) str(r *Run) string {
	s, err := r.str(c.uvarint())
	if err != nil {
		c.fail(err)
	}
	return s
}

// Sites returns the callsites' places.
func (r *Run) Sites() ([]Site, error) {
	err := r.load()
	return r.Meta.Sites, err
}

// Definitions returns the definitions of all processes.
func (r *Run) Definitions() ([]Def, error) {
	err := r.load()
	return r.defs, err
}

// Process reads everything of Procs[i].
func (r *Run) Process(i int) (*Process, error) {
	info := &r.Procs[i]
	p := &Process{
		Rank: info.Rank, Size: info.Size, World: info.World, PID: info.PID, Host: info.Host,
		Command: info.Command, MPI: info.MPI, Start: info.Start,
	}
	var err error
	if p.Defs, err = r.Defs(i); err != nil {
		return nil, err
	}
	for j := range info.Streams {
		s, err := r.Stream(i, j)
		if err != nil {
			return nil, err
		}
		p.Streams = append(p.Streams, *s)
	}
	return p, nil
}

// Defs reads the definitions of Procs[i], in the order in which it made them.
func (r *Run) Defs(i int) ([]Def, error) {
	if err := r.load(); err != nil {
		return nil, err
	}
	b, section, err := r.content(r.Procs[i].defList)
	if err != nil {
		return nil, err
	}
	c := &cursor{section: section, buf: b}
	defs := make([]Def, 0, c.count(1))
	next := int64(0)
	for range cap(defs) {
		n := next + c.varint()
		if c.err == nil && uint64(n) >= uint64(len(r.defs)) {
			c.failf("definition %d of %d", n, len(r.defs))
		}
		if c.err != nil {
			break
		}
		defs = append(defs, r.defs[n])
		next = n + 1
	}
	return defs, c.close()
}

// Stream reads Procs[i].Streams[j].
func (r *Run) Stream(i, j int) (*Stream, error) {
	if err := r.load(); err != nil {
		return nil, err
	}
	info := &r.Procs[i].Streams[j]
	s := &Stream{
		Thread: info.Thread, Events: info.Events, Hash: info.Hash, Dropped: info.Dropped, End: info.End,
	}
	b, section, err := r.content(info.Graph)
	if err != nil {
		return nil, err
	}
	if s.Nodes, err = decodeGraph(section, b, r.sigs); err != nil {
		return nil, err
	}
	if info.stats == none {
		return s, nil
	}
	if b, section, err = r.content(info.stats); err != nil {
		return nil, err
	}
	return s, decodeStats(section, b, s.Nodes)
}
