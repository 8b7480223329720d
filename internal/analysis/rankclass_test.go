package analysis_test

import (
	"cmp"
	"math/rand/v2"
	"reflect"
	"slices"
	"sync"
	"testing"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/analysis"
	"github.com/efg-tools/efg/internal/testing/sim"
	"github.com/efg-tools/efg/internal/testing/testrun"
	"github.com/efg-tools/efg/signature"
)

// rankCall is a call that several ranks make.
type rankCall struct {
	op     string
	comm   int // number of the communicator
	near   bool
	peer   uint64 // distance or rank
	root   uint64
	counts []uint64
	alone  bool // the array of requests, or the datatype, is absent
	again  int
}

var acts = []string{
	"MPI_Send", "MPI_Recv", "MPI_Bcast", "MPI_Gather", "MPI_Gatherv", "MPI_Scatter", "MPI_Scatterv", "MPI_Reduce", "MPI_Allreduce",
	"MPI_Allgather", "MPI_Allgatherv", "MPI_Alltoallv", "MPI_Scan", "MPI_Reduce_scatter", "MPI_Reduce_scatter_block", "MPI_Put",
	"MPI_Neighbor_alltoall", "MPI_Ibcast", "MPI_Bcast_init", "MPI_Send_init",
}

func randomRankCalls(r *rand.Rand, size int) (list []rankCall) {
	for range 3 + r.IntN(8) {
		a := rankCall{op: acts[r.IntN(len(acts))], comm: r.IntN(2), near: r.IntN(3) > 0, peer: r.Uint64N(uint64(size)), root: r.Uint64N(3),
			alone: r.IntN(3) == 0, again: 1 + r.IntN(12)*r.IntN(2)}
		for range size {
			a.counts = append(a.counts, r.Uint64N(5))
		}
		list = append(list, a)
	}
	return list
}

// rankRecorder records the calls of a rank.
type rankRecorder struct {
	t          *testing.T
	rank, size int
	defs       efg.Definitions
	build      *efg.Builder
	family     uint64 // a communicator of the even ranks, or of all other ranks
}

func (p *rankRecorder) perform(list []rankCall) *efg.Process {
	words := []uint64{word("MPI_COMM_WORLD"), word("EFG_COMM_SPLIT"), uint64((p.size + 1 - p.rank%2) / 2), 3, uint64(p.rank % 2), uint64((p.size + 1 - p.rank%2) / 2), 2}
	p.family = signature.Hash(words...) & (1<<38 - 1) << 24
	p.defs.Add(efg.Def{Kind: efg.DefComm, Word: p.family, Words: words})
	p.build = efg.NewBuilder(0, efg.DefaultDemote, &p.defs)
	for i := range list {
		for turn := range list[i].again {
			p.call(&list[i], uint64(i), uint64(turn))
		}
	}
	s, err := p.build.Stream()
	if err != nil {
		p.t.Fatal(err)
	}
	s.End = efg.EndFinalized
	return &efg.Process{Rank: p.rank, Size: p.size, Streams: []efg.Stream{*s}, Defs: p.defs.List}
}

// call makes a call, with another tag or count each turn, so that words become demoted.
func (p *rankRecorder) call(a *rankCall, site, turn uint64) {
	comm, rank, size := word("MPI_COMM_WORLD"), uint64(p.rank), uint64(p.size)
	if a.comm == 1 {
		comm, rank, size = p.family, uint64(p.rank/2), uint64((p.size+1-p.rank%2)/2)
	}
	peer := a.peer
	if a.near {
		peer = (rank + a.peer + turn) % size
	}
	counts := append([]uint64(nil), a.counts[:size]...)
	counts[0] += turn
	typ := word("MPI_INT")
	sendType := typ
	if a.alone {
		sendType = signature.Absent
	}
	values := map[string]any{
		"comm": comm, "count": 3 + turn, "datatype": typ, "dest": peer % size, "source": peer % size, "target_rank": peer % size, "root": a.root % size,
		"sendcount": 2 + turn, "recvcount": 4 + turn, "sendtype": sendType, "recvtype": typ, "sendcounts": counts, "recvcounts": counts,
		"tag": turn, "status.source": peer % size, "status.bytes": 12 + turn, "status.tag": turn, "win": uint64(0),
	}
	in := (&volumeRecorder{t: p.t}).input(a.op, 100+site, values)
	for _, v := range in.Vecs {
		p.defs.Add(efg.Def{Kind: efg.DefVec, Word: in.Words[v.Word], Words: v.Elems})
	}
	if signature.ProcByName(a.op).Issues == "" {
		if err := p.build.Add(in); err != nil {
			p.t.Fatal(err)
		}
		return
	}
	id, err := p.build.AddNew(in)
	if err != nil {
		p.t.Fatal(err)
	}
	if signature.ProcByName(a.op).Persistent {
		if err := p.build.Add((&volumeRecorder{t: p.t}).input("MPI_Start", 200+site, map[string]any{"request": id})); err != nil {
			p.t.Fatal(err)
		}
	}
	p.build.Free(id)
}

// classFacts holds what the graphs of a process say.
type classFacts struct {
	nodes [][]analysis.Node
	flows []analysis.Flow
	peers []analysis.Operation
}

func tell(t *testing.T, p *analysis.Process) (a classFacts) {
	t.Helper()
	for i := range p.Data.Streams {
		nodes, err := p.Nodes(i)
		if err != nil {
			t.Fatal(err)
		}
		a.nodes = append(a.nodes, nodes)
		err = p.Flows(i, func(f *analysis.Flow) {
			g := *f
			g.Many = nil // a group of its own
			a.flows = append(a.flows, g)
		})
		if err != nil {
			t.Fatal(err)
		}
		for k := range p.Data.Streams[i].Nodes {
			err := p.Calls(i, k, analysis.CommField|analysis.BytesField|analysis.TagField, func(c *analysis.Call) error {
				a.peers = append(a.peers, c.Operations...)
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	return a
}

// compareClasses demands that processes derived from others of their class have the same facts
// as if they were read alone. It returns the number of classes.
func compareClasses(t *testing.T, run *runfile.Run) int {
	t.Helper()
	first := analysis.FirstRanks(run.Procs)
	var procs []int
	for i := range run.Procs {
		procs = append(procs, i)
	}
	var mu sync.Mutex
	classes := map[runfile.ClassKey]int{}
	var unlike []runfile.ClassKey // of processes that are compared with no other
	err := analysis.EachProcess(run, procs, func(p *analysis.Process) error {
		mu.Lock()
		defer mu.Unlock()
		key, ok := p.Class()
		if !ok {
			if key, ok, _ = run.RankClass(p.Number()); !ok {
				t.Errorf("rank %d has no class", p.Data.Rank)
			}
			unlike = append(unlike, key)
		}
		classes[key]++
		data, err := run.Process(p.Number())
		if err != nil {
			return err
		}
		q, err := analysis.NewProcess(data, first[p.Number()])
		if err != nil {
			return err
		}
		if got, want := tell(t, p), tell(t, q); !reflect.DeepEqual(got, want) {
			t.Fatalf("rank %d:\n%+v\nby itself:\n%+v", p.Data.Rank, got, want)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range unlike {
		if classes[key] > 1 {
			t.Errorf("a process is compared with no other, though %d are of its class", classes[key])
		}
	}
	return len(classes)
}

// Ranks that make the same calls have one class, even if their roles as root, their parts of an
// array, and their peers differ.
func TestClassFacts(t *testing.T) {
	ranks, classes := 0, 0
	for seed := range uint64(150) {
		r := rand.New(rand.NewPCG(seed, 21))
		size := 3 + r.IntN(14)
		var kinds [][]rankCall
		for range 1 + r.IntN(3) {
			kinds = append(kinds, randomRankCalls(r, size))
		}
		var procs []*efg.Process
		for rank := range size {
			p := &rankRecorder{t: t, rank: rank, size: size}
			procs = append(procs, p.perform(kinds[r.IntN(len(kinds))]))
		}
		slices.SortFunc(procs, func(x, y *efg.Process) int { return cmp.Compare(x.Rank, y.Rank) })
		ranks, classes = ranks+size, classes+compareClasses(t, testrun.Of(t, procs, runfile.Meta{}))
	}
	if t.Logf("%d ranks, %d classes", ranks, classes); classes > ranks*3/4 {
		t.Errorf("%d classes of %d ranks", classes, ranks)
	}
}

// Time statistics belong to each rank.
func TestClassTimes(t *testing.T) {
	for _, c := range []sim.Config{
		{Program: "halo", Ranks: 90, Steps: 12, Stats: true}, {Program: "halo", Ranks: 27, Steps: 12, Stats: true, Periodic: true},
		{Program: "farm", Ranks: 20, Steps: 9, Stats: true},
	} {
		c.Seed = 4
		if n := compareClasses(t, testrun.Simulated(t, c)); c.Program == "halo" && n > 27 {
			t.Errorf("%d classes of %d ranks", n, c.Ranks)
		}
	}
}
