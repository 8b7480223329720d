package segment

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"unsafe"

	"github.com/efg-tools/efg/efg"
)

var (
	// ErrNotSegment: the file is not a segment, or one that was never begun.
	ErrNotSegment = errors.New("not an efg segment")
	// ErrVersion: the segment was written by another version of the recorder.
	ErrVersion = errors.New("segment of another version")
)

// CorruptError tells where a segment breaks its format.
type CorruptError struct {
	Section string // "header", "stream", "node", "edge", "sequence", "definition"
	Offset  uint64 // in the file
	Cause   error
}

func (e *CorruptError) Error() string {
	return fmt.Sprintf("corrupt segment: %s at offset %d: %v", e.Section, e.Offset, e.Cause)
}

func (e *CorruptError) Unwrap() error { return e.Cause }

// Segment is a segment's header and decoded content.
type Segment struct {
	Header  Header
	Process efg.Process
}

// Read returns what a segment file holds.
func Read(path string) (*efg.Process, error) {
	s, err := ReadFile(path)
	if err != nil {
		return nil, err
	}
	return &s.Process, nil
}

// ReadFile reads a segment file. The process may still be running; then the
// result may lack what it does while we read.
func ReadFile(path string) (*Segment, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	s, err := Parse(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Base(path), err)
	}
	return s, nil
}

// Parse decodes the bytes of a segment. Memory is bounded by a multiple of
// len(data), whatever the bytes are. The result keeps nothing of data.
func Parse(data []byte) (*Segment, error) {
	r := &reader{data: data}
	s := &Segment{}
	if uint64(len(data)) < HeaderSize || binary.LittleEndian.Uint64(data) != Magic {
		return nil, ErrNotSegment
	}
	decode(data, &s.Header)
	h := &s.Header
	if h.Version != Version || h.LayoutHash != LayoutHash() || h.HeaderSize != HeaderSize {
		return nil, fmt.Errorf("%w: version %d, layout %#x; this program reads version %d, layout %#x",
			ErrVersion, h.Version, h.LayoutHash, Version, LayoutHash())
	}
	if h.Used > uint64(len(data)) {
		return nil, &CorruptError{"header", 0, fmt.Errorf("%d bytes used, file has %d", h.Used, len(data))}
	}
	r.data = data[:h.Used]
	r.seen = make([]bool, (h.Used+RefUnit-1)/RefUnit)
	if err := s.fill(r); err != nil {
		return nil, err
	}
	return s, nil
}

func (s *Segment) fill(r *reader) error {
	h, p := &s.Header, &s.Process
	p.Rank, p.Size, p.World = int(h.Rank), int(h.Size), h.World
	p.PID, p.Host, p.MPI = int(h.PID), text(h.Host[:]), text(h.MPI[:])
	p.Start = int64(h.StartReal)
	p.Command = arguments(h)
	var err error
	if p.Defs, err = r.defs(h.Defs, h.NDefs); err != nil {
		return err
	}
	for ref := h.Streams; ref != 0; {
		var st Stream
		if err := r.record("stream", ref, &st); err != nil {
			return err
		}
		stream, err := r.stream(ref, &st, h)
		if err != nil {
			return err
		}
		p.Streams = append(p.Streams, *stream)
		ref = st.Next
	}
	return nil
}

func text(b []byte) string {
	for i, c := range b {
		if c == 0 {
			return string(b[:i])
		}
	}
	return string(b)
}

func arguments(h *Header) []string {
	b := h.Command[:min(int(h.CommandLen), len(h.Command))]
	var out []string
	for len(b) > 0 {
		a := text(b)
		out = append(out, a)
		b = b[min(len(a)+1, len(b)):]
	}
	return out
}

// reader decodes records. Each record may be reached once only, so that a list
// that loops ends in an error.
type reader struct {
	data []byte
	seen []bool // per ref: the record that starts there was read
}

// decode copies little-endian bytes into a fixed-size struct.
func decode(b []byte, to any) {
	v := reflect.ValueOf(to).Elem()
	size := v.Type().Size()
	copy(unsafe.Slice((*byte)(v.Addr().UnsafePointer()), size), b[:size])
}

// bytes returns n bytes at a ref.
func (r *reader) bytes(section string, ref uint32, skip, n uint64) ([]byte, error) {
	off := uint64(ref)*RefUnit + skip
	if ref < HeaderSize/RefUnit || off > uint64(len(r.data)) || n > uint64(len(r.data))-off {
		return nil, r.corrupt(section, ref, fmt.Errorf("%d bytes needed, file ends at %d", n, len(r.data)))
	}
	return r.data[off : off+n], nil
}

// record reads the struct at a ref, which must not have been read before.
func (r *reader) record(section string, ref uint32, to any) error {
	b, err := r.bytes(section, ref, 0, uint64(reflect.TypeOf(to).Elem().Size()))
	if err != nil {
		return err
	}
	if r.seen[ref] {
		return r.corrupt(section, ref, errors.New("used twice"))
	}
	r.seen[ref] = true
	decode(b, to)
	return nil
}

// words reads n words that follow a record of the given size.
func (r *reader) words(section string, ref uint32, skip, n uint64) ([]uint64, error) {
	b, err := r.bytes(section, ref, skip, 8*n)
	if err != nil {
		return nil, err
	}
	w := make([]uint64, n)
	for i := range w {
		w[i] = binary.LittleEndian.Uint64(b[8*i:])
	}
	return w, nil
}

func (r *reader) corrupt(section string, ref uint32, cause error) error {
	return &CorruptError{section, uint64(ref) * RefUnit, cause}
}

func (r *reader) defs(ref, n uint32) ([]efg.Def, error) {
	var out []efg.Def
	for ; n > 0 && ref != 0; n-- {
		var d Def
		if err := r.record("definition", ref, &d); err != nil {
			return nil, err
		}
		size := uint64(unsafe.Sizeof(d))
		words, err := r.words("definition", ref, size, uint64(d.NWords))
		if err != nil {
			return nil, err
		}
		data, err := r.bytes("definition", ref, size+8*uint64(d.NWords), uint64(d.NBytes))
		if err != nil {
			return nil, err
		}
		out = append(out, efg.Def{Kind: efg.DefKind(d.Kind), Word: d.Word, Words: words, Data: append([]byte(nil), data...)})
		ref = d.Next
	}
	if n != 0 {
		return nil, r.corrupt("definition", ref, fmt.Errorf("%d definitions missing", n))
	}
	return out, nil
}
