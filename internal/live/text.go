package live

import (
	"strings"

	"github.com/efg-tools/efg/internal/analysis/waitfor"
	"github.com/efg-tools/efg/reconstruct"
	"github.com/efg-tools/efg/signature"
)

// texts gives the human-readable form of calls.
type texts struct{ *waitfor.Texts }

func newTexts(j *Job) *texts { return &texts{waitfor.NewTexts(j.Sites)} }

// of describes the call that a thread is in, or its last one.
func (x *texts) of(r *Rank, thread int) reconstruct.NodeText {
	a := &r.Activities[thread]
	return x.Call(&r.Process, r.Number, a.Thread, a.Words)
}

// mismatches describes the mismatches of a verdict.
func (x *texts) mismatches(v *waitfor.Verdict) []Mismatch {
	list := []Mismatch{}
	for i := range v.Mismatches {
		m := &v.Mismatches[i]
		y := Mismatch{Differ: string(m.Difference), On: x.Object(m)}
		for _, t := range x.Places(m) {
			y.Calls = append(y.Calls, MismatchCalls{t.Ranks, t.Text.Op, notNil(t.Text.Args), t.Text.Site, t.Calls[0].In})
		}
		list = append(list, y)
	}
	return list
}

// merged keeps equal arguments, and writes "tag=*" for others.
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

// objectArg is the argument of a call that names its communicator, window or file.
func objectArg(op string, args []string) string {
	p := signature.ProcByName(op)
	if p == nil || p.Object < 0 {
		return ""
	}
	for _, arg := range args {
		if strings.HasPrefix(arg, p.Params[p.Object].Name+"=") {
			return arg
		}
	}
	return ""
}

// maxValues is the maximum number of values of an argument that are kept.
const maxValues = 64

// varying finds the values of the arguments that differ between threads.
func varying(args []string, members []*Thread) []Varying {
	var list []Varying
	for _, arg := range args {
		name, value, _ := strings.Cut(arg, "=")
		if value != "*" {
			continue
		}
		v, seen := Varying{Name: name}, map[string]bool{}
		for _, t := range members {
			for _, x := range t.Args {
				if other, value, _ := strings.Cut(x, "="); other == name && !seen[value] {
					seen[value] = true
					v.Values = append(v.Values, value)
				}
			}
		}
		v.Number = len(v.Values)
		v.Values = v.Values[:min(v.Number, maxValues)]
		list = append(list, v)
	}
	return list
}

func has(list []string, x string) bool {
	for _, y := range list {
		if x == y {
			return true
		}
	}
	return false
}
