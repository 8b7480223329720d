package signature_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/efg-tools/efg/signature"
)

func TestSchema(t *testing.T) {
	for _, p := range signature.Procs() {
		if p.Class == signature.Pass {
			if p.Words != nil || p.Params != nil {
				t.Errorf("%s: is never recorded, but has parameters", p.Name)
			}
			continue
		}
		if n := len(p.Words); n < signature.FirstWord || n > signature.MaxWords {
			t.Errorf("%s: %d words", p.Name, n)
		}
		slots := 0
		for _, w := range p.Words[signature.FirstWord:] {
			if w.Form == signature.SlotForm {
				slots++
			}
			if w.Param == p.Object {
				t.Errorf("%s: the object %s has a second word", p.Name, w.Name)
			}
		}
		if slots > 1 {
			t.Errorf("%s: makes %d local objects; an event can name one", p.Name, slots)
		}
		if (p.Issues != "") != (slots == 1 && hasOut(&p, signature.Req)) {
			t.Errorf("%s: issue=%q does not agree with its parameters", p.Name, p.Issues)
		}
	}
	if n := len(signature.Procs()); n > 0xffff {
		t.Errorf("%d procedures do not fit the header", n)
	}
}

func hasOut(p *signature.Proc, k signature.Kind) bool {
	for _, q := range p.Params {
		if q.Kind == k && q.Dir == signature.Out {
			return true
		}
	}
	return false
}

// The words of a few procedures, in the notation of this test: name, form
// (s scalar, i ident, v vec, n new slot), > for outputs.
func TestWords(t *testing.T) {
	for name, want := range map[string]string{
		"MPI_Isend":            "comm buf:s count:s datatype:i dest:s tag:s request:n>",
		"MPI_Recv":             "comm buf:s count:s datatype:i source:s tag:s status.source:s> status.tag:s> status.bytes:s>",
		"MPI_Waitany":          " count:s array_of_requests:v index:s> status.source:s> status.tag:s> status.bytes:s>",
		"MPI_Testsome":         " incount:s array_of_requests:v outcount:s> array_of_indices:v> array_of_statuses:v>",
		"MPI_Comm_free":        "comm",
		"MPI_Type_free":        " datatype:i",
		"MPI_Comm_dup":         "comm newcomm:s>",
		"MPI_Comm_idup":        "comm newcomm:s> request:n>",
		"MPI_Improbe":          "comm source:s tag:s flag:s> message:n> status.source:s> status.tag:s> status.bytes:s>",
		"MPI_Mrecv":            " buf:s count:s datatype:i message:s status.source:s> status.tag:s> status.bytes:s>",
		"MPI_Pack":             "comm inbuf:s incount:s datatype:i outbuf:s outsize:s position:s position:s>",
		"MPI_Dims_create":      " nnodes:s ndims:s dims:v dims:v>",
		"MPI_File_read_at":     "fh offset:s buf:s count:s datatype:i status.bytes:s>",
		"MPI_Win_allocate":     "comm size:s disp_unit:s info:s win:s>",
		"MPI_Alltoallw":        "comm sendbuf:s sendcounts:v sdispls:v sendtypes:v recvbuf:s recvcounts:v rdispls:v recvtypes:v",
		"MPI_Comm_set_name":    "comm comm_name:i",
		"MPI_Comm_group":       "comm group:i>",
		"MPI_Intercomm_create": "local_comm local_leader:s peer_comm:s remote_leader:s tag:s newintercomm:s>",
		"MPI_Init_thread":      " required:s provided:s>",
		"MPI_Finalize":         "",
	} {
		p := signature.ProcByName(name)
		if p == nil {
			t.Errorf("%s is not in the table", name)
			continue
		}
		if got := describe(p); got != want {
			t.Errorf("%s\n got %s\nwant %s", name, got, want)
		}
	}
}

func describe(p *signature.Proc) string {
	s := []string{p.Words[signature.ObjectWord].Name}
	for _, w := range p.Words[signature.FirstWord:] {
		d := w.Name + ":" + string("sivn"[w.Form])
		if w.Out {
			d += ">"
		}
		s = append(s, d)
	}
	return strings.Join(s, " ")
}

func TestLookups(t *testing.T) {
	for i, p := range signature.Procs() {
		if p.ID != i+1 || signature.ProcByID(p.ID).Name != p.Name || signature.ProcByName(p.Name).ID != p.ID {
			t.Errorf("%s: number %d at place %d", p.Name, p.ID, i)
		}
	}
	for _, id := range []int{-1, 0, len(signature.Procs()) + 1} {
		if signature.ProcByID(id) != nil {
			t.Errorf("there is a procedure %d", id)
		}
	}
	for i, c := range signature.Constants() {
		if c.ID != i || signature.ConstantByName(c.Name).ID != i || signature.ConstantByID(i).Name != c.Name {
			t.Errorf("%s: number %d at place %d", c.Name, c.ID, i)
		}
	}
	if signature.ConstantByID(len(signature.Constants())) != nil || signature.ConstantByID(-1) != nil {
		t.Error("there is a constant beyond the table")
	}
	if c := signature.ConstantByName("EFG_ABSENT"); c.Word() != signature.Absent {
		t.Errorf("EFG_ABSENT has word %#x", c.Word())
	}
}

// References between the tables.
func TestReferences(t *testing.T) {
	sets := map[string]bool{}
	for _, c := range signature.Constants() {
		if c.Set != "" {
			sets[c.Group+":"+c.Set] = true
		}
		if c.Group == "type" && c.Size == 0 && !slices.Contains([]string{"MPI_DATATYPE_NULL", "MPI_LB", "MPI_UB"}, c.Name) {
			t.Errorf("%s has no size", c.Name)
		}
	}
	for _, p := range signature.Procs() {
		if p.Ctor != "" && signature.ConstantByName(p.Ctor) == nil {
			t.Errorf("%s: no constant %s", p.Name, p.Ctor)
		}
		for _, q := range p.Params {
			if q.Set != "" && !sets[q.Kind.String()+":"+q.Set] {
				t.Errorf("%s: parameter %s: no constants of %s:%s", p.Name, q.Name, q.Kind, q.Set)
			}
		}
	}
}

func TestTableErrors(t *testing.T) {
	for _, line := range []string{
		"MPI_X",
		"MPI_X maybe",
		"MPI_X event strange",
		"MPI_X event issue=",
		"MPI_X event : a",
		"MPI_X event : a:num",
		"MPI_X event : a:what<",
		"MPI_X event : a:num/z<",
		"MPI_X event : a:comm/i<",
		"MPI_X event : a:enum<",
		"MPI_X event : a:num<[n]",
		"MPI_X event : a:num<[min(1]",
		"MPI_X event : a:num<[f(1)]",
		"MPI_X event : a:num<[1",
		"MPI_X event : a:num< a:num<",
		"MPI_X event : a:num<@place",
		"MPI_X event : a:num<@place(b)",
		"MPI_X event : a:num<@never",
		"MPI_X event : a:num<@root(a)",
		"MPI_X event coll=round",
		"MPI_X event coll=none",
		"MPI_X event sync=all",
		"MPI_X event over=world",
		"MPI_X event blocks=send",
		"MPI_X event epoch=stone",
		"MPI_X event split=middle",
		"MPI_X event persistent",
		"MPI_X event of=MPI_Y",
		"MPI_X event\nMPI_Y event of=MPI_Z",
		"MPI_X event\nMPI_X event",
	} {
		_, err := signature.ParseProcedures(strings.NewReader(line))
		var te *signature.TableError
		if !errors.As(err, &te) || te.Line != strings.Count(line, "\n")+1 {
			t.Errorf("%q: error %v", line, err)
		}
	}
	for _, line := range []string{"MPI_A", "MPI_A type size=x", "MPI_A int odd", "MPI_A int\nMPI_A int"} {
		if _, err := signature.ParseConstants(strings.NewReader(line)); err == nil {
			t.Errorf("%q: no error", line)
		}
	}
}

func TestFlagNames(t *testing.T) {
	create := signature.ConstantByName("MPI_MODE_CREATE")
	rdwr := signature.ConstantByName("MPI_MODE_RDWR")
	names, rest := signature.FlagNames("amode", 1<<create.Bit|1<<rdwr.Bit|1<<40)
	if strings.Join(names, "|") != "MPI_MODE_CREATE|MPI_MODE_RDWR" || rest != 1<<40 {
		t.Errorf("got %v, %#x", names, rest)
	}
}
