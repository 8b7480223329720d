package simulate

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/analysis"
	"github.com/efg-tools/efg/internal/export"
	"github.com/efg-tools/efg/reconstruct"
	"github.com/efg-tools/efg/signature"
)

// Supported is the optional part that is everything but what cannot be simulated, which without it is
// an error.
const Supported = "supported"

// ErrUnsuitable is wrapped by errors about runs that cannot be simulated.
var ErrUnsuitable = errors.New("cannot be simulated")

// writer writes what a process does. Its methods are called in the order of each thread.
type writer interface {
	// transfer writes messages that are all under way at once, and waits for them.
	transfer(t *thread, list []message)
	// issue writes messages that are all under way at once, until a request is waited for; nothing
	// waits for those without one.
	issue(t *thread, list []message, r *request)
	// join writes a collective call, of which a request, unless it is nil, is waited for.
	join(t *thread, c *collective, r *request)
	// wait waits for requests, which are then inactive.
	wait(t *thread, list []*request)
}

// exporter writes a run.
type exporter struct {
	job       *export.Job
	run       *runfile.Run
	ranks     int
	plainTags int64  // tags on MPI_COMM_WORLD below it stand for themselves
	mostBytes uint64 // of a message
	tags      map[labelled]int64
	numbers   map[labelled]int64 // of communicators; without a tag
	open      map[pair]balance   // messages sent and not received, where there are some
	// action writes a collective call of all ranks as an action with a name; nil: they are all messages.
	action func(c *call) (action string, known bool)
	// named are the collective calls of each rank that are written by their names.
	named    []uint64
	missing  map[string]uint64 // calls that cannot be simulated, by what they are
	leftOut  map[string]uint64 // calls that need not be simulated
	untimed  uint64            // calls
	measured bool              // any call has times
}

// labelled is a tag on a communicator, which has one name in all its processes.
type labelled struct {
	comm  uint64
	world int
	tag   uint64
	// partitioned is one more than how many earlier requests have the same peers and tag, of
	// partitioned communication, which is matched apart from other messages.
	partitioned int
}

// pair are two ranks of the run.
type pair struct{ from, to int }

// balance is by how much more was sent than received: the number of messages, and the sum of hashes of
// their tags.
type balance struct {
	messages int64
	tags     uint64
}

// WriteGOAL writes a run in GOAL. Unless --what has Supported, a call that cannot be simulated is an error,
// as is, in any case, a run that a simulation would not get to the end of; these wrap ErrUnsuitable.
func WriteGOAL(out io.Writer, job *export.Job) error {
	x := newExporter(job, firstNamedTag, math.MaxUint64)
	b := bufio.NewWriterSize(out, 1<<16)
	fmt.Fprintf(b, "num_ranks %d\n", x.ranks)
	err := x.processes(func(rank, threads int) (writer, func() error, error) {
		if threads > mostThreads {
			return nil, nil, fmt.Errorf("a process with more than %d threads that call MPI %w", mostThreads, ErrUnsuitable)
		}
		s := newSchedule(b, rank)
		return s, s.end, nil
	})
	return errors.Join(err, b.Flush())
}

// WriteLiballprof writes a run as liballprof's traces into a directory that exists and is empty. Errors are
// those of WriteGOAL.
func WriteLiballprof(dir string, job *export.Job) error {
	x := newExporter(job, firstCollective, mostBytes)
	return x.processes(func(rank, threads int) (writer, func() error, error) {
		if threads > 1 {
			return nil, nil, fmt.Errorf("a process with several threads that call MPI %w in a trace that is one list of calls: goal has them", ErrUnsuitable)
		}
		f, err := os.Create(filepath.Join(dir, traceName(rank)))
		if err != nil {
			return nil, nil, err
		}
		w := newTrace(f, rank, x.ranks)
		return w, func() error { return errors.Join(w.end(), f.Close()) }, nil
	})
}

func newExporter(job *export.Job, plainTags int64, mostBytes uint64) *exporter {
	return &exporter{
		job: job, run: job.Run, ranks: len(job.Run.Procs), plainTags: plainTags, mostBytes: mostBytes,
		tags: map[labelled]int64{}, numbers: map[labelled]int64{}, open: map[pair]balance{},
		missing: map[string]uint64{}, leftOut: map[string]uint64{},
	}
}

// processes writes all processes, in the order of ranks. begin returns what writes one, and what ends it.
func (x *exporter) processes(begin func(rank, threads int) (writer, func() error, error)) error {
	byRank, err := x.order()
	if err != nil {
		return err
	}
	source, err := reconstruct.NewRun(x.run)
	if err != nil {
		return err
	}
	first := analysis.FirstRanks(x.run.Procs)
	for rank, i := range byRank {
		if err := x.process(source, i, first[i], begin); err != nil {
			return fmt.Errorf("rank %d: %w", rank, err)
		}
	}
	if err := x.check(); err != nil {
		return err
	}
	x.note()
	return nil
}

// order returns the numbers of the processes, by rank.
func (x *exporter) order() ([]int, error) {
	if sel := &x.job.Selection; len(sel.Procs) != x.ranks || sel.Thread >= 0 || sel.Window() || sel.Time != nil {
		return nil, fmt.Errorf("part of a run %w: messages to and from the rest would be missing", ErrUnsuitable)
	}
	byRank := make([]int, x.ranks)
	for i := range byRank {
		byRank[i] = -1
	}
	for i := range x.run.Procs {
		switch rank := x.run.Procs[i].Rank; {
		case rank < 0:
			return nil, fmt.Errorf("a process that never knew its rank %w", ErrUnsuitable)
		case rank >= x.ranks || byRank[rank] >= 0:
			return nil, fmt.Errorf("a run without the recordings of all ranks %w", ErrUnsuitable)
		default:
			byRank[rank] = i
		}
	}
	return byRank, nil
}

func (x *exporter) process(source *reconstruct.Run, i, first int, begin func(rank, threads int) (writer, func() error, error)) (err error) {
	replay, err := source.Process(i)
	if err != nil {
		return err
	}
	data := replay.Data()
	streams, err := complete(data)
	if err != nil {
		return err
	}
	facts, err := analysis.NewProcess(data, first)
	if err != nil {
		return err
	}
	w, end, err := begin(data.Rank, len(streams))
	if err != nil {
		return err
	}
	p := &process{
		exporter: x, rank: data.Rank, facts: facts, out: w,
		requests: map[uint64]*request{}, comms: map[uint64]*comm{}, partitioned: map[labelled]int{},
	}
	return errors.Join(p.streams(replay, streams), end())
}

// complete returns the numbers of the streams with events, all of which have to be complete.
func complete(p *efg.Process) (list []int, err error) {
	for i := range p.Streams {
		s := &p.Streams[i]
		if s.Dropped > 0 || s.Pending != nil || s.End == efg.EndOpen || s.End == efg.EndExit {
			return nil, fmt.Errorf("a recording that ends before MPI_Finalize %w: others would wait forever", ErrUnsuitable)
		}
		if s.Events > 0 {
			list = append(list, i)
		}
	}
	return list, nil
}

// balance counts a message that the process sends or receives.
func (p *process) balance(m *message) {
	c, n := pair{p.rank, m.peer}, int64(1)
	mixed := signature.Hash(uint64(m.tag))
	if !m.sends {
		c, n, mixed = pair{m.peer, p.rank}, -1, -mixed
	}
	b := p.open[c]
	b.messages += n
	b.tags += mixed
	if b == (balance{}) {
		delete(p.open, c)
	} else {
		p.open[c] = b
	}
}

// check returns an error if the simulation would not do what the run did.
func (x *exporter) check() error {
	if len(x.missing) > 0 && !slices.Contains(x.job.What, Supported) {
		return fmt.Errorf("%s %w (--what %s leaves them out)", export.Counted(x.missing), ErrUnsuitable, Supported)
	}
	for rank, n := range x.named {
		if n != x.named[0] {
			return fmt.Errorf("a run whose ranks disagree on collective calls %w: rank %d makes %d, rank 0 %d", ErrUnsuitable, rank, n, x.named[0])
		}
	}
	open := slices.SortedFunc(maps.Keys(x.open), func(a, b pair) int { return slices.Compare([]int{a.from, a.to}, []int{b.from, b.to}) })
	if len(open) == 0 {
		return nil
	}
	c := open[0]
	which := "some"
	switch n := x.open[c].messages; {
	case n > 0:
		which = fmt.Sprintf("%d more are sent than received", n)
	case n < 0:
		which = fmt.Sprintf("%d more are received than sent", -n)
	default:
		which = "the tags of those sent and received differ"
	}
	return fmt.Errorf("a run with messages that are not matched %w: from rank %d to rank %d %s", ErrUnsuitable, c.from, c.to, which)
}

// note says what the result does not have.
func (x *exporter) note() {
	x.job.NoteLeftOut(export.LeftOut{Missing: x.missing, Idle: x.leftOut, Measured: x.measured, Untimed: x.untimed})
}
