package match

import (
	"math"
	"math/rand/v2"
	"testing"
)

// The first thread of a queue is the one with the lowest key, and of those the lowest index, after
// threads were added, moved and removed in random order.
func TestQueue(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{1, 2, 3, 7, 64, 100} {
		q, keys := newQueue(n), map[int]int64{}
		threads := make([]Thread, n)
		for round := range 2000 {
			i := random.IntN(n)
			th := &threads[i]
			if th.Index = i; random.IntN(4) == 0 {
				q.remove(th)
				delete(keys, i)
			} else {
				th.key = random.Int64N(20) - 10
				if random.IntN(50) == 0 {
					th.key = math.MaxInt64 - random.Int64N(3)
				}
				q.put(th)
				keys[i] = min(th.key, last)
			}
			first := -1
			for k := range n {
				key, ok := keys[k]
				if q.has(&Thread{Index: k}) != ok {
					t.Fatalf("%d threads, round %d: thread %d: in the queue: %t", n, round, k, !ok)
				}
				if ok && (first < 0 || key < keys[first]) {
					first = k
				}
			}
			if q.empty() != (first < 0) || first >= 0 && q.first() != first {
				t.Fatalf("%d threads, round %d: thread %d is the first, not %d", n, round, q.first(), first)
			}
		}
	}
}
