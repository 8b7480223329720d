package table

import (
	"errors"

	"github.com/efg-tools/efg/internal/analysis"
	"github.com/efg-tools/efg/internal/export"
	"github.com/efg-tools/efg/reconstruct"
)

// Source makes the rows of the tables of a run that are made rank by rank. Several goroutines may
// use it, each with a Builder of its own.
type Source struct {
	job       *export.Job
	rebuilder *reconstruct.Run
	first     []int
}

// NewSource prepares the tables of the selected part of a run.
func NewSource(job *export.Job) (*Source, error) {
	rebuilder, err := reconstruct.NewRun(job.Run)
	if err != nil {
		return nil, err
	}
	return &Source{job, rebuilder, analysis.FirstRanks(job.Run.Procs)}, nil
}

// Builder makes rows of the tables for which it has a sink, by name.
type Builder struct {
	source *Source
	builders
	elapsed, mpi uint64
	slowest      uint64
	timed        bool
}

type builders struct {
	events *eventBuilder
	nodes  *builder[nodeRow]
	calls  *builder[nodeRow]
	edges  *builder[edgeRow]
	ranks  *builder[rankRow]

	counters *builder[counterRow]
}

// Builder prepares the making of rows.
func (s *Source) Builder(sinks map[string]Sink) *Builder {
	return &Builder{source: s, builders: builders{
		newEventBuilder(sinks[events.Name]), newBuilder(nodes, sinks[nodes.Name]), newBuilder(calls, sinks[calls.Name]),
		newBuilder(edges, sinks[edges.Name]), newBuilder(ranks, sinks[ranks.Name]), newBuilder(counters, sinks[counters.Name]),
	}}
}

// Add adds the rows of a process, by its number in the run.
func (b *Builder) Add(number int) error {
	job := b.source.job
	p, err := b.source.rebuilder.Process(number)
	if err != nil {
		return err
	}
	facts, err := analysis.NewProcess(p.Data(), b.source.first[number])
	if err != nil {
		return err
	}
	row := rankRow{ProcInfo: &job.Run.Procs[number], totals: totals{complete: true}}
	row.totals.add(row.ProcInfo)
	for i := range p.Data().Streams {
		if job.Thread >= 0 && uint32(job.Thread) != p.Data().Streams[i].Thread {
			continue
		}
		err := errors.Join(b.addGraph(p, facts, i), b.events.add(p, facts, i, job))
		if err == nil {
			err = row.times.add(facts, i)
		}
		if err != nil {
			return err
		}
	}
	if row.times.known {
		b.timed = true
		b.elapsed += row.elapsed
		b.mpi += row.times.mpi
		b.slowest = max(b.slowest, row.elapsed)
	}
	return b.ranks.add(&row)
}

// Flush hands the last rows to the sinks.
func (b *Builder) Flush() error {
	return errors.Join(b.events.flush(), b.nodes.flush(), b.calls.flush(), b.edges.flush(), b.ranks.flush(), b.counters.flush())
}

// Run makes the row of the table run. The builders are those that were given the processes; matched
// are the sums of Matched, nil if there are none.
func (s *Source) Run(sink Sink, from []*Builder, matched *Sums) error {
	row, err := describeRun(s.job.Run)
	if err != nil {
		return err
	}
	row.user = s.job.User
	for _, b := range from {
		row.known = row.known || b.timed
		row.elapsed += b.elapsed
		row.times.mpi += b.mpi
		row.slowest = max(row.slowest, b.slowest)
	}
	if matched != nil {
		row.matched, row.waiting, row.messages = true, matched.Waiting, matched.Messages
	}
	b := newBuilder(runs, sink)
	return errors.Join(b.add(row), b.flush())
}

// NoTimes says why a run has no rows in tables that are Matched.
const NoTimes = "no messages and waits: the times of each call were not recorded (efg run --time trace records them)"

// Each passes the rows of a table to the sink, in order.
func Each(job *export.Job, schema *Schema, sink Sink) error {
	if schema.Matched {
		return eachMatched(job, schema, sink)
	}
	source, err := NewSource(job)
	if err != nil {
		return err
	}
	b := source.Builder(map[string]Sink{schema.Name: sink})
	for _, i := range job.Procs {
		if err := errors.Join(b.Add(i), job.Done(0)); err != nil {
			return err
		}
	}
	if schema.Name != runs.Name {
		return b.Flush()
	}
	sums, ok, err := Matched(job, nil, nil)
	switch {
	case err != nil:
		return err
	case !ok:
		return source.Run(sink, []*Builder{b}, nil)
	}
	return source.Run(sink, []*Builder{b}, &sums)
}

func eachMatched(job *export.Job, schema *Schema, sink Sink) error {
	sinks := map[string]Sink{schema.Name: sink}
	_, ok, err := Matched(job, sinks[messages.Name], sinks[waitStates.Name])
	if err == nil && !ok && job.Note != nil {
		job.Note(NoTimes)
	}
	return err
}

// Wanted is the table that the only element of job.What names; events if there is none.
func Wanted(job *export.Job) *Schema {
	if len(job.What) == 0 {
		return &events
	}
	return ByName(job.What[0])
}

// NeedsMatching reports whether messages have to be matched for a table.
func NeedsMatching(name string) bool { return ByName(name).Matched || name == runs.Name }

// Names are the names of the tables.
func Names() (names []string) {
	for _, s := range Schemas() {
		names = append(names, s.Name)
	}
	return names
}
