package efg

import (
	"errors"
	"fmt"
)

// NoMarks are the marks of a stream that should get none.
func NoMarks() *Marks { return &Marks{} }

func (m *Marks) isNone() bool { return m.Events == nil }

// checkMarks checks that a stream's marks have the sequences that its graph asks
// for, one value for each mark. Only a walk tells whether the values are right.
func checkMarks(s *Stream) error {
	m := s.Marks
	if m == nil || m.isNone() {
		return nil
	}
	if len(m.Nodes) != len(s.Nodes) {
		return fmt.Errorf("marks of %d nodes", len(m.Nodes))
	}
	for i := range m.Nodes {
		n, of := &m.Nodes[i], &s.Nodes[i]
		if len(n.Runs) != runMarks(of) || len(n.Elems) != elemMarks(of) || (n.Left != nil) != (len(of.Edges) > 1) {
			return fmt.Errorf("marks of node %d are of another node", i)
		}
		if n.Visits == nil {
			return fmt.Errorf("no marks of node %d", i)
		}
	}
	if m.Last == nil {
		return errors.New("marks without their last nodes")
	}
	for _, x := range m.seqs() {
		if x != nil && x.Len() != m.Events.Len() {
			return fmt.Errorf("%d values for %d marks", x.Len(), m.Events.Len())
		}
	}
	return nil
}
