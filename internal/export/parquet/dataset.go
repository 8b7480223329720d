package parquet

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/klauspost/compress/zstd"
	"golang.org/x/sync/errgroup"

	"github.com/efg-tools/efg/internal/export"
	"github.com/efg-tools/efg/internal/export/table"
)

// part is the name of each file of a dataset.
const part = "part.parquet"

// blockEvents is how many events the ranks of a block have, unless one alone has more. Tests change
// it.
var blockEvents uint64 = 4_000_000

// block are the processes of a partition.
type block struct {
	name  string
	procs []int
}

// blocksOf divides the selected processes.
func blocksOf(job *export.Job) (list []block) {
	events := uint64(0)
	for _, i := range job.Procs {
		p := &job.Run.Procs[i]
		n := uint64(0)
		for k := range p.Streams {
			n += p.Streams[k].Events
		}
		if len(list) == 0 || events+n > blockEvents {
			list = append(list, block{name: fmt.Sprintf("block=%d", len(list))})
			events = 0
		}
		last := &list[len(list)-1]
		last.procs = append(last.procs, i)
		events += n
	}
	return list
}

// Write writes a dataset of the tables in job.What, or all, to an empty directory.
func Write(dir string, job *export.Job) error {
	id, err := table.RunID(job.Run)
	if err != nil {
		return err
	}
	return errors.Join(writeRun(dir, id, job), mark(dir))
}

// writeRun writes the partitions of a run.
func writeRun(dir, id string, job *export.Job) error {
	d := &dataset{dir: dir, run: "run=" + id, job: job}
	var err error
	if d.source, err = table.NewSource(job); err != nil {
		return err
	}
	matched, err := d.matched()
	if err != nil {
		return err
	}
	builders, err := d.blocks()
	if err != nil || !d.wants("run") {
		return err
	}
	zip, err := newEncoder()
	if err != nil {
		return err
	}
	w := d.writer(zip, table.ByName("run"), "")
	return errors.Join(d.source.Run(w.sink, builders, matched), w.close())
}

// dataset is the partitions of a run that are being written.
type dataset struct {
	dir, run string
	job      *export.Job
	source   *table.Source
}

func (d *dataset) wants(name string) bool {
	return len(d.job.What) == 0 || slices.Contains(d.job.What, name)
}

// matched writes messages and waits. There are no sums if the run does not have the times of each
// call.
func (d *dataset) matched() (*table.Sums, error) {
	if !d.wants("messages") && !d.wants("waits") && !d.wants("run") {
		return nil, nil
	}
	zip, err := newEncoder()
	if err != nil {
		return nil, err
	}
	messages, waits := d.writer(zip, table.ByName("messages"), ""), d.writer(zip, table.ByName("waits"), "")
	sums, ok, err := table.Matched(d.job, d.sink(messages), d.sink(waits))
	if err := errors.Join(err, messages.close(), waits.close()); err != nil {
		return nil, err
	}
	if !ok {
		if d.job.Note != nil && (d.wants("messages") || d.wants("waits")) {
			d.job.Note(table.NoTimes)
		}
		return nil, nil
	}
	return &sums, nil
}

// sink is where a table goes, nil if it is not wanted.
func (d *dataset) sink(w *writer) table.Sink {
	if !d.wants(w.schema.Name) {
		return nil
	}
	return w.sink
}

// blocks writes the tables that are made rank by rank, several blocks at a time.
func (d *dataset) blocks() ([]*table.Builder, error) {
	blocks := blocksOf(d.job)
	builders := make([]*table.Builder, len(blocks))
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	for i := range blocks {
		if ctx.Err() != nil {
			break
		}
		group.Go(func() (err error) {
			if builders[i], err = d.block(ctx, &blocks[i]); err != nil {
				stop()
			}
			return err
		})
	}
	return builders, group.Wait()
}

// block writes a block of ranks.
func (d *dataset) block(ctx context.Context, b *block) (*table.Builder, error) {
	zip, err := newEncoder()
	if err != nil {
		return nil, err
	}
	sinks := map[string]table.Sink{}
	var writers []*writer
	for _, s := range table.Schemas() {
		if s.Matched || s.Name == "run" {
			continue
		}
		w := d.writer(zip, s, b.name)
		writers = append(writers, w)
		sinks[s.Name] = d.sink(w)
	}
	builder := d.source.Builder(sinks)
	for _, i := range b.procs {
		if err == nil {
			err = ctx.Err()
		}
		if err == nil {
			err = builder.Add(i)
		}
	}
	err = errors.Join(err, builder.Flush())
	for _, w := range writers {
		err = errors.Join(err, w.close())
	}
	return builder, err
}

// writer writes a file of a table when there are rows.
type writer struct {
	path   string
	schema *table.Schema
	zip    *zstd.Encoder
	out    *os.File
	buffer *bufio.Writer
	file   *file
}

func (d *dataset) writer(zip *zstd.Encoder, s *table.Schema, block string) *writer {
	return &writer{path: filepath.Join(d.dir, s.Name, d.run, block, part), schema: s, zip: zip}
}

func (w *writer) sink(b *table.Batch) error {
	if w.file == nil {
		if err := w.open(); err != nil {
			return err
		}
	}
	return w.file.add(b)
}

func (w *writer) open() (err error) {
	if err = os.MkdirAll(filepath.Dir(w.path), 0o755); err != nil {
		return err
	}
	if w.out, err = os.Create(w.path); err != nil {
		return err
	}
	w.buffer = bufio.NewWriterSize(w.out, 1<<16)
	w.file, err = newFile(w.buffer, w.schema, w.zip)
	return err
}

func (w *writer) close() error {
	if w.file == nil {
		return nil
	}
	return errors.Join(w.file.close(), w.buffer.Flush(), w.out.Close())
}
