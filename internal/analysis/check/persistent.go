package check

import (
	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/internal/analysis"
)

// alternate reports whether the graph proves that each persistent request of the process
// completes after each start before it is started again: every path from a start to a start has
// a completion.
func (t *tally) alternate() bool {
	if len(t.p.Data.Streams) != 1 {
		return true // calls of several threads have no order
	}
	s := &t.p.Data.Streams[0]
	starts, ends := map[uint64][]int{}, make([]map[uint64]bool, len(s.Nodes))
	for k := range s.Nodes {
		r := rolesOf(&s.Nodes[k])
		switch {
		case r.starts:
			ids, ok := t.sure(k, r, &s.Nodes[k])
			if !ok {
				return false
			}
			for _, id := range ids {
				starts[id] = append(starts[id], k)
			}
		case r.completes == "one" || r.completes == "all":
			if ids, ok := t.sure(k, r, &s.Nodes[k]); ok {
				ends[k] = map[uint64]bool{}
				for _, id := range ids {
					ends[k][id] = true
				}
			}
		}
	}
	for id, nodes := range starts {
		if reaches(s, id, nodes, ends) {
			return false
		}
	}
	return true
}

// sure lists the requests that each event of a node handles.
func (t *tally) sure(k int, r *roles, n *efg.Node) (ids []uint64, ok bool) {
	if n.Mask&mask(r.requests, r.flag) != 0 {
		return nil, false
	}
	err := t.p.ValueGroups(0, k, 0, func(v *analysis.ValueGroup) error {
		if ok = r.flag == 0 || v.Word(r.flag) == 1; ok {
			before := t.doubt
			ids = t.array(0, k, r, v)
			ok = !t.doubt
			t.doubt = before
		}
		return nil
	})
	return ids, ok && err == nil
}

// reaches reports whether a path leads from one of the nodes that start a request to another
// without passing one that completes it.
func reaches(s *efg.Stream, id uint64, nodes []int, ends []map[uint64]bool) bool {
	seen := make([]bool, len(s.Nodes))
	target := make([]bool, len(s.Nodes))
	for _, k := range nodes {
		target[k] = true
	}
	work := append([]int(nil), nodes...)
	for len(work) > 0 {
		k := work[len(work)-1]
		work = work[:len(work)-1]
		for _, e := range s.Nodes[k].Edges {
			to := int(e.To)
			if e.Weight == 0 || ends[to][id] {
				continue
			}
			if target[to] {
				return true
			}
			if !seen[to] {
				seen[to] = true
				work = append(work, to)
			}
		}
	}
	return false
}
