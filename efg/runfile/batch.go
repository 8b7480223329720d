package runfile

import (
	"errors"
	"fmt"
	"runtime"
	"sync"

	"github.com/efg-tools/efg/efg/block"
)

// Processes are packed in batches: what can be done for each process alone is prepared in
// several goroutines, a few batches ahead, and assembled in order.

// statsRanks is the number of ranks of a world that share a batch and its statistics block. A
// block begins at a multiple of it, so merged runs keep their blocks.
const statsRanks = 16

// batches divides processes into batches. Those without a known rank are combined in order.
func batches(ordered []placed) [][]placed {
	var out [][]placed
	for len(ordered) > 0 {
		first := &ordered[0]
		n := 1
		for ; n < min(len(ordered), statsRanks); n++ {
			p := &ordered[n]
			if p.world != first.world || (p.rank < 0) != (first.rank < 0) || p.rank/statsRanks != first.rank/statsRanks {
				break
			}
		}
		out = append(out, ordered[:n])
		ordered = ordered[n:]
	}
	return out
}

// prepared is what a batch adds to the file.
type prepared struct {
	records [][]*record // of each process
	stats   rawBlock    // of statistics, without bytes if there is none
	counted []byte      // the block of counters, likewise
	trace   []encodedTrace
}

func (rw *runWriter) prepare(batch []placed) (*prepared, error) {
	p := &prepared{records: make([][]*record, len(batch))}
	for i := range batch {
		var err error
		if p.records[i], err = batch[i].source.records(); err != nil {
			return nil, batch[i].failed(err)
		}
	}
	var err error
	if p.stats, err = statsOfBatch(batch, statsOptions{shared: rw.features&featureShared != 0, rounded: rw.rounded}); err != nil {
		return nil, batch[0].failed(err)
	}
	if p.stats.bytes != nil && len(rw.counters) > 0 {
		if p.counted, err = countersOfBatch(batch, rw.counters); err != nil {
			return nil, batch[0].failed(err)
		}
	}
	if p.trace, err = tracesOfBatch(batch, rw.counters); err != nil {
		return nil, batch[0].failed(err)
	}
	return p, nil
}

// failed adds to an error which process it is about.
func (p *placed) failed(err error) error {
	var part *PartError
	if errors.As(err, &part) {
		return &PartError{part.Part, fmt.Errorf("rank %d: %w", p.source.info().Rank, part.Cause)}
	}
	return fmt.Errorf("rank %d: %w", p.source.info().Rank, err)
}

// count counts the members of each class.
func (rw *runWriter) count(ordered []placed) error {
	all := batches(ordered)
	keys := func(i int) (keys []shapeKey, err error) {
		for j := range all[i] {
			p := &all[i][j]
			p.source.open(p.rank)
			k, err := p.source.keys()
			if err != nil {
				return nil, p.failed(err)
			}
			keys = append(keys, k...)
		}
		return keys, nil
	}
	return pipeline(len(all), keys, func(_ int, keys []shapeKey) error {
		for _, k := range keys {
			rw.expect[k]++
		}
		return nil
	})
}

// processes writes everything about the processes except the index.
func (rw *runWriter) processes(ordered []placed) error {
	all := batches(ordered)
	rw.procs = make([]ProcInfo, 0, len(ordered))
	get := func(i int) (*prepared, error) { return rw.prepare(all[i]) }
	return pipeline(len(all), get, func(i int, p *prepared) error {
		for j := range all[i] {
			if err := rw.process(&all[i][j], p.records[j]); err != nil {
				return err
			}
		}
		if i == len(all)-1 {
			if err := rw.beginGraphs(); err != nil {
				return err
			}
		}
		if err := rw.addStats(p.stats, len(all[i])); err != nil {
			return err
		}
		if p.counted != nil {
			if _, err := rw.enqueueRaw(blockCounters, p.counted); err != nil {
				return err
			}
		}
		return rw.addTraces(p.trace, all[i])
	})
}

// addStats writes the statistics block of the last n processes.
func (rw *runWriter) addStats(block rawBlock, n int) error {
	if block.bytes == nil {
		return nil
	}
	number, err := rw.enqueueRaw(block.kind, block.bytes)
	rw.stats = append(rw.stats, statsBlock{len(rw.procs) - n, n, number})
	return err
}

// rawBlock is an encoded block.
type rawBlock struct {
	kind  block.Kind
	bytes []byte
}

// queuedBlock is a block that is being encoded.
type queuedBlock struct {
	number int
	bytes  chan []byte
}

// block starts encoding a block, which is written after the preceding ones, and returns its
// number. The caller must not use the columns afterwards.
func (rw *runWriter) block(kind block.Kind, cols block.Columns) (int, error) {
	done := make(chan []byte, 1)
	go func() { done <- rw.encoded(kind, cols, 0) }()
	return rw.enqueue(kind, done)
}

// encoded is a block of at least least bytes.
func (rw *runWriter) encoded(kind block.Kind, cols block.Columns, least int) []byte {
	if rw.mixed {
		return block.Append(nil, kind, cols, least)
	}
	return block.AppendPlain(nil, kind, cols, least)
}

func (rw *runWriter) enqueue(kind block.Kind, bytes chan []byte) (int, error) {
	n := len(rw.blocks)
	rw.blocks = append(rw.blocks, blockRef{Ref: block.Ref{Kind: kind}})
	rw.queue = append(rw.queue, queuedBlock{n, bytes})
	return n, rw.flush(runtime.GOMAXPROCS(0))
}

// flush writes the queued blocks in order, except for the last keep.
func (rw *runWriter) flush(keep int) error {
	for len(rw.queue) > keep {
		q := rw.queue[0]
		rw.queue = rw.queue[1:]
		b := <-q.bytes
		rw.blocks[q.number].Offset, rw.blocks[q.number].Length = rw.offset, uint64(len(b))
		if err := rw.write(b); err != nil {
			return err
		}
	}
	return nil
}

// addTraces writes the trace blocks of the last processes, a batch.
func (rw *runWriter) addTraces(traces []encodedTrace, batch []placed) error {
	for _, t := range traces {
		number, err := rw.enqueueRaw(t.kind, t.raw)
		if err != nil {
			return err
		}
		rw.traces = append(rw.traces, traceBlock{rw.streams - streamsOf(batch) + t.first, t.streams, number})
	}
	return nil
}

// enqueueRaw writes an encoded block after the preceding ones.
func (rw *runWriter) enqueueRaw(kind block.Kind, b []byte) (int, error) {
	ready := make(chan []byte, 1)
	ready <- b
	return rw.enqueue(kind, ready)
}

// aheadOf is the number of calls per goroutine by which a pipeline is ahead.
const aheadOf = 2

// pipeline calls get for 0 to n-1 in several goroutines, and use with the results in order, in
// this one. It stops at the first error.
func pipeline[T any](n int, get func(int) (T, error), use func(int, T) error) error {
	type result struct {
		value T
		err   error
	}
	workers := min(n, runtime.GOMAXPROCS(0))
	slots := make([]chan result, min(n, aheadOf*workers))
	jobs := make(chan int, len(slots))
	for i := range slots {
		slots[i] = make(chan result, 1)
		jobs <- i
	}
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for i := range jobs {
				v, err := get(i)
				slots[i%len(slots)] <- result{v, err}
			}
		})
	}
	defer wg.Wait()
	defer close(jobs)
	for i := range n {
		r := <-slots[i%len(slots)]
		if r.err != nil {
			return r.err
		}
		if err := use(i, r.value); err != nil {
			return err
		}
		if i+len(slots) < n {
			jobs <- i + len(slots) // its slot is free now
		}
	}
	return nil
}
