package mtf

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
	"github.com/vmihailenco/msgpack/v5"
)

// Error says which record of a file is wrong, and why.
type Error struct {
	File   string
	Record int    // number, from 0; -1 for the file as a whole
	Kind   string // of the record, "" if unknown
	Cause  error
}

func (e *Error) Error() string {
	if e.Record < 0 {
		return fmt.Sprintf("%s: %v", e.File, e.Cause)
	}
	return fmt.Sprintf("%s: record %d (%s): %v", e.File, e.Record, e.Kind, e.Cause)
}

func (e *Error) Unwrap() error { return e.Cause }

// IsFile reports whether a file that begins with these bytes is, or was meant to be,
// one of this package.
func IsFile(head []byte) bool { return len(head) >= len(magic) && string(head[:len(magic)]) == magic }

var errNotMTF = errors.New("not compact MTF, or not written by efg")

// counting counts the bytes read.
type counting struct {
	r io.Reader
	n int64
}

func (c *counting) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

// Content may be this multiple of the size of its file, plus a constant: memory is proportional
// to the file.
const (
	maxExpanded = 4096
	freeContent = 16 << 20
)

var errExpands = errors.New("content too large for the file")

// content is the decompressed content of a file.
type content struct {
	zip  *zstd.Decoder
	file *counting
	n    int64
}

func (c *content) Read(p []byte) (int, error) {
	n, err := c.zip.Read(p)
	if c.n += int64(n); c.n > freeContent+maxExpanded*c.file.n {
		return 0, errExpands
	}
	return n, err
}

// recordReader reads records. The first error is kept.
type recordReader struct {
	name   string
	file   *counting
	zip    *zstd.Decoder
	dec    *msgpack.Decoder
	record int
	kind   kind
	left   int // fields of the record
	err    error
}

func newRecordReader(name string, in io.Reader) (*recordReader, error) {
	r := &recordReader{name: name, file: &counting{r: in}, record: -1}
	head := make([]byte, len(magic))
	if _, err := io.ReadFull(r.file, head); err != nil || !IsFile(head) {
		return nil, r.fail(errNotMTF)
	}
	zip, err := zstd.NewReader(r.file, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(64<<20))
	if err != nil {
		return nil, r.fail(err)
	}
	r.zip = zip
	r.dec = msgpack.NewDecoder(bufio.NewReaderSize(&content{zip: zip, file: r.file}, 1<<16))
	return r, nil
}

// fail keeps an error at the current record.
func (r *recordReader) fail(cause error) error {
	if r.err == nil {
		if errors.Is(cause, io.EOF) || errors.Is(cause, io.ErrUnexpectedEOF) {
			cause = errors.New("the file ends early")
		}
		name := "unknown"
		if r.kind < kinds {
			name = kindNames[r.kind]
		}
		r.err = &Error{r.name, r.record, name, cause}
	}
	return r.err
}

// next moves to the next record.
func (r *recordReader) next() error {
	r.record++
	r.kind = kinds
	if r.left = r.list(); r.err == nil && r.left == 0 {
		r.fail(errors.New("an empty record"))
	}
	if k := r.uint(); r.err == nil {
		if k >= uint64(kinds) {
			return r.fail(fmt.Errorf("kind %d: unknown, or from a newer version", k))
		}
		r.kind = kind(k)
		r.left--
	}
	return r.err
}

// fields fails unless the record has n fields.
func (r *recordReader) fields(n int) {
	if r.err == nil && r.left != n {
		r.fail(fmt.Errorf("%d fields, want %d", r.left, n))
	}
}

func (r *recordReader) list() int {
	if r.err != nil {
		return 0
	}
	n, err := r.dec.DecodeArrayLen()
	if err != nil {
		r.fail(err)
	}
	return max(n, 0)
}

func (r *recordReader) uint() uint64 {
	if r.err != nil {
		return 0
	}
	v, err := r.dec.DecodeUint64()
	if err != nil {
		r.fail(err)
	}
	return v
}

func (r *recordReader) int() int64 {
	if r.err != nil {
		return 0
	}
	v, err := r.dec.DecodeInt64()
	if err != nil {
		r.fail(err)
	}
	return v
}

// number reads a number below limit.
func (r *recordReader) number(what string, limit uint64) int {
	v := r.uint()
	if r.err == nil && v >= limit {
		r.fail(fmt.Errorf("%s %d of %d", what, v, limit))
	}
	if r.err != nil {
		return 0
	}
	return int(v)
}

func (r *recordReader) text() string {
	if r.err != nil {
		return ""
	}
	s, err := r.dec.DecodeString()
	if err != nil {
		r.fail(err)
	}
	return s
}

func (r *recordReader) data() []byte {
	if r.err != nil {
		return nil
	}
	b, err := r.dec.DecodeBytes()
	if err != nil {
		r.fail(err)
	}
	if len(b) == 0 {
		return nil
	}
	return b
}

func (r *recordReader) texts() []string {
	var list []string
	for range r.list() {
		if s := r.text(); r.err == nil {
			list = append(list, s)
		} else {
			return nil
		}
	}
	return list
}

func (r *recordReader) uints() []uint64 {
	var list []uint64
	for range r.list() {
		if v := r.uint(); r.err == nil {
			list = append(list, v)
		} else {
			return nil
		}
	}
	return list
}

// maxRuns bounds the numbers that a record may refer to.
const maxRuns = 1 << 24

// runs reads numbers below limit, as first and count.
func (r *recordReader) runs(what string, limit int) []int {
	flat := r.uints()
	var list []int
	for ; r.err == nil && len(flat) >= 2; flat = flat[2:] {
		first, n := flat[0], flat[1]
		if n > uint64(maxRuns-len(list)) || first > uint64(limit) || n > uint64(limit)-first {
			r.fail(fmt.Errorf("%d of %s from number %d: there are %d so far", n, what, first, limit))
			return nil
		}
		for i := range n {
			list = append(list, int(first+i))
		}
	}
	if len(flat) > 0 {
		r.fail(fmt.Errorf("numbers of %s that are not runs", what))
	}
	return list
}
