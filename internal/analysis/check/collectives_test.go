package check

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/signature"
)

// coll is a collective call of a random program.
type coll struct {
	op    string
	root  uint64
	count uint64
	sum   string
	self  bool // not a collective of the other ranks
}

// collProgram is a random program: blocks of calls in loops.
func collProgram(r *rand.Rand) []coll {
	var list []coll
	for range 1 + r.IntN(4) {
		var body []coll
		for range 1 + r.IntN(5) {
			body = append(body, coll{
				op: []string{"MPI_Barrier", "MPI_Bcast", "MPI_Allreduce", "MPI_Bcast"}[r.IntN(4)], root: r.Uint64N(3),
				count: 1 + r.Uint64N(3), sum: []string{"MPI_SUM", "MPI_MAX"}[r.IntN(2)], self: r.IntN(3) == 0,
			})
		}
		turns := r.IntN(3)
		for i := range 1 + r.IntN(300) {
			for _, c := range body {
				switch turns {
				case 1:
					c.root = uint64(i % 3)
				case 2:
					c.count = uint64(i)
				}
				list = append(list, c)
			}
		}
	}
	return list
}

func (c coll) words() []uint64 {
	p := signature.ProcByName(c.op)
	w := make([]uint64, len(p.Words))
	w[0], w[signature.ObjectWord] = uint64(signature.MakeHeader(p.ID, signature.C, false, len(w), 0)), signature.CommWorld
	if c.self {
		w[signature.ObjectWord] = signature.CommSelf
	}
	if p.Object < 0 {
		w[signature.ObjectWord] = 0
	}
	set := map[string]uint64{"root": c.root, "count": c.count, "datatype": constant("MPI_INT")}
	if c.op == "MPI_Allreduce" {
		set["op"] = constant(c.sum)
	}
	setWords(&efg.Input{Words: w}, set)
	return w
}

// setWords sets words by their names.
func setWords(in *efg.Input, values map[string]uint64) {
	p := signature.ProcByID(signature.Header(in.Words[0]).Proc())
	for i := 3; i < len(in.Words); i++ {
		if v, ok := values[p.Words[i].Name]; ok {
			in.Words[i] = v
		}
	}
}

// runOf records what ranks call between MPI_Init and MPI_Finalize.
func runOf(t *testing.T, ranks ...[]coll) *runfile.Run {
	t.Helper()
	for i, list := range ranks {
		ranks[i] = append(append([]coll{{op: "MPI_Init"}}, list...), coll{op: "MPI_Finalize"})
	}
	return runThat(t, nil, ranks...)
}

// runThat records what ranks call. ends says how they end, if not by MPI_Finalize.
func runThat(t *testing.T, ends []efg.End, ranks ...[]coll) *runfile.Run {
	t.Helper()
	var procs []*efg.Process
	for rank, list := range ranks {
		var defs efg.Definitions
		b := efg.NewBuilder(0, efg.DefaultDemote, &defs)
		for _, c := range list {
			if err := b.Add(efg.Input{Words: c.words()}); err != nil {
				t.Fatal(err)
			}
		}
		s, err := b.Stream()
		if err != nil {
			t.Fatal(err)
		}
		if s.End = efg.EndFinalized; ends != nil {
			s.End = ends[rank]
		}
		procs = append(procs, &efg.Process{Rank: rank, Size: len(ranks), Streams: []efg.Stream{*s}, Defs: defs.List})
	}
	var file bytes.Buffer
	if err := runfile.EncodeRun(&file, procs, runfile.Meta{}); err != nil {
		t.Fatal(err)
	}
	run, err := runfile.NewRun(bytes.NewReader(file.Bytes()), int64(file.Len()))
	if err != nil {
		t.Fatal(err)
	}
	return run
}

// change changes a program in one place, and returns the kind and the position of the resulting
// fault; "" if the others do not notice it.
func change(r *rand.Rand, list []coll) ([]coll, Kind, uint64) {
	list = slices.Clone(list)
	i := r.IntN(len(list))
	c := &list[i]
	kind := Kind("")
	switch r.IntN(4) {
	case 0:
		if c.count++; c.op != "MPI_Barrier" {
			kind = CollectiveData
		}
	case 1:
		if c.root = (c.root + 1) % 3; c.op == "MPI_Bcast" {
			kind = CollectiveRoot
		}
	case 2:
		if c.sum = map[string]string{"MPI_SUM": "MPI_MAX", "MPI_MAX": "MPI_SUM"}[c.sum]; c.op == "MPI_Allreduce" {
			kind = CollectiveOp
		}
	case 3:
		c.op = map[string]string{"MPI_Barrier": "MPI_Bcast", "MPI_Bcast": "MPI_Allreduce", "MPI_Allreduce": "MPI_Barrier"}[c.op]
		kind = CollectiveOrder
	}
	if list[i].self {
		kind = ""
	}
	return list, kind, uint64(i) + 1
}

// A single different call of one rank, in a loop of many, is found and described.
func TestOneChange(t *testing.T) {
	for seed := range uint64(300) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 5))
			list := collProgram(r)
			odd, kind, event := change(r, list)
			rep, err := New(runOf(t, list, list, odd, list))
			if err != nil {
				t.Fatal(err)
			}
			want := "[]"
			if kind != "" {
				want = fmt.Sprintf("[%s rank 2 event %d on [2]]", kind, event)
			}
			got := []string{}
			for _, f := range rep.Findings {
				got = append(got, fmt.Sprintf("%s rank %d event %d on %v", f.Kind, f.Rank, f.Event, f.Ranks))
			}
			if fmt.Sprint(got) != want {
				t.Errorf("found %v, want %s: %+v", got, want, rep.Findings)
			}
		})
	}
}

// A rank that makes fewer calls than others, or none.
func TestMissingCollectives(t *testing.T) {
	list := make([]coll, 1000)
	for i := range list {
		list[i] = coll{op: "MPI_Barrier"}
	}
	for _, n := range []int{0, 1, 999} {
		rep, err := New(runOf(t, list, list, list[:n]))
		if err != nil {
			t.Fatal(err)
		}
		if len(rep.Findings) != 1 || rep.Findings[0].Kind != CollectiveMissing || rep.Findings[0].Rank != 2 || rep.Findings[0].Event != uint64(n) {
			t.Errorf("%d calls: %+v", n, rep.Findings)
		}
	}
	rep, err := New(runOf(t, list[:5], list[:5], list))
	if err != nil || len(rep.Findings) != 1 || rep.Findings[0].Kind != CollectiveOrder || rep.Findings[0].Event != 6 {
		t.Errorf("%v: %+v", err, rep.Findings)
	}
}
