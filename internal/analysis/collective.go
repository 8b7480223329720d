package analysis

import "github.com/efg-tools/efg/signature"

// shapes are the collectives that move data, and MPI_Barrier.
var shapes = map[string]bool{
	"barrier": true, "bcast": true, "gather": true, "gatherv": true, "scatter": true, "scatterv": true,
	"allgather": true, "allgatherv": true, "alltoall": true, "alltoallv": true, "alltoallw": true,
	"reduce": true, "allreduce": true, "reduce_scatter": true, "reduce_scatter_block": true, "scan": true, "exscan": true,
	"neighbor_allgather": true, "neighbor_allgatherv": true,
	"neighbor_alltoall": true, "neighbor_alltoallv": true, "neighbor_alltoallw": true,
}

// collective computes what a collective operation moves. Semantics, not the
// library's algorithm, tell who gets what.
func (c *instance) collective(t *transfer) {
	shape := c.plan.shape
	if shape == "barrier" {
		return
	}
	if t.comm == nil {
		t.Unknown = 1
		return
	}
	switch shape {
	case "bcast", "gather", "gatherv", "scatter", "scatterv", "reduce":
		c.rooted(t)
	case "allgather", "allgatherv":
		c.allgather(t)
	case "alltoall", "alltoallv", "alltoallw":
		c.alltoall(t)
	case "allreduce", "scan", "exscan":
		t.Sent = c.bytes(t, &c.plan.recv)
		t.Received = t.Sent
		t.toAll(t.Sent, shape != "allreduce")
	case "reduce_scatter", "reduce_scatter_block":
		c.reduceScatter(t)
	default:
		c.neighbours(t)
	}
}

// rooted is a collective with a root.
func (c *instance) rooted(t *transfer) {
	a := c.plan
	root := c.words[a.root]
	atRoot, leaf := root == wordRoot, root != wordRoot && root != wordProcNull
	if !t.comm.inter {
		atRoot, leaf = root == uint64(t.comm.rank), true
	}
	switch a.shape {
	case "bcast":
		n := c.bytes(t, &a.send)
		if atRoot {
			t.Sent = n
			t.toAll(n, false)
		} else {
			t.Received = n
		}
	case "gather", "gatherv":
		if leaf {
			t.Sent = c.bytes(t, &a.send)
			t.toRank(int(root), t.Sent)
		}
		if atRoot {
			t.Received = c.blocks(t, &a.recv)
		}
	case "scatter", "scatterv":
		if atRoot {
			t.Sent = c.blocks(t, &a.send)
			c.spread(t, &a.send)
		}
		if leaf {
			t.Received = c.bytes(t, &a.recv)
		}
	case "reduce":
		n := c.bytes(t, &a.recv)
		if leaf {
			t.Sent = n
			t.toRank(int(root), n)
		}
		if atRoot {
			t.Received = n
		}
	}
}

// blocks is the size of a buffer with a block for each peer.
func (c *instance) blocks(t *transfer, q *payload) uint64 {
	if c.isVec(q.count) {
		return c.bytes(t, q)
	}
	return c.bytes(t, q) * uint64(t.comm.peers().size)
}

// spread tells of the blocks of a buffer, one for each peer.
func (c *instance) spread(t *transfer, q *payload) {
	if !c.isVec(q.count) {
		t.toAll(c.bytes(t, q), false)
		return
	}
	if t.leg == nil || c.words[q.typ] == signature.Absent {
		return
	}
	counts, _ := c.vec(q.count)
	for i := range counts {
		t.leg(i, c.part(t, q, i), false)
	}
}

func (c *instance) allgather(t *transfer) {
	a := c.plan
	switch {
	case c.words[a.send.typ] != signature.Absent:
		t.Sent = c.bytes(t, &a.send)
	case c.isVec(a.recv.count):
		t.Sent = c.part(t, &a.recv, t.comm.rank)
	default:
		t.Sent = c.bytes(t, &a.recv)
	}
	t.Received = c.blocks(t, &a.recv)
	t.toAll(t.Sent, false)
}

func (c *instance) alltoall(t *transfer) {
	from := &c.plan.send
	if c.words[from.typ] == signature.Absent { // in place
		from = &c.plan.recv
	}
	t.Sent, t.Received = c.blocks(t, from), c.blocks(t, &c.plan.recv)
	c.spread(t, from)
}

// reduceScatter scatters its result over the members of the own group. Which
// part of an operand goes to whom in the other group of an intercommunicator is
// not known.
func (c *instance) reduceScatter(t *transfer) {
	q := &c.plan.recv
	if c.isVec(q.count) {
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
	a := c.plan
	in, out, ok := c.process.Neighbours(c.words[2])
	gathers := a.shape == "neighbor_allgather" || a.shape == "neighbor_allgatherv"
	if !ok {
		c.unknownNeighbours(t, gathers)
		return
	}
	one := c.bytes(t, &a.send)
	vector := c.isVec(a.send.count)
	for i, to := range out {
		n := one
		if vector {
			n = c.part(t, &a.send, i)
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
	vector = c.isVec(a.recv.count)
	one = c.bytes(t, &a.recv)
	for i, from := range in {
		n := one
		if vector {
			n = c.part(t, &a.recv, i)
		}
		if from != outside {
			t.Received += n
		}
	}
}

// unknownNeighbours counts what arrays of counts tell nevertheless.
func (c *instance) unknownNeighbours(t *transfer, gathers bool) {
	a := c.plan
	if gathers || c.isVec(a.send.count) {
		t.Sent = c.bytes(t, &a.send)
	}
	if c.isVec(a.recv.count) {
		t.Received = c.bytes(t, &a.recv)
	}
	if !gathers && !c.isVec(a.send.count) || !c.isVec(a.recv.count) {
		t.Unknown = 1
	}
	t.toRank(outside, t.Sent)
}
