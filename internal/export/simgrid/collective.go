package simgrid

import (
	"slices"

	"github.com/efg-tools/efg/internal/analysis"
	"github.com/efg-tools/efg/reconstruct"
	"github.com/efg-tools/efg/signature"
)

// collectiveWriter writes a collective call of all ranks; false if the sizes are unknown or too large.
type collectiveWriter func(p *process, e *reconstruct.Event, r *signature.Roles) bool

// collectives are the collective calls that can be replayed.
var collectives map[string]collectiveWriter

func init() {
	collectives = map[string]collectiveWriter{
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

// join writes a collective call.
func (p *process) join(e *reconstruct.Event, x *plan) {
	switch c := p.comm(e.Word(signature.ObjectWord)); {
	case c.single:
	case !c.whole:
		p.missing[x.name+" of some ranks"]++
	case !x.write(p, e, x.roles):
		p.missing[x.name+" of unknown size, or 16 GiB or more"]++
	default:
		p.joined[p.rank]++
	}
}

// either is the size of the first payload that is significant.
func (p *process) either(e *reconstruct.Event, of ...*signature.Payload) (uint64, bool) {
	for _, d := range of {
		if p.isVector(e, d) {
			continue
		}
		if n, ok := p.facts.PayloadBytes(e, d); ok {
			return n, true
		}
	}
	return 0, false
}

func (p *process) isVector(e *reconstruct.Event, d *signature.Payload) bool {
	return e.Proc().Vector(d.Count)
}

// each are the sizes of a payload for each rank; nil if they are unknown or not significant.
func (p *process) each(e *reconstruct.Event, d *signature.Payload) []uint64 {
	if d.Type == 0 || !p.isVector(e, d) {
		return nil
	}
	size, ok := p.facts.TypeBytes(e.Word(d.Type))
	elems, _ := e.Vec(d.Count)
	if !ok || len(elems) != p.ranks {
		return nil
	}
	list := make([]uint64, len(elems))
	for i, n := range elems {
		list[i] = analysis.Product(n, size)
	}
	return list
}

// rooted reports which rank is the root, and whether that is the process itself.
func (p *process) rooted(e *reconstruct.Event, r *signature.Roles) (root int64, own, ok bool) {
	w := e.Word(r.Root)
	return int64(w), int(w) == p.rank, w < uint64(p.ranks)
}

func barrier(p *process, _ *reconstruct.Event, _ *signature.Roles) bool {
	p.act("barrier")
	return true
}

func bcast(p *process, e *reconstruct.Event, r *signature.Roles) bool {
	root, _, known := p.rooted(e, r)
	n, sized := p.either(e, &r.Send, &r.Recv)
	counts, datatype, fits := elements(n)
	if known && sized && fits {
		p.act("bcast", counts[0], root, datatype)
		return true
	}
	return false
}

// Reductions have no computation of their own: how long it took is part of the call's time.

func reduce(p *process, e *reconstruct.Event, r *signature.Roles) bool {
	root, _, known := p.rooted(e, r)
	n, sized := p.either(e, &r.Send, &r.Recv)
	counts, datatype, fits := elements(n)
	if known && sized && fits {
		p.act("reduce", counts[0], 0, root, datatype)
		return true
	}
	return false
}

func reduction(action string) collectiveWriter {
	return func(p *process, e *reconstruct.Event, r *signature.Roles) bool {
		n, sized := p.either(e, &r.Send, &r.Recv)
		counts, datatype, fits := elements(n)
		if sized && fits {
			p.act(action, counts[0], 0, datatype)
			return true
		}
		return false
	}
}

// exchange writes calls in which all ranks send and receive blocks of the same size.
func exchange(action string) collectiveWriter {
	return func(p *process, e *reconstruct.Event, r *signature.Roles) bool {
		sent, ok1 := p.either(e, &r.Send, &r.Recv)
		received, ok2 := p.either(e, &r.Recv)
		return ok1 && ok2 && p.transferAll(action, []uint64{sent, received})
	}
}

func gather(p *process, e *reconstruct.Event, r *signature.Roles) bool {
	root, _, known := p.rooted(e, r)
	sent, ok := p.either(e, &r.Send, &r.Recv)
	received, atRoot := p.either(e, &r.Recv)
	if !atRoot {
		received = sent
	}
	return known && ok && p.transferAll("gather", []uint64{sent, received}, root)
}

func scatter(p *process, e *reconstruct.Event, r *signature.Roles) bool {
	root, _, known := p.rooted(e, r)
	received, ok := p.either(e, &r.Recv, &r.Send)
	sent, atRoot := p.either(e, &r.Send)
	if !atRoot {
		sent = received
	}
	return known && ok && p.transferAll("scatter", []uint64{sent, received}, root)
}

// transferAll writes an action with sizes, further arguments, and the datatypes of what is sent and
// received.
func (p *process) transferAll(action string, sizes []uint64, args ...int64) bool {
	counts, datatype, fits := elements(sizes...)
	if fits {
		p.act(action, slices.Concat(counts, args, []int64{datatype, datatype})...)
	}
	return fits
}

func allgatherv(p *process, e *reconstruct.Event, r *signature.Roles) bool {
	received := p.each(e, &r.Recv)
	if received == nil {
		return false
	}
	sent, ok := p.either(e, &r.Send)
	if !ok {
		sent = received[p.rank]
	}
	return p.transferAll("allgatherv", slices.Concat([]uint64{sent}, received))
}

func gatherv(p *process, e *reconstruct.Event, r *signature.Roles) bool {
	root, own, known := p.rooted(e, r)
	sent, ok := p.either(e, &r.Send)
	received := make([]uint64, p.ranks)
	if own {
		if received = p.each(e, &r.Recv); received == nil {
			return false
		}
		if !ok {
			sent, ok = received[p.rank], true
		}
	}
	return known && ok && p.transferAll("gatherv", slices.Concat([]uint64{sent}, received), root)
}

func scatterv(p *process, e *reconstruct.Event, r *signature.Roles) bool {
	root, own, known := p.rooted(e, r)
	received, ok := p.either(e, &r.Recv)
	sent := make([]uint64, p.ranks)
	if own {
		if sent = p.each(e, &r.Send); sent == nil {
			return false
		}
		if !ok {
			received, ok = sent[p.rank], true
		}
	}
	return known && ok && p.transferAll("scatterv", slices.Concat(sent, []uint64{received}), root)
}

func alltoallv(p *process, e *reconstruct.Event, r *signature.Roles) bool {
	received := p.each(e, &r.Recv)
	sent := p.each(e, &r.Send)
	if sent == nil {
		sent = received
	}
	if received == nil {
		return false
	}
	return p.transferAll("alltoallv", slices.Concat([]uint64{sum(sent)}, sent, []uint64{sum(received)}, received))
}

func sum(list []uint64) (n uint64) {
	for _, v := range list {
		n += v
	}
	return n
}

func reduceScatter(p *process, e *reconstruct.Event, r *signature.Roles) bool {
	sizes := p.each(e, &r.Recv)
	if sizes == nil {
		sizes = p.each(e, &r.Send)
	}
	if n, ok := p.either(e, &r.Recv, &r.Send); ok && sizes == nil {
		sizes = slices.Repeat([]uint64{n}, p.ranks)
	}
	counts, datatype, fits := elements(sizes...)
	if sizes == nil || !fits {
		return false
	}
	p.act("reducescatter", append(counts, 0, datatype)...)
	return true
}
