package check

import (
	"cmp"
	"slices"
	"strings"

	"github.com/efg-tools/efg/signature"
)

// symbol is what a collective call must have in common with those of the other
// members.
type symbol struct {
	proc   int
	root   uint64
	op     uint64 // reduction
	amount amount
	// own is what the member itself gives, where it takes an amount, too; else amount.
	own amount
}

// uneven says whether a member that gives and takes does not take from itself what it
// gives.
func (s *symbol) uneven() bool {
	return s.own.bytes != s.amount.bytes || s.own.basics != s.amount.basics && !s.own.open && !s.amount.open
}

// amount is data by its size and type signature.
type amount struct {
	bytes  uint64
	basics uint64 // hash of the basic datatypes, in order; 0: not known, or open
	open   bool   // it is of a datatype that fits all
}

func (s symbol) hash() uint64 {
	return signature.Hash(uint64(s.proc), s.root, s.op, s.amount.bytes, s.amount.basics)
}

// collRoles says what the words of a collective are for.
type collRoles struct {
	shape                                    string
	root, op                                 int
	sendCount, sendType, recvCount, recvType int
	scope                                    int // word of the communicator or window
	arrays                                   arrays
}

// collectiveShapes are the collectives that move data, and the barrier. Those with an
// array of counts have only their name and root in common; see exchange.
var collectiveShapes = []string{
	"bcast", "reduce", "allreduce", "scan", "exscan", "reduce_scatter_block", "allgather", "alltoall", "gather", "scatter",
	"barrier", "gatherv", "scatterv", "allgatherv", "alltoallv", "alltoallw", "reduce_scatter",
	"neighbor_allgather", "neighbor_allgatherv", "neighbor_alltoall", "neighbor_alltoallv", "neighbor_alltoallw",
}

// makers are collective calls that make something.
var makers = []string{
	"MPI_Comm_create", "MPI_Comm_dup", "MPI_Comm_dup_with_info", "MPI_Comm_idup", "MPI_Comm_idup_with_info", "MPI_Comm_split",
	"MPI_Comm_split_type", "MPI_Cart_create", "MPI_Cart_sub", "MPI_Graph_create", "MPI_Dist_graph_create",
	"MPI_Dist_graph_create_adjacent", "MPI_Win_create", "MPI_Win_allocate", "MPI_Win_allocate_shared",
	"MPI_Win_create_dynamic", "MPI_Win_fence", "MPI_File_open",
}

// collectiveOf returns nil for calls that are no collectives.
func collectiveOf(r *roles) *collRoles {
	p := r.proc
	if p == nil {
		return nil
	}
	if slices.Contains(makers, p.Name) {
		return &collRoles{scope: r.scope()}
	}
	name := strings.ToLower(strings.TrimPrefix(strings.TrimPrefix(p.Name, "MPIX_"), "MPI_"))
	if p.Issues == "coll" {
		name = strings.TrimSuffix(name, "_init")
		if !p.Persistent {
			name = name[1:]
		}
	}
	if !slices.Contains(collectiveShapes, name) {
		return nil
	}
	return &collRoles{
		shape: name, root: r.in("root"), op: r.in("op"), scope: 2,
		sendCount: r.in("sendcount", "count"), sendType: r.in("sendtype", "datatype"),
		recvCount: r.in("recvcount", "count"), recvType: r.in("recvtype", "datatype"),
		arrays: arrays{r.in("sendcounts"), r.in("recvcounts"), r.in("sendtypes"), r.in("recvtypes")},
	}
}

// gives says whether a member can have both data that it gives and data that it takes, of
// the same amount.
func (c *collRoles) gives() bool {
	switch c.shape {
	case "allgather", "alltoall", "gather", "scatter":
		return true
	}
	return false
}

// scope is the word of the communicator, or window, whose members make the call.
func (r *roles) scope() int {
	if i := r.in("comm", "comm_old", "win"); i != 0 {
		return i
	}
	return 2
}

func (c *collRoles) mask() uint64 {
	return mask(c.root, c.op, c.sendCount, c.sendType, c.recvCount, c.recvType, c.scope)
}

// symbolOf is the symbol of a call with these words. On an intercommunicator the
// two sides differ in all but the name.
func (c *collRoles) symbolOf(x *signer, words []uint64, inter bool) symbol {
	s := symbol{proc: signature.Header(words[0]).Proc()}
	if inter || c.shape == "" {
		return s
	}
	word := func(i int) uint64 {
		if i == 0 {
			return 0
		}
		return words[i]
	}
	s.root, s.op = word(c.root), word(c.op)
	recv, taken := x.amountOf(word(c.recvCount), word(c.recvType))
	if !c.gives() {
		if c.shape != "barrier" && !c.pairwise(false) {
			s.amount, s.own = recv, recv
		}
		return s
	}
	send, given := x.amountOf(word(c.sendCount), word(c.sendType))
	s.amount, s.own = recv, send
	switch {
	case word(c.sendType) == signature.Absent: // in place, or not the root
		s.own = recv
	case word(c.recvType) == signature.Absent:
		s.amount = send
	case !given || !taken:
		s.own = s.amount
	case c.shape == "scatter":
		s.amount, s.own = send, recv
	}
	return s
}

// amountOf is that of a number of elements; false if it is not known.
func (x *signer) amountOf(count, datatype uint64) (amount, bool) {
	size, ok := x.p.TypeBytes(datatype)
	if isConst(count) || count>>40 != 0 || count > 0 && !ok {
		return amount{}, false
	}
	if count == 0 || size == 0 {
		return amount{}, true
	}
	t := x.of(datatype)
	return amount{size * count, t.whole.times(count).hash, t.open()}, true
}

// scopeKey tells communicators and windows of a run apart. Constants and families
// are those of a world.
type scopeKey struct {
	word  uint64
	world int
}

func compareScopes(x, y scopeKey) int {
	return cmp.Or(cmp.Compare(x.world, y.world), cmp.Compare(x.word, y.word))
}
