package check

import (
	"encoding/json"
	"math/rand/v2"
	"testing"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/testing/sim"
	"github.com/efg-tools/efg/internal/testing/testrun"
	"github.com/efg-tools/efg/signature"
)

// alone checks a run without using rank classes.
func alone(run *runfile.Run) (*Report, error) {
	b := newBuilder(run, nil)
	b.alone, b.keepAll = true, true
	return b.check()
}

// compareAlone demands that a report is the same without rank classes, and returns how many
// processes were counted together with others of their class.
func compareAlone(t *testing.T, run *runfile.Run) (shared, findings int) {
	t.Helper()
	b := newBuilder(run, nil)
	got, err := b.check()
	if err != nil {
		t.Fatal(err)
	}
	want, err := alone(run)
	if err != nil {
		t.Fatal(err)
	}
	x, _ := json.Marshal(got)
	y, _ := json.Marshal(want)
	if string(x) != string(y) {
		t.Fatalf("by classes:\n%.3000s\none by one:\n%.3000s", x, y)
	}
	for _, c := range b.members {
		if c != nil {
			shared++
		}
	}
	return shared, len(got.Findings)
}

// rankCall is a call that several ranks make, each with a peer of its own or all with one peer.
type rankCall struct {
	op       string
	near     bool   // peer is a distance
	peer     uint64 // or a rank
	tag      uint64
	datatype string
	wild     bool // a receive from any source
	root     uint64
	again    int
	wait     bool
}

// randomRankCalls are random calls of ranks that all do the same.
func randomRankCalls(r *rand.Rand, size int) (list []rankCall) {
	tags := 1 + r.Uint64N(3)
	for range 1 + r.IntN(8) {
		list = append(list, rankCall{
			op:   []string{"MPI_Send", "MPI_Recv", "MPI_Isend", "MPI_Irecv", "MPI_Barrier", "MPI_Bcast"}[r.IntN(6)],
			near: r.IntN(3) > 0, peer: r.Uint64N(uint64(size)), tag: r.Uint64N(tags), datatype: []string{"MPI_INT", "MPI_FLOAT"}[r.IntN(8)/7],
			wild: r.IntN(6) == 0, root: r.Uint64N(2), again: 1 + r.IntN(3), wait: r.IntN(4) > 0,
		})
	}
	return list
}

// mirrored adds, to what ranks send, receives by ranks at the same distance, so that some
// channels match.
func mirrored(r *rand.Rand, list []rankCall, size int) []rankCall {
	for _, d := range list {
		if (d.op == "MPI_Send" || d.op == "MPI_Isend") && d.near && r.IntN(5) > 0 {
			d.op, d.peer, d.wild = "MPI_Recv", (uint64(size)-d.peer)%uint64(size), false
			list = append(list, d)
		}
	}
	return list
}

// words are the words of a rank's deed, except its request.
func (d *rankCall) words(rank, size int) []uint64 {
	p := signature.ProcByName(d.op)
	w := make([]uint64, len(p.Words))
	w[0], w[signature.ObjectWord] = uint64(signature.MakeHeader(p.ID, signature.C, false, len(w), 0)), signature.CommWorld
	peer := d.peer
	if d.near {
		peer = (uint64(rank) + d.peer) % uint64(size)
	}
	values := map[string]uint64{
		"count": 4, "datatype": constant(d.datatype), "dest": peer, "source": peer, "tag": d.tag, "root": d.root,
	}
	for i := 3; i < len(w); i++ {
		w[i] = values[p.Words[i].Name]
		switch {
		case p.Words[i].Name == "source" && d.wild && p.Words[i].Part != signature.Source:
			w[i] = signature.AnySource
		case p.Words[i].Part == signature.Source && d.op == "MPI_Recv":
			w[i] = peer
		case p.Words[i].Part == signature.MessageTag && d.op == "MPI_Recv":
			w[i] = d.tag
		}
	}
	return w
}

// processOfCalls makes the process of a rank that does what a list says.
func processOfCalls(t *testing.T, list []rankCall, rank, size int) *efg.Process {
	t.Helper()
	var defs efg.Definitions
	b := efg.NewBuilder(0, efg.DefaultDemote, &defs)
	add := func(w []uint64) {
		if err := b.Add(efg.Input{Words: w}); err != nil {
			t.Fatal(err)
		}
	}
	add(coll{op: "MPI_Init"}.words())
	for i := range list {
		d := &list[i]
		for range d.again {
			if d.op != "MPI_Isend" && d.op != "MPI_Irecv" {
				add(d.words(rank, size))
				continue
			}
			id, err := b.AddNew(efg.Input{Words: d.words(rank, size)})
			if err != nil {
				t.Fatal(err)
			}
			if d.wait {
				add(waitWords(id))
				b.Free(id)
			}
		}
	}
	add(coll{op: "MPI_Finalize"}.words())
	s, err := b.Stream()
	if err != nil {
		t.Fatal(err)
	}
	s.End = efg.EndFinalized
	return &efg.Process{Rank: rank, Size: size, Streams: []efg.Stream{*s}, Defs: defs.List}
}

// waitWords are the words of a call that completes a request as it was posted.
func waitWords(id uint64) []uint64 {
	p := signature.ProcByName("MPI_Wait")
	w := make([]uint64, len(p.Words))
	w[0] = uint64(signature.MakeHeader(p.ID, signature.C, false, len(w), 0))
	for i := 3; i < len(w); i++ {
		w[i] = signature.AsPosted
		if p.Words[i].Param >= 0 && p.Params[p.Words[i].Param].Kind == signature.Req {
			w[i] = id
		}
	}
	return w
}

// Ranks that do the same are counted together; the findings must be those of counting one by
// one, with and without faults.
func TestClassesRandom(t *testing.T) {
	shared, findings, clean := 0, 0, 0
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 77))
		size := 2 + r.IntN(12)
		var kinds [][]rankCall
		for range 1 + r.IntN(3) {
			kinds = append(kinds, mirrored(r, randomRankCalls(r, size), size))
		}
		var procs []*efg.Process
		for rank := range size {
			procs = append(procs, processOfCalls(t, kinds[r.IntN(len(kinds))], rank, size))
		}
		s, f := compareAlone(t, testrun.Of(t, procs, runfile.Meta{}))
		shared, findings = shared+s, findings+f
		if f == 0 {
			clean++
		}
	}
	t.Logf("%d processes counted with others, %d findings, %d runs without", shared, findings, clean)
	if shared < 500 || findings < 500 || clean == 0 {
		t.Errorf("%d processes counted with others, %d findings, %d runs without", shared, findings, clean)
	}
}

func TestClassesSimulated(t *testing.T) {
	for _, c := range []sim.Config{
		{Program: "halo", Ranks: 125, Steps: 20}, {Program: "halo", Ranks: 64, Steps: 20, Periodic: true},
		{Program: "halo", Ranks: 60, Steps: 9, Null: true}, {Program: "halo", Ranks: 12, Steps: 9, Periodic: true, Grid: [3]int{12, 1, 1}},
		{Program: "mesh", Ranks: 27, Steps: 20}, {Program: "random", Ranks: 16, Steps: 50},
	} {
		c.Seed = 8
		shared, findings := compareAlone(t, testrun.Simulated(t, c))
		if findings > 0 || c.Program == "halo" && shared < c.Ranks/8 {
			t.Errorf("%s, %d ranks: %d counted with others, %d findings", c.Program, c.Ranks, shared, findings)
		}
	}
}
