package clocks

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/runfile"
)

// Encode writes the report, for Decode, and how the run's times were corrected, for Apply.
func (r *Report) Encode(w io.Writer) error {
	b := encoder{bufio.NewWriter(w)}
	said, err := json.Marshal(r) // without lines and warps
	if err != nil {
		return err
	}
	b.number(uint64(len(said)))
	b.Write(said)
	b.number(uint64(len(r.lines)))
	for _, line := range r.lines {
		b.number(uint64(len(line)))
		for _, p := range line {
			b.signed(p.At)
			b.signed(p.Shift)
		}
	}
	b.number(uint64(len(r.warps)))
	for _, streams := range r.warps {
		b.number(uint64(len(streams)))
		for i := range streams {
			b.warp(&streams[i])
		}
	}
	return b.Flush()
}

type encoder struct{ *bufio.Writer }

func (b encoder) number(n uint64) { b.Write(binary.AppendUvarint(b.AvailableBuffer(), n)) }

func (b encoder) signed(n int64) { b.Write(binary.AppendVarint(b.AvailableBuffer(), n)) }

func (b encoder) warp(w *efg.Warp) {
	b.number(uint64(w.Knots()))
	last := efg.Knot{}
	for k := range w.All() {
		step := uint64(k.Position-last.Position) << 1
		if k.Stretch {
			step |= 1
		}
		b.number(step)
		b.signed(k.At - last.At)
		b.signed(k.Shift - last.Shift)
		last = k
	}
}

// errOther reports a correction that is not one of the run.
var errOther = errors.New("the correction is of another run")

// Decode returns a report that was encoded, without how the times were corrected.
func Decode(encoded []byte) (*Report, error) {
	b := decoder{bytes.NewReader(encoded), nil}
	n := b.count()
	at := len(encoded) - b.r.Len()
	r := &Report{}
	return r, errors.Join(b.err, json.Unmarshal(encoded[at:at+n], r))
}

// Apply corrects the times that are read from a run from now on as a report says that was encoded
// about the same run.
func Apply(run *runfile.Run, encoded []byte) error {
	b := decoder{bytes.NewReader(encoded), nil}
	b.r.Seek(int64(b.count()), io.SeekCurrent) // what Decode reads
	lines := make([]efg.Line, b.count())
	for i := range lines {
		for range b.count() {
			lines[i] = append(lines[i], efg.Point{At: b.signed(), Shift: b.signed()})
		}
	}
	n := b.count()
	if b.err != nil || n != len(run.Procs) {
		return errOther
	}
	for _, m := range run.Machines() {
		if m >= len(lines) {
			return errOther
		}
	}
	warps := make([][]efg.Warp, n)
	for i := range warps {
		if b.count() != len(run.Procs[i].Streams) {
			return errOther
		}
		warps[i] = make([]efg.Warp, len(run.Procs[i].Streams))
		for j := range warps[i] {
			b.warp(&warps[i][j])
		}
	}
	if b.err != nil {
		return errOther
	}
	run.Correct(lines, warps)
	return nil
}

// decoder reads what encoder writes. The first error is kept; all numbers after it are 0.
type decoder struct {
	r   *bytes.Reader
	err error
}

func (b *decoder) number() uint64 {
	n, err := binary.ReadUvarint(b.r)
	b.err = errors.Join(b.err, err)
	return n
}

func (b *decoder) signed() int64 {
	n, err := binary.ReadVarint(b.r)
	b.err = errors.Join(b.err, err)
	return n
}

// count is a number of things that take a byte each, at least.
func (b *decoder) count() int {
	n := b.number()
	if n > uint64(b.r.Len()) {
		b.err = errOther
		return 0
	}
	return int(n)
}

func (b *decoder) warp(w *efg.Warp) {
	last := efg.Knot{}
	for range b.count() {
		step := b.number()
		last = efg.Knot{Position: last.Position + int64(step>>1), Point: efg.Point{At: last.At + b.signed(), Shift: last.Shift + b.signed()}, Stretch: step&1 != 0}
		w.Append(last)
	}
}
