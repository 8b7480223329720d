package analysis

import "github.com/efg-tools/efg/signature"

// collective computes what a collective operation moves, by its semantics, not by the library's
// algorithm.
func (c *instance) collective(t *transfer) {
	a := c.plan
	if a.Shape == signature.NoData {
		return
	}
	if t.comm == nil {
		t.Unknown = 1
		return
	}
	switch a.Shape {
	case signature.OneToAll, signature.AllToOne:
		c.rooted(t)
	case signature.Prefix:
		c.same(t, true)
	case signature.AllToAll:
		c.toEach(t)
	default:
		c.neighbours(t)
	}
}

// toEach is a collective in which every process sends something to every process.
func (c *instance) toEach(t *transfer) {
	switch a := c.plan; {
	case a.Reduces() && a.Roles.Send.Blocks:
		c.reduceScatter(t)
	case a.Reduces():
		c.same(t, false)
	case a.Roles.Send.Blocks:
		c.alltoall(t)
	default:
		c.allgather(t)
	}
}

// same is a collective in which every process sends and receives the same amount.
func (c *instance) same(t *transfer, higher bool) {
	t.Sent = c.bytes(t, &c.plan.Roles.Recv)
	t.Received = t.Sent
	t.toAll(t.Sent, higher)
}

// rooted is a collective with a root.
func (c *instance) rooted(t *transfer) {
	r := &c.plan.Roles
	root := c.words[r.Root]
	atRoot, leaf := root == signature.RootHere, root != signature.RootHere && root != signature.ProcNull
	if !t.comm.inter {
		atRoot, leaf = root == uint64(t.comm.rank), true
	}
	switch toAll := c.plan.Shape == signature.OneToAll; {
	case toAll && !r.Send.Blocks: // MPI_Bcast
		n := c.bytes(t, &r.Send)
		if atRoot {
			t.Sent = n
			t.toAll(n, false)
		} else {
			t.Received = n
		}
	case toAll: // MPI_Scatter
		if atRoot {
			t.Sent = c.blocks(t, &r.Send)
			c.spread(t, &r.Send)
		}
		if leaf {
			t.Received = c.bytes(t, &r.Recv)
		}
	default: // MPI_Gather, MPI_Reduce
		if leaf {
			t.Sent = c.bytes(t, &r.Send)
			t.toRank(int(root), t.Sent)
		}
		if atRoot {
			t.Received = c.blocks(t, &r.Recv)
		}
	}
}

// blocks is the size of a buffer, which may have a block for each peer.
func (c *instance) blocks(t *transfer, q *signature.Payload) uint64 {
	if !q.Blocks || c.isVec(q.Count) {
		return c.bytes(t, q)
	}
	return c.bytes(t, q) * uint64(t.comm.peers().size)
}

// spread reports the blocks of a buffer, one for each peer.
func (c *instance) spread(t *transfer, q *signature.Payload) {
	if !c.isVec(q.Count) {
		t.toAll(c.bytes(t, q), false)
		return
	}
	if t.leg == nil || c.words[q.Type] == signature.Absent {
		return
	}
	counts, _ := c.vec(q.Count)
	for i := range counts {
		t.leg(i, c.part(t, q, i), false)
	}
}

func (c *instance) allgather(t *transfer) {
	a := &c.plan.Roles
	switch {
	case c.words[a.Send.Type] != signature.Absent:
		t.Sent = c.bytes(t, &a.Send)
	case c.isVec(a.Recv.Count):
		t.Sent = c.part(t, &a.Recv, t.comm.rank)
	default:
		t.Sent = c.bytes(t, &a.Recv)
	}
	t.Received = c.blocks(t, &a.Recv)
	t.toAll(t.Sent, false)
}

func (c *instance) alltoall(t *transfer) {
	from := &c.plan.Roles.Send
	if c.words[from.Type] == signature.Absent { // in place
		from = &c.plan.Roles.Recv
	}
	t.Sent, t.Received = c.blocks(t, from), c.blocks(t, &c.plan.Roles.Recv)
	c.spread(t, from)
}

// reduceScatter scatters its result over the members of its own group. Which part of an operand
// goes to which member of the other group of an intercommunicator is unknown.
func (c *instance) reduceScatter(t *transfer) {
	q := &c.plan.Roles.Recv
	if c.isVec(q.Count) {
		t.Sent, t.Received = c.bytes(t, q), c.part(t, q, t.comm.rank)
	} else {
		t.Received = c.bytes(t, q)
		t.Sent = t.Received * uint64(t.comm.local.size)
	}
	if t.comm.inter {
		t.toRank(outside, t.Sent)
		return
	}
	c.spread(t, q)
}

// neighbours is a neighbourhood collective. Blocks for MPI_PROC_NULL do not
// count.
func (c *instance) neighbours(t *transfer) {
	a := &c.plan.Roles
	in, out, ok := c.process.Neighbours(c.words[signature.ObjectWord])
	gathers := !a.Send.Blocks // MPI_Neighbor_allgather
	if !ok {
		c.unknownNeighbours(t, gathers)
		return
	}
	one := c.bytes(t, &a.Send)
	vector := c.isVec(a.Send.Count)
	for i, to := range out {
		n := one
		if vector {
			n = c.part(t, &a.Send, i)
		}
		if to == outside {
			continue
		}
		if !gathers {
			t.Sent += n
		}
		t.toRank(to, n)
	}
	if gathers {
		t.Sent = one
	}
	vector = c.isVec(a.Recv.Count)
	one = c.bytes(t, &a.Recv)
	for i, from := range in {
		n := one
		if vector {
			n = c.part(t, &a.Recv, i)
		}
		if from != outside {
			t.Received += n
		}
	}
}

// unknownNeighbours counts what the arrays of counts determine even if the neighbours are
// unknown.
func (c *instance) unknownNeighbours(t *transfer, gathers bool) {
	a := &c.plan.Roles
	if gathers || c.isVec(a.Send.Count) {
		t.Sent = c.bytes(t, &a.Send)
	}
	if c.isVec(a.Recv.Count) {
		t.Received = c.bytes(t, &a.Recv)
	}
	if !gathers && !c.isVec(a.Send.Count) || !c.isVec(a.Recv.Count) {
		t.Unknown = 1
	}
	t.toRank(outside, t.Sent)
}
