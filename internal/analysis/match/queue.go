package match

// queue is a heap of threads, the one with the earliest next step first. Keys are kept beside the
// threads, which are far apart in memory.
type queue []queued

type queued struct {
	key    int64
	index  int32
	thread *Thread
}

func (q queue) less(i, j int) bool {
	a, b := &q[i], &q[j]
	return a.key < b.key || a.key == b.key && a.index < b.index
}

func (q queue) swap(i, j int) {
	q[i], q[j] = q[j], q[i]
	q[i].thread.at, q[j].thread.at = i, j
}

func (q *queue) push(t *Thread) {
	t.at = len(*q)
	*q = append(*q, queued{t.key, int32(t.Index), t})
	q.up(t.at)
}

// has reports whether a thread is in the queue.
func (q queue) has(t *Thread) bool { return t.at < len(q) && q[t.at].thread == t }

// remove takes out a thread.
func (q *queue) remove(t *Thread) {
	i, last := t.at, len(*q)-1
	q.swap(i, last)
	(*q)[last] = queued{}
	*q = (*q)[:last]
	if i < last {
		q.down(i)
		q.up(i)
	}
}

// moved puts a thread in its place whose key has grown.
func (q queue) moved(t *Thread) {
	q[t.at].key = t.key
	q.down(t.at)
}

func (q queue) up(i int) {
	for i > 0 && q.less(i, (i-1)/2) {
		q.swap(i, (i-1)/2)
		i = (i - 1) / 2
	}
}

func (q queue) down(i int) {
	for {
		child := 2*i + 1
		if child >= len(q) {
			return
		}
		if child+1 < len(q) && q.less(child+1, child) {
			child++
		}
		if !q.less(child, i) {
			return
		}
		q.swap(i, child)
		i = child
	}
}
