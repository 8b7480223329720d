package timeline

import (
	"cmp"
	"math"
	"slices"

	"github.com/efg-tools/efg/signature"
)

// rowSums holds times of a row, by pixel.
type rowSums struct {
	from, pixel int64
	width       int
	recorded    []uint64
	procs       map[uint16][]uint64
	unread      []bool // by pixel: something was not computed
	missing     bool   // in any pixel
}

func newRowSums(v *View) *rowSums {
	return &rowSums{from: v.From, pixel: v.Pixel, width: v.Width, recorded: make([]uint64, v.Width),
		procs: map[uint16][]uint64{}, unread: make([]bool, v.Width)}
}

// addProcess adds what a process did; nil means that it was not read.
func (r *rowSums) addProcess(have map[place]*chunk, row *Row) {
	if have == nil {
		r.skip(0, r.width)
		return
	}
	row.Read++
	for p, c := range have {
		r.add(p, c)
	}
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

// skip records that something between two pixels was not computed.
func (r *rowSums) skip(from, until int) {
	r.missing = true
	for x := from; x < until; x++ {
		r.unread[x] = true
	}
}

// line is a row before the legend is made.
type line struct {
	pixels  []uint16 // a procedure, or one of the following constants
	shares  []byte
	total   map[uint16]uint64
	missing bool
}

// Pixels of a line that stand for no procedure; procedures are numbered from 1.
const (
	lineOutside = 0
	lineUnread  = 0xfffe
	lineNothing = 0xffff
)

// line draws the sums.
func (r *rowSums) line(share bool) line {
	l := line{pixels: r.pixels(), total: map[uint16]uint64{}, missing: r.missing}
	for proc, sum := range r.procs {
		for _, ns := range sum {
			l.total[proc] += ns
		}
	}
	if share {
		l.shares = r.shares()
	}
	return l
}

// draw makes the legend, and the pixels of the lines.
func (v *View) draw(lines []line) {
	total := map[uint16]uint64{}
	for i := range lines {
		for proc, ns := range lines[i].total {
			total[proc] += ns
		}
		v.Complete = v.Complete && !lines[i].missing
	}
	v.makeLegend(total)
	v.Pixels = make([]byte, 0, len(lines)*v.Width)
	for i := range lines {
		for _, p := range lines[i].pixels {
			v.Pixels = append(v.Pixels, v.pixel(p))
		}
		v.Share = append(v.Share, lines[i].shares...)
	}
}

// pixel is the byte for a pixel of a line.
func (v *View) pixel(p uint16) byte {
	switch p {
	case lineOutside:
		return Outside
	case lineUnread:
		return Unread
	case lineNothing:
		return Nothing
	}
	return v.index[p]
}

// makeLegend orders the procedures by their time.
func (v *View) makeLegend(total map[uint16]uint64) {
	var procs []uint16
	for p, ns := range total {
		if ns > 0 {
			procs = append(procs, p)
		}
	}
	slices.SortFunc(procs, func(a, b uint16) int { return cmp.Or(cmp.Compare(total[b], total[a]), cmp.Compare(a, b)) })
	v.index = map[uint16]byte{}
	v.Legend = []Procedure{}
	for i, p := range procs {
		if i >= maxProcs {
			v.index[p] = Other
			continue
		}
		v.index[p] = byte(i + 1)
		v.Legend = append(v.Legend, Procedure{opName(p), classOf(p), total[p], setup(p)})
	}
}

func setup(proc uint16) bool {
	p := signature.ProcByID(int(proc))
	return p != nil && p.Setup()
}

func opName(proc uint16) string {
	if p := signature.ProcByID(int(proc)); p != nil {
		return p.Name
	}
	return "unknown"
}

// pixels determines the procedure that took most of the time of each pixel. Of equals it is the
// one with the lowest number; outside MPI comes last.
func (r *rowSums) pixels() []uint16 {
	inside, most, proc := make([]uint64, r.width), make([]uint64, r.width), make([]uint16, r.width)
	for p, sum := range r.procs {
		for x, ns := range sum {
			inside[x] += ns
			if ns > most[x] || ns == most[x] && p < proc[x] {
				most[x], proc[x] = ns, p
			}
		}
	}
	out := make([]uint16, r.width)
	for x := range out {
		switch outside := r.recorded[x] - min(inside[x], r.recorded[x]); {
		case r.recorded[x] == 0 && r.unread[x]:
			out[x] = lineUnread
		case r.recorded[x] == 0:
			out[x] = lineNothing
		case most[x] > 0 && most[x] >= outside:
			out[x] = proc[x]
		}
	}
	return out
}

// maxShare stands for a pixel whose time is all in MPI.
const maxShare = 254

// shares computes the fraction of the time in MPI for each pixel.
func (r *rowSums) shares() []byte {
	out := make([]byte, r.width)
	for x := range out {
		inside := uint64(0)
		for _, sum := range r.procs {
			inside += sum[x]
		}
		if out[x] = Nothing; r.recorded[x] > 0 {
			out[x] = byte(math.Round(maxShare * min(1, float64(inside)/float64(r.recorded[x]))))
		}
	}
	return out
}

// mtfClasses are the classes of procedures by their class in the MPI Trace Format.
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
