// Package slots numbers the entry points of MPI that the hook intercepts: for every recorded
// procedure its C name, its large-count C name and its Fortran names.
//
// The front exports a stub for each slot's MPI_ names and one for its PMPI_ names; a back
// end offers one wrapper for both. The numbers hold within one build of the hook; they are
// not stored.
package slots

import (
	"slices"
	"strings"

	"github.com/efg-tools/efg/signature"
)

// Binding is the interface an entry point belongs to.
type Binding uint8

const (
	C     Binding = iota
	Mpif          // mpif.h, use mpi
	Cptr          // mpif.h, use mpi: the overload with TYPE(C_PTR) of Open MPI
	F08           // mpi_f08; choice buffers by address (Open MPI)
	F08TS         // mpi_f08; choice buffers by descriptor (MPICH)
)

// Slot is an entry point.
type Slot struct {
	ID      int
	Proc    *signature.Proc
	Binding Binding
	Large   bool
	// Name is the slot's name: EFG_SLOT_<Name> in C. It is the C name, or the
	// Fortran name without trailing underscores.
	Name string
	// Symbols are the names of the entry point in libraries; they all denote the same function.
	// PMPI are those by which tools and programs bypass interposed tools.
	Symbols, PMPI []string
}

// Annotation is how symbols of annotations begin. They are not the names that efg.h gives to
// programs, which are those of inline functions.
const Annotation = "efg_hook_"

// All returns the slots in order; All()[i] has ID i.
func All() []Slot {
	var l []Slot
	procs := signature.Procs()
	for i := range procs {
		if procs[i].Class != signature.Pass {
			l = appendProc(l, &procs[i])
		}
	}
	for i := range l {
		l[i].ID = i
		if l[i].Proc.Annotates() {
			continue
		}
		for _, name := range l[i].Symbols {
			l[i].PMPI = append(l[i].PMPI, pmpi(l[i].Binding, name)...)
		}
	}
	return l
}

// pmpi are the other names of an entry point; mpi_f08 of MPICH has its own.
func pmpi(b Binding, name string) []string {
	switch {
	case b == F08 || b == F08TS:
		return []string{"p" + name, "pmpir" + strings.TrimPrefix(name, "mpi")}
	case strings.HasPrefix(name, "mpi"):
		return []string{"p" + name}
	}
	return []string{"P" + name}
}

func appendProc(l []Slot, p *signature.Proc) []Slot {
	if p.Annotates() {
		return append(l, Slot{Proc: p, Name: p.Name, Symbols: []string{Annotation + strings.TrimPrefix(p.Name, "efg_")}})
	}
	l = append(l, Slot{Proc: p, Name: p.Name, Symbols: []string{p.Name}})
	if p.HasLarge {
		name := p.Name + "_c"
		l = append(l, Slot{Proc: p, Large: true, Name: name, Symbols: []string{name}})
	}
	if p.Fortran == signature.FortranAll || p.Fortran == signature.FortranOld {
		l = append(l, oldFortran(p, Mpif, p.Name))
		if p.FortranCptr {
			l = append(l, oldFortran(p, Cptr, p.Name+"_cptr"))
		}
	}
	if p.Fortran == signature.FortranAll || p.Fortran == signature.FortranF08 {
		l = appendF08(l, p)
	}
	return l
}

// oldFortran is an entry point whose name depends on the compiler.
func oldFortran(p *signature.Proc, b Binding, name string) Slot {
	low := strings.ToLower(name)
	return Slot{
		Proc: p, Binding: b, Name: low,
		Symbols: []string{low + "_", low, low + "__", strings.ToUpper(name)},
	}
}

func appendF08(l []Slot, p *signature.Proc) []Slot {
	add := func(b Binding, large bool, suffix string) {
		name := strings.ToLower(p.Name) + suffix
		l = append(l, Slot{Proc: p, Binding: b, Large: large, Name: name, Symbols: []string{name + "_"}})
	}
	add(F08, false, "_f08")
	if p.HasLarge {
		add(F08, true, "_f08_large")
	}
	if slices.ContainsFunc(p.Params, func(q signature.Param) bool { return q.Kind == signature.Buf }) {
		add(F08TS, false, "_f08ts")
		if p.HasLarge {
			add(F08TS, true, "_f08ts_large")
		}
	}
	return l
}
