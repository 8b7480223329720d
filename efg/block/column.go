package block

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"github.com/klauspost/compress/zstd"
)

// A column is a list of integers, stored in the smallest of these encodings. FORMAT.md,
// "Columns", specifies them.
const (
	columnRaw       = iota // uvarints
	columnPacked           // smallest value, width, then width bits of each difference from it
	columnZstd             // uvarints, as one zstd frame
	columnAdaptive         // adaptive range coder
	columnOrder1           // likewise, the class of a value predicted by the previous one
	columnPredicted        // likewise, values predicted by what followed the two previous ones
	columnSteps            // four bits at a time
	Encodings
)

// choice says what matters about a column's encoding besides its size.
type choice struct {
	patient int  // the length from which an encoding that is slow to decode must save a tenth
	steps   bool // from this length on, columnSteps may be taken, which is faster to decode than such
}

var (
	mostChoice = choice{patient: 1 << 17}
	fastChoice = choice{patient: 1 << 12, steps: true} // of AppendFast
)

// encodeColumn returns the smallest encoding of a column that is not empty.
func encodeColumn(vals []uint64, by choice) (encoding int, payload []byte) {
	raw := make([]byte, 0, len(vals)+len(vals)/4)
	for _, v := range vals {
		raw = AppendUvarint(raw, v)
	}
	var steps []byte
	if by.steps && len(vals) >= by.patient {
		steps = stepColumnOf(vals)
	}
	switch {
	case steps != nil && isLeast(len(steps), vals, raw):
		encoding, payload = columnSteps, steps
	case steps == nil && len(vals) >= manyValues:
		if encoding, payload = encodeIrregular(vals, raw); payload != nil {
			return encoding, payload
		}
		fallthrough
	default:
		encoding, payload = encodeFast(vals, raw)
	}
	if steps != nil && len(steps) < len(payload) {
		encoding, payload = columnSteps, steps
	}
	if len(vals) < 4 {
		return encoding, payload
	}
	limit := len(payload)
	if len(vals) >= by.patient {
		limit = limit/10*9 + 1
	}
	for _, e := range worthTrying(vals, len(payload)) {
		if b := adaptColumn(vals, e, limit); b != nil {
			encoding, payload, limit = e, b, len(b)
		}
	}
	return encoding, payload
}

// quickSize is three quarters of what the fast encodings make of a column, with the fastest level of zstd. If a
// slower encoding takes less, the best level, which takes most of the time of writing a column, does not pay.
// raw is the column as uvarints.
func quickSize(vals []uint64, raw []byte) int {
	return min(len(raw), packingOf(vals).size(), len(fastestZstd().EncodeAll(raw, nil))) / 4 * 3
}

// shortColumn is the number of bytes below which the second-best level of zstd, with tables of 4 MB, predicts the size
// that the best level would reach. The best level's tables take 35 MB, whose page faults cost more than encoding so little.
const shortColumn = 1 << 17

// isLeast reports whether the fast encodings hardly make less than so many bytes of a column. raw is the column as uvarints.
func isLeast(size int, vals []uint64, raw []byte) bool {
	if size < quickSize(vals, raw) {
		return true
	}
	return len(raw) < shortColumn && size < min(len(raw), packingOf(vals).size(), len(betterZstd().EncodeAll(raw, nil))/10*9)
}

// encodeIrregular encodes a long column adaptively if that takes less than quickSize. Otherwise the payload is nil.
func encodeIrregular(vals []uint64, raw []byte) (encoding int, payload []byte) {
	limit := quickSize(vals, raw)
	for _, e := range worthTrying(vals, limit) {
		if b := adaptColumn(vals, e, limit); b != nil {
			return e, b
		}
	}
	return 0, nil
}

// zstdFrom is the number of bytes from which a column is given to zstd: on fewer, the other encodings are
// hardly larger, and the tables of its encoder take 35 MB, which most recordings need not touch.
const zstdFrom = 1024

// encodeFast returns the smallest of the encodings that are fast to decode. raw is the column
// as uvarints.
func encodeFast(vals []uint64, raw []byte) (encoding int, payload []byte) {
	p := packingOf(vals)
	size := min(len(raw), p.size())
	if len(raw) > zstdFrom {
		if b := zstdEncoder().EncodeAll(raw, nil); len(b) < size {
			return columnZstd, b
		}
	}
	if size < len(raw) {
		return columnPacked, p.pack(vals)
	}
	return columnRaw, raw
}

// manyValues is the length from which a sample of a column decides which adaptive encoding is
// tried on all of it: each takes as long as the rest of writing the column.
const (
	manyValues  = 1 << 16
	sampleParts = 4
	samplePart  = 1 << 12
)

// worthTrying are the adaptive encodings that may be smaller than size bytes.
func worthTrying(vals []uint64, size int) []int {
	all := []int{columnAdaptive, columnOrder1, columnPredicted}
	if len(vals) < manyValues {
		return all
	}
	var sample []uint64
	for i := range sampleParts {
		from := i * (len(vals) - samplePart) / (sampleParts - 1)
		sample = append(sample, vals[from:from+samplePart]...)
	}
	best, limit := 0, int(math.Ceil(float64(size)*float64(len(sample))/float64(len(vals))))
	for _, e := range all {
		if b := adaptColumn(sample, e, limit); b != nil {
			best, limit = e, len(b)
		}
	}
	if best == 0 {
		return nil
	}
	return []int{best}
}

// packing describes how a column is packed.
type packing struct {
	head  []byte
	low   uint64
	width int // bits per value
	bytes int // of all values
}

func packingOf(vals []uint64) packing {
	low, high := slices.Min(vals), slices.Max(vals)
	width := bits.Len64(high - low)
	return packing{append(AppendUvarint(nil, low), byte(width)), low, width, (len(vals)*width + 7) / 8}
}

func (p packing) size() int { return len(p.head) + p.bytes }

func (p packing) pack(vals []uint64) []byte {
	b := append(make([]byte, 0, p.size()), p.head...)
	low, width := p.low, p.width
	var acc uint64
	have := 0
	for _, v := range vals {
		v -= low
		acc |= v << have
		if have+width >= 64 {
			b = AppendU64(b, acc)
			acc = v >> (64 - have) // 0 if have is 0
			have -= 64
		}
		have += width
	}
	for ; have > 0; have -= 8 {
		b = append(b, byte(acc))
		acc >>= 8
	}
	return b
}

// adaptColumn encodes a column adaptively; nil if that takes limit bytes or more.
func adaptColumn(vals []uint64, encoding, limit int) []byte {
	e := newRangeEncoder()
	m := &valueModel{order1: encoding == columnOrder1}
	var p predictor
	for _, v := range vals {
		// The code lacks the first byte, and may lack trailing zeros.
		if n := len(e.out); n > limit && e.out[n-1] != 0 {
			return nil
		}
		if encoding != columnPredicted {
			e.value(m, v)
			continue
		}
		guess, known := p.guess()
		hit := uint32(0)
		if known && guess == v {
			hit = 1
		}
		if known {
			e.bit(p.model(), hit)
		}
		if hit == 0 {
			e.value(m, v)
		}
		p.next(v, known, hit)
	}
	if b := e.finish(); len(b) < limit {
		return b
	}
	return nil
}

// maxPairs bounds the table of a predictor.
const maxPairs = 1 << 20

// predictor guesses the next value: the one that followed last time the two previous values
// were the same.
type predictor struct {
	a, b    uint64
	follow  map[[2]uint64]uint64
	history uint32 // whether the last guesses were right, as bits
	hits    [16]bitModel
}

func (p *predictor) guess() (v uint64, known bool) {
	v, known = p.follow[[2]uint64{p.a, p.b}]
	return v, known
}

func (p *predictor) model() *bitModel { return &p.hits[p.history&15] }

func (p *predictor) next(v uint64, known bool, hit uint32) {
	if known {
		p.history = p.history<<1 | hit
	}
	if p.follow == nil {
		p.follow = map[[2]uint64]uint64{}
	}
	if known || len(p.follow) < maxPairs {
		p.follow[[2]uint64{p.a, p.b}] = v
	}
	p.a, p.b = p.b, v
}

var errColumn = errors.New("broken column")

// decodeColumn reads n values.
func decodeColumn(encoding int, payload []byte, n int) ([]uint64, error) {
	vals := make([]uint64, n)
	switch encoding {
	case columnRaw:
		return vals, unpackUvarints(payload, vals)
	case columnPacked:
		return vals, unpackBits(payload, vals)
	case columnZstd:
		raw, err := unpackZstd(payload, uint64(n)*binary.MaxVarintLen64)
		if err != nil {
			return nil, err
		}
		return vals, unpackUvarints(raw, vals)
	case columnAdaptive, columnOrder1, columnPredicted:
		return vals, unadaptColumn(encoding, payload, vals)
	case columnSteps:
		return vals, unstepColumn(payload, vals)
	}
	return nil, fmt.Errorf("%w: unknown encoding %d", errColumn, encoding)
}

func unpackUvarints(b []byte, vals []uint64) error {
	for i := range vals {
		v, n := binary.Uvarint(b)
		if n <= 0 {
			return fmt.Errorf("%w: value %d of %d is missing", errColumn, i, len(vals))
		}
		vals[i] = v
		b = b[n:]
	}
	if len(b) != 0 {
		return fmt.Errorf("%w: %w", errColumn, errTrailing)
	}
	return nil
}

func unpackBits(b []byte, vals []uint64) error {
	low, n := binary.Uvarint(b)
	if n <= 0 || n == len(b) || b[n] > 64 {
		return fmt.Errorf("%w: no width", errColumn)
	}
	width := int(b[n])
	b = b[n+1:]
	if (len(vals)*width+7)/8 != len(b) {
		return fmt.Errorf("%w: %d bytes for %d values of %d bits", errColumn, len(b), len(vals), width)
	}
	at := 0
	for i := range vals {
		vals[i] = low + bitsAt(b, at, width)
		at += width
	}
	return nil
}

// bitsAt returns width bits of b from bit at on.
func bitsAt(b []byte, at, width int) uint64 {
	var v uint64
	for got := 0; got < width; {
		have := 8 - at&7
		v |= uint64(b[at>>3]>>(at&7)) << got
		got += have
		at += have
	}
	if width < 64 {
		v &= 1<<width - 1
	}
	return v
}

func unadaptColumn(encoding int, payload []byte, vals []uint64) error {
	d := newRangeDecoder(payload)
	m := &valueModel{order1: encoding == columnOrder1}
	var p predictor
	for i := range vals {
		if encoding != columnPredicted {
			vals[i] = d.value(m)
			continue
		}
		guess, known := p.guess()
		hit := uint32(0)
		if known {
			hit = d.bit(p.model())
		}
		if hit != 0 {
			vals[i] = guess
		} else {
			vals[i] = d.value(m)
		}
		p.next(vals[i], known, hit)
	}
	if d.rest() != 0 {
		return fmt.Errorf("%w: %w", errColumn, errTrailing)
	}
	return nil
}

// unpackZstd expands a frame to at most limit bytes.
func unpackZstd(payload []byte, limit uint64) ([]byte, error) {
	var h zstd.Header // the decoder trusts the frame's own size for its first allocation
	if err := h.Decode(payload); err != nil {
		return nil, err
	}
	if !h.HasFCS || h.FrameContentSize > min(limit, maxBlock) {
		return nil, fmt.Errorf("%w: frame of %d bytes", errColumn, h.FrameContentSize)
	}
	return zstdDecoder().DecodeAll(payload, make([]byte, 0, h.FrameContentSize))
}
