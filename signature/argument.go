package signature

import (
	"slices"
	"strings"
)

// numbers are the parameters of kind num that are counts.
var numbers = []string{
	"count", "counts", "sendcount", "recvcount", "sendcounts", "recvcounts", "target_count", "origin_count", "result_count",
	"incount", "outcount", "n", "ndims", "nnodes", "blocklength", "array_of_blocklengths", "partitions", "maxprocs",
	"indegree", "outdegree", "maxindegree", "maxoutdegree", "maxdims", "degrees", "array_of_sizes", "array_of_subsizes", "size",
}

// NonNegative reports whether a value below 0 is invalid for an integer parameter.
func (q *Param) NonNegative() bool {
	return q.Kind == Tag || q.Kind == Num && slices.Contains(numbers, q.Name)
}

// TakesNull reports whether the null handle of its kind is valid for a parameter.
func (p *Proc) TakesNull(q *Param) bool {
	switch q.Kind {
	case Info:
		return !strings.HasPrefix(p.Name, "MPI_Info_")
	case Req:
		return p.Completes != "" || p.Peeks != ""
	case File: // it stands for the default error handler of files
		return strings.HasSuffix(p.Name, "_errhandler")
	}
	return false
}

// IsNull reports whether a constant is the null handle of its group.
func (c *Constant) IsNull() bool {
	kind, ok := kindByName(c.Group)
	return c.Name == "MPI_KEYVAL_INVALID" || ok && kind.Handle() && strings.HasSuffix(c.Name, "_NULL")
}

// pairs are the predefined datatypes of a value and an index, as structs with these members.
var pairs = map[string][2]string{
	"MPI_FLOAT_INT": {"MPI_FLOAT", "MPI_INT"}, "MPI_DOUBLE_INT": {"MPI_DOUBLE", "MPI_INT"}, "MPI_LONG_INT": {"MPI_LONG", "MPI_INT"},
	"MPI_2INT": {"MPI_INT", "MPI_INT"}, "MPI_SHORT_INT": {"MPI_SHORT", "MPI_INT"}, "MPI_LONG_DOUBLE_INT": {"MPI_LONG_DOUBLE", "MPI_INT"},
	"MPI_2REAL": {"MPI_REAL", "MPI_REAL"}, "MPI_2DOUBLE_PRECISION": {"MPI_DOUBLE_PRECISION", "MPI_DOUBLE_PRECISION"},
	"MPI_2INTEGER": {"MPI_INTEGER", "MPI_INTEGER"}, "MPI_2COMPLEX": {"MPI_COMPLEX", "MPI_COMPLEX"},
	"MPI_2DOUBLE_COMPLEX": {"MPI_DOUBLE_COMPLEX", "MPI_DOUBLE_COMPLEX"},
}

// Basics returns the basic datatypes of a predefined datatype, in order: itself, or the two of
// a pair. MPI_LB, MPI_UB and the null datatype have none.
func (c *Constant) Basics() []*Constant {
	if c.Group != "type" || c.Size == 0 {
		return nil
	}
	if p, ok := pairs[c.Name]; ok {
		return []*Constant{ConstantByName(p[0]), ConstantByName(p[1])}
	}
	return []*Constant{c}
}
