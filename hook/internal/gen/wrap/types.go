package main

import (
	"fmt"

	"github.com/efg-tools/efg/signature"
)

// handle is what the code generator knows about a kind of handle.
type handle struct {
	ctype  string // C type
	f2c    string // converts a Fortran handle; "" if both are the same
	take   string // map that a freed handle is removed from
	object string // enum bk_object; "" for kinds with content identities
}

var handles = map[signature.Kind]handle{
	signature.Comm:   {"MPI_Comm", "PMPI_Comm_f2c", "&bk_comms", ""},
	signature.Win:    {"MPI_Win", "PMPI_Win_f2c", "&bk_wins", ""},
	signature.File:   {"MPI_File", "PMPI_File_f2c", "&bk_files", ""},
	signature.Group:  {"MPI_Group", "PMPI_Group_f2c", "&bk_groups", ""},
	signature.Type:   {"MPI_Datatype", "PMPI_Type_f2c", "&bk_types", ""},
	signature.Op:     {"MPI_Op", "PMPI_Op_f2c", "&bk_ops", ""},
	signature.Errh:   {"MPI_Errhandler", "PMPI_Errhandler_f2c", "&bk_objects[BK_ERRH]", "BK_ERRH"},
	signature.Info:   {"MPI_Info", "PMPI_Info_f2c", "&bk_objects[BK_INFO]", "BK_INFO"},
	signature.Msg:    {"MPI_Message", "PMPI_Message_f2c", "&bk_objects[BK_MESSAGE]", "BK_MESSAGE"},
	signature.Sess:   {"MPI_Session", "PMPI_Session_f2c", "&bk_objects[BK_SESSION]", "BK_SESSION"},
	signature.Keyval: {"int", "", "&bk_objects[BK_KEYVAL]", "BK_KEYVAL"},
	signature.Req:    {"MPI_Request", "PMPI_Request_f2c", "", ""},
}

var intTypes = map[signature.CType]string{
	signature.Int: "int", signature.Aint: "MPI_Aint", signature.Offset: "MPI_Offset", signature.Count: "MPI_Count",
}

// ctype is the type of a parameter in the C binding. Function pointers and other values that
// are not examined are all void pointers: they are passed in the same way.
func ctype(q *signature.Param, large bool) string {
	pointer := q.Dir != signature.In || q.Len != nil
	constant := q.Dir == signature.In && q.Len != nil
	var t string
	switch {
	case q.Kind.Integer():
		t = intTypes[intType(q, large)]
	case isHandle(q):
		t = handles[q.Kind].ctype
	case q.Kind == signature.Str:
		if q.Len != nil {
			return "char *const *"
		}
		return "const char *"
	case q.Kind == signature.Int64:
		return "int64_t"
	case q.Kind == signature.Double:
		return "double"
	case q.Kind == signature.StrOut:
		return "char *"
	case q.Kind == signature.Buf:
		return "const void *"
	case q.Kind == signature.Status || q.Kind == signature.Statuses || q.Kind == signature.FStatus:
		return "MPI_Status *"
	default:
		return "void *"
	}
	if pointer {
		t += " *"
	}
	if constant {
		t = "const " + t
	}
	return t
}

func intType(q *signature.Param, large bool) signature.CType {
	if large {
		return q.Large
	}
	return q.Small
}

func intWidth(t signature.CType) int {
	if t == signature.Int {
		return 4
	}
	return 8
}

// width is the C expression of the bytes of an integer parameter.
func (x *body) width(q *signature.Param) string {
	if !x.fortran {
		return fmt.Sprint(intWidth(intType(q, x.large)))
	}
	if x.p.FortranInts {
		return "4"
	}
	small, large := intWidth(q.Small), intWidth(q.Large)
	if small == large || !x.p.HasLarge {
		return fmt.Sprint(small)
	}
	return "BK_HOW_LARGE(how) ? 8 : 4"
}

// wordFunctions convert an integer value into a word.
var wordFunctions = map[signature.Kind]string{
	signature.NumU: "bk_undefined", signature.Color: "bk_undefined", signature.Index: "bk_undefined",
	signature.Darg: "bk_darg", signature.Peer: "bk_rank", signature.Root: "bk_rank",
	signature.Rank: "bk_rank", signature.Tag: "bk_tag", signature.Flag: "bk_bool",
	signature.ErrClass: "bk_error_class_word",
}

// intWord is the C expression of the word of an integer value.
func intWord(q *signature.Param, value string) string {
	switch q.Kind {
	case signature.Enum, signature.Bits:
		return fmt.Sprintf("bk_%s_%s(%s)", q.Kind, q.Set, value)
	case signature.Flag:
		return value + " != 0"
	}
	if f := wordFunctions[q.Kind]; f != "" {
		return f + "(" + value + ")"
	}
	return "(uint64_t)(int64_t)" + value
}

// mapFunction is the function for the elements of an array; "" if they stay as they are.
func mapFunction(q *signature.Param) string {
	if q.Kind == signature.Enum || q.Kind == signature.Bits {
		return fmt.Sprintf("bk_%s_%s", q.Kind, q.Set)
	}
	return wordFunctions[q.Kind]
}

func isHandle(q *signature.Param) bool {
	_, ok := handles[q.Kind]
	return ok
}
