package sim

import (
	"math/rand/v2"
	"slices"

	"github.com/efg-tools/efg/signature"
)

var (
	meshText = newText("mesh")

	meshInit      = meshText.call("MPI_Init", 25, "main", nil)
	meshGather    = meshText.call("MPI_Allgather", 41, "regrid", map[string]any{"comm": "MPI_COMM_WORLD", "sendcount": 1, "sendtype": "MPI_INT", "recvcount": 1, "recvtype": "MPI_INT"})
	meshIrecv     = meshText.call("MPI_Irecv", 60, "exchange", map[string]any{"datatype": "MPI_DOUBLE"})
	meshIsend     = meshText.call("MPI_Isend", 64, "exchange", map[string]any{"datatype": "MPI_DOUBLE"})
	meshWaitany   = meshText.call("MPI_Waitany", 69, "exchange", nil)
	meshWaitall   = meshText.call("MPI_Waitall", 73, "exchange", nil)
	meshAllreduce = meshText.call("MPI_Allreduce", 90, "main", map[string]any{"comm": "MPI_COMM_WORLD", "count": 1, "datatype": "MPI_DOUBLE", "op": "MPI_MIN"})
	meshFinalize  = meshText.call("MPI_Finalize", 97, "main", nil)
)

const (
	patches  = 3   // maximum number of messages to a neighbour
	maxPatch = 512 // elements that receives are posted for, more than arrive
)

// message is a message of the mesh.
type message struct {
	peer, patch int
	count       uint64
}

// mesh is an adaptive mesh: which ranks send how many messages of which size to which others
// changes every Regrid steps, and messages are processed in the order of arrival.
func mesh(r *rank) {
	random := r.random(streamProgram)
	var in, out []message
	r.call(meshInit)
	for step := range r.Steps {
		if step%r.Regrid == 0 {
			r.call(meshGather)
			in, out = r.messages(step / r.Regrid)
		}
		exchange(r, in, out, random)
		r.call(meshAllreduce)
	}
	r.call(meshFinalize)
}

// exchange is the messages of one step. There is at least one.
func exchange(r *rank, in, out []message, random *rand.Rand) {
	var receives, sends []uint64
	for _, m := range in {
		receives = append(receives, r.post(meshIrecv, signature.CommWorld, maxPatch, uint64(m.peer), uint64(m.patch)))
	}
	for _, m := range out {
		sends = append(sends, r.post(meshIsend, signature.CommWorld, m.count, uint64(m.peer), uint64(m.patch)))
	}
	for k, i := range random.Perm(len(in)) {
		w := r.at(meshWaitany)
		w[waitCount] = uint64(len(in))
		if w[waitArray] = signature.Same; k == 0 {
			r.vec(waitArray, receives)
		}
		m := in[i]
		copy(w[waitIndex:], []uint64{uint64(i), signature.AsPosted, signature.AsPosted, 8 * m.count})
		r.record()
		r.build.Free(receives[i])
	}
	r.waitall(meshWaitall, sends, nil)
}

// messages are the incoming and outgoing messages between two changes of the mesh.
func (r *rank) messages(epoch int) (in, out []message) {
	for _, peer := range r.near(epoch) {
		for k := range patches {
			if n := r.patch(peer, r.number, k, epoch); n > 0 {
				in = append(in, message{peer, k, n})
			}
			if n := r.patch(r.number, peer, k, epoch); n > 0 {
				out = append(out, message{peer, k, n})
			}
		}
	}
	return in, out
}

// patch is the number of elements of a message, 0 if there is none. The first message always
// exists.
func (c *Config) patch(from, to, k, epoch int) uint64 {
	h := c.draw(3, uint64(from), uint64(to), uint64(k), uint64(epoch))
	if k > 0 && h>>32%3 == 0 {
		return 0
	}
	return 1 + h%(maxPatch-1)
}

// near are the neighbours: the previous and the next rank, and random ones nearby.
func (r *rank) near(epoch int) []int {
	line, plane := r.Grid[2], r.Grid[1]*r.Grid[2]
	var l []int
	for _, d := range []int{1, 2, 3, line, line + 1, line - 1, plane, plane + 1, plane - line, 2 * plane} {
		for _, peer := range []int{r.number - d, r.number + d} {
			if d <= 0 || peer < 0 || peer >= r.Ranks || slices.Contains(l, peer) {
				continue
			}
			low, high := uint64(min(peer, r.number)), uint64(max(peer, r.number))
			if d == 1 || r.draw(4, low, high, uint64(epoch))%3 != 0 {
				l = append(l, peer)
			}
		}
	}
	slices.Sort(l)
	return l
}
