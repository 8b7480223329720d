package diff_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/analysis/diff"
	"github.com/efg-tools/efg/internal/testing/sim"
	"github.com/efg-tools/efg/internal/testing/testrun"
	"github.com/efg-tools/efg/signature"
)

func word(name string) uint64 { return signature.ConstantByName(name).Word() }

// recorder records made-up calls of a rank.
type recorder struct {
	t     testing.TB
	rank  int
	size  int
	defs  efg.Definitions
	build *efg.Builder
}

func newRecorder(t testing.TB, rank, size int) *recorder {
	r := &recorder{t: t, rank: rank, size: size}
	r.build = efg.NewBuilder(0, efg.DefaultDemote, &r.defs)
	return r
}

// input makes a call from values by the names of words.
func (r *recorder) input(op string, site uint64, values map[string]any) efg.Input {
	p := signature.ProcByName(op)
	in := efg.Input{Words: make([]uint64, len(p.Words))}
	in.Words[0] = uint64(signature.MakeHeader(p.ID, signature.C, false, len(p.Words), 0))
	in.Words[1] = site
	for i := signature.ObjectWord; i < len(p.Words); i++ {
		switch v := values[p.Words[i].Name].(type) {
		case int:
			in.Words[i] = uint64(v)
		case uint64:
			in.Words[i] = v
		case string:
			in.Words[i] = word(v)
		case []uint64:
			in.Words[i] = signature.Ident(signature.Hash(v...))
			in.Vecs = append(in.Vecs, efg.VecContent{Word: i, Elems: v})
		}
	}
	return in
}

func (r *recorder) add(op string, site uint64, values map[string]any) {
	if err := r.build.Add(r.input(op, site, values)); err != nil {
		r.t.Fatal(err)
	}
}

func (r *recorder) send(site uint64, to, count int) {
	r.add("MPI_Send", site, map[string]any{"comm": "MPI_COMM_WORLD", "count": count, "datatype": "MPI_DOUBLE",
		"dest": (r.rank + to + r.size) % r.size, "tag": 3})
}

func (r *recorder) barrier(site uint64) {
	r.add("MPI_Barrier", site, map[string]any{"comm": "MPI_COMM_WORLD"})
}

func (r *recorder) process() *efg.Process {
	s, err := r.build.Stream()
	if err != nil {
		r.t.Fatal(err)
	}
	s.End = efg.EndFinalized
	return &efg.Process{Rank: r.rank, Size: r.size, World: 5, PID: 100 + r.rank, Streams: []efg.Stream{*s}, Defs: r.defs.List}
}

// oracle expands events, and gives each a text that does not depend on the rank.
type oracle struct {
	p    *efg.Process
	walk *efg.Walker
	s    *efg.Stream
	defs map[uint64]*efg.Def
}

func newOracle(p *efg.Process, stream int) *oracle {
	o := &oracle{p: p, s: &p.Streams[stream], defs: map[uint64]*efg.Def{}}
	o.walk = o.s.Walk(p.Defs)
	for i := range p.Defs {
		o.defs[p.Defs[i].Word] = &p.Defs[i]
	}
	return o
}

func (o *oracle) call() string {
	w := o.walk.Words()
	return fmt.Sprint(w[0]&0xffff, " ", w[1])
}

// comm describes a communicator, window or file by how it was made.
func (o *oracle) comm(w uint64) string {
	d := o.defs[w&^(1<<24-1)]
	if w>>62 != 0 || d == nil {
		return fmt.Sprint(w)
	}
	if d.Kind != efg.DefComm {
		return fmt.Sprint(d.Kind, o.comm(d.Words[0]), d.Words[1], w&(1<<24-1))
	}
	others := ""
	for i := 5 + int(d.Words[3]); i < len(d.Words); i += 3 {
		others += fmt.Sprint(d.Words[i], ",")
	}
	return fmt.Sprint("comm ", o.comm(d.Words[0]), d.Words[1:3], w&(1<<24-1), others)
}

// seat is the process's rank in a communicator and the communicator's size, from the list of
// its members.
func (o *oracle) seat(w uint64) (rank, size int) {
	d := o.defs[w&^(1<<24-1)]
	if d != nil && d.Kind == efg.DefWin {
		return o.seat(d.Words[0])
	}
	if w>>62 != 0 || w == 0 || d == nil {
		if d == nil && w>>62 == 0 && w != 0 {
			return 0, 0
		}
		return o.p.WorldRank(), o.p.Size
	}
	if d.Kind != efg.DefComm || len(d.Words) > 4+int(d.Words[3]) {
		return 0, 0
	}
	rank = -1
	for l := d.Words[4:]; len(l) >= 3; l = l[3:] {
		for k := range l[1] {
			if int(l[0]+k*l[2]) == o.p.WorldRank() && rank < 0 {
				rank = size
			}
			size++
		}
	}
	if rank < 0 {
		return 0, 0
	}
	return rank, size
}

// texts are the words of the current event, with ranks relative and as they are.
func (o *oracle) texts() (near, far []string) {
	w := o.walk.Words()
	proc := signature.ProcByID(int(w[0] & 0xffff))
	near = []string{fmt.Sprint(w[0]), fmt.Sprint(w[1]), o.comm(w[signature.ObjectWord])}
	far = append(far, near...)
	rank, size := o.seat(w[signature.ObjectWord])
	if o.s.Nodes[o.walk.Node()].Mask>>2&1 != 0 {
		rank, size = o.p.WorldRank(), o.p.Size
	}
	for i := 3; i < len(w); i++ {
		at := proc.Words[i]
		kind := proc.Params[at.Param].Kind
		list, many := []uint64{w[i]}, at.Form == signature.VecForm && w[i]>>62 != 2
		if many {
			list = o.walk.Vec(i)
		}
		var x, y []string
		for k, v := range list {
			isRank := kind == signature.Peer || kind == signature.Rank || kind == signature.Status && at.Part == signature.Source ||
				kind == signature.Statuses && k%4 == 1 && many
			a, b := o.text(kind, v), o.text(kind, v)
			if isRank && v < uint64(size) {
				a = fmt.Sprint("+", (int(v)-rank+size)%size)
			}
			x, y = append(x, a), append(y, b)
		}
		near, far = append(near, strings.Join(x, ";")), append(far, strings.Join(y, ";"))
	}
	return near, far
}

func (o *oracle) text(kind signature.Kind, v uint64) string {
	if id, ok := signature.ParseID(v); ok && kind.Local() {
		for i := range o.p.Streams {
			if s := &o.p.Streams[i]; s.Thread == id.Thread {
				n := s.Nodes[id.Node]
				return fmt.Sprint("made ", id.Thread, n.Words[0]&0xffff, " ", n.Words[1], " ", id.Slot)
			}
		}
	}
	if kind.Object() {
		return o.comm(v)
	}
	return fmt.Sprint(v)
}

// never is the event at which sequences that are equal diverge.
const never = ^uint64(0)

// naive finds where two sequences diverge, by expanding them.
func naive(t testing.TB, a, b *efg.Process, stream int) (calls, all uint64) {
	t.Helper()
	x, y := newOracle(a, stream), newOracle(b, stream)
	calls, all = never, never
	for at := uint64(0); calls == never; at++ {
		more, also := x.walk.Next(), y.walk.Next()
		if !more && !also {
			break
		}
		if more != also || x.call() != y.call() {
			calls = at
		}
		if all == never && (calls != never || !equal(x, y)) {
			all = at
		}
	}
	if x.walk.Err() != nil || y.walk.Err() != nil {
		t.Fatal(x.walk.Err(), y.walk.Err())
	}
	return calls, all
}

func equal(x, y *oracle) bool {
	a, c := x.texts()
	b, d := y.texts()
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] && c[i] != d[i] {
			return false
		}
	}
	return true
}

func at(p *diff.Divergence) uint64 {
	if p == nil {
		return never
	}
	return p.Event
}

// checkPair compares a pair with the expanded events.
func checkPair(t testing.TB, run *runfile.Run, a, b int) *diff.Pair {
	t.Helper()
	pair, err := diff.NewPair(diff.Rank{Run: run, Proc: a}, diff.Rank{Run: run, Proc: b})
	if err != nil {
		t.Fatal(err)
	}
	x, err := run.Process(a)
	if err != nil {
		t.Fatal(err)
	}
	y, err := run.Process(b)
	if err != nil {
		t.Fatal(err)
	}
	if len(x.Streams) != len(y.Streams) {
		return pair
	}
	for i := range x.Streams {
		if x.Streams[i].Thread != y.Streams[i].Thread || pair.Threads[i].Thread != x.Streams[i].Thread {
			t.Fatal("threads")
		}
		calls, all := naive(t, x, y, i)
		if th := &pair.Threads[i]; at(th.Calls) != calls || at(th.Arguments) != all {
			t.Errorf("ranks %d and %d, thread %d: calls part at %d, want %d; arguments at %d, want %d", x.Rank, y.Rank, i, at(th.Calls), calls, at(th.Arguments), all)
		}
	}
	return pair
}

// The sequences of simulated ranks diverge where the expanded events do.
func TestSimulatedRanks(t *testing.T) {
	for _, c := range []sim.Config{
		{Program: "halo", Ranks: 27, Steps: 25},
		{Program: "halo", Ranks: 27, Steps: 25, Null: true, Stats: true},
		{Program: "halo", Ranks: 8, Steps: 12, Periodic: true},
		{Program: "farm", Ranks: 20, Steps: 40, Seed: 3},
		{Program: "mesh", Ranks: 30, Steps: 40},
		{Program: "random", Ranks: 7, Steps: 3000, Signatures: 100},
	} {
		t.Run(fmt.Sprint(c.Program, c.Ranks, c.Null), func(t *testing.T) {
			run := testrun.Simulated(t, c)
			r := rand.New(rand.NewPCG(7, 8))
			for range 30 {
				checkPair(t, run, r.IntN(c.Ranks), r.IntN(c.Ranks))
			}
		})
	}
}

// randomCaller makes the calls of one of two ranks: mostly the same as the other's.
type randomCaller struct {
	*recorder
	same, own *rand.Rand
	change    int // one call in this many differs
}

func (d *randomCaller) step() {
	r := d.same
	k, count, times := r.IntN(6), 1+r.IntN(30), 1+r.IntN(20)*r.IntN(20)
	if d.own.IntN(d.change) == 0 {
		switch d.own.IntN(4) {
		case 0:
			k = d.own.IntN(6)
		case 1:
			count++
		case 2:
			times++
		default:
			d.barrier(90)
		}
	}
	for i := range times {
		switch k {
		case 0:
			d.send(10, 1, count)
		case 1:
			d.send(11, -1, count+i%3)
		case 2:
			d.send(12, 1, i)
			d.barrier(13)
		case 3:
			d.add("MPI_Alltoallv", 14, map[string]any{"comm": "MPI_COMM_WORLD", "sendcounts": []uint64{uint64(count), uint64(i % 4)},
				"sendtype": "MPI_INT", "recvcounts": []uint64{1, 2}, "recvtype": "MPI_INT"})
		case 4:
			id, err := d.build.AddNew(d.input("MPI_Isend", uint64(20+count%3), map[string]any{"comm": "MPI_COMM_WORLD", "count": count,
				"datatype": "MPI_INT", "dest": 0, "tag": i % 2}))
			if err != nil {
				d.t.Fatal(err)
			}
			d.add("MPI_Wait", 24, map[string]any{"request": id})
			d.build.Free(id)
		default:
			d.barrier(uint64(30 + count%3))
		}
	}
}

// Random pairs that differ here and there, also read with checkpoints.
func TestRandomPairs(t *testing.T) {
	var late, apart, equal int // sequences that diverge late, that diverge in arguments first, that do not diverge
	for seed := range uint64(200) {
		var procs []*efg.Process
		for rank := range 2 {
			d := &randomCaller{recorder: newRecorder(t, rank, 4), same: rand.New(rand.NewPCG(seed, 1)), own: rand.New(rand.NewPCG(seed, 2+uint64(rank)))}
			d.change = 4 + int(seed%7)*50
			for range 4 + seed%60 {
				d.step()
			}
			p := d.process()
			if seed%3 == 0 {
				if err := p.Streams[0].AddCheckpoints(p.Defs, 50); err != nil {
					t.Fatal(err)
				}
			}
			procs = append(procs, p)
		}
		pair := checkPair(t, testrun.Of(t, procs, runfile.Meta{}), 0, 1)
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
		th := &pair.Threads[0]
		switch calls, all := at(th.Calls), at(th.Arguments); {
		case all == never:
			equal++
		case calls != all:
			apart++
		case all > th.Events[0]/2:
			late++
		}
	}
	if equal < 5 || apart < 5 || late < 5 {
		t.Errorf("%d pairs are equal, %d differ in arguments first, %d part late", equal, apart, late)
	}
}
