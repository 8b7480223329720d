package simulate

// The algorithms are those that Schedgen uses for the calls that it knows; MPI_Allgather's messages grow
// as they do in Bruck's algorithm, where Schedgen's are all of one size. Messages of a round do not wait
// for each other.

// members are those who exchange messages in a collective call.
type members struct {
	at   func(i int) int // rank in the run
	size int
	me   int
}

// barrierBytes is the size of the messages of a barrier.
const barrierBytes = 1

// disseminate sends as much to members at doubling distances.
func (c *call) disseminate(m members, bytes uint64) {
	for d := 1; d < m.size; d *= 2 {
		c.round(c.to(m.at((m.me+d)%m.size), bytes), c.from(m.at((m.me-d+m.size)%m.size), bytes))
	}
}

// collect gives all members the blocks of all: at doubling distances, what is there already.
func (c *call) collect(m members, block func(i int) uint64) {
	before := func(from, n int) (sum uint64) { // of n blocks: from, from-1 …
		for i := range n {
			sum += block((from - i + m.size) % m.size)
		}
		return sum
	}
	for d := 1; d < m.size; d *= 2 {
		n := min(d, m.size-d)
		from := (m.me - d + m.size) % m.size
		c.round(c.to(m.at((m.me+d)%m.size), before(m.me, n)), c.from(m.at(from), before(from, n)))
	}
}

// place is where a member is in a tree whose root is member 0, or which member is at a place: the root
// and member 0 change places.
func place(member, root int) int {
	switch member {
	case root:
		return 0
	case 0:
		return root
	}
	return member
}

// tree returns the parent and the children of a member in the binomial tree from a root; parent is -1 at
// the root.
func (m *members) tree(root int) (parent int, children []int) {
	at := place(m.me, root)
	parent = -1
	d := 1
	for ; d <= at; d *= 2 {
		parent = at - d
	}
	if parent >= 0 {
		parent = m.at(place(parent, root))
	}
	for ; at+d < m.size; d *= 2 {
		children = append(children, m.at(place(at+d, root)))
	}
	return parent, children
}

// broadcast sends along a binomial tree.
func (c *call) broadcast(m members, root int, bytes uint64) {
	parent, children := m.tree(root)
	if parent >= 0 {
		c.round(c.from(parent, bytes))
	}
	var list []message
	for _, to := range children {
		list = append(list, c.to(to, bytes))
	}
	c.round(list...)
}

// reduce is a broadcast backwards.
func (c *call) reduce(m members, root int, bytes uint64) {
	parent, children := m.tree(root)
	var list []message
	for _, from := range children {
		list = append(list, c.from(from, bytes))
	}
	c.round(list...)
	if parent >= 0 {
		c.round(c.to(parent, bytes))
	}
}

// scan sends as much to members at doubling distances, but not around.
func (c *call) scan(m members, bytes uint64) {
	for d := 1; d < m.size; d *= 2 {
		var list []message
		if m.me+d < m.size {
			list = append(list, c.to(m.at(m.me+d), bytes))
		}
		if m.me-d >= 0 {
			list = append(list, c.from(m.at(m.me-d), bytes))
		}
		c.round(list...)
	}
}

// exchange sends a block to each other member of a group, and receives one.
func (c *call) exchange(sent, received func(i int) uint64) {
	n := c.on.own.Size()
	list := make([]message, 0, 2*n)
	for step := 1; step < n; step++ {
		to, from := (c.me+step)%n, (c.me-step+n)%n
		list = append(list, c.to(c.on.own.At(to), sent(to)), c.from(c.on.own.At(from), received(from)))
	}
	c.round(list...)
}

// gather sends the blocks of all members to the root.
func (c *call) gather(root int) {
	r := c.x.roles
	if c.me != root {
		c.round(c.to(c.on.own.At(root), c.size(&r.Send)))
		return
	}
	var list []message
	for i := range c.on.own.Size() {
		if i != root {
			list = append(list, c.from(c.on.own.At(i), c.block(i, &r.Recv)))
		}
	}
	c.round(list...)
}

// scatter sends the root's blocks to the members.
func (c *call) scatter(root int) {
	r := c.x.roles
	if c.me != root {
		c.round(c.from(c.on.own.At(root), c.size(&r.Recv)))
		return
	}
	var list []message
	for i := range c.on.own.Size() {
		if i != root {
			list = append(list, c.to(c.on.own.At(i), c.block(i, &r.Send)))
		}
	}
	c.round(list...)
}
