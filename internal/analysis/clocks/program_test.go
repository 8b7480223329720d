package clocks

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/analysis/match"
	"github.com/efg-tools/efg/internal/testing/testrun"
)

type args = testrun.Args

// clock is what the clock of a simulated machine says when ns have passed.
type clock func(ns int64) int64

func exact(ns int64) int64 { return ns }

// wrong is a clock that is off and runs at another rate.
func wrong(offset int64, ppm float64) clock {
	return func(ns int64) int64 { return ns + offset + int64(float64(ns)*ppm/1e6) }
}

// disciplined is a clock whose rate changes from time to time.
func disciplined(offset int64, every int64, ppm ...float64) clock {
	return func(ns int64) int64 {
		at, off := int64(0), float64(offset)
		for i, r := range ppm {
			if i == len(ppm)-1 || ns < at+every {
				off += float64(ns-at) * r / 1e6
				break
			}
			off += float64(every) * r / 1e6
			at += every
		}
		return ns + int64(off)
	}
}

// program is a simulated program: ranks that take turns on machines. Times are µs.
type program struct {
	*testrun.Script
	random  *rand.Rand
	machine []int
	now     []int64 // of each rank
	// shortest is the least time that a message takes, spread by how much it may be more.
	shortest, spread int64
}

// newProgram distributes ranks over machines with clocks: each machine has some in a row.
func newProgram(t testing.TB, seed uint64, ranks int, clocks ...clock) *program {
	p := &program{Script: testrun.NewScript(t, ranks), random: rand.New(rand.NewPCG(seed, 15)), now: make([]int64, ranks), shortest: 2, spread: 3}
	for i := range ranks {
		m := i * len(clocks) / ranks
		p.machine = append(p.machine, m)
		p.Rank(i).On(fmt.Sprintf("node%d", m), clocks[m])
	}
	return p
}

// latency is how long something takes from rank to rank.
func (p *program) latency() int64 { return p.shortest + p.random.Int64N(p.spread+1) }

// compute lets a rank do something else.
func (p *program) compute(rank int, us int64) { p.now[rank] += us }

func (p *program) call(rank int, until int64, proc string, a args) uint64 {
	from := p.now[rank]
	p.now[rank] = max(from+1, until)
	return p.Rank(rank).Call(from, p.now[rank], proc, a)
}

func envelope(peer string, rank int) args {
	return args{"comm": "MPI_COMM_WORLD", peer: rank, "tag": 1, "count": 1, "datatype": "MPI_INT"}
}

// message sends one, received by a blocking call.
func (p *program) message(from, to int) {
	began := p.now[from]
	p.call(from, 0, "MPI_Send", envelope("dest", to))
	p.call(to, began+p.latency(), "MPI_Recv", envelope("source", from))
}

// posted sends one that is received by a nonblocking call, and something else meanwhile.
func (p *program) posted(from, to int) {
	request := p.call(to, 0, "MPI_Irecv", envelope("source", from))
	p.compute(to, p.random.Int64N(20))
	began := p.now[from]
	p.call(from, 0, "MPI_Send", envelope("dest", to))
	p.call(to, began+p.latency(), "MPI_Wait", args{"request": request, "status.source": "EFG_AS_POSTED", "status.tag": "EFG_AS_POSTED", "status.bytes": "EFG_AS_POSTED"})
	p.Rank(to).Free(request)
}

// together is a collective call that nobody leaves before all have entered it.
func (p *program) together(proc string, a args) {
	last := int64(0)
	for _, at := range p.now {
		last = max(last, at)
	}
	for rank := range p.now {
		until := last
		if p.now[rank] != last {
			until += p.latency()
		}
		p.call(rank, until, proc, a)
	}
}

// rooted is a collective call to or from a root.
func (p *program) rooted(proc string, root int, fromRoot bool) {
	a := args{"comm": "MPI_COMM_WORLD", "root": root, "count": 1, "datatype": "MPI_INT"}
	began, last := p.now[root], int64(0)
	for rank, at := range p.now {
		if rank != root {
			last = max(last, at+p.latency())
		}
	}
	for rank := range p.now {
		switch {
		case fromRoot && rank != root:
			p.call(rank, began+p.latency(), proc, a)
		case !fromRoot && rank == root:
			p.call(rank, last, proc, a)
		default:
			p.call(rank, 0, proc, a)
		}
	}
}

var (
	world = args{"comm": "MPI_COMM_WORLD"}
	sum   = args{"comm": "MPI_COMM_WORLD", "count": 1, "datatype": "MPI_INT", "op": "MPI_SUM"}
)

// anything lets the ranks do something at random.
func (p *program) anything() {
	ranks := len(p.now)
	p.compute(p.random.IntN(ranks), p.random.Int64N(200))
	from, to := p.random.IntN(ranks), p.random.IntN(ranks)
	switch k := p.random.IntN(20); {
	case k == 0:
		p.together("MPI_Barrier", world)
	case k == 1:
		p.together("MPI_Allreduce", sum)
	case k == 2:
		p.rooted("MPI_Bcast", to, true)
	case k == 3:
		p.rooted("MPI_Reduce", to, false)
	case from == to:
	case k < 12:
		p.message(from, to)
	default:
		p.posted(from, to)
	}
}

// order demands that nothing is over before something has begun that it needed, to the ns, and that
// no thread's time runs backwards.
type order struct {
	t      testing.TB
	last   map[*match.Thread]int64
	faults int
}

func (x *order) Enter(c *match.Call) { x.follow(c, c.Enter) }

func (x *order) Exit(c *match.Call) {
	x.follow(c, c.Exit)
	for _, o := range c.Done {
		o.EachNeeded(func(w *match.Operation) {
			if w.Enter > c.Exit && x.fault() {
				x.t.Errorf("rank %d: event %d is over %d ns before event %d of rank %d begins",
					c.Thread.Process.Rank, c.Event, w.Enter-c.Exit, w.Event, w.Thread.Process.Rank)
			}
		})
	}
}

func (x *order) follow(c *match.Call, at int64) {
	if last, ok := x.last[c.Thread]; ok && at < last && x.fault() {
		x.t.Errorf("rank %d: event %d: time runs backwards, from %d to %d", c.Thread.Process.Rank, c.Event, last, at)
	}
	x.last[c.Thread] = at
}

func (x *order) fault() bool {
	x.faults++
	return x.faults <= 3
}

// corrected corrects the times of a run, and demands that nothing contradicts any more.
func corrected(t testing.TB, run *runfile.Run) *Report {
	t.Helper()
	r, err := Correct(t.Context(), run, nil)
	if err != nil {
		t.Fatal(err)
	}
	checkOrder(t, run)
	return r
}

func checkOrder(t testing.TB, run *runfile.Run) {
	t.Helper()
	trace, err := match.Open(run)
	if err != nil {
		t.Fatal(err)
	}
	x := &order{t: t, last: map[*match.Thread]int64{}}
	if _, err := trace.Walk(t.Context(), x, nil); err != nil {
		t.Fatal(err)
	}
	if x.faults > 0 {
		t.Errorf("%d faults", x.faults)
	}
}
