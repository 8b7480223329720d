package live

import (
	"strings"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/reconstruct"
)

// texts tells what people read of calls in progress.
type texts struct{ job *Job }

func newTexts(j *Job) *texts { return &texts{j} }

// of describes the call that a thread is in, or its last one.
func (x *texts) of(r *Rank, thread int) reconstruct.NodeText {
	a, defs := &r.Activities[thread], r.Process.Defs
	p := &efg.Process{Rank: r.Number, Size: r.Process.Size, Defs: defs}
	return reconstruct.DescribePending(p, a.Thread, efg.NewPending(a.Words, 0), reconstruct.NewNames(defs, x.job.Sites))
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
