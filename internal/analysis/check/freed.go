package check

import (
	"slices"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/internal/analysis"
	"github.com/efg-tools/efg/signature"
)

// Libraries need not notice that a handle was freed. A call that was passed one and returned
// may have used other memory.

// freedHandles finds the nodes of calls that were passed a handle that had been freed.
func (t *tally) freedHandles() ([]candidateFault, error) {
	var list []candidateFault
	for i := range t.p.Data.Streams {
		s := &t.p.Data.Streams[i]
		for k := range s.Nodes {
			f, err := t.freedAt(i, k, &s.Nodes[k])
			if err != nil {
				return nil, err
			}
			if f.count > 0 {
				f.at = place{s.Thread, int32(k)}
				list = append(list, f)
			}
		}
	}
	return list, nil
}

// freedAt finds the calls of a node; its count is 0 if there are none.
func (t *tally) freedAt(i, k int, n *efg.Node) (f candidateFault, err error) {
	p := procOf(n)
	words := handleWords(p, n)
	if !slices.ContainsFunc(words, func(w int) bool { return n.Mask>>w&1 != 0 || t.isFreed(n, w, n.Words[w]) }) {
		return f, nil
	}
	f = candidateFault{kind: FreedHandle, op: p.Name, site: n.Words[1]}
	err = t.p.ValueGroups(i, k, mask(words...), func(v *analysis.ValueGroup) error {
		for _, w := range words {
			if t.isFreed(n, w, v.Word(w)) {
				f.count += v.Times
				f.text = p.Params[p.Words[w].Param].Name + " " + wasFreed + " before"
				return nil
			}
		}
		return nil
	})
	return f, err
}

// handleWords are the words of a node that hold handles passed to the call, without requests:
// completion has freed these.
func handleWords(p *signature.Proc, n *efg.Node) (words []int) {
	if p == nil || len(p.Words) != len(n.Words) || n.Counted > 0 {
		return nil
	}
	for i := signature.ObjectWord; i < len(p.Words); i++ {
		w := &p.Words[i]
		if w.Param < 0 || w.Out {
			continue
		}
		if kind := p.Params[w.Param].Kind; kind.Handle() && kind != signature.Req {
			words = append(words, i)
		}
	}
	return words
}

// isFreed reports whether word i of a node is a freed handle, or an array with one.
func (t *tally) isFreed(n *efg.Node, i int, word uint64) bool {
	if signature.Header(n.Words[0]).Form(i) == signature.VecForm {
		return slices.Contains(t.p.Vec(word), signature.Freed)
	}
	return word == signature.Freed
}
