package live

import (
	"strings"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/reconstruct"
	"github.com/efg-tools/efg/signature"
)

// texts tells what people read of calls in progress.
type texts struct{ job *Job }

func newTexts(j *Job) *texts { return &texts{j} }

// of describes the call that a thread is in, or its last one. It is put in the place
// of a graph's only node.
func (x *texts) of(r *Rank, thread int) reconstruct.NodeText {
	words := append([]uint64(nil), r.Activities[thread].Words...)
	p, _ := lookUp(words)
	defs := r.Process.Defs
	for i := signature.FirstWord; p != nil && i < len(words); i++ {
		w := &p.Words[i]
		switch {
		case w.Out || w.Form == signature.SlotForm:
			words[i] = signature.Absent
		case w.Form == signature.VecForm && !isConst(words[i]) && !defined(defs, words[i]) || words[i] == wordSame:
			words[i] = signature.Absent // recorded when the call returns
		}
	}
	node := efg.Node{Words: words}
	call := &efg.Process{Rank: r.Number, Size: r.Process.Size, Defs: defs, Streams: []efg.Stream{{Thread: uint32(thread), Nodes: []efg.Node{node}}}}
	t := reconstruct.NewProcess(call, reconstruct.NewNames(defs, x.job.Sites)).Describe(0, 0)
	args := t.Args[:0]
	for _, a := range t.Args {
		if !strings.HasPrefix(a, "-> ") {
			args = append(args, a)
		}
	}
	t.Args = args
	return t
}

func defined(defs []efg.Def, word uint64) bool {
	for i := range defs {
		if defs[i].Word == word {
			return true
		}
	}
	return false
}

// merged keeps arguments that are the same, and writes "tag=*" for others.
func merged(a, b []string) []string {
	var out []string
	for i, x := range a {
		name, _, _ := strings.Cut(x, "=")
		switch {
		case i < len(b) && b[i] == x || has(b, x):
			out = append(out, x)
		default:
			out = append(out, name+"=*")
		}
	}
	return out
}

func has(list []string, x string) bool {
	for _, y := range list {
		if x == y {
			return true
		}
	}
	return false
}
