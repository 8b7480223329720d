package runfile

import (
	"fmt"
	"slices"
	"testing"
)

// Forks come back from their texts, in the order of ranks, each once; what is none is left out.
func TestForks(t *testing.T) {
	a, b, c := Fork{3, 70, 2, 75, "MPI_Send"}, Fork{0, 60, 1, 0, ""}, Fork{10, 80, 1, 81, "mpi_recv_"}
	first, second := &Meta{Forks: []string{a.Text(), c.Text()}}, &Meta{Forks: []string{b.Text(), a.Text(), "", "1 2 3", "x 1 2 3 y"}}
	first.Join(second)
	if got := first.ForksOf(); !slices.Equal(got, []Fork{b, a, c}) {
		t.Errorf("%+v", got)
	}
	many := &Meta{}
	for i := range maxForks + 5 {
		many.Forks = append(many.Forks, fmt.Sprintf("%d 1 1 1 x", i))
	}
	if first.Join(many); len(first.Forks) != maxForks {
		t.Errorf("%d", len(first.Forks))
	}
	if none := (&Meta{}); joinForks(none.Forks, nil) != nil {
		t.Error("no forks became some")
	}
}
