package table

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/analysis"
)

// totals are sums over streams.
type totals struct {
	threads                       int
	events, nodes, edges, dropped uint64
	complete                      bool
}

func (t *totals) add(p *runfile.ProcInfo) {
	for i := range p.Streams {
		s := &p.Streams[i]
		t.threads++
		t.events, t.nodes, t.edges, t.dropped = t.events+s.Events, t.nodes+s.Nodes, t.edges+s.Edges, t.dropped+s.Dropped
		t.complete = t.complete && s.Complete()
	}
}

// times are those of a process, from its time statistics.
type times struct {
	known        bool
	elapsed, mpi uint64 // ns, without the calls that begin and end MPI
}

func (t *times) add(facts *analysis.Process, i int) error {
	list, err := facts.Nodes(i)
	if err != nil {
		return err
	}
	for k := range list {
		n := &list[k]
		if n.Stats == nil {
			continue
		}
		t.known = true
		t.elapsed += n.Elapsed()
		if !n.Setup() {
			t.mpi += n.Stats.Dur.Sum
		}
	}
	return nil
}

// rankRow is a process.
type rankRow struct {
	*runfile.ProcInfo
	totals
	times
}

var ranks = define(
	Schema{Name: "ranks", Order: 1, Doc: "the processes"},
	column[rankRow]{Column{"rank", Integer, false, "", "as in events"}, func(r *rankRow) Value { return integer(r.Rank) }},
	column[rankRow]{Column{"size", Integer, false, "", "size of MPI_COMM_WORLD"}, func(r *rankRow) Value { return integer(r.Size) }},
	column[rankRow]{Column{"world", Text, false, "", "identifies MPI_COMM_WORLD, in hexadecimal"}, func(r *rankRow) Value { return text(fmt.Sprintf("%016x", r.World)) }},
	column[rankRow]{Column{"host", Text, true, "", "machine"}, func(r *rankRow) Value { return text(r.Host) }},
	column[rankRow]{Column{"pid", Integer, false, "", "process ID"}, func(r *rankRow) Value { return integer(r.PID) }},
	column[rankRow]{Column{"command", JSON, false, "", "command line"}, func(r *rankRow) Value { return list(r.Command) }},
	column[rankRow]{Column{"mpi", Text, true, "", "MPI library"}, func(r *rankRow) Value { return text(r.MPI) }},
	column[rankRow]{Column{"started", Timestamp, true, "", "when its recording began"}, func(r *rankRow) Value { return instant(r.Start) }},
	column[rankRow]{Column{"threads", Integer, false, "", "threads that called MPI"}, func(r *rankRow) Value { return integer(r.threads) }},
	column[rankRow]{Column{"events", Integer, false, "", "recorded calls"}, func(r *rankRow) Value { return integer(r.events) }},
	column[rankRow]{Column{"nodes", Integer, false, "", "nodes of its graphs"}, func(r *rankRow) Value { return integer(r.nodes) }},
	column[rankRow]{Column{"edges", Integer, false, "", "edges of its graphs"}, func(r *rankRow) Value { return integer(r.edges) }},
	column[rankRow]{Column{"dropped", Integer, false, "", "calls not recorded for lack of space"}, func(r *rankRow) Value { return integer(r.dropped) }},
	column[rankRow]{Column{"complete", Boolean, false, "", "all its calls are known to be recorded"}, func(r *rankRow) Value { return boolean(r.complete) }},
	column[rankRow]{Column{"elapsed", Integer, true, "ns", "recorded time of all threads, without MPI_Init and MPI_Finalize"}, func(r *rankRow) Value { return known(r.times.known, integer(r.elapsed)) }},
	column[rankRow]{Column{"mpi_time", Integer, true, "ns", "the part of elapsed in MPI"}, func(r *rankRow) Value { return known(r.times.known, integer(r.times.mpi)) }},
)

// list is a JSON array.
func list(words []string) Value {
	if words == nil {
		words = []string{}
	}
	b, err := json.Marshal(words)
	return known(err == nil, text(string(b)))
}

// instant is a time, if it is known.
func instant(unix int64) Value { return known(unix != 0, integer(unix)) }

// runRow is a run, with the sums over its processes.
type runRow struct {
	*runfile.Run
	totals
	times
	hosts             int
	program, buildID  string
	slowest           uint64 // elapsed of the process with the most
	matched           bool
	waiting, messages uint64
	user              string
}

var runs = define(
	Schema{Name: "run", Doc: "the run itself: one row, of all its ranks even if others were selected"},
	column[runRow]{Column{"program", Text, true, "", "name of the program's file"}, func(r *runRow) Value { return text(r.program) }},
	column[runRow]{Column{"build_id", Text, true, "", "of the program's file, in hexadecimal"}, func(r *runRow) Value { return text(r.buildID) }},
	column[runRow]{Column{"command", JSON, false, "", "command line that was recorded"}, func(r *runRow) Value { return list(r.Meta.Command) }},
	column[runRow]{Column{"arguments", JSON, false, "", "arguments of rank 0"}, func(r *runRow) Value { return list(arguments(r.Run)) }},
	column[runRow]{Column{"launcher", JSON, false, "", "command line of the launcher, if it is separate"}, func(r *runRow) Value { return list(r.Meta.Launcher) }},
	column[runRow]{Column{"mpi", Text, true, "", "MPI library of rank 0"}, func(r *runRow) Value { return text(firstMPI(r.Run)) }},
	column[runRow]{Column{"started", Timestamp, true, "", "when the command began"}, func(r *runRow) Value { return instant(r.Meta.Started) }},
	column[runRow]{Column{"ended", Timestamp, true, "", "when the command ended"}, func(r *runRow) Value { return instant(r.Meta.Ended) }},
	column[runRow]{Column{"status", Integer, true, "", "its exit status, 128+n after signal n"}, func(r *runRow) Value { return known(!r.Meta.StatusUnknown, integer(r.Meta.Status)) }},
	column[runRow]{Column{"times", Text, true, "", "kind of times that was recorded: off, stats, trace=…"}, func(r *runRow) Value { return text(r.Meta.Time) }},
	column[runRow]{Column{"tool", Text, true, "", "what wrote the run file"}, func(r *runRow) Value { return text(r.Meta.Tool) }},
	column[runRow]{Column{"ranks", Integer, false, "", "processes"}, func(r *runRow) Value { return integer(len(r.Procs)) }},
	column[runRow]{Column{"hosts", Integer, false, "", "machines"}, func(r *runRow) Value { return integer(r.hosts) }},
	column[runRow]{Column{"threads", Integer, false, "", "threads that called MPI"}, func(r *runRow) Value { return integer(r.threads) }},
	column[runRow]{Column{"events", Integer, false, "", "recorded calls"}, func(r *runRow) Value { return integer(r.events) }},
	column[runRow]{Column{"nodes", Integer, false, "", "nodes of all graphs"}, func(r *runRow) Value { return integer(r.nodes) }},
	column[runRow]{Column{"edges", Integer, false, "", "edges of all graphs"}, func(r *runRow) Value { return integer(r.edges) }},
	column[runRow]{Column{"dropped", Integer, false, "", "calls not recorded for lack of space"}, func(r *runRow) Value { return integer(r.dropped) }},
	column[runRow]{Column{"complete", Boolean, false, "", "all calls are known to be recorded"}, func(r *runRow) Value { return boolean(r.complete) }},
	column[runRow]{Column{"bytes", Integer, false, "bytes", "size of the run file"}, func(r *runRow) Value { return integer(r.Size()) }},
	column[runRow]{Column{"elapsed", Integer, true, "ns", "recorded time of all threads of the selected ranks, without MPI_Init and MPI_Finalize"}, func(r *runRow) Value { return known(r.known, integer(r.elapsed)) }},
	column[runRow]{Column{"elapsed_max", Integer, true, "ns", "of the selected rank with the most"}, func(r *runRow) Value { return known(r.known, integer(r.slowest)) }},
	column[runRow]{Column{"mpi_time", Integer, true, "ns", "the part of elapsed in MPI"}, func(r *runRow) Value { return known(r.known, integer(r.mpi)) }},
	column[runRow]{Column{"waiting", Integer, true, "ns", "the part of mpi_time spent waiting: the sum of the table waits, without MPI_Init and MPI_Finalize"}, func(r *runRow) Value { return known(r.matched, integer(r.waiting)) }},
	column[runRow]{Column{"messages", Integer, true, "", "rows of the table messages"}, func(r *runRow) Value { return known(r.matched, integer(r.messages)) }},
	column[runRow]{Column{"user", Text, true, "", "owner of the run file"}, func(r *runRow) Value { return text(r.user) }},
)

// arguments are those of the program of rank 0.
func arguments(run *runfile.Run) []string {
	if len(run.Procs) == 0 || len(run.Procs[0].Command) == 0 {
		return nil
	}
	return run.Procs[0].Command[1:]
}

func firstMPI(run *runfile.Run) string {
	if len(run.Procs) == 0 {
		return ""
	}
	return run.Procs[0].MPI
}

// describeRun finds what the index of a run says, and its program.
func describeRun(run *runfile.Run) (*runRow, error) {
	r := &runRow{Run: run, totals: totals{complete: true}}
	hosts := map[string]bool{}
	for i := range run.Procs {
		r.totals.add(&run.Procs[i])
		hosts[run.Procs[i].Host] = true
	}
	r.hosts = len(hosts)
	if len(run.Procs) == 0 || len(run.Procs[0].Command) == 0 {
		return r, nil
	}
	r.program = filepath.Base(run.Procs[0].Command[0])
	defs, err := run.Defs(0)
	for i := range defs {
		d := &defs[i]
		path, id, _ := strings.Cut(string(d.Data), "\x00")
		if d.Kind == efg.DefModule && filepath.Base(path) == r.program {
			r.buildID = id
			break
		}
	}
	return r, err
}
