package simulate

import (
	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/signature"
)

// action says what becomes of the calls of a node.
type action uint8

const (
	nothing   action = iota
	leftOut          // nothing, and the user is told
	missing          // they cannot be simulated
	transfers        // sends or receives, and returns when that is done
	issues           // likewise, but a request completes it
	prepares         // makes a persistent request
	starts           // starts such requests
	readies          // partitions of a message
	matches          // a probe that takes a message
	takes            // receives such a message
	joins            // a collective call, or one that issues or prepares it
)

// plan is what the calls of a node have in common.
type plan struct {
	action    action
	name      string
	completes bool // its requests
	frees     bool // its request
	received  bool // its request may be one of a receive
	// refers is the word of requests or a message of which other threads may be the makers, 0: none.
	refers int
	// buffered: nothing waits for what is sent.
	buffered bool
	proc     *signature.Proc
	roles    *signature.Roles
}

func planOf(n *efg.Node) plan {
	h := signature.Header(n.Words[0])
	p := signature.ProcByID(h.Proc())
	if p == nil || len(p.Words) != len(n.Words) {
		return plan{action: missing, name: "calls of unknown procedures"}
	}
	x := plan{name: p.Name, proc: p, roles: &p.Roles, action: actionOf(p)}
	switch {
	case h.Counted():
		x.action = nothing
		return x
	case h.ErrorClass() != 0:
		if x.action != nothing && x.action != leftOut {
			x.action, x.name = missing, "failed "+p.Name
		}
		return x
	}
	x.completes = p.Completes != "" && p.Peeks == ""
	x.frees = p.FreesRequest()
	x.received = (x.action == issues || x.action == prepares) && p.Receives()
	x.buffered = p.Mode == signature.BufferedMode
	switch {
	case x.action == takes:
		x.refers = p.Roles.Message
	case x.completes || x.frees || x.action == starts || x.action == readies:
		x.refers = p.Roles.Requests
	}
	return x
}

func actionOf(p *signature.Proc) action {
	switch {
	case p.Setup():
		return nothing
	case p.OnFiles():
		return leftOut
	case p.Accesses() || p.Epoch != 0:
		return missing
	case p.Starts:
		return starts
	case p.Collective():
		return collectiveAction(p)
	case p.Roles.MatchedMessage != 0:
		return matches
	case p.Roles.Message != 0:
		return takes
	case p.Readies():
		return readies
	case !p.Sends() && !p.Receives():
		return nothing
	case p.Persistent:
		return prepares
	case p.Issues != "":
		return issues
	}
	return transfers
}

func collectiveAction(p *signature.Proc) action {
	if p.Shape != signature.NoData || p.Base.Barrier() {
		return joins
	}
	return leftOut
}
