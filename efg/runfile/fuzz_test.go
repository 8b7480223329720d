package runfile

import (
	"bytes"
	"encoding/binary"
	"slices"
	"testing"

	"github.com/cespare/xxhash/v2"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/block"
)

// blockContent is a block of a file that is being assembled.
type blockContent struct {
	kind block.Kind
	cols block.Columns
}

// sampleBlocks returns the contents of a file's blocks, the index last.
func sampleBlocks(tb testing.TB) []blockContent {
	p := sampleProcess(0)
	q := sampleProcess(1)
	meta := sampleMeta(p)
	addCounters([]*efg.Process{p, q}, &meta, 1)
	return blocksOf(tb, encode(tb, []*efg.Process{p, q}, meta))
}

// blocksOf splits a file into blocks.
func blocksOf(tb testing.TB, data []byte) []blockContent {
	r, err := NewRun(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		tb.Fatal(err)
	}
	index, err := r.trailer()
	if err != nil {
		tb.Fatal(err)
	}
	if index.Kind, err = block.KindAt(r.r, index.Offset); err != nil {
		tb.Fatal(err)
	}
	var blocks []blockContent
	for _, ref := range append(r.blocks, blockRef{Ref: index}) {
		if ref.Kind == blockStatsCode {
			blocks = append(blocks, blockContent{blockStats, statsColumns(tb, r, ref.Ref)})
			continue
		}
		b, err := block.Read(r.r, ref.Ref, "sample")
		if err != nil {
			tb.Fatal(err)
		}
		blocks = append(blocks, blockContent{ref.Kind, b.Columns()})
	}
	return blocks
}

// statsColumns returns the columns of statistics that are a code.
func statsColumns(tb testing.TB, r *Run, at block.Ref) block.Columns {
	tb.Helper()
	at.Kind = blockStatsCode
	code, err := block.ReadCode(r.r, at, "sample")
	if err != nil {
		tb.Fatal(err)
	}
	cols, err := decodeStats(code, r.features)
	if err != nil {
		tb.Fatal(err)
	}
	return cols
}

// assemble makes a file from blocks. It corrects the lengths in the index and leaves the rest
// unchanged.
func assemble(blocks []blockContent) []byte {
	features := uint32(featurePending)
	if slices.ContainsFunc(blocks, func(b blockContent) bool { return b.kind == blockCounters }) {
		features |= featureCounters
	}
	if slices.ContainsFunc(blocks, func(b blockContent) bool { return b.kind == blockValues }) {
		features |= featureTimes | featureSteps | featureValues
	}
	b := appendHeader(nil, features)
	last := &blocks[len(blocks)-1]
	index, first := slices.Clone(last.cols), 0
	if last.kind == blockIndexTables {
		first = tableColumns
	}
	var lengths []uint64
	for _, x := range blocks[:len(blocks)-1] {
		start := len(b)
		b = block.Append(b, x.kind, x.cols, 0)
		lengths = append(lengths, uint64(len(b)-start))
	}
	if len(index) > first+indexBlockLen {
		index[first+indexBlockKind] = slices.Clone(index[first+indexBlockKind])
		for i, k := range index[first+indexBlockKind] {
			if block.Kind(k) == blockStatsCode { // blocksOf has its columns
				index[first+indexBlockKind][i] = uint64(blockStats)
			}
		}
		index[first+indexBlockLen] = lengths
	}
	start := uint64(len(b))
	b = block.Append(b, last.kind, index, 0)
	t := block.AppendU64(block.AppendU64(nil, start), uint64(len(b))-start)
	b = append(b, block.AppendU64(t, xxhash.Sum64(t))...)
	return append(b, trailerMagic...)
}

// FuzzRunFile puts a changed column into an otherwise valid file, with correct checksums: the
// reader and the validator return an error or accept it, and never panic. What the validator
// accepts must be readable, and writing it again must yield a valid file.
func FuzzRunFile(f *testing.F) { fuzzColumns(f, sampleBlocks(f)) }

// FuzzValues does that with what counters counted at each event.
func FuzzValues(f *testing.F) { fuzzColumns(f, valuedBlocks(f)) }

func fuzzColumns(f *testing.F, blocks []blockContent) {
	for i, b := range blocks {
		for k, vals := range b.cols {
			var content []byte
			for _, v := range vals {
				content = block.AppendUvarint(content, v)
			}
			f.Add(i, k, content)
		}
	}
	f.Fuzz(func(t *testing.T, which, column int, content []byte) {
		changed := slices.Clone(blocks)
		b := &changed[uint(which)%uint(len(blocks))]
		if len(b.cols) == 0 {
			return
		}
		var vals []uint64
		for len(content) > 0 {
			v, n := binary.Uvarint(content)
			if n <= 0 {
				break
			}
			vals, content = append(vals, v), content[n:]
		}
		b.cols = slices.Clone(b.cols)
		b.cols[uint(column)%uint(len(b.cols))] = vals
		data := assemble(changed)
		r, err := NewRun(bytes.NewReader(data), int64(len(data)))
		if err != nil || Validate(r) != nil {
			return
		}
		var events uint64
		var procs []*efg.Process
		for i := range r.Procs {
			for _, s := range r.Procs[i].Streams {
				events += s.Events
			}
			if events > 1<<16 {
				return // valid, but long to read
			}
			p, err := r.Process(i)
			if err != nil {
				t.Fatalf("validated, but: %v", err)
			}
			procs = append(procs, p)
		}
		again := encode(t, procs, r.Meta)
		r2, err := NewRun(bytes.NewReader(again), int64(len(again)))
		if err != nil {
			t.Fatal(err)
		}
		if err := Validate(r2); err != nil {
			t.Fatal(err)
		}
	})
}

// FuzzRunFileBytes changes the file as a whole.
func FuzzRunFileBytes(f *testing.F) {
	p := sampleProcess(0)
	f.Add(encode(f, []*efg.Process{p}, sampleMeta(p)))
	f.Add(encode(f, nil, Meta{}))
	f.Add(assemble(sampleBlocks(f)))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := NewRun(bytes.NewReader(data), int64(len(data)))
		if err == nil {
			err = Validate(r)
		}
		if err != nil && r == nil && err.Error() == "" {
			t.Error("an error without a message")
		}
	})
}

// An assembled file is the one that the writer makes.
func TestAssembledFileIsValid(t *testing.T) {
	for _, blocks := range [][]blockContent{sampleBlocks(t), valuedBlocks(t)} {
		data := assemble(blocks)
		r, err := NewRun(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			t.Fatal(err)
		}
		if err := Validate(r); err != nil {
			t.Error(err)
		}
	}
}
