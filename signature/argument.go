package signature

import (
	"slices"
	"strings"
)

// numbers are the parameters of kind num that say how many of something there are.
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
