package palette

import (
	"image/color"
	"math"
	"slices"
	"testing"

	"github.com/efg-tools/efg/signature"
)

// Procedures that programs call most have colours that can be told apart.
func TestCommonProceduresDiffer(t *testing.T) {
	common := []string{
		"MPI_Init", "MPI_Finalize", "MPI_Send", "MPI_Isend", "MPI_Recv", "MPI_Irecv", "MPI_Sendrecv", "MPI_Wait", "MPI_Waitall", "MPI_Waitany", "MPI_Test",
		"MPI_Iprobe", "MPI_Barrier", "MPI_Bcast", "MPI_Reduce", "MPI_Allreduce", "MPI_Alltoall", "MPI_Alltoallv", "MPI_Allgather", "MPI_Gather", "MPI_Scatter",
		"MPI_Scan", "MPI_Put", "MPI_Win_fence", "MPI_File_write_all", "MPI_Start", "MPI_Startall", "MPI_Comm_split", "MPI_Type_commit",
	}
	for i, a := range common {
		for _, b := range common[:i] {
			if d := distance(Of(a), Of(b)); d < 20 {
				t.Errorf("%s %s and %s %s are too alike: %.0f", a, Hex(Of(a)), b, Hex(Of(b)), d)
			}
		}
	}
}

// No two procedures of a program's usual calls, of whatever kind, have one colour.
func TestColoursOfEventsDiffer(t *testing.T) {
	seen := map[color.RGBA]string{}
	for _, p := range signature.Procs() {
		if c := Of(p.Name); p.Class == signature.Event {
			if other := seen[c]; other != "" {
				t.Errorf("%s and %s have %s", other, p.Name, Hex(c))
			}
			seen[c] = p.Name
		}
	}
}

// Regions have light colours, a name always the same.
func TestRegions(t *testing.T) {
	ink := rgb(31, 35, 40)
	seen := map[color.RGBA]bool{}
	for i := range 1000 {
		c := Region(string(rune('a'+i%26)) + string(rune('a'+i/26)))
		if seen[c] = true; distance(c, ink) < 120 {
			t.Errorf("%s is dark", Hex(c))
		}
	}
	if len(seen) != regionHues*regionTints || Hex(Region("solve")) != "#ed8080" {
		t.Errorf("%d colours", len(seen))
	}
}

// distance weighs the differences of the parts roughly as people see them.
func distance(a, b color.RGBA) float64 {
	d := func(x, y uint8, weight float64) float64 {
		v := float64(x) - float64(y)
		return weight * v * v
	}
	return math.Sqrt(d(a.R, b.R, 0.3) + d(a.G, b.G, 0.6) + d(a.B, b.B, 0.2))
}

// Every procedure that is recorded has a kind, variants the kind of what they are a variant of.
func TestKinds(t *testing.T) {
	for _, p := range signature.Procs() {
		if _, ok := colours()[p.ID]; ok != (p.Class != signature.Pass) {
			t.Errorf("%s: has a colour: %v", p.Name, ok)
		}
	}
	for name, base := range map[string]string{
		"MPI_Ibarrier": "MPI_Barrier", "MPI_Iallreduce": "MPI_Reduce", "MPI_Exscan": "MPI_Reduce", "MPI_Ialltoallw": "MPI_Bcast", "MPI_Issend": "MPI_Send",
		"MPI_Imrecv": "MPI_Recv", "MPI_Recv_init": "MPI_Recv", "MPI_Waitsome": "MPI_Wait", "MPI_Rget": "MPI_Put", "MPI_File_iread": "MPI_File_open",
		"MPI_Ineighbor_alltoall": "MPI_Neighbor_allgather", "MPI_Init_thread": "MPI_Finalize", "MPI_Mprobe": "MPI_Test", "MPI_Isendrecv": "MPI_Sendrecv_replace",
	} {
		if a, b := kindOf(name), kindOf(base); a != b || a < 0 {
			t.Errorf("%s is of kind %d, %s of %d", name, a, base, b)
		}
	}
}

// kindOf is the number of a procedure's kind; -1: it has none.
func kindOf(name string) int {
	return slices.IndexFunc(members(), func(list []*signature.Proc) bool { return slices.Contains(list, signature.ProcByName(name)) })
}
