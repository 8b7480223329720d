package runfile

import (
	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/seq"
)

// checkpointsOfNode returns the number of sequences in the checkpoints of a node, from its
// value in the shape of checkpoints.
func checkpointsOfNode(v uint64) (runs, elems uint64) { return v >> 6, v & (1<<6 - 1) }

// flattenCheckpoints makes a record from a stream's checkpoints.
func flattenCheckpoints(m *efg.Checkpoints, stream int) *record {
	f := &flatten{record{kind: recordCheckpoints, shape: []uint64{uint64(len(m.Nodes))}, stream: stream}}
	n := m.Events.Len()
	f.number(n)
	add := func(s *seq.Seq) { f.seq(s, n, roleCheckpoints, nil, false) }
	add(m.Events)
	add(m.Last)
	for i := range m.Nodes {
		node := &m.Nodes[i]
		f.shape = append(f.shape, uint64(len(node.Runs))<<6|uint64(len(node.Elems)))
		add(node.Visits)
		if node.Left != nil {
			add(node.Left)
		}
		for _, s := range node.Runs {
			add(s)
		}
		for _, s := range node.Elems {
			add(s)
		}
	}
	f.key = keyOf(f.kind, f.shape)
	return &f.record
}

// checkpoints rebuilds the checkpoints of a member.
func (p *readGroup) checkpoints(member uint64) (*efg.Checkpoints, error) {
	vals, err := p.memberCells(nil, member)
	if err != nil {
		return nil, err
	}
	u := &unflatten{group: p, vals: vals}
	n := u.number()
	next := func() *seq.Seq {
		s := u.seq(nil)
		u.expect(s, n)
		return s
	}
	m := &efg.Checkpoints{Events: next(), Last: next(), Nodes: make([]efg.NodeCheckpoints, p.shape[0])}
	for i := range m.Nodes {
		to := &m.Nodes[i]
		runs, elems := checkpointsOfNode(p.shape[1+i])
		to.Visits = next()
		if runs > 0 {
			to.Left = next()
		}
		for range runs {
			to.Runs = append(to.Runs, next())
		}
		for range elems {
			to.Elems = append(to.Elems, next())
		}
	}
	return m, u.err
}
