// Package replay writes the file by which a program runs again as it was recorded: which calls
// each thread made, and the outcomes that MPI left open. The hook follows it; see FORMAT.md.
package replay

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"slices"
	"unsafe"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/reconstruct"
	"github.com/efg-tools/efg/signature"
)

// file is the file under construction.
type file struct {
	header  Header
	streams []Stream
	data    bytes.Buffer // what follows the streams
	begin   uint64       // its offset
	texts   map[string]uint64
	params  map[*signature.Proc]uint64
}

// Write writes the file for a run.
func Write(path string, run *runfile.Run, options uint32) error {
	recorded, err := reconstruct.NewRun(run)
	if err != nil {
		return err
	}
	total := 0
	for i := range run.Procs {
		if inFirstWorld(&run.Procs[i]) {
			total += len(run.Procs[i].Streams)
		}
	}
	f := &file{
		header: Header{Magic: Magic, Options: options},
		begin:  uint64(unsafe.Sizeof(Header{})) + uint64(total)*uint64(unsafe.Sizeof(Stream{})),
		texts:  map[string]uint64{}, params: map[*signature.Proc]uint64{},
	}
	f.names()
	for i := range run.Procs {
		if !inFirstWorld(&run.Procs[i]) {
			continue
		}
		if err := f.process(recorded, i); err != nil {
			return fmt.Errorf("rank %d: %w", run.Procs[i].Rank, err)
		}
	}
	if len(f.streams) != total {
		return fmt.Errorf("%d threads, not %d", len(f.streams), total)
	}
	return f.write(path)
}

// inFirstWorld reports whether a process is of the run's first world: those that it spawned, or
// that were started after it, are not followed.
func inFirstWorld(p *runfile.ProcInfo) bool { return p.Rank >= 0 && p.Rank < p.Size }

func (f *file) process(recorded *reconstruct.Run, i int) error {
	p, err := recorded.Process(i)
	if err != nil {
		return err
	}
	f.header.Ranks = uint32(p.Data().Size)
	ends, err := endingsOf(p)
	if err != nil {
		return err
	}
	for k := range p.Streams() {
		s, err := readStream(p, k, ends, f.header.Options&OptionGenerated != 0)
		if err != nil {
			return err
		}
		f.stream(s)
	}
	return nil
}

// stream adds a stream.
func (f *file) stream(s *stream) {
	to := Stream{Rank: uint32(s.replay.Data().Rank), Thread: s.data.Thread, Events: s.calls.Len(), RowCount: uint32(len(s.nodes))}
	if s.data.End != efg.EndOpen && s.data.Dropped == 0 {
		to.Whole = 1
	}
	code := s.calls.Seq().Code()
	to.Calls, to.CallsSize = f.put(code), uint64(len(code))
	rows := make([]Row, len(s.nodes))
	for i := range rows {
		rows[i] = f.row(s, i)
	}
	to.Rows = f.put(encoded(rows))
	f.streams = append(f.streams, to)
}

func (f *file) row(s *stream, i int) Row {
	n, from := &s.nodes[i], &s.data.Nodes[i]
	r := Row{
		Call: uint64(signature.Header(from.Words[0]).WithoutError()), Site: from.Words[1], Object: from.Words[signature.ObjectWord],
		Text: f.text(rowText(s.replay, n, from)), Words: f.put(encoded(from.Words)), Compared: n.compared(from), Names: f.parameters(n.proc),
	}
	if n.forced {
		code := n.values.Seq().Code()
		r.Values, r.ValuesSize, r.ValueCount = f.put(code), uint64(len(code)), n.values.Len()
	}
	return r
}

// rowText names a row in messages.
func rowText(p *reconstruct.Process, n *node, from *efg.Node) string {
	name := fmt.Sprintf("procedure %d", signature.Header(from.Words[0]).Proc())
	if n.proc != nil {
		name = n.proc.Name
	}
	if place := p.Names().Place(from.Words[1]); place != "" {
		name += " at " + place
	}
	return name
}

// parameters adds the names of the parameters of a procedure's words, and returns the offset of
// their offsets.
func (f *file) parameters(p *signature.Proc) uint64 {
	if at, ok := f.params[p]; ok || p == nil {
		return at
	}
	offsets := make([]uint64, len(p.Words))
	for i := range p.Words {
		if offsets[i] = f.text(""); p.Words[i].Param >= 0 {
			offsets[i] = f.text(p.Params[p.Words[i].Param].Name)
		}
	}
	f.params[p] = f.put(encoded(offsets))
	return f.params[p]
}

// names adds the table of the procedures' names.
func (f *file) names() {
	procs := signature.Procs()
	table := make([]uint64, len(procs)+1)
	table[0] = f.text("")
	for i := range procs {
		table[i+1] = f.text(procs[i].Name)
	}
	f.header.Names = uint32(len(table))
	f.header.NameTable = f.put(encoded(table))
}

// text adds a string and returns its offset.
func (f *file) text(s string) uint64 {
	at, ok := f.texts[s]
	if !ok {
		at = f.put(append([]byte(s), 0))
		f.texts[s] = at
	}
	return at
}

// put adds data and returns their offset, a multiple of 8.
func (f *file) put(data []byte) uint64 {
	at := f.begin + uint64(f.data.Len())
	f.data.Write(data)
	f.data.Write(make([]byte, -len(data)&7))
	return at
}

func encoded(v any) []byte {
	b, err := binary.Append(nil, binary.LittleEndian, v)
	if err != nil {
		panic(err) // no input causes this
	}
	return b
}

func (f *file) write(path string) error {
	f.header.Size = f.begin + uint64(f.data.Len())
	f.header.Streams = uint32(len(f.streams))
	return os.WriteFile(path, slices.Concat(encoded(f.header), encoded(f.streams), f.data.Bytes()), 0o600)
}

// Result is what the threads of a replay did.
type Result struct {
	Streams []Stream
}

// Read reads from the file what the processes did.
func Read(path string) (*Result, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var h Header
	n, err := binary.Decode(data, binary.LittleEndian, &h)
	if err != nil || h.Magic != Magic || uint64(len(data)) != h.Size || uint64(h.Streams)*uint64(unsafe.Sizeof(Stream{})) > h.Size {
		return nil, fmt.Errorf("%s: is not a file of a replay", path)
	}
	r := &Result{Streams: make([]Stream, h.Streams)}
	_, err = binary.Decode(data[n:], binary.LittleEndian, r.Streams)
	return r, err
}

// Summary says how far the run was as recorded.
func (r *Result) Summary() string {
	var calls, forced, recorded uint64
	short := 0
	for i := range r.Streams {
		s := &r.Streams[i]
		calls, forced, recorded = calls+s.Followed, forced+s.Forced, recorded+s.Events
		if s.Followed < s.Events {
			short++
		}
	}
	text := fmt.Sprintf("%d calls as recorded, the outcomes of %d forced", calls, forced)
	if short > 0 {
		text += fmt.Sprintf("; %d of %d threads did not make all of the %d recorded calls", short, len(r.Streams), recorded)
	}
	return text
}
