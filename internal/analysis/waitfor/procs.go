package waitfor

import (
	"slices"
	"strings"
	"sync"

	"github.com/efg-tools/efg/signature"
)

var (
	wordWorld     = constant("MPI_COMM_WORLD")
	wordProcNull  = constant("MPI_PROC_NULL")
	wordAnySource = constant("MPI_ANY_SOURCE")
	wordAnyTag    = constant("MPI_ANY_TAG")
	wordRoot      = constant("MPI_ROOT")
	wordSame      = constant("EFG_SAME")
	wordByte      = constant("MPI_BYTE")
	wordPacked    = constant("MPI_PACKED")
)

func constant(name string) uint64 { return signature.ConstantByName(name).Word() }

func isConst(w uint64) bool { return w>>62 == 2 }

// procWords says which words of a procedure tell whom it needs; 0: it has none.
type procWords struct {
	dest, sendTag, source, recvTag int
	root, op                       int
	send, recv                     payload // of a collective whose members agree on an amount
	requests                       int     // of a call that waits
	array                          bool    // requests is an array
	shape                          shape
	waits                          bool // does not return before the others have done their part
}

// payload are the words of count and datatype of data; 0: there are none.
type payload struct{ count, datatype int }

// data are the words of the amount that all members of a collective must agree on: what
// each member but the root of a gather takes or gives is what the root gives or takes.
func (a *procWords) data(isRoot bool) (count, datatype int) {
	p := a.recv
	if a.shape == oneToAll && isRoot || a.shape == allToOne && !isRoot {
		p = a.send
	}
	return p.count, p.datatype
}

// shape says whom a collective waits for.
type shape uint8

const (
	notCollective shape = iota
	allToAll            // all members
	oneToAll            // the root
	allToOne            // the root needs all
	partial             // some of the members, which ones is the library's affair
	prefix              // lower ranks
	start               // MPI_Init, MPI_Finalize: all ranks of the world
)

var procTable = sync.OnceValue(func() []procWords {
	procs := signature.Procs()
	list := make([]procWords, len(procs)+1)
	for i := range procs {
		list[i+1] = wordsOf(&procs[i])
	}
	return list
})

// lookUp returns the procedure of an event's words, nil if it is not in the table.
func lookUp(words []uint64) (*signature.Proc, *procWords) {
	p := signature.ProcByID(signature.Header(words[0]).Proc())
	if p == nil || len(p.Words) != len(words) {
		return nil, &procTable()[0]
	}
	return p, &procTable()[p.ID]
}

func wordsOf(p *signature.Proc) procWords {
	var a procWords
	if len(p.Words) == 0 {
		return a
	}
	in := func(names ...string) int {
		for _, name := range names {
			q := p.Param(name)
			for i := signature.FirstWord; q >= 0 && i < len(p.Words); i++ {
				if w := &p.Words[i]; w.Param == q && !w.Out {
					return i
				}
			}
		}
		return 0
	}
	has := func(class string) bool { return slices.Contains(p.MTF, class) }
	if has("Send") || has("NonBlockingSend") {
		a.dest, a.sendTag = in("dest"), in("sendtag", "tag")
	}
	if has("Receive") || has("NonBlockingReceive") || has("ProbeOperation") {
		a.source, a.recvTag = in("source"), in("recvtag", "tag")
	}
	a.shape, a.root, a.op = shapeOf(p), in("root"), in("op")
	if a.shape != notCollective && a.shape != partial && p.Param("sendcounts") < 0 && p.Param("recvcounts") < 0 {
		a.send = payload{in("sendcount", "count"), in("sendtype", "datatype")}
		a.recv = payload{in("recvcount", "count"), in("recvtype", "datatype")}
	}
	if p.Completes != "" {
		a.requests = in("request", "array_of_requests")
		a.array = a.requests > 0 && p.Words[a.requests].Form == signature.VecForm
	}
	a.waits = p.Issues == "" && !p.Poll && p.Mode != "buffered" &&
		(has("Send") || has("Receive") || has("ProbeOperation") || p.Completes != "" || a.shape != notCollective)
	return a
}

// shapes are the collectives. All members of a communicator (window, file) make them
// in the same order.
var shapes = map[string]shape{
	"init": start, "init_thread": start, "finalize": start,
	"barrier": allToAll, "allreduce": allToAll, "allgather": allToAll, "allgatherv": allToAll,
	"alltoall": allToAll, "alltoallv": allToAll, "alltoallw": allToAll,
	"reduce_scatter": allToAll, "reduce_scatter_block": allToAll,
	"bcast": oneToAll, "scatter": oneToAll, "scatterv": oneToAll,
	"gather": allToOne, "gatherv": allToOne, "reduce": allToOne,
	"scan": prefix, "exscan": prefix,
	"neighbor_allgather": partial, "neighbor_allgatherv": partial, "neighbor_alltoall": partial,
	"neighbor_alltoallv": partial, "neighbor_alltoallw": partial,
	"comm_dup": allToAll, "comm_dup_with_info": allToAll, "comm_create": allToAll, "comm_split": allToAll,
	"comm_split_type": allToAll, "comm_disconnect": partial, "comm_free": partial,
	"cart_create": allToAll, "cart_sub": allToAll, "graph_create": allToAll,
	"dist_graph_create": allToAll, "dist_graph_create_adjacent": allToAll, "intercomm_merge": allToAll,
	"win_create": allToAll, "win_allocate": allToAll, "win_allocate_shared": allToAll, "win_create_dynamic": allToAll,
	"win_fence": partial, "win_free": allToAll,
	"file_open": allToAll, "file_close": allToAll, "file_set_view": allToAll, "file_set_size": partial,
	"file_preallocate": partial, "file_read_all": partial, "file_write_all": partial,
	"file_read_at_all": partial, "file_write_at_all": partial,
	"file_read_ordered": partial, "file_write_ordered": partial,
}

// shapeOf is the shape of a collective, nonblocking ones too. Persistent ones are
// not followed.
func shapeOf(p *signature.Proc) shape {
	name := strings.ToLower(strings.TrimPrefix(p.Name, "MPI_"))
	if p.Persistent {
		return notCollective
	}
	if s, ok := shapes[name]; ok {
		return s
	}
	if p.Issues == "coll" {
		return shapes[strings.TrimPrefix(name, "i")]
	}
	if name == "comm_idup" || name == "comm_idup_with_info" {
		return allToAll
	}
	return notCollective
}
