package analysis

import (
	"sync"

	"github.com/efg-tools/efg/signature"
)

// plan says what kind of thing a procedure moves, and which of its words describe it.
type plan struct {
	*signature.Proc
	kind kind
	mask uint64
}

type kind uint8

const (
	movesNothing kind = iota
	pointToPoint
	oneSided
	fileRead
	fileWrite
	collective
	starting // persistent operations
)

var nothing = plan{Proc: &signature.Proc{}}

var plans = sync.OnceValue(func() []plan {
	procs := signature.Procs()
	list := make([]plan, len(procs)+1)
	list[0] = nothing
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

func makePlan(p *signature.Proc) plan {
	a := plan{Proc: p, kind: kindOf(p)}
	a.findMask()
	return a
}

func kindOf(p *signature.Proc) kind {
	switch {
	case p.Starts:
		return starting
	case p.Sends() || p.Receives():
		return pointToPoint
	case p.Accesses():
		return oneSided
	case p.Variant == signature.SplitBegin: // the end call knows what was transferred
	case p.ReadsFile():
		return fileRead
	case p.WritesFile():
		return fileWrite
	case p.Shape > signature.NoData || p.Barrier():
		return collective
	}
	return movesNothing
}

// blocking reports whether a receiving call itself returns what was received.
func (a *plan) blocking() bool { return a.Roles.Recv.Present() && a.Roles.StatusBytes != 0 }

// findMask collects the words that matter. The object determines the members.
func (a *plan) findMask() {
	r := &a.Roles
	var words []int
	switch a.kind {
	case movesNothing:
		return
	case starting:
		words = []int{r.Requests}
	case pointToPoint:
		words = []int{r.Dest, r.Source, r.Message}
	case oneSided:
		words = []int{r.Target, r.Op}
	case collective:
		words = []int{r.Root}
	}
	if a.kind == fileRead || a.kind == fileWrite || a.kind == pointToPoint && a.blocking() {
		words = append(words, r.StatusBytes)
	}
	for _, d := range []*signature.Payload{&r.Send, &r.Recv} {
		words = append(words, d.Count, d.Type, d.Parts)
	}
	a.mask = 1 << signature.ObjectWord
	for _, i := range words {
		if i > 0 {
			a.mask |= 1 << i
		}
	}
}
