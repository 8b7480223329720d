package match

// queue is a heap of threads, the one with the earliest next step first. Keys and places are kept
// apart from the threads, which are far apart in memory.
type queue struct {
	list []queued
	at   []int32 // place of each thread in list, by its index
}

type queued struct {
	key    int64
	index  int32
	thread *Thread
}

func newQueue(threads int) queue { return queue{at: make([]int32, threads)} }

func (q *queue) len() int { return len(q.list) }

// first is the thread with the earliest next step.
func (q *queue) first() *Thread { return q.list[0].thread }

func (a *queued) before(b *queued) bool { return a.key < b.key || a.key == b.key && a.index < b.index }

func (q *queue) set(i int, x queued) {
	q.list[i] = x
	q.at[x.index] = int32(i)
}

func (q *queue) push(t *Thread) {
	q.list = append(q.list, queued{})
	q.up(len(q.list)-1, queued{t.key, int32(t.Index), t})
}

// has reports whether a thread is in the queue.
func (q *queue) has(t *Thread) bool {
	i := int(q.at[t.Index])
	return i < len(q.list) && q.list[i].thread == t
}

// remove takes out a thread.
func (q *queue) remove(t *Thread) {
	i, last := int(q.at[t.Index]), len(q.list)-1
	x := q.list[last]
	q.list[last] = queued{}
	q.list = q.list[:last]
	if i < last {
		q.down(i, x)
		q.up(int(q.at[x.index]), x)
	}
}

// moved puts a thread in its place whose key has grown.
func (q *queue) moved(t *Thread) {
	i := int(q.at[t.Index])
	x := q.list[i]
	x.key = t.key
	q.down(i, x)
}

// up puts an entry at place i or above.
func (q *queue) up(i int, x queued) {
	for i > 0 {
		parent := (i - 1) / 2
		if !x.before(&q.list[parent]) {
			break
		}
		q.set(i, q.list[parent])
		i = parent
	}
	q.set(i, x)
}

// down puts an entry at place i or below.
func (q *queue) down(i int, x queued) {
	for {
		child := 2*i + 1
		if child >= len(q.list) {
			break
		}
		if child+1 < len(q.list) && q.list[child+1].before(&q.list[child]) {
			child++
		}
		if !q.list[child].before(&x) {
			break
		}
		q.set(i, q.list[child])
		i = child
	}
	q.set(i, x)
}
