package efg

import "testing"

// Streams with the times of each event have checkpoints so often that the times from one to the next
// of a thousand streams together take little memory.
func TestCheckpointDistance(t *testing.T) {
	var ops []string
	for range 40_000 {
		ops = append(ops, "MPI_Send", "MPI_Recv", "MPI_Barrier", "MPI_Barrier")
	}
	s := figure(t, ops)
	if m, err := MakeCheckpoints(s, nil, s.CheckpointDistance()); err != nil || m != nil {
		t.Fatalf("without times: %v, %v", m, err)
	}
	s.Trace = &Trace{}
	m, err := MakeCheckpoints(s, nil, s.CheckpointDistance())
	if err != nil || m == nil {
		t.Fatalf("with times: %v, %v", m, err)
	}
	last := uint64(0)
	it := m.Events.Iter()
	for at, ok := it.Next(); ok; at, ok = it.Next() {
		if at-last > 1<<17 {
			t.Errorf("no checkpoint from event %d to %d", last, at)
		}
		last = at
	}
	if s.Events-last > 1<<17 {
		t.Errorf("no checkpoint from event %d on", last)
	}
}
