// Package palette says which colour a procedure has in every picture and on every page, whatever
// else a run calls. Procedures of a kind have shades of one colour; the colours of kinds are
// those of Okabe and Ito, which people tell apart who see colours differently, and some more.
package palette

import (
	"fmt"
	"hash/fnv"
	"image/color"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/efg-tools/efg/signature"
)

// kind is a kind of procedures: the first one that a procedure belongs to counts.
type kind struct {
	base   color.RGBA
	first  []string // those that programs call most: they have the first shades
	member func(p *signature.Proc) bool
}

var kinds = []kind{
	{rgb(70, 66, 96), []string{"MPI_Init", "MPI_Finalize"}, (*signature.Proc).Setup},
	{rgb(213, 94, 0), nil, func(p *signature.Proc) bool { return strings.HasSuffix(p.Base.Name, "_Barrier") }},
	{rgb(230, 159, 0), []string{"MPI_Wait", "MPI_Waitall"}, func(p *signature.Proc) bool { return p.MTF[0] == "WaitOperation" }},
	{rgb(150, 140, 20), []string{"MPI_Test", "MPI_Iprobe"}, func(p *signature.Proc) bool { return p.MTF[0] == "TestOperation" || p.MTF[0] == "ProbeOperation" }},
	{rgb(150, 80, 165), nil, func(p *signature.Proc) bool { return strings.Contains(p.Base.Name, "_Neighbor_") }},
	{rgb(0, 158, 115), []string{"MPI_Allreduce", "MPI_Reduce", "MPI_Scan"}, func(p *signature.Proc) bool { return collective(p) && (of(p, "reduce") || of(p, "scan")) }},
	{rgb(204, 121, 167), []string{"MPI_Bcast", "MPI_Alltoall", "MPI_Allgather", "MPI_Alltoallv", "MPI_Gather", "MPI_Scatter"}, collective},
	{rgb(60, 70, 190), []string{"MPI_Sendrecv"}, func(p *signature.Proc) bool { return of(p, "sendrecv") }},
	{rgb(64, 196, 214), []string{"MPI_Recv", "MPI_Irecv"}, func(p *signature.Proc) bool { return p.Issues == "recv" || of(p, "recv") }},
	{rgb(0, 114, 178), []string{"MPI_Send", "MPI_Isend", "MPI_Start", "MPI_Startall"}, func(p *signature.Proc) bool { return p.Starts || p.Issues == "send" || of(p, "send") }},
	{rgb(140, 90, 50), []string{"MPI_Put", "MPI_Win_fence", "MPI_Get"}, func(p *signature.Proc) bool { return handles(p, signature.Win) }},
	{rgb(84, 122, 74), nil, func(p *signature.Proc) bool { return handles(p, signature.File) }},
	{rgb(130, 130, 130), []string{"MPI_Comm_split", "MPI_Type_commit"}, func(*signature.Proc) bool { return true }},
}

func rgb(r, g, b uint8) color.RGBA { return color.RGBA{r, g, b, 255} }

// of reports whether a procedure's name, or that of the one that it is a variant of, has a part.
func of(p *signature.Proc, part string) bool {
	return strings.Contains(strings.ToLower(p.Base.Name), part)
}

// collective reports whether a procedure moves data between all processes of a communicator.
func collective(p *signature.Proc) bool {
	return p.Base.Shape != signature.NotCollective && p.MTF[0] != signature.OtherOps
}

func handles(p *signature.Proc, k signature.Kind) bool {
	return slices.ContainsFunc(p.Params, func(a signature.Param) bool { return a.Kind == k })
}

// shades are how much lighter, or darker, the procedures of a kind are. After the last one they
// repeat with a tint.
var (
	shades = []float64{0, 0.5, -0.38, 0.25, -0.62, 0.7}
	tints  = []color.RGBA{rgb(255, 255, 0), rgb(255, 0, 0), rgb(0, 0, 255), rgb(0, 255, 0)}
)

// variant is the colour of the nth procedure of a kind.
func (k *kind) variant(n int) color.RGBA {
	c := k.base
	if round := n / len(shades); round > 0 {
		c = mix(c, tints[(round-1)%len(tints)], 0.09*float64(1+(round-1)/len(tints)))
	}
	return shade(c, shades[n%len(shades)])
}

var colours = sync.OnceValue(func() map[int]color.RGBA {
	out := map[int]color.RGBA{}
	for k, list := range members() {
		for i, p := range list {
			out[p.ID] = kinds[k].variant(i)
		}
	}
	return out
})

// members are the procedures of each kind in the order of their shades: after the first ones those
// that others are variants of.
func members() [][]*signature.Proc {
	out := make([][]*signature.Proc, len(kinds))
	for k := range kinds {
		for _, name := range kinds[k].first {
			out[k] = append(out[k], signature.ProcByName(name))
		}
	}
	list := signature.Procs()
	for _, variants := range []bool{false, true} {
		for i := range list {
			p := signature.ProcByID(list[i].ID)
			if p.Class == signature.Pass || (p.Base != p) != variants {
				continue
			}
			k := slices.IndexFunc(kinds, func(k kind) bool { return k.member(p) })
			if !slices.Contains(out[k], p) {
				out[k] = append(out[k], p)
			}
		}
	}
	return out
}

// shade makes a colour lighter, or, by less than 0, darker.
func shade(c color.RGBA, by float64) color.RGBA {
	if by < 0 {
		return mix(c, rgb(0, 0, 0), -by)
	}
	return mix(c, rgb(255, 255, 255), by)
}

func mix(a, b color.RGBA, part float64) color.RGBA {
	of := func(x, y uint8) uint8 { return uint8(math.Round(float64(x) + part*(float64(y)-float64(x)))) }
	return rgb(of(a.R, b.R), of(a.G, b.G), of(a.B, b.B))
}

// Of is the colour of a procedure by its name; of an unknown one it is grey.
func Of(name string) color.RGBA {
	if p := signature.ProcByName(name); p != nil {
		if c, ok := colours()[p.ID]; ok {
			return c
		}
	}
	return kinds[len(kinds)-1].base
}

// regionHues and regionTints are how many colours regions have: light ones, on which dark text can be
// read, so that they are not taken for procedures.
const (
	regionHues  = 18
	regionTints = 2
)

// Region is the colour of a region that a program names. Regions of other names may have the same.
func Region(name string) color.RGBA {
	h := fnv.New32a()
	h.Write([]byte(name))
	n := h.Sum32() % (regionHues * regionTints)
	return pastel(float64(n%regionHues)/regionHues, float64(n/regionHues)/regionTints)
}

// pastel is a light colour of a hue, from 0 to 1; paler makes it lighter still.
func pastel(hue, paler float64) color.RGBA {
	of := func(third float64) uint8 {
		_, at := math.Modf(hue + third)
		strong := 1 - min(1, max(0, 6*min(at, 1-at)-1))
		low := 0.5 + 0.3*paler
		return uint8(math.Round(255 * (low + (0.93-low)*strong)))
	}
	return rgb(of(0), of(2.0/3), of(1.0/3))
}

// Hex writes a colour as CSS does: "#e4e4e4".
func Hex(c color.RGBA) string { return fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B) }
