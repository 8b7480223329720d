package match

// queue is a heap of threads, the one with the earliest next step first.
type queue []*Thread

func (q queue) less(i, j int) bool {
	a, b := q[i], q[j]
	return a.key < b.key || a.key == b.key && a.Index < b.Index
}

func (q queue) swap(i, j int) {
	q[i], q[j] = q[j], q[i]
	q[i].at, q[j].at = i, j
}

func (q *queue) push(t *Thread) {
	t.at = len(*q)
	*q = append(*q, t)
	q.up(t.at)
}

// remove takes out a thread.
func (q *queue) remove(t *Thread) {
	i, last := t.at, len(*q)-1
	q.swap(i, last)
	(*q)[last] = nil
	*q = (*q)[:last]
	if i < last {
		q.down(i)
		q.up(i)
	}
}

func (q queue) up(i int) {
	for i > 0 && q.less(i, (i-1)/2) {
		q.swap(i, (i-1)/2)
		i = (i - 1) / 2
	}
}

// down moves a thread whose key has grown to its place.
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
