package waitfor

import "github.com/efg-tools/efg/signature"

// unknown has no words and does nothing.
var unknown = &signature.Proc{}

// lookUp returns the procedure of an event's words, nil if it is not in the table, and its
// facts, which are never nil.
func lookUp(words []uint64) (p, facts *signature.Proc) {
	p = signature.ProcByID(signature.Header(words[0]).Proc())
	if p == nil || len(p.Words) != len(words) {
		return nil, unknown
	}
	return p, p
}

// counted reports whether calls of a procedure are collective, so that all members of a
// communicator, window or file, or of the world, make them in the same order. Persistent ones
// are not tracked, nor are those of a group, which has no order of its own.
func counted(p *signature.Proc) bool {
	return p.Collective() && !p.Persistent && p.Scope != signature.ScopeGroup
}

// waits reports whether a call does not return before other processes have done their part.
func waits(p *signature.Proc) bool {
	return p.Issues == "" && !p.Poll && p.Mode != signature.BufferedMode &&
		(p.Sends() || p.Receives() || p.Probes() || p.Completes != "" || counted(p))
}

// amountWords are the words of the amount that all members of a collective must agree on: what
// each member except the root of a gather receives or sends is what the root sends or receives.
// They are 0 if members need not pass the same amount.
func amountWords(p *signature.Proc, isRoot bool) (count, datatype int) {
	r := &p.Roles
	if !counted(p) || p.Sync == signature.SyncSome || p.Sync == signature.SyncNeighbours ||
		p.Vector(r.Send.Count) || p.Vector(r.Recv.Count) {
		return 0, 0
	}
	d := &r.Recv
	if p.Sync == signature.SyncRoot && isRoot || p.Sync == signature.SyncAtRoot && !isRoot {
		d = &r.Send
	}
	return d.Count, d.Type
}
