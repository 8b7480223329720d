// Package names has the names of what efg writes into archives of OTF2 beyond what that defines, for
// those who read it back.
package names

// Creator is the program that wrote an archive.
const Creator = "efg"

// Properties of an archive.
const (
	// Clock is "corrected" or "raw".
	Clock = "EFG::CLOCK"
	// Ranks is the number of ranks of the run: perhaps not all were written.
	Ranks = "EFG::RANKS"
	// Started is when the run began, Unix ns.
	Started = "EFG::STARTED"
	// Arguments is there if calls have all their arguments and results as attributes.
	Arguments = "EFG::ARGUMENTS"
	// CallPaths is there if calls have their call paths as attributes: how many calls a path has at most.
	CallPaths = "EFG::CALLPATHS"
	// Handles are the names of handles in arguments that are shorter than they could be, each with all
	// of its digits: "comm:1040ec07=1040ec07ab type:…".
	Handles = "EFG::HANDLES"
)

// Attributes of calls that are not arguments. Of those after Place, those are written that say something.
const (
	Number   = "number"   // of the call in its thread
	Place    = "callsite" // source line
	Function = "function" // that the place is in
	Language = "lang"     // mpif.h or mpi_f08; otherwise C
	Large    = "large"    // 1: the large-count variant
	ByPMPI   = "pmpi"     // 1: called by its PMPI_ name
	// Unused are the buffers that do not matter in the call and are constants: "recvbuf=NULL sendbuf=MPI_BOTTOM".
	Unused = "unused"
	// Duration is how long the call took that begins or ends a region, ns.
	Duration = "duration"
	// Unfinished is 1 for a call that had not returned when the recording ended, and where a region is left
	// that the program does not end.
	Unfinished = "unfinished"
)

// CallPath is the attribute of calls that is a calling context: the call path, one context for each call on it, whose
// region is the function that contains the call (its name is the source line where that is unknown).
// The outermost context has no source line, and the name "unknown" or "...", if the path does not begin where the
// program or the thread does.
const CallPath = "callpath"

// ResultPrefix begins the names of attributes that are results: an argument may have the same name.
const ResultPrefix = "out."
