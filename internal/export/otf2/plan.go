package otf2

import (
	"strings"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/signature"
)

// action says what the calls of a node do.
type action uint8

const (
	noAction      action = iota
	transfers            // sends or receives, and returns when that is done
	issues               // a request completes it
	prepares             // makes a persistent request
	starts               // starts such requests
	readies              // marks partitions of a message
	matches              // finds a message for another call to receive: MPI_Mprobe
	takes                // receives that: MPI_Mrecv
	takesLater           // MPI_Imrecv
	joins                // a collective call
	joinsLater           // a nonblocking one
	preparesAll          // a persistent one
	joinsOnWindow        // a collective call on a window
	accesses             // the memory of a window
	synchronises         // accesses
	opensFile
	closesFile
	movesFile // reads or writes
	endsHalf  // of a split collective on a file
	seeks
	deletesFile
	opens  // a region
	closes // one or more
)

// plan is what the calls of a node have in common.
type plan struct {
	action      action
	sends       bool
	receives    bool
	completes   bool // its requests
	tests       bool // it may find nothing complete
	frees       bool // its request
	makes       int  // word of the communicator that it makes, 0: none
	op          byte // of a collective
	region      uint32
	place       uint32 // of the callsite
	function    uint32 // string, 0 if it is unknown
	path        uint32 // calling context, undefined if there is none
	language    uint32 // string, 0 for C
	unused      uint32 // string, see unusedBuffers
	large       bool
	byPMPI      bool
	proc        *signature.Proc
	roles       *signature.Roles
	mask        uint64 // of the words that differ between its calls
	sent        message
	sentKnown   bool // sent is the same in all its calls
	joined      collective
	joinedKnown bool
	posted      operation // a receive
	postedKnown bool
}

// planOf says what the calls of a node do.
func planOf(n *efg.Node) plan {
	h := signature.Header(n.Words[0])
	p := signature.ProcByID(h.Proc())
	x := plan{mask: n.Mask, large: h.Large(), byPMPI: h.ByPMPI()}
	if p == nil || len(p.Words) != len(n.Words) {
		return x
	}
	x.proc, x.roles = p, &p.Roles
	if h.ErrorClass() != 0 || h.Counted() {
		return x
	}
	x.sends, x.receives = p.Sends(), p.Receives()
	x.completes = p.Completes != ""
	x.tests = (x.completes || p.Peeks != "") && p.Roles.Flag != 0
	x.frees = p.FreesRequest()
	x.action, x.op = actionOf(p)
	if p.MadeKind() == signature.Comm && p.Variant == signature.Plain {
		x.makes = p.Roles.Made
	}
	return x
}

func actionOf(p *signature.Proc) (action, byte) {
	op, collective := collectiveOf(p)
	switch {
	case p.Opens:
		return opens, 0
	case p.Closes:
		return closes, 0
	case p.MadeKind() == signature.Win || p.ObjectKind() == signature.Win:
		return rmaActionOf(p), 0
	case p.OnFiles():
		return fileActionOf(p), 0
	case p.Starts:
		return starts, 0
	case p.Readies():
		return readies, 0
	case collective && p.Variant == signature.Nonblocking:
		return joinsLater, op
	case collective && p.Variant == signature.Persistent:
		return preparesAll, op
	case collective && p.Variant == signature.Plain:
		return joins, op
	case p.Collective():
		return noAction, 0
	case p.Roles.MatchedMessage != 0:
		return matches, 0
	case p.Roles.Message != 0 && p.Receives():
		if p.Issues != "" {
			return takesLater, 0
		}
		return takes, 0
	case !p.Sends() && !p.Receives():
		return noAction, 0
	case p.Persistent:
		return prepares, 0
	case p.Issues != "":
		return issues, 0
	}
	return transfers, 0
}

// known reports whether words are the same in all calls of the node.
func (x *plan) known(words ...int) bool {
	for _, w := range words {
		if x.mask>>w&1 != 0 {
			return false
		}
	}
	return true
}

// unusedBuffers are the buffers that do not matter in the calls of a node and are constants, as in
// "recvbuf=NULL": JSON Lines leave them out.
func unusedBuffers(words []uint64) string {
	p := signature.ProcByID(signature.Header(words[0]).Proc())
	if p == nil || len(p.Words) != len(words) {
		return ""
	}
	var list []string
	for i := range p.Words {
		d, c := p.Roles.DataOf(i), signature.ConstantOf(words[i])
		if d != nil && c != nil && words[i] != signature.Absent && words[d.Type] == signature.Absent {
			list = append(list, p.Words[i].Name+"="+strings.TrimPrefix(c.Name, "EFG_"))
		}
	}
	return strings.Join(list, " ")
}
