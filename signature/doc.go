// Package signature describes the MPI procedures: their arguments, the roles of arguments, and
// the words of an event that record them.
//
// Two embedded tables hold everything, procedures.tbl and constants.tbl; the
// comments at their heads give the grammar. The generated C (hook/internal/gen), the
// decoder (reconstruct), the text forms and the documentation read them through
// this package. Procedure and constant numbers are line ordinals and appear in
// recorded files, so lines are only ever appended.
//
// The roles of words are in [Roles], what a procedure does in [Proc]: whether it is collective
// and where data go ([Shape]), which processes it waits for ([Sync]), whether it is a
// nonblocking or persistent variant ([Variant]), what it does to the epochs of a window
// ([Epoch]). No other package should need to know procedures by name.
//
// # Schema
//
// An event is a row of 64-bit words (docs/internals.md). The words of a procedure
// are the header w[0], the callsite w[1], and the object w[2]: the first in or inout
// parameter of kind comm, win or file that is not an array; 0 if the procedure has
// none. Then comes, in the order of the C binding, every other recorded parameter:
//
//	parameter             words
//	buf                   one scalar: 0, a constant (MPI_IN_PLACE, MPI_BOTTOM,
//	                      EFG_NULL), or region<<48|offset with --buffers
//	integer in, out       one scalar (flags are 0 or 1)
//	integer inout         two scalars: before and after the call
//	array                 one vec
//	array inout           of integers two vecs, before and after; of handles one, before
//	handle in, inout      one word, the value before the call: an ident for type,
//	                      group and op, a scalar otherwise
//	new comm, win, file   one scalar
//	new type, group, op   one ident
//	other new handle      one slot; at most one in a procedure
//	str                   one ident; an array, one vec
//	status out            three scalars: NAME.source, NAME.tag, NAME.bytes
//	fstatus out           one scalar: NAME.bytes
//	statuses out          one vec
//	strout, opaque, status in    no word
//
// A procedure of class pass has no words. Words of parameters that are not significant in a
// call (conditions in the table) hold the constant EFG_ABSENT, except integers, which are
// recorded as they are. Outputs of a call that failed are EFG_ABSENT. A handle that the program
// has freed is EFG_FREED. One that no recorded call created is EFG_UNKNOWN, and so is that of a
// completed request.
//
// Words of parameters of kind enum hold constant words, those of kind bits
// numbers made of canonical bits, those of the other integer kinds a number or,
// where MPI names a special value (MPI_ANY_SOURCE, MPI_UNDEFINED, …), a constant
// word. A rank kind never holds a raw special value of one library.
//
// The error class in the header is 0 for success, the constant number of a
// predefined error class, or UserErrorClass | (class − MPI_ERR_LASTCODE).
package signature
