package segment

import (
	"encoding/binary"
	"errors"
	"fmt"
	"reflect"
	"sync/atomic"
	"unsafe"

	"github.com/efg-tools/efg/efg"
)

var (
	// ErrNotSegment: the file is not a segment, or nothing was written to it.
	ErrNotSegment = errors.New("not an efg segment")
	// ErrVersion: the segment was written by another version of the recorder.
	ErrVersion = errors.New("segment of another version")
)

// VersionError names the layout of a segment that this program cannot read. It is an
// ErrVersion.
type VersionError struct {
	Version uint32
	Layout  uint64
}

func (e *VersionError) Error() string {
	return fmt.Sprintf("%v: version %d, layout %#x; this program reads version %d, layout %#x",
		ErrVersion, e.Version, e.Layout, Version, LayoutHash())
}

func (e *VersionError) Unwrap() error { return ErrVersion }

// CorruptError says where a segment breaks its format.
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
	// Activities are what the threads were doing after their streams had been read;
	// Activities[i] belongs to Process.Streams[i].
	Activities []Activity
}

// Parse decodes the bytes of a segment. Memory is bounded by a multiple of
// len(data), whatever the bytes are. The result keeps nothing of data.
func Parse(data []byte) (*Segment, error) {
	if len(data) > 0 && uintptr(unsafe.Pointer(&data[0]))%8 != 0 {
		data = append(make([]byte, 0, len(data)+8), data...)
	}
	return (&reader{data: data, size: func() uint64 { return uint64(len(data)) }, lastTry: true}).parse()
}

func (r *reader) parse() (*Segment, error) {
	s, err := r.parseHeader()
	if err != nil {
		return nil, err
	}
	if err := s.fill(r); err != nil {
		return nil, err
	}
	return s, nil
}

// parseHeader reads a segment's header only.
func (r *reader) parseHeader() (*Segment, error) {
	s := &Segment{}
	if r.size() < HeaderSize || binary.LittleEndian.Uint64(r.data) != Magic {
		return nil, ErrNotSegment
	}
	decode(r.data, &s.Header)
	if err := r.checkHeader(&s.Header); err != nil {
		return nil, err
	}
	return s, nil
}

// checkHeader rejects what another version has written, and sets how much of the file is in
// use.
func (r *reader) checkHeader(h *Header) error {
	if h.Version != Version || h.LayoutHash != LayoutHash() || h.HeaderSize != HeaderSize {
		return &VersionError{h.Version, h.LayoutHash}
	}
	if h.Used == r.used {
		return nil
	}
	if size := r.size(); h.Used > size {
		return &CorruptError{"header", 0, fmt.Errorf("%d bytes used, file has %d", h.Used, size)}
	}
	if r.filled != nil && h.Used > freeHoles {
		if filled := r.filled(); filled > 0 && h.Used/maxHoles > filled {
			return &CorruptError{"header", 0, fmt.Errorf("%d bytes used, all but %d of them are holes", h.Used, filled)}
		}
	}
	r.used = h.Used
	return nil
}

// A recorder allocates what it uses. File systems may store it in less space, but what is
// almost entirely a hole was not recorded, and would take as much time and memory as if it had
// been.
const (
	freeHoles = 1 << 30
	maxHoles  = 1 << 8
)

// MaxFile is the size of the largest segment: what refs can address.
const MaxFile = RefUnit << 32

func (s *Segment) fill(r *reader) error {
	h, p := &s.Header, &s.Process
	*p = h.Identity()
	for ref := h.Streams; ref != 0; {
		var st Stream
		stream, err := r.stream(ref, &st, h)
		if err != nil {
			return err
		}
		p.Streams = append(p.Streams, *stream)
		a, err := r.activity(ref, h)
		if err != nil {
			return err
		}
		s.Activities = append(s.Activities, a)
		ref = st.Next
	}
	if h.Dropped > 0 {
		p.Streams = append(p.Streams, efg.Stream{Thread: uint32(len(p.Streams)), Dropped: h.Dropped, End: efg.EndThread})
	}
	// Events refer to definitions; those of the events read are defined by now.
	live := view[Header](r.data)
	n := atomic.LoadUint32(&live.NDefs)
	var err error
	p.Defs, err = r.defs(atomic.LoadUint32(&live.Defs), n)
	for i := range s.Activities {
		p.Streams[i].Pending = s.Activities[i].pending(&p.Streams[i], h)
	}
	return err
}

// Identity is the process according to the header, without its recording.
func (h *Header) Identity() efg.Process {
	return efg.Process{
		Rank: int(h.Rank), Size: int(h.Size), World: h.World, PID: int(h.PID), Host: text(h.Host[:]), MPI: text(h.MPI[:]),
		Start: int64(h.StartReal), Mono: int64(h.Start.Real - h.Start.Mono), Anchors: h.anchors(), Command: arguments(h), Counters: h.counters(),
	}
}

// Forked returns how many children that the process forked have called MPI, the process number of the first
// of them, 0 if it is not known, and what that one called first.
func (h *Header) Forked() (children, pid int, call string) {
	return int(h.Forks), int(h.ForkPID), text(h.ForkCall[:])
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

const (
	// maxRetries is the number of attempts to read a record that changes all the time.
	maxRetries = 1 << 20
	// manyEvents take about a second to follow.
	manyEvents = 30e6
)

// errBusy reports that the recorder is too fast for a consistent read.
var errBusy = errors.New("changes too fast to read")

// reader decodes records. Each record may be reached only once, so a cyclic list causes an
// error. The bytes may change while they are read: records are read by whole words, in the
// order that FORMAT.md, "Publication", states.
type reader struct {
	data    []byte        // 8-byte aligned; of the file's first size() bytes
	size    func() uint64 // bytes that exist by now, at most len(data)
	used    uint64        // bytes in use, when last read
	seen    refSet        // records that were read, by ref
	filled  func() uint64 // approximate number of bytes of the file that are not holes; nil: all
	lastTry bool          // nobody will try again
}

// refSet is a set of refs, in pages: a file may be large and contain few.
type refSet map[uint32]*[64]uint64

// add reports whether the ref was not in the set.
func (s *refSet) add(ref uint32) bool {
	page := (*s)[ref>>12]
	if page == nil {
		if *s == nil {
			*s = refSet{}
		}
		page = new([64]uint64)
		(*s)[ref>>12] = page
	}
	word, bit := &page[ref>>6&63], uint64(1)<<(ref&63)
	if *word&bit != 0 {
		return false
	}
	*word |= bit
	return true
}

// decode copies a fixed-size struct of little-endian words, lowest first.
func decode(b []byte, to any) {
	v := reflect.ValueOf(to).Elem()
	decodeWords(b[:v.Type().Size()], v.Addr().UnsafePointer())
}

// decodeWords copies as many whole words as fit.
func decodeWords(b []byte, to unsafe.Pointer) {
	words := unsafe.Slice((*uint64)(to), len(b)/8)
	from := unsafe.Slice((*uint64)(unsafe.Pointer(&b[0])), len(b)/8)
	for i := range words {
		words[i] = atomic.LoadUint64(&from[i])
	}
}

// view is a struct in place, for atomic loads.
func view[T any](b []byte) *T {
	var t T
	return (*T)(unsafe.Pointer(&b[:unsafe.Sizeof(t)][0]))
}

// bytes returns n bytes at a ref.
func (r *reader) bytes(section string, ref uint32, skip, n uint64) ([]byte, error) {
	off := uint64(ref)*RefUnit + skip
	inside := func() bool { return off <= r.used && n <= r.used-off }
	if ref >= HeaderSize/RefUnit && !inside() { // the file may have grown
		r.used = min(atomic.LoadUint64(&view[Header](r.data).Used), r.size())
	}
	if ref < HeaderSize/RefUnit || !inside() {
		return nil, r.corrupt(section, ref, fmt.Errorf("%d bytes needed, file ends at %d", n, r.used))
	}
	return r.data[off : off+n], nil
}

// record reads the struct at a ref, which must not have been read before.
func (r *reader) record(section string, ref uint32, to any) error {
	b, err := r.bytes(section, ref, 0, uint64(reflect.TypeOf(to).Elem().Size()))
	if err != nil {
		return err
	}
	if !r.seen.add(ref) {
		return r.corrupt(section, ref, errors.New("used twice"))
	}
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
	// n may be anything, but each definition is in the file.
	out := make([]efg.Def, 0, min(uint64(n), uint64(len(r.data))/uint64(unsafe.Sizeof(Def{}))))
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
