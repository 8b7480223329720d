package simulate

import (
	"slices"
	"strconv"

	"github.com/efg-tools/efg/internal/analysis"
	"github.com/efg-tools/efg/signature"
)

// actionWriter returns an action of SimGrid for a collective call of all ranks, "" if the sizes are unknown or
// too large.
type actionWriter func(c *call, r *signature.Roles) string

// simGridActions are the collective calls that SimGrid has actions for.
var simGridActions map[string]actionWriter

func init() {
	simGridActions = map[string]actionWriter{
		"MPI_Barrier":              barrier,
		"MPI_Bcast":                bcast,
		"MPI_Reduce":               reduce,
		"MPI_Allreduce":            reduction("allreduce"),
		"MPI_Scan":                 reduction("scan"),
		"MPI_Exscan":               reduction("exscan"),
		"MPI_Allgather":            exchange("allgather"),
		"MPI_Alltoall":             exchange("alltoall"),
		"MPI_Gather":               gather,
		"MPI_Scatter":              scatter,
		"MPI_Allgatherv":           allgatherv,
		"MPI_Gatherv":              gatherv,
		"MPI_Scatterv":             scatterv,
		"MPI_Alltoallv":            alltoallv,
		"MPI_Reduce_scatter":       reduceScatter,
		"MPI_Reduce_scatter_block": reduceScatter,
	}
}

// simGridAction is the action of a collective call of all ranks, "" if SimGrid has none. It is not known if sizes are
// unknown or too large.
func simGridAction(c *call) (action string, known bool) {
	write := simGridActions[c.x.proc.Name]
	if write == nil {
		return "", true
	}
	action = write(c, c.x.roles)
	return action, action != ""
}

// newAction is an action with its arguments.
func newAction(name string, args ...int64) string {
	b := []byte(name)
	for _, a := range args {
		b = strconv.AppendInt(append(b, ' '), a, 10)
	}
	return string(b)
}

// either is the size of the first payload that is significant.
func (c *call) either(of ...*signature.Payload) (uint64, bool) {
	for _, d := range of {
		if c.isVector(d) {
			continue
		}
		if n, ok := c.p.facts.PayloadBytes(c.e, d); ok {
			return n, true
		}
	}
	return 0, false
}

func (c *call) isVector(d *signature.Payload) bool {
	return c.e.Proc().Vector(d.Count)
}

// each are the sizes of a payload for each rank; nil if they are unknown or not significant.
func (c *call) each(d *signature.Payload) []uint64 {
	if d.Type == 0 || !c.isVector(d) {
		return nil
	}
	size, ok := c.p.facts.TypeBytes(c.e.Word(d.Type))
	elems, _ := c.e.Vec(d.Count)
	if !ok || len(elems) != c.p.ranks {
		return nil
	}
	list := make([]uint64, len(elems))
	for i, n := range elems {
		list[i] = analysis.Product(n, size)
	}
	return list
}

// rootAmongAll reports which rank is the root, and whether that is the process itself.
func (c *call) rootAmongAll(r *signature.Roles) (root int64, own, ok bool) {
	w := c.e.Word(r.Root)
	return int64(w), int(w) == c.p.rank, w < uint64(c.p.ranks)
}

func barrier(*call, *signature.Roles) string {
	return newAction("barrier")
}

func bcast(c *call, r *signature.Roles) string {
	root, _, known := c.rootAmongAll(r)
	n, sized := c.either(&r.Send, &r.Recv)
	counts, datatype, fits := elements(n)
	if known && sized && fits {
		return newAction("bcast", counts[0], root, datatype)
	}
	return ""
}

// Reductions have no computation of their own: how long it took is part of the call's time.

func reduce(c *call, r *signature.Roles) string {
	root, _, known := c.rootAmongAll(r)
	n, sized := c.either(&r.Send, &r.Recv)
	counts, datatype, fits := elements(n)
	if known && sized && fits {
		return newAction("reduce", counts[0], 0, root, datatype)
	}
	return ""
}

func reduction(action string) actionWriter {
	return func(c *call, r *signature.Roles) string {
		n, sized := c.either(&r.Send, &r.Recv)
		counts, datatype, fits := elements(n)
		if sized && fits {
			return newAction(action, counts[0], 0, datatype)
		}
		return ""
	}
}

// exchange writes calls in which all ranks send and receive blocks of the same size.
func exchange(action string) actionWriter {
	return func(c *call, r *signature.Roles) string {
		sent, ok1 := c.either(&r.Send, &r.Recv)
		received, ok2 := c.either(&r.Recv)
		if !ok1 || !ok2 {
			return ""
		}
		return transferAll(action, []uint64{sent, received})
	}
}

func gather(c *call, r *signature.Roles) string {
	root, _, known := c.rootAmongAll(r)
	sent, ok := c.either(&r.Send, &r.Recv)
	received, atRoot := c.either(&r.Recv)
	if !atRoot {
		received = sent
	}
	if !known || !ok {
		return ""
	}
	return transferAll("gather", []uint64{sent, received}, root)
}

func scatter(c *call, r *signature.Roles) string {
	root, _, known := c.rootAmongAll(r)
	received, ok := c.either(&r.Recv, &r.Send)
	sent, atRoot := c.either(&r.Send)
	if !atRoot {
		sent = received
	}
	if !known || !ok {
		return ""
	}
	return transferAll("scatter", []uint64{sent, received}, root)
}

// transferAll writes an action with sizes, further arguments, and the datatypes of what is sent and
// received.
func transferAll(action string, sizes []uint64, args ...int64) string {
	counts, datatype, fits := elements(sizes...)
	if !fits {
		return ""
	}
	return newAction(action, slices.Concat(counts, args, []int64{datatype, datatype})...)
}

func allgatherv(c *call, r *signature.Roles) string {
	received := c.each(&r.Recv)
	if received == nil {
		return ""
	}
	sent, ok := c.either(&r.Send)
	if !ok {
		sent = received[c.p.rank]
	}
	return transferAll("allgatherv", slices.Concat([]uint64{sent}, received))
}

func gatherv(c *call, r *signature.Roles) string {
	root, own, known := c.rootAmongAll(r)
	sent, ok := c.either(&r.Send)
	received := make([]uint64, c.p.ranks)
	if own {
		if received = c.each(&r.Recv); received == nil {
			return ""
		}
		if !ok {
			sent, ok = received[c.p.rank], true
		}
	}
	if !known || !ok {
		return ""
	}
	return transferAll("gatherv", slices.Concat([]uint64{sent}, received), root)
}

func scatterv(c *call, r *signature.Roles) string {
	root, own, known := c.rootAmongAll(r)
	received, ok := c.either(&r.Recv)
	sent := make([]uint64, c.p.ranks)
	if own {
		if sent = c.each(&r.Send); sent == nil {
			return ""
		}
		if !ok {
			received, ok = sent[c.p.rank], true
		}
	}
	if !known || !ok {
		return ""
	}
	return transferAll("scatterv", slices.Concat(sent, []uint64{received}), root)
}

func alltoallv(c *call, r *signature.Roles) string {
	received := c.each(&r.Recv)
	sent := c.each(&r.Send)
	if sent == nil {
		sent = received
	}
	if received == nil {
		return ""
	}
	return transferAll("alltoallv", slices.Concat([]uint64{sum(sent)}, sent, []uint64{sum(received)}, received))
}

func sum(list []uint64) (n uint64) {
	for _, v := range list {
		n += v
	}
	return n
}

func reduceScatter(c *call, r *signature.Roles) string {
	sizes := c.each(&r.Recv)
	if sizes == nil {
		sizes = c.each(&r.Send)
	}
	if n, ok := c.either(&r.Recv, &r.Send); ok && sizes == nil {
		sizes = slices.Repeat([]uint64{n}, c.p.ranks)
	}
	counts, datatype, fits := elements(sizes...)
	if sizes == nil || !fits {
		return ""
	}
	return newAction("reducescatter", append(counts, 0, datatype)...)
}
