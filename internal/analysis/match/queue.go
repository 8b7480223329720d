package match

import "math"

// queue orders threads by when their next step is, and by their index if that is the same: a
// tournament tree, with a leaf for each thread. Keys are kept apart from the threads, which are far
// apart in memory.
type queue struct {
	tree   []queued // the winner of all is at 1, those of the halves below i at 2i and 2i+1
	leaves int      // a power of two
}

type queued struct {
	key   int64
	index int32
}

// absent is the key of a thread that is not in the queue, last that of the latest step.
const (
	absent = math.MaxInt64 - 1
	last   = absent - 1
)

func newQueue(threads int) queue {
	q := queue{leaves: 1}
	for q.leaves < threads {
		q.leaves *= 2
	}
	q.tree = make([]queued, 2*q.leaves)
	for i := range q.tree {
		q.tree[i].key = absent
	}
	return q
}

func (q *queue) empty() bool { return q.tree[1].key == absent }

// first is the index of the thread with the earliest next step.
func (q *queue) first() int { return int(q.tree[1].index) }

// has reports whether a thread is in the queue.
func (q *queue) has(t *Thread) bool { return q.tree[q.leaves+t.Index].key != absent }

// put adds a thread, or puts it in its place if its key has changed.
func (q *queue) put(t *Thread) { q.set(t.Index, min(t.key, last)) }

// remove takes out a thread.
func (q *queue) remove(t *Thread) { q.set(t.Index, absent) }

func (q *queue) set(index int, key int64) {
	winner, at := queued{key, int32(index)}, q.leaves+index
	tree := q.tree
	tree[at] = winner
	for at > 1 {
		// The left one wins if both are equal.
		if other := tree[at^1]; other.key < winner.key+int64(at&1) {
			winner = other
		}
		at /= 2
		tree[at] = winner
	}
}
