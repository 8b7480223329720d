package simgrid

import (
	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/signature"
)

// action says what becomes of the calls of a node.
type action uint8

const (
	nothing   action = iota
	leftOut          // nothing, and the user is told
	missing          // they cannot be replayed
	transfers        // sends or receives, and returns when that is done
	issues           // likewise, but a request completes it
	prepares         // makes a persistent request
	starts           // starts such requests
	joins            // a collective call
)

// plan is what the calls of a node have in common.
type plan struct {
	action    action
	name      string
	completes bool // its requests
	frees     bool // its request
	wild      bool // its request may be a receive of any source or tag
	write     collectiveWriter
	proc      *signature.Proc
	roles     *signature.Roles
}

func planOf(n *efg.Node) plan {
	h := signature.Header(n.Words[0])
	p := signature.ProcByID(h.Proc())
	if p == nil || len(p.Words) != len(n.Words) {
		return plan{action: missing, name: "calls of unknown procedures"}
	}
	x := plan{name: p.Name, proc: p, roles: &p.Roles}
	switch {
	case h.Counted():
		return x
	case h.ErrorClass() != 0:
		x.action, x.name = missing, "failed "+p.Name
		return x
	}
	x.action = actionOf(p)
	x.write = collectives[p.Name]
	x.completes = p.Completes != "" && p.Peeks == ""
	x.frees = p.FreesRequest()
	x.wild = (x.action == issues || x.action == prepares) && p.Receives()
	return x
}

func actionOf(p *signature.Proc) action {
	switch {
	case p.Setup():
		return nothing
	case p.OnFiles():
		return leftOut
	case p.Cancels || p.Accesses() || p.Epoch != 0:
		return missing
	case p.Starts:
		return starts
	case p.Collective():
		return collectiveAction(p)
	case !p.Sends() && !p.Receives():
		return nothing
	case p.Roles.Message != 0 || p.Roles.Send.Parts != 0 || p.Roles.Recv.Parts != 0:
		return missing // matched apart from other messages
	case p.Persistent:
		return prepares
	case p.Issues != "":
		return issues
	}
	return transfers
}

func collectiveAction(p *signature.Proc) action {
	switch {
	case collectives[p.Name] != nil:
		return joins
	case collectives[p.Base.Name] != nil || p.Roles.Send.Present() || p.Roles.Recv.Present():
		return missing
	}
	return leftOut
}
