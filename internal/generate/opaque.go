package generate

import (
	"strings"

	"github.com/efg-tools/efg/signature"
)

// function is a function that a program passes to MPI.
type function struct{ params, body string }

// functions are what the program passes for functions of the recorded one. Reductions combine
// nothing, error handlers return.
var functions = map[string]function{
	"user_fn":               {"(void *in, void *inout, int *count, MPI_Datatype *type)", "(void)in, (void)inout, (void)count, (void)type;"},
	"user_fn_c":             {"(void *in, void *inout, MPI_Count *count, MPI_Datatype *type)", "(void)in, (void)inout, (void)count, (void)type;"},
	"comm_errhandler_fn":    {"(MPI_Comm *comm, int *error, ...)", "(void)comm, (void)error;"},
	"win_errhandler_fn":     {"(MPI_Win *win, int *error, ...)", "(void)win, (void)error;"},
	"file_errhandler_fn":    {"(MPI_File *file, int *error, ...)", "(void)file, (void)error;"},
	"session_errhandler_fn": {"(MPI_Session *session, int *error, ...)", "(void)session, (void)error;"},
	"query_fn":              {"(void *state, MPI_Status *status)", "(void)state;\n    MPI_Status_set_elements(status, MPI_BYTE, 0);\n    MPI_Status_set_cancelled(status, 0);\n    status->MPI_SOURCE = MPI_UNDEFINED;\n    status->MPI_TAG = MPI_UNDEFINED;\n    return MPI_SUCCESS;"},
	"free_fn":               {"(void *state)", "(void)state;\n    return MPI_SUCCESS;"},
	"cancel_fn":             {"(void *state, int complete)", "(void)state, (void)complete;\n    return MPI_SUCCESS;"},
}

// opaque is the expression of a parameter that is not recorded.
func (e *emitter) opaque(q *signature.Param) string {
	n := e.node
	name := q.Name
	switch {
	case name == "user_fn":
		if n.header.Large() {
			name = "user_fn_c"
		}
		return e.operation(name)
	case functions[name].params != "":
		e.needs["function "+name] = true
		return name
	case strings.HasSuffix(name, "copy_fn"), strings.HasSuffix(name, "copy_attr_fn"):
		return attributeFunction(n.proc.Name, "DUP")
	case strings.HasSuffix(name, "delete_fn"), strings.HasSuffix(name, "delete_attr_fn"):
		return attributeFunction(n.proc.Name, "NULL_DELETE")
	case name == "baseptr" && n.proc.Name == "MPI_Alloc_mem":
		e.needs["allocated"] = true
		return "&allocated[allocations++]"
	case name == "array_of_argv":
		return "MPI_ARGVS_NULL"
	case q.Dir == signature.In || name == "argc" || name == "argv":
		return "NULL"
	}
	e.needs["address"] = true
	return "&address"
}

// attributeFunction is one of MPI's functions for attributes. They are copied, because a program may
// delete those that it finds in a duplicate, which is an error where there are none.
func attributeFunction(proc, what string) string {
	for _, kind := range []string{"Comm", "Win", "Type"} {
		if strings.HasPrefix(proc, "MPI_"+kind) {
			return "MPI_" + strings.ToUpper(kind) + "_" + what + "_FN"
		}
	}
	return "MPI_" + what + "_FN"
}

// operation is a function for a reduction. Each of the recorded program has one of its own, so
// that operations that differed then differ now.
func (e *emitter) operation(name string) string {
	n := e.node
	out := n.proc.Param("op")
	_, word := n.words(out)
	if w, ok := n.values[word].constant(); ok && !special(w) {
		name += "_" + number64(&signature.Param{Kind: signature.Num}, w)
	}
	e.needs["function "+name] = true
	return name
}
