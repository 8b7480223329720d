package waitfor

import (
	"fmt"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/rankset"
	"github.com/efg-tools/efg/reconstruct"
	"github.com/efg-tools/efg/signature"
)

// Texts describes calls in human-readable form.
type Texts struct{ sites []runfile.Site }

// NewTexts takes the source locations of a job's callsites.
func NewTexts(sites []runfile.Site) *Texts { return &Texts{sites} }

// Call describes a call of a process's thread.
func (x *Texts) Call(p *efg.Process, rank int, thread uint32, words []uint64) reconstruct.NodeText {
	q := &efg.Process{Rank: rank, Size: p.Size, Defs: p.Defs, SiteDepth: p.SiteDepth}
	return reconstruct.DescribePending(q, thread, efg.NewPending(words, 0), reconstruct.NamesOf(p, x.sites))
}

// Caller returns a call's procedure, and its callsite as "function file:line".
func (x *Texts) Caller(p *efg.Process, words []uint64) (op, site string) {
	if q := signature.ProcByID(signature.Header(words[0]).Proc()); q != nil {
		op = q.Name
	}
	return op, reconstruct.NamesOf(p, x.sites).Callsite(words[1])
}

// Object names the communicator, window or file of a mismatch.
func (x *Texts) Object(m *Mismatch) string {
	c := &m.Calls[0].Calls[0]
	kind := signature.Comm
	if p := signature.ProcByID(signature.Header(c.Words[0]).Proc()); p != nil && p.Object >= 0 {
		kind = p.Params[p.Object].Kind
	}
	return reconstruct.NewNames(c.Rank.Process.Defs, x.sites).Handle(kind, m.Object)
}

// MatchingCalls are calls of a mismatch that match each other and were made at the same
// callsite.
type MatchingCalls struct {
	Calls []CollectiveCall // by rank
	Text  reconstruct.NodeText
	Ranks []int
}

// Places groups the calls of a mismatch by callsite.
func (x *Texts) Places(m *Mismatch) []MatchingCalls {
	type key struct {
		matching int
		site     uint64
		in       bool
	}
	var list []MatchingCalls
	at := map[key]int{}
	for i := range m.Calls {
		for _, c := range m.Calls[i].Calls {
			k := key{i, c.Words[1], c.In}
			n, ok := at[k]
			if !ok {
				n = len(list)
				at[k] = n
				list = append(list, MatchingCalls{Text: x.Call(c.Rank.Process, c.Rank.Number, 0, c.Words)})
			}
			list[n].Calls, list[n].Ranks = append(list[n].Calls, c), append(list[n].Ranks, c.Rank.Number)
		}
	}
	return list
}

// RanksText names ranks, in ascending order.
func RanksText(list []int) string {
	if len(list) == 1 {
		return fmt.Sprintf("rank %d", list[0])
	}
	return "ranks " + rankset.Text(list)
}

// CycleText says that the ranks of a cycle wait for each other.
func CycleText(ranks []int) string {
	if len(ranks) == 1 {
		return RanksText(ranks) + " waits for itself"
	}
	return RanksText(ranks) + " wait for each other"
}
