package otf2

import (
	"strings"

	"github.com/efg-tools/efg/internal/importer"
	"github.com/efg-tools/efg/signature"
)

// region is what a region of the archive becomes.
type region struct {
	kind regionKind
	name string
	proc *signature.Proc
	// large: its large-count variant.
	large bool
}

type regionKind uint8

const (
	ignoredRegion regionKind = iota
	callRegion               // a call of MPI
	unknownCall              // of a procedure that efg does not record
	annotation               // of which the archive has no values
	userRegion
)

// roleArtificial is the role of regions that no code belongs to, such as that of the program.
const roleArtificial = 31

// findRegions says what regions become.
func (r *reader) findRegions() {
	r.regions = map[uint64]region{}
	for id, x := range r.archive.Definitions.Regions {
		r.regions[id] = r.regionOf(&x)
	}
}

func (r *reader) regionOf(x *Region) region {
	name := x.Canonical
	if name == "" {
		name = x.Name
	}
	name = strings.TrimSuffix(strings.TrimSpace(name), "()")
	p, large := importer.ProcNamed(name)
	switch {
	case p != nil && p.Class == signature.Annotation && r.own && !r.exact:
		return region{kind: annotation}
	case p != nil && p.Class != signature.Pass && (p.Class != signature.Annotation || r.own):
		return region{kind: callRegion, name: name, proc: p, large: large}
	case p != nil || x.Paradigm == ParadigmMPI || strings.HasPrefix(name, "MPI_"):
		return region{kind: unknownCall, name: name}
	case x.Paradigm == ParadigmMeasurement || x.Role == roleArtificial || x.Name == "":
		return region{}
	}
	return region{kind: userRegion, name: x.Name}
}
