package check

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/analysis"
	"github.com/efg-tools/efg/signature"
)

// given is a call that is passed a handle; if that is an array, the handle is its second
// element.
func given(t *testing.T, op, param string, handle uint64, class uint16) efg.Input {
	t.Helper()
	p := signature.ProcByName(op)
	w := make([]uint64, len(p.Words))
	w[0] = uint64(signature.MakeHeader(p.ID, signature.C, false, len(w), class))
	in := efg.Input{Words: w}
	for i := signature.ObjectWord; i < len(w); i++ {
		if p.Words[i].Form == signature.SlotForm || p.Words[i].Form == signature.VecForm {
			w[i] = signature.Absent
		}
		if q := p.Words[i].Param; q < 0 || p.Params[q].Name != param {
			continue
		}
		if w[i] = handle; p.Words[i].Form == signature.VecForm {
			elems := []uint64{signature.TypeByte, handle}
			w[i] = signature.Ident(signature.Hash(elems...))
			in.Vecs = append(in.Vecs, efg.VecContent{Word: i, Elems: elems})
		}
	}
	return in
}

// A freed handle is found in calls that return, and in those that a program ends in; an unknown
// handle only in the latter.
func TestFreedHandles(t *testing.T) {
	for _, c := range []struct{ op, param string }{
		{"MPI_Barrier", "comm"}, {"MPI_Pack", "datatype"}, {"MPI_Group_incl", "group"}, {"MPI_Reduce_local", "op"},
		{"MPI_Win_lock_all", "win"}, {"MPI_File_sync", "fh"}, {"MPI_Info_set", "info"}, {"MPI_Comm_set_errhandler", "errhandler"},
		{"MPI_Type_free", "datatype"}, {"MPI_Alltoallw", "recvtypes"},
	} {
		for _, class := range []uint16{0, signature.UserErrorClass} {
			find := func(handle uint64) (string, *Report) {
				in := given(t, c.op, c.param, handle, class)
				data := processOf(t, 0, 1, []efg.Input{in, in})
				p, err := analysis.NewProcess(data, 0)
				if err != nil {
					t.Fatal(err)
				}
				return newTally(p).invalidArgument(in.Words), checkProcesses(t, []*efg.Process{data}, runfile.Meta{})
			}
			text, r := find(signature.Freed)
			freed := slices.DeleteFunc(r.Findings, func(f Finding) bool { return f.Kind != FreedHandle })
			if want := c.param + " was freed"; text != want || len(freed) != 1 || freed[0].Text != want+" before" || freed[0].Event != 1 || freed[0].Count != 2 || freed[0].Op != c.op {
				t.Errorf("%s, error class %d: %q, findings %+v", c.op, class, text, freed)
			}
			text, r = find(signature.Unknown)
			if !strings.HasPrefix(text, c.param+" is not a known handle") || strings.Contains(fmt.Sprint(r.Findings), "freed before") {
				t.Errorf("%s, error class %d, unknown: %q, %+v", c.op, class, text, r.Findings)
			}
		}
	}
}
