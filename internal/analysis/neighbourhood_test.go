package analysis_test

import (
	"encoding/json"
	"strings"

	"github.com/efg-tools/efg/internal/analysis"
)

// neighbourhood holds the neighbours of a process in a communicator, -1 for MPI_PROC_NULL. The
// counter finds them by brute force.
type neighbourhood struct {
	in, out       []int
	dims, periods []int // of a Cartesian topology
}

func numbers(v any) []int {
	var list []int
	l, _ := v.([]any)
	for _, x := range l {
		n, ok := x.(json.Number)
		if !ok {
			list = append(list, -1)
			continue
		}
		i, _ := n.Int64()
		list = append(list, int(i))
	}
	return list
}

// makeNeighbourhood notes the topology that a call attaches to a communicator.
func (c *counter) makeNeighbourhood(o *operation) {
	made := ""
	for _, name := range []string{"comm_cart", "newcomm", "comm_graph", "comm_dist_graph"} {
		if s, ok := o.out[name].(string); ok {
			made = s
		}
	}
	if made == "" || made == "MPI_COMM_NULL" {
		return
	}
	old, _ := o.args["comm"].(string)
	v := &neighbourhood{}
	switch o.op {
	case "MPI_Comm_dup", "MPI_Comm_dup_with_info", "MPI_Comm_idup", "MPI_Comm_idup_with_info":
		v = c.near[old]
	case "MPI_Cart_create":
		v.dims, v.periods = numbers(o.args["dims"]), numbers(o.args["periods"])
	case "MPI_Cart_sub":
		if c.near[old] == nil {
			return
		}
		for i, keep := range numbers(o.args["remain_dims"]) {
			if keep != 0 {
				v.dims, v.periods = append(v.dims, c.near[old].dims[i]), append(v.periods, c.near[old].periods[i])
			}
		}
	case "MPI_Graph_create":
		v.in = numbers(o.args["edges"]) // lists selects this rank's part
		v.dims, v.periods = nil, numbers(o.args["index"])
	case "MPI_Dist_graph_create_adjacent":
		v.in, v.out = numbers(o.args["sources"]), numbers(o.args["destinations"])
	default:
		return
	}
	if v != nil {
		c.near[made] = v
	}
}

// lists are the neighbours of rank me.
func (v *neighbourhood) lists(me int) (in, out []int) {
	switch {
	case v.dims != nil:
		out = v.grid(me)
		return out, out
	case v.periods != nil: // the index of a graph
		low := 0
		if me > 0 {
			low = v.periods[me-1]
		}
		out = v.in[low:v.periods[me]]
		return out, out
	}
	return v.in, v.out
}

// grid looks for the ranks whose coordinates differ by one in one dimension.
func (v *neighbourhood) grid(me int) (list []int) {
	total := 1
	for _, d := range v.dims {
		total *= d
	}
	coords := func(rank int) []int {
		at := make([]int, len(v.dims))
		for i := len(v.dims) - 1; i >= 0; i-- {
			at[i] = rank % v.dims[i]
			rank /= v.dims[i]
		}
		return at
	}
	for i := range v.dims {
		for _, step := range []int{-1, 1} {
			want, found := coords(me), -1
			want[i] += step
			if v.periods[i] != 0 {
				want[i] = (want[i] + v.dims[i]) % v.dims[i]
			}
			for rank := range total {
				same := true
				for k, x := range coords(rank) {
					same = same && x == want[k]
				}
				if same {
					found = rank
				}
			}
			list = append(list, found)
		}
	}
	return list
}

func (c *counter) neighbourVolume(v *analysis.Volume, o *operation, name string) {
	_, _, me := c.sides(o.comm)
	comm, _ := o.args["comm"].(string)
	gathers := strings.HasPrefix(name, "Neighbor_allgather")
	near := c.near[comm]
	if near == nil { // what the arrays of counts determine
		v.Sent = o.bytes("sendcounts", "sendtype") + o.bytes("sendcounts", "sendtypes")
		v.Received = o.bytes("recvcounts", "recvtype") + o.bytes("recvcounts", "recvtypes")
		if gathers {
			v.Sent = o.bytes("sendcount", "sendtype")
		}
		if o.args["recvcounts"] == nil {
			v.Unknown = 1
		}
		return
	}
	in, out := near.lists(me)
	v.Sent, v.Received = o.blocks("send", out), o.blocks("recv", in)
	if gathers {
		v.Sent = o.bytes("sendcount", "sendtype")
	}
}

// blocks adds the blocks of a buffer that belong to existing neighbours.
func (o *operation) blocks(side string, neighbours []int) (total uint64) {
	counts, ok := o.args[side+"counts"].([]any)
	sizes := append(o.sizes[side+"type"], o.sizes[side+"types"]...)
	for i, rank := range neighbours {
		if rank < 0 {
			continue
		}
		n := o.number(side + "count")
		if ok {
			v, _ := counts[i].(json.Number).Int64()
			n = uint64(v)
		}
		total += n * sizes[min(i, len(sizes)-1)]
	}
	return total
}
