package efg

import (
	"errors"
	"fmt"
)

// NoCheckpoints are the checkpoints of a stream that should have none.
func NoCheckpoints() *Checkpoints { return &Checkpoints{} }

func (m *Checkpoints) IsNone() bool { return m.Events == nil }

// checkpointsFit checks that a stream's checkpoints have the sequences that its graph requires,
// with one value for each checkpoint. Only a walk can check the values.
func checkpointsFit(s *Stream) error {
	m := s.Checkpoints
	if m == nil || m.IsNone() {
		return nil
	}
	if len(m.Nodes) != len(s.Nodes) {
		return fmt.Errorf("checkpoints of %d nodes", len(m.Nodes))
	}
	for i := range m.Nodes {
		n, of := &m.Nodes[i], &s.Nodes[i]
		if len(n.Runs) != runCheckpoints(of) || len(n.Elems) != elemCheckpoints(of) || (n.Left != nil) != (len(of.Edges) > 1) {
			return fmt.Errorf("checkpoints of node %d are of another node", i)
		}
		if n.Visits == nil {
			return fmt.Errorf("no checkpoints of node %d", i)
		}
	}
	if m.Last == nil {
		return errors.New("checkpoints without their last nodes")
	}
	for _, x := range m.seqs() {
		if x != nil && x.Len() != m.Events.Len() {
			return fmt.Errorf("%d values for %d checkpoints", x.Len(), m.Events.Len())
		}
	}
	return nil
}
