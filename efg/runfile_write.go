package efg

import (
	"bufio"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/cespare/xxhash/v2"
	"github.com/vmihailenco/msgpack/v5"
)

// WriteRun writes a run file. The file appears under its name when it is whole
// and on disk, or not at all; a file of that name is replaced. The processes
// are stored in the order of their ranks. If several have one rank, because there
// were several MPI_COMM_WORLDs, the ranks of later worlds follow those of earlier
// ones.
func WriteRun(path string, procs []*Process, meta Meta) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*.tmp")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(f.Name())
		}
	}()
	if err = EncodeRun(f, procs, meta); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if err = errors.Join(f.Chmod(0o644), f.Sync(), f.Close()); err != nil {
		return err
	}
	if err = os.Rename(f.Name(), path); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

// syncDir makes the rename durable; file systems that cannot sync folders do
// without.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	if err := d.Sync(); err != nil && !errors.Is(err, errors.ErrUnsupported) && !errors.Is(err, os.ErrInvalid) {
		return err
	}
	return nil
}

// EncodeRun writes the content of a run file.
func EncodeRun(w io.Writer, procs []*Process, meta Meta) error {
	bw := bufio.NewWriterSize(w, 1<<16)
	rw := newRunWriter(bw)
	if err := rw.header(); err != nil {
		return err
	}
	for _, p := range inOrder(procs) {
		if err := rw.process(p); err != nil {
			return fmt.Errorf("rank %d: %w", p.Rank, err)
		}
	}
	if err := rw.shared(meta); err != nil {
		return err
	}
	if err := rw.index(); err != nil {
		return err
	}
	return bw.Flush()
}

// runWriter collects the shared tables while it writes the graphs.
type runWriter struct {
	w       io.Writer
	blocks  []blockRef
	offset  uint64
	known   map[[sha256.Size]byte]uint32 // content → block
	strings map[string]uint32
	strs    []string
	defs    *defTable
	sigs    sigTable
	procs   []ProcInfo
	buf     []byte
}

func newRunWriter(w io.Writer) *runWriter {
	return &runWriter{
		w: w, known: map[[sha256.Size]byte]uint32{}, strings: map[string]uint32{},
		defs: newDefTable(), sigs: sigTable{byKey: map[string]uint32{}},
	}
}

func (rw *runWriter) write(b []byte) error {
	n, err := rw.w.Write(b)
	rw.offset += uint64(n)
	return err
}

func (rw *runWriter) header() error {
	b := append([]byte(runMagic), make([]byte, 8)...)
	binary.LittleEndian.PutUint32(b[8:], runVersion)
	return rw.write(b)
}

// block writes a block and returns its number.
func (rw *runWriter) block(kind blockKind, content []byte) (uint32, error) {
	b := appendBlock(nil, kind, content)
	rw.blocks = append(rw.blocks, blockRef{kind, rw.offset, uint64(len(b))})
	return uint32(len(rw.blocks) - 1), rw.write(b)
}

// sharedBlock writes a block unless one with this content is there.
func (rw *runWriter) sharedBlock(kind blockKind, content []byte) (uint32, error) {
	key := sha256.Sum256(append(content, byte(kind)))
	if n, ok := rw.known[key]; ok {
		return n, nil
	}
	n, err := rw.block(kind, content)
	if err == nil {
		rw.known[key] = n
	}
	return n, err
}

func (rw *runWriter) process(p *Process) error {
	info := ProcInfo{
		Rank: p.Rank, Size: p.Size, World: p.World, PID: p.PID, Host: p.Host,
		Command: p.Command, MPI: p.MPI, Start: p.Start,
	}
	var err error
	if info.defList, err = rw.defList(p.Defs); err != nil {
		return err
	}
	for i := range p.Streams {
		s, err := rw.stream(&p.Streams[i])
		if err != nil {
			return fmt.Errorf("thread %d: %w", p.Streams[i].Thread, err)
		}
		info.Streams = append(info.Streams, s)
	}
	rw.procs = append(rw.procs, info)
	return nil
}

// defList writes the list of a process's definitions, as steps from one number
// in the shared table to the next.
func (rw *runWriter) defList(defs []Def) (uint32, error) {
	b := appendUvarint(rw.buf[:0], uint64(len(defs)))
	last := int64(-1)
	for _, d := range defs {
		n := int64(rw.defs.add(d))
		b = appendUvarint(b, zigzag(n-last-1))
		last = n
	}
	rw.buf = b
	return rw.sharedBlock(blockDefList, b)
}

func (rw *runWriter) stream(s *Stream) (StreamInfo, error) {
	info := StreamInfo{
		Thread: s.Thread, End: s.End, Events: s.Events, Hash: s.Hash, Dropped: s.Dropped,
		stats: none,
	}
	b, err := appendGraph(rw.buf[:0], s, rw.sigs.add)
	if err != nil {
		return info, err
	}
	rw.buf = b
	if info.Graph, err = rw.sharedBlock(blockGraph, b); err != nil {
		return info, err
	}
	info.count(s.Nodes)
	if b = appendStats(rw.buf[:0], s.Nodes); len(b) > 0 {
		rw.buf = b
		info.stats, err = rw.block(blockStats, b)
	}
	return info, err
}

// count fills in the sizes of the graph.
func (s *StreamInfo) count(nodes []Node) {
	s.Nodes = uint64(len(nodes))
	if len(nodes) > 0 {
		s.Words = uint64(len(nodes[0].Words)) // the first event; edges lead to the others
	}
	for i := range nodes {
		s.Edges += uint64(len(nodes[i].Edges))
		for _, e := range nodes[i].Edges {
			if uint64(e.To) < s.Nodes {
				s.Words += e.Weight * uint64(len(nodes[e.To].Words))
			}
		}
	}
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

// shared writes the tables that all processes use.
func (rw *runWriter) shared(meta Meta) error {
	meta.Command = cutCommand(meta.Command)
	m, err := msgpack.Marshal(&meta)
	if err != nil {
		return err
	}
	if len(m) > maxMeta {
		return fmt.Errorf("%d bytes of metadata", len(m))
	}
	sites := rw.sites(meta.Sites)
	for i := range rw.procs {
		p := &rw.procs[i]
		rw.str(p.Host)
		rw.str(p.MPI)
		rw.str(strings.Join(p.Command, "\x00"))
	}
	for _, b := range []struct {
		kind    blockKind
		content []byte
	}{
		{blockMeta, m},
		{blockStrings, appendStrings(nil, rw.strs)},
		{blockDefs, rw.defs.append(nil)},
		{blockSignatures, rw.sigs.append(nil, &rw.defs.wordCoder)},
		{blockSites, sites},
	} {
		if _, err := rw.block(b.kind, b.content); err != nil {
			return err
		}
	}
	return nil
}

// cutCommand leaves out the end of a command line that is too long to store.
func cutCommand(args []string) []string {
	size := 0
	for i, a := range args {
		if size += len(a) + 8; size > maxMeta/2 {
			return append(append([]string(nil), args[:i]...), "...")
		}
	}
	return args
}

// sites appends for each site its word, and the strings of place and function.
func (rw *runWriter) sites(sites []Site) []byte {
	b := appendUvarint(nil, uint64(len(sites)))
	for _, s := range sites {
		b = rw.defs.wordCoder.append(b, s.Word, none)
		b = appendUvarint(b, rw.str(s.Place))
		b = appendUvarint(b, rw.str(s.Func))
	}
	return b
}

func appendStrings(b []byte, strs []string) []byte {
	b = appendUvarint(b, uint64(len(strs)))
	for _, s := range strs {
		b = append(appendUvarint(b, uint64(len(s))), s...)
	}
	return b
}

// index writes the index block and the trailer.
func (rw *runWriter) index() error {
	start := rw.offset
	if err := rw.write(appendBlock(nil, blockIndex, rw.indexContent())); err != nil {
		return err
	}
	b := appendU64(appendU64(nil, start), rw.offset-start)
	b = appendU64(b, xxhash.Sum64(b))
	return rw.write(append(b, trailerMagic...))
}

func (rw *runWriter) indexContent() []byte {
	b := appendUvarint(nil, uint64(len(rw.blocks)))
	for _, r := range rw.blocks {
		b = appendUvarint(append(b, byte(r.kind)), r.length)
	}
	b = appendUvarint(b, uint64(len(rw.procs)))
	for _, col := range procColumns {
		for i := range rw.procs {
			b = appendUvarint(b, col.get(rw, &rw.procs[i]))
		}
	}
	for _, col := range streamColumns {
		for i := range rw.procs {
			for j := range rw.procs[i].Streams {
				b = appendUvarint(b, col.get(&rw.procs[i].Streams[j]))
			}
		}
	}
	return b
}
