// Package replay writes the file by which a program runs again as it was recorded: which calls
// each thread made, and the outcomes that MPI left open. The hook follows it; see FORMAT.md.
package replay

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"slices"
	"strings"
	"unsafe"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/reconstruct"
	"github.com/efg-tools/efg/signature"
)

// file is the file under construction.
type file struct {
	header  Header
	worlds  []World
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
	worlds, total := worldsOf(run)
	f := &file{
		header: Header{Magic: Magic, Options: options, Worlds: uint32(len(worlds))}, worlds: worlds,
		begin: uint64(unsafe.Sizeof(Header{})) + uint64(len(worlds))*uint64(unsafe.Sizeof(World{})) + uint64(total)*uint64(unsafe.Sizeof(Stream{})),
		texts: map[string]uint64{}, params: map[*signature.Proc]uint64{},
	}
	f.names()
	for i := range run.Procs {
		if run.Procs[i].InWorld() < 0 {
			continue
		}
		if err := f.process(recorded, &run.Procs[i], i); err != nil {
			return fmt.Errorf("rank %d: %w", run.Procs[i].Rank, err)
		}
	}
	if len(f.streams) != total {
		return fmt.Errorf("%d threads, not %d", len(f.streams), total)
	}
	return f.write(path)
}

// worldsOf returns the worlds of a run, and how many streams their processes have. Those whose rank is unknown
// are not followed.
func worldsOf(run *runfile.Run) (list []World, streams int) {
	for i := range run.Procs {
		p := &run.Procs[i]
		if p.InWorld() < 0 {
			continue
		}
		if first := uint32(p.Rank - p.InWorld()); len(list) == 0 || list[len(list)-1].First != first {
			list = append(list, World{Size: uint32(p.Size), First: first})
		}
		streams += len(p.Streams)
	}
	return list, streams
}

// process adds process i.
func (f *file) process(recorded *reconstruct.Run, info *runfile.ProcInfo, i int) error {
	p, err := recorded.Process(i)
	if err != nil {
		return err
	}
	ends, err := endingsOf(p)
	if err != nil {
		return err
	}
	command := strings.Join(info.Command, "\x00") + "\x00"
	first := uint32(info.Rank - info.InWorld())
	of := Stream{
		World: uint32(slices.IndexFunc(f.worlds, func(w World) bool { return w.First == first })),
		Rank:  uint32(info.InWorld()), Command: f.text(command), CommandSize: uint32(len(command)),
	}
	for k := range p.Streams() {
		s, err := readStream(p, k, ends, f.header.Options&OptionGenerated != 0)
		if err != nil {
			return err
		}
		f.stream(of, s)
	}
	return nil
}

// stream adds a stream; to has what it has in common with others of the process.
func (f *file) stream(to Stream, s *stream) {
	to.Thread, to.Events, to.RowCount = s.data.Thread, s.calls.Len(), uint32(len(s.nodes))
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
	return os.WriteFile(path, slices.Concat(encoded(f.header), encoded(f.worlds), encoded(f.streams), f.data.Bytes()), 0o600)
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
	n += int(h.Worlds) * int(unsafe.Sizeof(World{}))
	if err != nil || h.Magic != Magic || uint64(len(data)) != h.Size || n > len(data) || uint64(h.Streams)*uint64(unsafe.Sizeof(Stream{})) > h.Size {
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
