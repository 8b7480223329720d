package sim

import "github.com/efg-tools/efg/signature"

var (
	haloText = newText("halo")

	haloInit      = haloText.call("MPI_Init", 21, "main", nil)
	haloCart      = haloText.call("MPI_Cart_create", 34, "setup", map[string]any{"comm_old": "MPI_COMM_WORLD", "ndims": 3, "reorder": 1})
	haloIrecv     = haloText.call("MPI_Irecv", 58, "exchange", map[string]any{"datatype": "MPI_DOUBLE"})
	haloIsend     = haloText.call("MPI_Isend", 61, "exchange", map[string]any{"datatype": "MPI_DOUBLE"})
	haloWaitall   = haloText.call("MPI_Waitall", 63, "exchange", nil)
	haloAllreduce = haloText.call("MPI_Allreduce", 80, "main", map[string]any{"count": 1, "datatype": "MPI_DOUBLE", "op": "MPI_MAX"})
	haloBarrier   = haloText.call("MPI_Barrier", 84, "main", nil)
	haloFree      = haloText.call("MPI_Comm_free", 85, "main", nil)
	haloFinalize  = haloText.call("MPI_Finalize", 86, "main", nil)
)

// Elements of the faces across each dimension, of a block of 30 × 24 × 20.
var faces = [3]uint64{24 * 20, 30 * 20, 30 * 24}

// neighbour is the process on the other side of a face.
type neighbour struct {
	rank      uint64 // or MPI_PROC_NULL
	count     uint64
	from, tag uint64 // tags of incoming and outgoing messages
}

// halo is a 3-D halo exchange: six receives, six sends, one MPI_Waitall a step,
// an MPI_Allreduce every ten. It is testdata/c/grid.c.
func halo(r *rank) {
	r.call(haloInit)
	cart := r.cart()
	near := r.neighbours()
	requests := make([]uint64, 0, 2*len(near))
	var null []uint64 // statuses of receives from MPI_PROC_NULL
	for i, n := range near {
		if n.rank == signature.ProcNull {
			null = append(null, uint64(i), signature.ProcNull, signature.AnyTag, 0)
		}
	}
	for step := range r.Steps {
		requests = requests[:0]
		for _, n := range near {
			requests = append(requests, r.post(haloIrecv, cart, n.count, n.rank, n.from))
		}
		for _, n := range near {
			requests = append(requests, r.post(haloIsend, cart, n.count, n.rank, n.tag))
		}
		if len(near) > 0 {
			r.waitall(haloWaitall, requests, null)
		}
		if step%10 == 9 {
			r.at(haloAllreduce)[wordComm] = cart
			r.record()
		}
	}
	r.at(haloBarrier)[wordComm] = cart
	r.record()
	r.at(haloFree)[wordComm] = cart
	r.record()
	r.call(haloFinalize)
}

func (r *rank) cart() uint64 {
	const dims, periods, comm = 4, 5, 7
	w := r.at(haloCart)
	period := uint64(0)
	if r.Periodic {
		period = 1
	}
	w[comm] = r.defineComm("EFG_COMM_CART")
	r.vec(dims, []uint64{uint64(r.Grid[0]), uint64(r.Grid[1]), uint64(r.Grid[2])})
	r.vec(periods, []uint64{period, period, period})
	r.record()
	return w[comm]
}

// neighbours are the rank's neighbours in the grid, in the order of its
// dimensions; those beyond a border only with Null.
func (r *rank) neighbours() []neighbour {
	var l []neighbour
	stride := r.Ranks
	for d, n := range r.Grid {
		stride /= n
		at := r.number / stride % n
		for side := range 2 {
			to := at + 2*side - 1
			b := neighbour{signature.ProcNull, faces[d], uint64(2*d + 1 - side), uint64(2*d + side)}
			if r.Periodic || to >= 0 && to < n {
				b.rank = uint64(r.number + ((to+n)%n-at)*stride)
			}
			if b.rank != signature.ProcNull || r.Null {
				l = append(l, b)
			}
		}
	}
	return l
}
