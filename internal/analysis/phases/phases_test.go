package phases

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/analysis"
	"github.com/efg-tools/efg/internal/testing/sim"
	"github.com/efg-tools/efg/internal/testing/testrun"
	"github.com/efg-tools/efg/reconstruct"
	"github.com/efg-tools/efg/signature"
)

// naive holds the sums over the events of a kind of phase.
type naive struct {
	times, calls   uint64
	sent, received uint64
	mpi, app, last float64
	busy           map[int]float64
	dilation       []int64
}

// counter iterates over the events of all processes one by one.
type counter struct {
	t        *testing.T
	rows     map[[2]Place]*naive
	perRank  map[[2]Place]map[int]uint64
	arrivals [][]int64 // by the order of the calls that end phases
	kinds    [][2]Place
	open     naive // of the current process
	from     Place
}

func count(t *testing.T, run *runfile.Run) map[[2]Place]*naive {
	t.Helper()
	sites, err := run.Sites()
	if err != nil {
		t.Fatal(err)
	}
	first := analysis.FirstRanks(run.Procs)
	c := &counter{t: t, rows: map[[2]Place]*naive{}, perRank: map[[2]Place]map[int]uint64{}}
	for i := range run.Procs {
		data, err := run.Process(i)
		if err != nil {
			t.Fatal(err)
		}
		p, err := analysis.NewProcess(data, first[i])
		if err != nil {
			t.Fatal(err)
		}
		c.process(data, p, sites)
	}
	for k, list := range c.arrivals {
		if len(list) < len(run.Procs) {
			continue
		}
		least, most := int64(math.MaxInt64), int64(math.MinInt64)
		for _, at := range list {
			least, most = min(least, at), max(most, at)
		}
		n := c.rows[c.kinds[k]]
		n.dilation = append(n.dilation, most-least)
	}
	return c.rows
}

func (c *counter) process(data *efg.Process, p *analysis.Process, sites []runfile.Site) {
	main, _ := mainStream(p)
	r := reconstruct.NewProcess(data, reconstruct.NewNames(data.Defs, sites))
	follow := p.Follow(main, analysis.BytesField|analysis.CommField)
	c.open, c.from = naive{}, Place{}
	ordinal, last := 0, data.Clock
	if s := &data.Streams[main]; s.Trace != nil {
		last += int64(s.Trace.BeginMono())
	}
	for e, err := range r.Events(main, reconstruct.Options{}) {
		if err != nil {
			c.t.Fatal(err)
		}
		call, err := follow.Call(e)
		if err != nil {
			c.t.Fatal(err)
		}
		c.open.calls++
		for _, o := range call.Operations {
			if o.Kind != analysis.FileOperation {
				c.open.sent += o.Sent
				c.open.received += o.Received
			}
		}
		start, stop, _ := e.Times()
		switch e.Op() { // these are apart
		case "MPI_Init", "MPI_Init_thread":
		case "MPI_Finalize":
			c.open.app += float64(start - last)
		default:
			c.open.mpi += float64(stop - start)
			c.open.app += float64(stop - last)
		}
		last = stop
		if !meets(e, p, data) {
			continue
		}
		c.open.last = float64(stop - start)
		until := Place{e.Op(), strings.TrimSpace(e.Func() + " " + e.Site())}
		if ordinal == len(c.arrivals) {
			c.arrivals, c.kinds = append(c.arrivals, nil), append(c.kinds, [2]Place{c.from, until})
		}
		c.arrivals[ordinal] = append(c.arrivals[ordinal], start)
		ordinal++
		c.end(data.Rank, until)
	}
	if c.open.calls > 0 {
		c.end(data.Rank, Place{})
	}
}

// end ends a phase.
func (c *counter) end(rank int, until Place) {
	k := [2]Place{c.from, until}
	if c.rows[k] == nil {
		c.rows[k], c.perRank[k] = &naive{busy: map[int]float64{}}, map[int]uint64{}
	}
	n := c.rows[k]
	c.perRank[k][rank]++
	n.times = max(n.times, c.perRank[k][rank])
	n.calls += c.open.calls
	n.sent += c.open.sent
	n.received += c.open.received
	n.mpi += c.open.mpi
	n.app += c.open.app
	n.last += c.open.last
	n.busy[rank] += c.open.app - c.open.last
	c.open, c.from = naive{}, until
}

func meets(e *reconstruct.Event, p *analysis.Process, data *efg.Process) bool {
	switch e.Op() {
	case "MPI_Barrier", "MPI_Allreduce", "MPI_Allgather", "MPI_Allgatherv", "MPI_Alltoall", "MPI_Alltoallv", "MPI_Alltoallw",
		"MPI_Reduce_scatter", "MPI_Reduce_scatter_block":
	default:
		return false
	}
	own, other := p.Members(e.Word(signature.ObjectWord))
	return !e.Failed() && own != nil && other == nil && own.Size() == data.Size
}

// compare checks a report against the events. With statistics, times of rows are
// at best in sum.
func compare(t *testing.T, run *runfile.Run) {
	t.Helper()
	var procs []int
	for i := range run.Procs {
		procs = append(procs, i)
	}
	rep, err := New(run, procs)
	if err != nil {
		t.Fatal(err)
	}
	want := count(t, run)
	if len(rep.Rows) != len(want) {
		t.Errorf("%d kinds of phases, want %d", len(rep.Rows), len(want))
	}
	for i := range rep.Rows {
		r := &rep.Rows[i]
		n := want[[2]Place{r.From, r.Until}]
		if n == nil {
			t.Errorf("no phases from %v to %v", r.From, r.Until)
			continue
		}
		if r.Times != n.times || r.Calls != n.calls || r.Volume.Sent != n.sent || r.Volume.Received != n.received {
			t.Errorf("%v to %v: %d phases, %d calls, %+v; want %d, %d, %d, %d", r.From, r.Until, r.Times, r.Calls, r.Volume, n.times, n.calls, n.sent, n.received)
		}
		if rep.Traced {
			compareTimes(t, r, n)
		}
	}
	t.Logf("%d phases of %d kinds", rep.Phases, len(rep.Rows))
}

func compareTimes(t *testing.T, r *Row, n *naive) {
	t.Helper()
	busy, rank, sum := -1.0, 0, 0.0
	for k, b := range n.busy {
		sum += b
		if b > busy || b == busy && k < rank {
			busy, rank = b, k
		}
	}
	if r.MPI != n.mpi || r.App != n.app || r.Meeting != n.last || r.MostBusy != busy || r.MostRank != rank || math.Abs(r.Busy*float64(len(n.busy))-sum) > 1 {
		t.Errorf("%v to %v: %+v; want %+v", r.From, r.Until, *r, *n)
	}
	if len(n.dilation) == 0 {
		if r.Dilation != nil {
			t.Errorf("%v to %v: arrivals %+v, want none", r.From, r.Until, *r.Dilation)
		}
		return
	}
	most, all := int64(0), int64(0)
	for _, d := range n.dilation {
		most, all = max(most, d), all+d
	}
	if d := r.Dilation; d == nil || d.Count != uint64(len(n.dilation)) || d.Sum != all || d.Max != most {
		t.Errorf("%v to %v: arrivals %+v, want %d, %d, %d", r.From, r.Until, d, len(n.dilation), all, most)
	}
}

// simulated makes a run; if traced is set, each event has a random time.
func simulated(t testing.TB, c sim.Config, traced bool) *runfile.Run {
	t.Helper()
	var times func(p *efg.Process) error
	if traced {
		times = func(p *efg.Process) error {
			r := rand.New(rand.NewPCG(uint64(p.Rank), 9))
			return sim.GiveTimes(p, func() uint64 { return 0 }, func() uint64 { return 100 + r.Uint64N(100_000) })
		}
	}
	run, err := c.Run(times)
	if err != nil {
		t.Fatal(err)
	}
	return run
}

// Calls, bytes, times and arrivals are those of the events.
func TestSimulated(t *testing.T) {
	for _, traced := range []bool{false, true} {
		for _, c := range []sim.Config{
			{Program: "halo", Ranks: 24, Steps: 205}, {Program: "halo", Ranks: 8, Steps: 33, Periodic: true},
			{Program: "mesh", Ranks: 20, Steps: 40}, {Program: "farm", Ranks: 9, Steps: 20}, {Program: "random", Ranks: 6, Steps: 90},
		} {
			c.Seed = 4
			t.Run(fmt.Sprintf("%s-%d-%v", c.Program, c.Ranks, traced), func(t *testing.T) { compare(t, simulated(t, c, traced)) })
		}
	}
}

// Recorded programs, with statistics and with the time of each call.
func TestRecorded(t *testing.T) {
	var programs []testrun.Program
	for _, source := range []string{"jacobi", "coll", "amr", "growing", "threads", "persistent", "types", "comms"} {
		for _, time := range []string{"stats", "trace"} {
			programs = append(programs, testrun.Program{Source: "c/" + source + ".c", Time: time})
		}
	}
	testrun.Record(t, programs, func(t *testing.T, r *testrun.Recording) { compare(t, r.Run) })
}

// What calls inside others take is in the time of these.
func TestCallsInside(t *testing.T) {
	testrun.Record(t, []testrun.Program{{Source: "c/callbacks.c", Time: "trace"}}, func(t *testing.T, r *testrun.Recording) {
		procs := make([]int, len(r.Run.Procs))
		for i := range procs {
			procs[i] = i
		}
		rep, err := New(r.Run, procs)
		if err != nil {
			t.Fatal(err)
		}
		var app, mpi, wantApp, wantMPI float64
		for i := range rep.Rows {
			app, mpi = app+rep.Rows[i].App, mpi+rep.Rows[i].MPI
		}
		last := map[int]int64{}
		testrun.EachEvent(t, r.Run, func(p *reconstruct.Process, e *reconstruct.Event) {
			start, stop, _ := e.Times()
			before, ok := last[e.Rank()]
			switch {
			case e.Depth() > 0:
				return
			case !ok: // MPI_Init is apart
			case e.Op() == "MPI_Finalize":
				wantApp += float64(start - before)
			default:
				wantApp, wantMPI = wantApp+float64(stop-before), wantMPI+float64(stop-start)
			}
			last[e.Rank()] = stop
		})
		if app != wantApp || mpi != wantMPI {
			t.Errorf("%.0f ns, %.0f of them in calls, want %.0f and %.0f", app, mpi, wantApp, wantMPI)
		}
	})
}
