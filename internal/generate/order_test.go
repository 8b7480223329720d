package generate

import (
	"fmt"
	"slices"
	"testing"
)

// The order of two threads follows from the numbers of the requests that one issues and the other completes: each has the
// lowest number that was free.
func TestOrderOfRequests(t *testing.T) {
	b := &orderedBlock{}
	for slot := range 2 {
		b.slots = append(b.slots, &variable{made: true, block: b, slot: slot, last: none, above: none})
	}
	list := func(what use, slots ...int) (events []orderedEvent) {
		for i, slot := range slots {
			events = append(events, orderedEvent{seq: uint64(i), visit: uint64(i), ops: []operation{{b.slots[slot], what}}})
		}
		return events
	}
	// The second request of the issuer is number 1: the first one was not complete. The third is number 0: it was.
	b.makes = []int{0, 1, 0}
	s := &scheduler{
		ordering: &ordering{process: &process{}, events: [][]orderedEvent{list(makes, b.makes...), list(ends, 0, 1, 0)}},
		next:     make([]int, 2), known: [][]int{make([]int, 2), make([]int, 2)}, clocks: make([][][]int, 2),
		awaits: map[int]map[uint64][]reference{}, waited: map[int]int64{},
	}
	for i := range s.events[1] {
		s.events[1][i].node = 1
	}
	var order []int
	for range 6 {
		stream := s.choose()
		if stream < 0 {
			t.Fatalf("stuck after %v", order)
		}
		order = append(order, stream)
		s.step(stream)
	}
	if want := []int{0, 0, 1, 0, 1, 1}; !slices.Equal(order, want) {
		t.Errorf("order of threads %v, want %v", order, want)
	}
	// The first completion waits for the second request, the third request for the first completion, the last completion for
	// the third request.
	want := map[int]map[uint64][]reference{
		0: {2: {{1, 0}}},
		1: {0: {{0, 1}}, 2: {{0, 2}}},
	}
	if got := fmt.Sprint(s.awaits); got != fmt.Sprint(want) {
		t.Errorf("waits %s, want %v", got, want)
	}
}
