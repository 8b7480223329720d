package check

import (
	"sync"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/reconstruct"
	"github.com/efg-tools/efg/signature"
)

// roles says what the words of a procedure are for in a check. Words that the
// procedure does not have are 0.
type roles struct {
	proc *signature.Proc
	// sends and receives: a message is sent or received; posts: a request completes it.
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

// rolesOf returns what the words of a node are for; nothing if the table does not have its
// procedure, or not with these words, or if the call failed.
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
	of := &p.Roles
	r := roles{
		proc: p, sends: p.Sends(), receives: p.Receives(), dest: of.Dest, source: of.Source, sendTag: of.SendTag, recvTag: of.RecvTag,
		sendType: of.Send.Type, sendCount: of.Send.Count, recvType: of.Recv.Type, message: of.Message, found: of.MatchedMessage,
		statusSource: of.StatusSource, statusTag: of.StatusTag, statuses: of.Statuses, request: of.Request,
		completes: p.Completes, starts: p.Starts, cancels: p.Cancels, frees: p.Frees && of.Requests != 0,
		flag: of.Flag, index: of.Index, indices: of.Indices,
	}
	r.posts = (r.sends || r.receives) && p.Issues != ""
	if r.completes != "" || r.starts || r.frees || r.cancels {
		r.requests, r.vec = of.Requests, p.Vector(of.Requests)
	}
	switch {
	case of.Freed != 0:
		r.freed, r.object = of.Freed, p.FreedKind()
	case !p.Shared:
		r.made, r.object = of.Made, p.MadeKind()
	}
	return r
}

// objects are the kinds of objects that must be freed.
var objects = map[signature.Kind]string{
	signature.Comm: "communicator", signature.Type: "datatype", signature.Win: "window", signature.File: "file",
}

// mask is the set of the words.
func mask(words ...int) uint64 {
	m := uint64(0)
	for _, w := range words {
		m |= 1 << w
	}
	return m &^ 1
}

// handsOutMessages reports whether a procedure finds messages for others to receive.
func handsOutMessages(p *signature.Proc) bool { return p != nil && p.Roles.MatchedMessage != 0 }

// idOf is the identity of what an event makes, from one of its words; false if it made nothing.
func idOf(e *reconstruct.Event, word int) (uint64, bool) {
	slot := e.Word(word)
	return signature.ID{Thread: e.Thread(), Node: uint32(e.Node()), Slot: uint32(slot)}.Word(), signature.IsPlain(slot)
}
