package analysis

import (
	"slices"
	"strings"
	"sync"

	"github.com/efg-tools/efg/signature"
)

// plan says which words of a procedure's events tell what it moves. Words that
// the procedure does not have are 0.
type plan struct {
	kind       kind
	shape      string // of a collective: "bcast", "alltoallv" …
	send, recv payload
	// dest and source are the peers of messages, target that of a one-sided
	// access.
	dest, source, target int
	message              int // of MPI_Mrecv
	root, op             int
	status               int // bytes that a blocking call received or transferred
	blocking             bool
	requests             int // what MPI_Start starts
	mask                 uint64
}

type kind uint8

const (
	movesNothing kind = iota
	pointToPoint
	oneSided
	fileRead
	fileWrite
	collective
	starting
)

// payload is a buffer: count elements of a type, or counts and perhaps types in
// arrays.
type payload struct {
	count, typ, parts int
	single            bool // one element
}

func (q *payload) present() bool { return q.typ != 0 }

var plans = sync.OnceValue(func() []plan {
	procs := signature.Procs()
	list := make([]plan, len(procs)+1)
	for i := range procs {
		list[i+1] = makePlan(&procs[i])
	}
	return list
})

// planOf returns what is known about a procedure; nil stands for one that is
// not in the table.
func planOf(p *signature.Proc) *plan {
	if p == nil {
		return &plans()[0]
	}
	return &plans()[p.ID]
}

// words finds words of a procedure by the names of its parameters.
type words struct{ *signature.Proc }

// in returns the input word of the first of the parameters that is there.
func (w words) in(names ...string) int {
	for _, name := range names {
		q := w.Param(name)
		for i := 2; q >= 0 && i < len(w.Words); i++ {
			if w.Words[i].Param == q && !w.Words[i].Out {
				return i
			}
		}
	}
	return 0
}

// bytes returns the word of the bytes that the call's own status tells.
func (w words) bytes() int {
	for i := range w.Words {
		if w.Words[i].Part == signature.Bytes && w.Words[i].Form == signature.ScalarForm {
			return i
		}
	}
	return 0
}

func makePlan(p *signature.Proc) plan {
	w := words{p}
	var a plan
	sends := slices.Contains(p.MTF, "Send") || slices.Contains(p.MTF, "NonBlockingSend")
	receives := slices.Contains(p.MTF, "Receive") || slices.Contains(p.MTF, "NonBlockingReceive")
	switch {
	case len(p.Words) == 0:
	case p.Starts:
		a.kind, a.requests = starting, w.in("request", "array_of_requests")
	case sends || receives:
		a.messages(w, sends, receives)
	case w.in("target_rank") != 0:
		a.access(w)
	case strings.HasPrefix(p.Name, "MPI_File_"):
		a.file(w)
	default:
		if shape := shapeOf(p); shapes[shape] {
			a.collective(w, shape)
		}
	}
	a.findMask()
	return a
}

func (a *plan) messages(w words, sends, receives bool) {
	a.kind = pointToPoint
	parts := w.in("partitions")
	if sends {
		a.dest = w.in("dest")
		a.send = payload{count: w.in("sendcount", "count"), typ: w.in("sendtype", "datatype"), parts: parts}
	}
	if receives {
		a.source, a.message = w.in("source"), w.in("message")
		a.recv = payload{count: w.in("recvcount", "count"), typ: w.in("recvtype", "datatype"), parts: parts}
		a.status, a.blocking = w.bytes(), slices.Contains(w.MTF, "Receive")
	}
}

func (a *plan) access(w words) {
	a.kind, a.target, a.op = oneSided, w.in("target_rank"), w.in("op")
	origin := payload{count: w.in("origin_count"), typ: w.in("origin_datatype")}
	switch name := strings.TrimPrefix(w.Name, "MPI_"); name {
	case "Put", "Rput", "Accumulate", "Raccumulate":
		a.send = origin
	case "Get", "Rget":
		a.recv = origin
	case "Get_accumulate", "Rget_accumulate":
		a.send, a.recv = origin, payload{count: w.in("result_count"), typ: w.in("result_datatype")}
	default: // MPI_Fetch_and_op, MPI_Compare_and_swap
		a.send = payload{typ: w.in("datatype"), single: true}
		a.recv = a.send
	}
}

func (a *plan) file(w words) {
	name := strings.TrimPrefix(w.Name, "MPI_File_")
	data := payload{count: w.in("count"), typ: w.in("datatype")}
	a.status = w.bytes()
	switch {
	case strings.HasSuffix(name, "_begin") || data.count == 0 && a.status == 0:
		return
	case strings.HasPrefix(name, "read") || strings.HasPrefix(name, "iread"):
		a.kind, a.recv = fileRead, data
	case strings.HasPrefix(name, "write") || strings.HasPrefix(name, "iwrite"):
		a.kind, a.send = fileWrite, data
	}
}

// shapeOf is the name of a collective without what makes it nonblocking or
// persistent: "bcast".
func shapeOf(p *signature.Proc) string {
	name := strings.TrimPrefix(strings.TrimPrefix(p.Name, "MPIX_"), "MPI_")
	if p.Issues == "coll" {
		if p.Persistent {
			name = strings.TrimSuffix(name, "_init")
		} else {
			name = strings.TrimPrefix(name, "I")
		}
	}
	return strings.ToLower(name)
}

func (a *plan) collective(w words, shape string) {
	a.kind, a.shape, a.root = collective, shape, w.in("root")
	a.send = payload{count: w.in("sendcount", "sendcounts", "count"), typ: w.in("sendtype", "sendtypes", "datatype")}
	a.recv = payload{count: w.in("recvcount", "recvcounts", "count"), typ: w.in("recvtype", "recvtypes", "datatype")}
}

// findMask collects the words that matter. The object tells the members.
func (a *plan) findMask() {
	if a.kind == movesNothing {
		return
	}
	for _, i := range []int{
		2, a.send.count, a.send.typ, a.send.parts, a.recv.count, a.recv.typ, a.recv.parts, a.dest, a.source, a.target,
		a.message, a.root, a.op, a.status, a.requests,
	} {
		if i > 0 {
			a.mask |= 1 << i
		}
	}
}
