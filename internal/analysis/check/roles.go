package check

import (
	"slices"
	"strings"
	"sync"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/reconstruct"
	"github.com/efg-tools/efg/signature"
)

var (
	wordAnySource = constant("MPI_ANY_SOURCE")
	wordAnyTag    = constant("MPI_ANY_TAG")
	wordRoot      = constant("MPI_ROOT")
	wordProcNull  = constant("MPI_PROC_NULL")
	wordAsPosted  = constant("EFG_AS_POSTED")
	wordSame      = constant("EFG_SAME")
	wordNoProc    = constant("MPI_MESSAGE_NO_PROC")
	wordByte      = constant("MPI_BYTE")
	wordPacked    = constant("MPI_PACKED")
)

func constant(name string) uint64 { return signature.ConstantByName(name).Word() }

func isConst(w uint64) bool { return w>>62 == 2 }

// roles says what the words of a procedure are for in a check. Words that the
// procedure does not have are 0.
type roles struct {
	proc *signature.Proc
	// sends and receives: a message goes out or comes in; posts: a request tells
	// when it is there.
	sends, receives, posts         bool
	dest, sendTag, source, recvTag int
	sendType, sendCount, recvType  int
	message                        int // of MPI_Mrecv and MPI_Imrecv
	found                          int // message that a probe matched
	statusSource, statusTag        int
	statuses                       int // array of them
	request                        int // that the call issues
	requests                       int // that it completes, starts, frees or cancels
	vec                            bool
	completes                      string // one, any, some, all
	frees, starts, cancels         bool
	flag, index, indices           int
	made, freed                    int // object that the call makes or frees
	object                         signature.Kind
}

var allRoles = sync.OnceValue(func() []roles {
	list := make([]roles, len(signature.Procs())+1)
	for i := range signature.Procs() {
		list[i+1] = makeRoles(&signature.Procs()[i])
	}
	return list
})

// rolesOf returns what the words of a node are for; nothing, if its procedure is
// not in the table, or not with these words, or the call failed.
func rolesOf(n *efg.Node) *roles {
	p := procOf(n)
	if p == nil || failed(n) {
		return &allRoles()[0]
	}
	return &allRoles()[p.ID]
}

func procOf(n *efg.Node) *signature.Proc {
	p := signature.ProcByID(signature.Header(n.Words[0]).Proc())
	if p == nil || len(p.Words) != len(n.Words) {
		return nil
	}
	return p
}

func failed(n *efg.Node) bool { return signature.Header(n.Words[0]).ErrorClass() != 0 }

func makeRoles(p *signature.Proc) roles {
	r := roles{proc: p}
	if len(p.Words) == 0 {
		return r
	}
	has := func(class string) bool { return slices.Contains(p.MTF, class) }
	r.sends = has("Send") || has("NonBlockingSend")
	r.receives = has("Receive") || has("NonBlockingReceive")
	r.posts = has("NonBlockingSend") || has("NonBlockingReceive")
	r.dest, r.source = r.in("dest"), r.in("source")
	r.sendTag, r.recvTag = r.in("sendtag", "tag"), r.in("recvtag", "tag")
	r.sendType, r.recvType = r.in("sendtype", "datatype"), r.in("recvtype", "datatype")
	r.sendCount = r.in("sendcount", "count")
	r.message = r.in("message")
	r.completes, r.starts = p.Completes, p.Starts
	r.cancels = p.Name == "MPI_Cancel"
	r.frees = p.Name == "MPI_Request_free"
	for i := signature.FirstWord; i < len(p.Words); i++ {
		r.word(i)
	}
	r.objects()
	return r
}

// word notes what word i is for.
func (r *roles) word(i int) {
	w := &r.proc.Words[i]
	q := &r.proc.Params[w.Param]
	switch {
	case w.Part == signature.Source:
		r.statusSource = i
	case w.Part == signature.MessageTag:
		r.statusTag = i
	case q.Kind == signature.Statuses:
		r.statuses = i
	case q.Kind == signature.Msg && w.Form == signature.SlotForm:
		r.found = i
	case q.Kind == signature.Req && w.Form == signature.SlotForm:
		r.request = i
	case q.Kind == signature.Req && (r.completes != "" || r.starts || r.frees || r.cancels):
		r.requests, r.vec = i, w.Form == signature.VecForm
	case w.Out && q.Name == "flag":
		r.flag = i
	case w.Out && q.Name == "index":
		r.index = i
	case w.Out && q.Name == "array_of_indices":
		r.indices = i
	}
}

// in returns the input word of the first of the parameters that is there.
func (r *roles) in(names ...string) int {
	for _, name := range names {
		q := r.proc.Param(name)
		for i := 2; q >= 0 && i < len(r.proc.Words); i++ {
			if r.proc.Words[i].Param == q && !r.proc.Words[i].Out {
				return i
			}
		}
	}
	return 0
}

// objects are the kinds of objects that must be freed.
var objects = map[signature.Kind]string{
	signature.Comm: "communicator", signature.Type: "datatype", signature.Win: "window", signature.File: "file",
}

// notOwned make objects that nobody has to free, or that are there already.
var notOwned = []string{
	"MPI_Comm_get_parent", "MPI_Type_match_size", "MPI_Type_create_f90_complex", "MPI_Type_create_f90_integer",
	"MPI_Type_create_f90_real", "MPI_Type_get_value_index", "MPI_Type_commit",
}

func (r *roles) objects() {
	p := r.proc
	if slices.Contains(notOwned, p.Name) {
		return
	}
	for i := 2; i < len(p.Words); i++ {
		if p.Words[i].Param < 0 {
			continue
		}
		q := &p.Params[p.Words[i].Param]
		switch {
		case objects[q.Kind] == "":
		case p.Frees && q.Dir == signature.InOut:
			r.freed, r.object = i, q.Kind
		case q.Dir == signature.Out && p.Words[i].Form != signature.VecForm && p.Ctor != "":
			r.made, r.object = i, q.Kind
		}
	}
}

// mask is the set of the words.
func mask(words ...int) uint64 {
	m := uint64(0)
	for _, w := range words {
		m |= 1 << w
	}
	return m &^ 1
}

// probeMakes says whether a procedure hands out matched messages.
func probeMakes(p *signature.Proc) bool {
	return p != nil && strings.HasSuffix(strings.ToLower(p.Name), "mprobe")
}

// idOf is the identity of what an event makes, a word of it; false if it made nothing.
func idOf(e *reconstruct.Event, word int) (uint64, bool) {
	slot := e.Word(word)
	return signature.ID{Thread: e.Thread(), Node: uint32(e.Node()), Slot: uint32(slot)}.Word(), slot>>62 == 0
}
