package waitfor

import (
	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/seq"
	"github.com/efg-tools/efg/signature"
)

// message is a message that a call sends or is to receive.
type message struct {
	send      bool
	consumes  bool // a receive consumes it, a probe does not
	inFlight  bool // of the call in progress, which is not in the graph
	comm      uint64
	peer, tag uint64 // words
}

// messagesOf are the messages of a call, without those to and from MPI_PROC_NULL.
func messagesOf(words []uint64, inFlight bool) []message {
	_, a := lookUp(words)
	var list []message
	if a.Roles.Dest != 0 && words[a.Roles.Dest] != signature.ProcNull {
		list = append(list, message{true, false, inFlight, words[signature.ObjectWord], words[a.Roles.Dest], words[a.Roles.SendTag]})
	}
	if a.Roles.Source != 0 && words[a.Roles.Source] != signature.ProcNull {
		list = append(list, message{false, !a.Probes(), inFlight, words[signature.ObjectWord], words[a.Roles.Source], words[a.Roles.RecvTag]})
	}
	return list
}

// issue returns the words of the last event that issued a request; false if the graph does not
// have it.
func issue(p *efg.Process, request uint64) ([]uint64, bool) {
	id, ok := signature.ParseID(request)
	if !ok {
		return nil, false
	}
	for i := range p.Streams {
		s := &p.Streams[i]
		if s.Thread == id.Thread && int(id.Node) < len(s.Nodes) {
			return newestWith(&s.Nodes[id.Node], uint64(id.Slot), p.Defs)
		}
	}
	return nil, false
}

// newestWith returns the words of the last event of a node that made the object with this slot.
// Of the demoted words only numbers are filled in.
func newestWith(n *efg.Node, slot uint64, defs []efg.Def) ([]uint64, bool) {
	proc := signature.ProcByID(signature.Header(n.Words[0]).Proc())
	if proc == nil || len(proc.Words) != len(n.Words) {
		return nil, false
	}
	words := append([]uint64(nil), n.Words...)
	var index []int
	var seqs []*seq.Seq
	at, slotAt := 0, -1
	for i := range n.Words {
		if n.Mask>>i&1 == 0 {
			continue
		}
		if form := proc.Words[i].Form; at < len(n.Attrs) && (form == signature.ScalarForm || form == signature.SlotForm) {
			if form == signature.SlotForm {
				slotAt = len(index)
			}
			index, seqs = append(index, i), append(seqs, n.Attrs[at].Values)
		}
		at++
	}
	if slotAt < 0 {
		return nil, false
	}
	found := false
	z := seq.JoinRuns(seqs...)
	left := int(budget)
	for v, _, ok := z.Next(); ok; v, _, ok = z.Next() {
		if left--; left < 0 {
			return nil, false
		}
		if v[slotAt] != slot {
			continue
		}
		found = true
		for k, i := range index {
			words[i] = v[k]
		}
	}
	return words, found && z.Err() == nil
}

// requestsOf are the requests that a call waits for; false if they are unknown.
func requestsOf(r *Rank, thread int, words []uint64) ([]uint64, bool) {
	_, a := lookUp(words)
	w := words[a.Roles.Requests]
	if !a.Vector(a.Roles.Requests) {
		return []uint64{w}, signature.IsID(w)
	}
	if w == signature.Absent {
		return nil, false
	}
	if w != signature.Same {
		for i := range r.Process.Defs {
			if d := &r.Process.Defs[i]; d.Kind == efg.DefVec && d.Word == w {
				return d.Words, true
			}
		}
	}
	return walkRequests(r, thread, w)
}
