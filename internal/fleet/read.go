package fleet

import (
	"context"
	"io/fs"
	"os/user"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/export"
	"github.com/efg-tools/efg/internal/export/table"
)

// Owner is the name of the owner of a file, its number if it has none, "" if it is unknown.
func Owner(file fs.FileInfo) string {
	stat, ok := file.Sys().(*syscall.Stat_t)
	if !ok {
		return ""
	}
	id := strconv.FormatUint(uint64(stat.Uid), 10)
	if u, err := user.LookupId(id); err == nil {
		return u.Username
	}
	return id
}

// Read reads what is to be known of a run, except for its file and user.
func Read(ctx context.Context, run *runfile.Run) (*Run, error) {
	id, err := table.RunID(run)
	if err != nil {
		return nil, err
	}
	job := &export.Job{Run: run, Context: ctx}
	job.Thread = -1
	for i := range run.Procs {
		job.Procs = append(job.Procs, i)
	}
	source, err := table.NewSource(job)
	if err != nil {
		return nil, err
	}
	r, sites := &Run{ID: id}, map[[2]string]uint64{}
	b := source.Builder(map[string]table.Sink{"calls": func(b *table.Batch) error {
		c := columnsOf(b, "op", "site", "time", "setup")
		for row := range b.Rows {
			if c.at("setup", row).Int == 0 {
				sites[[2]string{c.at("op", row).Text, c.at("site", row).Text}] += uint64(c.at("time", row).Int)
			}
		}
		return nil
	}})
	for _, i := range job.Procs {
		if err := b.Add(i); err != nil {
			return nil, err
		}
		if err := job.Done(0); err != nil {
			return nil, err
		}
	}
	if err := b.Flush(); err != nil {
		return nil, err
	}
	sums, matched, err := table.Matched(job, nil, nil)
	if err != nil {
		return nil, err
	}
	known := &sums
	if !matched {
		known = nil
	}
	if err := source.Run(r.take, []*table.Builder{b}, known); err != nil {
		return nil, err
	}
	for at, ns := range sites {
		r.Sites = append(r.Sites, Site{at[0], at[1], ns})
	}
	slices.SortFunc(r.Sites, func(a, b Site) int { return strings.Compare(a.Op+"\x00"+a.Place, b.Op+"\x00"+b.Place) })
	return r, nil
}

// take reads the row of the table run.
func (r *Run) take(b *table.Batch) error {
	c := columnsOf(b, "program", "build_id", "arguments", "started", "ranks", "elapsed", "elapsed_max", "mpi_time", "waiting")
	r.Program, r.BuildID, r.Arguments = c.at("program", 0).Text, c.at("build_id", 0).Text, c.at("arguments", 0).Text
	if started := c.at("started", 0); !started.Null {
		r.Started = time.Unix(0, started.Int).UTC()
	}
	r.Ranks = int(c.at("ranks", 0).Int)
	elapsed, waiting := c.at("elapsed", 0), c.at("waiting", 0)
	r.Timed, r.Matched = !elapsed.Null, !waiting.Null
	r.Elapsed, r.Waiting = uint64(elapsed.Int), uint64(waiting.Int)
	r.Slowest, r.MPI = uint64(c.at("elapsed_max", 0).Int), uint64(c.at("mpi_time", 0).Int)
	return nil
}

// columns are columns of a batch, by name.
type columns struct {
	of    *table.Batch
	named map[string]int
}

func columnsOf(b *table.Batch, names ...string) columns {
	c := columns{b, map[string]int{}}
	for _, name := range names {
		c.named[name] = b.Column(name)
	}
	return c
}

// at is a value of a row.
func (c *columns) at(name string, row int) (v table.Value) {
	i := c.named[name]
	vector := &c.of.Vectors[i]
	k := vector.Value(row)
	switch {
	case vector.Null(k):
		v.Null = true
	case c.of.Columns[i].Type.Textual():
		v.Text = vector.Texts[k]
	default:
		v.Int = vector.Ints[k]
	}
	return v
}
