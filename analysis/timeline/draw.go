package timeline

import (
	"cmp"
	"math"
	"slices"

	"github.com/efg-tools/efg/signature"
)

// rowSums are times of a row, by pixel.
type rowSums struct {
	from, pixel int64
	width       int
	recorded    []uint64
	procs       map[uint16][]uint64
	unread      []bool // something was not looked at
	missing     bool   // anywhere
}

func (r *rowSums) init(v *View) {
	*r = rowSums{from: v.From, pixel: v.Pixel, width: v.Width, recorded: make([]uint64, v.Width),
		procs: map[uint16][]uint64{}, unread: make([]bool, v.Width)}
}

// add adds a chunk whose cells are pixels.
func (r *rowSums) add(p place, c *chunk) {
	start, _ := p.span()
	at := int((start - r.from) / r.pixel) // pixel of the first cell; may be outside
	for _, e := range c.entries {
		x := at + int(e.cell)
		if x < 0 || x >= r.width {
			continue
		}
		sum := r.procs[e.proc]
		if sum == nil {
			sum = make([]uint64, r.width)
			r.procs[e.proc] = sum
		}
		sum[x] += e.ns
	}
	to := r.from + int64(r.width)*r.pixel
	for from, until := max(c.from, r.from), min(c.until, to); from < until; {
		x := (from - r.from) / r.pixel
		end := min(until, r.from+(x+1)*r.pixel)
		r.recorded[x] += uint64(end - from)
		from = end
	}
	for _, m := range c.missing {
		r.skip(max(0, at+m.from), min(r.width, at+m.until))
	}
}

// skip notes that something between two pixels was not looked at.
func (r *rowSums) skip(from, until int) {
	r.missing = true
	for x := from; x < until; x++ {
		r.unread[x] = true
	}
}

// draw makes legend and pixels of the sums.
func (v *View) draw(rows []rowSums, share bool) {
	total := map[uint16]uint64{}
	for i := range rows {
		for proc, sum := range rows[i].procs {
			for _, ns := range sum {
				total[proc] += ns
			}
		}
		v.Complete = v.Complete && !rows[i].missing
	}
	index := v.makeLegend(total)
	v.Pixels = make([]byte, 0, len(rows)*v.Width)
	for i := range rows {
		v.Pixels = append(v.Pixels, rows[i].pixels(index)...)
		if share {
			v.Share = append(v.Share, rows[i].shares()...)
		}
	}
}

// makeLegend returns the pixel of each procedure.
func (v *View) makeLegend(total map[uint16]uint64) map[uint16]byte {
	var procs []uint16
	for p, ns := range total {
		if ns > 0 {
			procs = append(procs, p)
		}
	}
	slices.SortFunc(procs, func(a, b uint16) int { return cmp.Or(cmp.Compare(total[b], total[a]), cmp.Compare(a, b)) })
	index := map[uint16]byte{}
	v.Legend = []Procedure{}
	for i, p := range procs {
		if i >= mostProcs {
			index[p] = Other
			continue
		}
		index[p] = byte(i + 1)
		v.Legend = append(v.Legend, Procedure{opName(p), classOf(p), total[p]})
	}
	v.index = index
	return index
}

func opName(proc uint16) string {
	if p := signature.ProcByID(int(proc)); p != nil {
		return p.Name
	}
	return "unknown"
}

// pixels tells for each pixel where most of the time passed. Of equals it is the
// procedure with the lowest number; outside of MPI comes last.
func (r *rowSums) pixels(index map[uint16]byte) []byte {
	inside, most, proc := make([]uint64, r.width), make([]uint64, r.width), make([]uint16, r.width)
	for p, sum := range r.procs {
		for x, ns := range sum {
			inside[x] += ns
			if ns > most[x] || ns == most[x] && p < proc[x] {
				most[x], proc[x] = ns, p
			}
		}
	}
	out := make([]byte, r.width)
	for x := range out {
		switch outside := r.recorded[x] - min(inside[x], r.recorded[x]); {
		case r.recorded[x] == 0 && r.unread[x]:
			out[x] = Unread
		case r.recorded[x] == 0:
			out[x] = Nothing
		case most[x] > 0 && most[x] >= outside:
			out[x] = index[proc[x]]
		}
	}
	return out
}

// mostShare is the share of time that is all in MPI.
const mostShare = 254

// shares tells for each pixel which part of the time was in MPI.
func (r *rowSums) shares() []byte {
	out := make([]byte, r.width)
	for x := range out {
		inside := uint64(0)
		for _, sum := range r.procs {
			inside += sum[x]
		}
		if out[x] = Nothing; r.recorded[x] > 0 {
			out[x] = byte(math.Round(mostShare * min(1, float64(inside)/float64(r.recorded[x]))))
		}
	}
	return out
}

// mtfClasses are the classes of procedures by theirs in the MPI Trace Format.
var mtfClasses = map[string]string{
	"Send": "p2p", "Receive": "p2p", "NonBlockingSend": "p2p", "NonBlockingReceive": "p2p",
	"WaitOperation": "wait", "TestOperation": "poll", "ProbeOperation": "poll",
	"AllToAll": "collective", "Allgather": "collective", "Barrier": "collective", "Broadcast": "collective",
	"CollectiveOperation": "collective", "Gather": "collective", "Reduce": "collective", "ReduceScatter": "collective",
	"Scan": "collective", "Scatter": "collective",
}

// classOf is the class of a procedure in a legend.
func classOf(proc uint16) string {
	p := signature.ProcByID(int(proc))
	switch {
	case p == nil:
		return "other"
	case len(p.MTF) > 0 && mtfClasses[p.MTF[0]] != "":
		return mtfClasses[p.MTF[0]]
	case p.Issues == "coll":
		return "collective"
	case p.Starts || p.Persistent || p.Issues == "send" || p.Issues == "recv" || p.Issues == "sendrecv":
		return "p2p"
	case p.Object >= 0 && p.Params[p.Object].Kind == signature.Win:
		return "one-sided"
	case p.Object >= 0 && p.Params[p.Object].Kind == signature.File:
		return "file"
	}
	return "other"
}
