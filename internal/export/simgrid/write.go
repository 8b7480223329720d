package simgrid

import (
	"bufio"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/analysis"
	"github.com/efg-tools/efg/internal/export"
	"github.com/efg-tools/efg/reconstruct"
)

const (
	// List is the file that names the traces, one a rank, in the order of ranks. The names are
	// relative to its directory, which has to be smpirun's working directory.
	List = "traces.txt"
	// Supported is the optional part that is everything but what cannot be replayed, which without
	// it is an error.
	Supported = "supported"
)

// ErrUnsuitable is wrapped by errors about runs that cannot be replayed.
var ErrUnsuitable = errors.New("cannot be replayed")

// exporter writes a run.
type exporter struct {
	job      *export.Job
	run      *runfile.Run
	ranks    int
	tags     map[labelled]int64
	open     map[channel]int64 // messages sent and not received, where that is not 0
	joined   []uint64          // collective calls of each rank
	missing  map[string]uint64 // calls that cannot be replayed, by what they are
	leftOut  map[string]uint64 // calls that need not be replayed
	untimed  uint64            // calls
	measured bool              // any call has times
}

// labelled is a tag on a communicator. Only MPI_COMM_WORLD exists in a replay.
type labelled struct {
	comm  uint64
	world int
	tag   uint64
}

// channel is between two ranks of the world.
type channel struct {
	from, to int
	tag      int64
}

// Write writes a run into a directory that exists and is empty. Unless --what has Supported, a call
// that cannot be replayed is an error, as is, in any case, a run that a replay would not get to the
// end of; these wrap ErrUnsuitable.
func Write(dir string, job *export.Job) error {
	x := &exporter{
		job: job, run: job.Run, ranks: len(job.Run.Procs),
		tags: map[labelled]int64{}, open: map[channel]int64{}, missing: map[string]uint64{}, leftOut: map[string]uint64{},
	}
	x.joined = make([]uint64, x.ranks)
	byRank, err := x.order()
	if err != nil {
		return err
	}
	source, err := reconstruct.NewRun(x.run)
	if err != nil {
		return err
	}
	for rank, i := range byRank {
		if err := x.process(source, i, filepath.Join(dir, traceName(rank))); err != nil {
			return fmt.Errorf("rank %d: %w", rank, err)
		}
	}
	if err := x.check(); err != nil {
		return err
	}
	x.note()
	return x.list(filepath.Join(dir, List))
}

func traceName(rank int) string { return fmt.Sprintf("rank%d.trace", rank) }

// order returns the numbers of the processes, by rank.
func (x *exporter) order() ([]int, error) {
	if sel := &x.job.Selection; len(sel.Procs) != x.ranks || sel.Thread >= 0 || sel.Window() || sel.Time != nil {
		return nil, fmt.Errorf("part of a run %w: messages to and from the rest would be missing", ErrUnsuitable)
	}
	byRank := make([]int, x.ranks)
	for i := range byRank {
		byRank[i] = -1
	}
	first := analysis.FirstRanks(x.run.Procs)
	for i := range x.run.Procs {
		rank := x.run.Procs[i].Rank
		switch {
		case rank < 0:
			return nil, fmt.Errorf("a process that never knew its rank %w", ErrUnsuitable)
		case first[i] != 0:
			return nil, fmt.Errorf("a run of several worlds %w", ErrUnsuitable)
		case rank >= x.ranks || byRank[rank] >= 0:
			return nil, fmt.Errorf("a run without the recordings of all ranks %w", ErrUnsuitable)
		}
		byRank[rank] = i
	}
	return byRank, nil
}

// process writes the trace of a process.
func (x *exporter) process(source *reconstruct.Run, i int, name string) (err error) {
	replay, err := source.Process(i)
	if err != nil {
		return err
	}
	data := replay.Data()
	stream, err := onlyStream(data)
	if err != nil {
		return err
	}
	facts, err := analysis.NewProcess(data, 0)
	if err != nil {
		return err
	}
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	p := &process{
		exporter: x, rank: x.run.Procs[i].Rank, facts: facts, out: bufio.NewWriterSize(f, 1<<16),
		requests: map[uint64]*request{}, comms: map[uint64]*comm{},
	}
	p.act("init")
	if stream >= 0 {
		if err := p.stream(replay, stream); err != nil {
			return err
		}
	}
	p.act("finalize")
	return p.out.Flush()
}

// onlyStream returns the number of the only stream with events, -1 if there is none. A trace is one
// sequence of actions, which has to be complete.
func onlyStream(p *efg.Process) (int, error) {
	only := -1
	for i := range p.Streams {
		s := &p.Streams[i]
		switch {
		case s.Dropped > 0 || s.Pending != nil || s.End == efg.EndOpen || s.End == efg.EndExit:
			return 0, fmt.Errorf("a recording that ends before MPI_Finalize %w: others would wait forever", ErrUnsuitable)
		case s.Events == 0:
		case only >= 0:
			return 0, fmt.Errorf("a process with several threads that call MPI %w", ErrUnsuitable)
		default:
			only = i
		}
	}
	return only, nil
}

// check returns an error if the replay would not do what the run did.
func (x *exporter) check() error {
	if len(x.missing) > 0 && !slices.Contains(x.job.What, Supported) {
		return fmt.Errorf("%s %w (--what %s leaves them out)", export.Counted(x.missing), ErrUnsuitable, Supported)
	}
	if open := slices.SortedFunc(maps.Keys(x.open), channel.compare); len(open) > 0 {
		c := open[0]
		n, what := x.open[c], "received"
		if n < 0 {
			n, what = -n, "sent"
		}
		return fmt.Errorf("a run with messages that are not matched %w: %d from rank %d to rank %d are never %s", ErrUnsuitable, n, c.from, c.to, what)
	}
	for rank, n := range x.joined {
		if n != x.joined[0] {
			return fmt.Errorf("a run whose ranks disagree on collective calls %w: rank %d makes %d, rank 0 %d", ErrUnsuitable, rank, n, x.joined[0])
		}
	}
	return nil
}

func (c channel) compare(o channel) int {
	return slices.Compare([]int{c.from, c.to, int(c.tag)}, []int{o.from, o.to, int(o.tag)})
}

// note says what the traces do not have.
func (x *exporter) note() {
	x.job.NoteLeftOut(export.LeftOut{Missing: x.missing, Idle: x.leftOut, Measured: x.measured, Untimed: x.untimed})
}

// list writes the names of the traces.
func (x *exporter) list(name string) error {
	var b strings.Builder
	for rank := range x.ranks {
		b.WriteString(traceName(rank) + "\n")
	}
	return os.WriteFile(name, []byte(b.String()), 0o644)
}

// Owns reports whether a directory was written by Write, and may be replaced: it has nothing but
// traces and their list.
func Owns(dir string) bool {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return false
	}
	for _, e := range entries {
		if name := e.Name(); name != List && !(strings.HasPrefix(name, "rank") && strings.HasSuffix(name, ".trace")) {
			return false
		}
	}
	_, err = os.Stat(filepath.Join(dir, List))
	return err == nil
}
