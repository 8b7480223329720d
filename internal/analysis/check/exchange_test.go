package check

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/testing/testrun"
	"github.com/efg-tools/efg/signature"
)

// arrayCall is a collective with arrays of counts: what each rank sends to each other,
// in bytes.
type arrayCall struct {
	op    string
	root  int
	place bool // in place
	moves [][]uint64
}

// input is the call of a rank. Calls other than MPI_Alltoallw use datatypes of four bytes.
func (c *arrayCall) input(rank int) efg.Input {
	p := signature.ProcByName(c.op)
	in := efg.Input{Words: make([]uint64, len(p.Words))}
	w := in.Words
	w[0], w[signature.ObjectWord] = uint64(signature.MakeHeader(p.ID, signature.C, false, len(w), 0)), signature.CommWorld
	integer, char := constant("MPI_INT"), constant("MPI_CHAR")
	var to, from, types []uint64
	for j := range c.moves {
		to, from, types = append(to, c.moves[rank][j]/4), append(from, c.moves[j][rank]/4), append(types, integer)
		if c.op == "MPI_Alltoallw" {
			from[j] = c.moves[j][rank]
		}
	}
	for i := 3; i < len(w); i++ {
		list := map[string][]uint64{"sendcounts": to, "recvcounts": from}[p.Words[i].Name]
		switch p.Words[i].Name {
		case "sendcount":
			w[i] = to[c.root]
		case "recvcount":
			w[i] = from[c.root]
		case "sendtype", "recvtype", "datatype":
			w[i] = integer
		case "op":
			w[i] = constant("MPI_SUM")
		case "root":
			w[i] = uint64(c.root)
		case "sendtypes", "recvtypes":
			list = types
			if p.Words[i].Name == "recvtypes" { // the same in bytes
				list = slices.Repeat([]uint64{char}, len(c.moves))
			}
		case "sdispls", "rdispls", "displs":
			list = make([]uint64, len(to))
		}
		atRoot := rank == c.root || !slices.Contains([]string{"MPI_Gatherv", "MPI_Scatterv"}, c.op)
		if c.op == "MPI_Reduce_scatter" && p.Words[i].Name == "recvcounts" {
			list = to
		}
		if list != nil && !atRoot || c.inPlace(rank, p.Words[i].Name) {
			list, w[i] = nil, signature.Absent
		}
		if list != nil {
			w[i] = signature.Ident(signature.Hash(list...))
			in.Vecs = append(in.Vecs, efg.VecContent{Word: i, Elems: list})
		}
	}
	return in
}

// inPlace reports whether a word is absent because the rank passes MPI_IN_PLACE.
func (c *arrayCall) inPlace(rank int, word string) bool {
	switch {
	case !c.place:
		return false
	case c.op == "MPI_Gatherv":
		return rank == c.root && (word == "sendtype" || word == "sendcount")
	case c.op == "MPI_Scatterv":
		return rank == c.root && (word == "recvtype" || word == "recvcount")
	}
	return strings.HasPrefix(word, "send") || word == "sdispls"
}

// randomArrays is a random correct call.
func randomArrays(r *rand.Rand, size int) arrayCall {
	c := arrayCall{
		op:   []string{"MPI_Alltoallv", "MPI_Alltoallw", "MPI_Gatherv", "MPI_Scatterv", "MPI_Allgatherv", "MPI_Reduce_scatter"}[r.IntN(6)],
		root: r.IntN(size), place: r.IntN(3) == 0, moves: make([][]uint64, size),
	}
	for i := range c.moves {
		c.moves[i] = make([]uint64, size)
		for j := range c.moves[i] {
			c.moves[i][j] = 4 * r.Uint64N(9)
		}
	}
	for i := range c.moves {
		for j := range c.moves[i] {
			switch {
			case c.op == "MPI_Allgatherv":
				c.moves[i][j] = c.moves[i][0]
			case c.op == "MPI_Reduce_scatter":
				c.moves[i][j] = c.moves[0][j]
			case c.place && strings.HasPrefix(c.op, "MPI_Alltoall") && j > i:
				c.moves[i][j] = c.moves[j][i]
			}
		}
	}
	return c
}

// Arrays of counts that agree are not a fault, in loops too; a single number that differs is
// located.
func TestArraysOfCounts(t *testing.T) {
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 3))
		size := 2 + r.IntN(4)
		var program []arrayCall
		for range 1 + r.IntN(3) {
			body := make([]arrayCall, 1+r.IntN(3))
			for i := range body {
				body[i] = randomArrays(r, size)
			}
			for turn := range 1 + r.IntN(60) {
				if turn%7 == 3 {
					body[0] = randomArrays(r, size)
				}
				program = append(program, body...)
			}
		}
		ranks := make([][]efg.Input, size)
		for _, c := range program {
			for rank := range ranks {
				ranks[rank] = append(ranks[rank], c.input(rank))
			}
		}
		if got := checkInputs(t, ranks); len(got.Findings) > 0 {
			t.Fatalf("seed %d: %+v", seed, got.Findings)
		}
		at, rank := r.IntN(len(program)), r.IntN(size)
		other := program[at]
		other.moves = slices.Clone(other.moves)
		for i := range other.moves {
			other.moves[i] = slices.Clone(other.moves[i])
			for j := range other.moves[i] {
				other.moves[i][j] += 4
			}
		}
		ranks[rank] = slices.Clone(ranks[rank])
		ranks[rank][at] = other.input(rank)
		findings := checkInputs(t, ranks).Findings
		if size == 1 || slices.ContainsFunc(findings, func(f Finding) bool { return f.Kind != CollectiveData || f.Event != uint64(at)+1 }) {
			t.Fatalf("seed %d: call %d of rank %d, %s: %+v", seed, at, rank, other.op, findings)
		}
		if len(findings) == 0 {
			t.Fatalf("seed %d: call %d of rank %d, %s: nothing found", seed, at, rank, other.op)
		}
	}
}

// checkInputs records calls between MPI_Init and MPI_Finalize and checks them.
func checkInputs(t *testing.T, ranks [][]efg.Input) *Report {
	t.Helper()
	var procs []*efg.Process
	for rank, list := range ranks {
		procs = append(procs, processOf(t, rank, len(ranks), list))
	}
	return checkProcesses(t, procs, runfile.Meta{})
}

// processOf is a process that makes calls between MPI_Init and MPI_Finalize.
func processOf(t *testing.T, rank, size int, list []efg.Input) *efg.Process {
	t.Helper()
	var defs efg.Definitions
	b := efg.NewBuilder(0, efg.DefaultDemote, &defs)
	around := func(op string) efg.Input { return efg.Input{Words: coll{op: op}.words()} }
	for _, in := range slices.Concat([]efg.Input{around("MPI_Init")}, list, []efg.Input{around("MPI_Finalize")}) {
		for _, v := range in.Vecs {
			defs.Add(efg.Def{Kind: efg.DefVec, Word: in.Words[v.Word], Words: v.Elems})
		}
		if err := b.Add(in); err != nil {
			t.Fatal(err)
		}
	}
	s, err := b.Stream()
	if err != nil {
		t.Fatal(err)
	}
	s.End = efg.EndFinalized
	return &efg.Process{Rank: rank, Size: size, Streams: []efg.Stream{*s}, Defs: defs.List}
}

func checkProcesses(t *testing.T, procs []*efg.Process, meta runfile.Meta) *Report {
	t.Helper()
	r, err := New(testrun.Of(t, procs, meta))
	if err != nil {
		t.Fatal(err)
	}
	return r
}
