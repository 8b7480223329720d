package signature

// Shape says where the data of a collective's members go.
type Shape uint8

const (
	NotCollective Shape = iota
	NoData              // members send each other no data: MPI_Barrier, MPI_Comm_dup, MPI_File_write_all
	OneToAll            // from the root to each: MPI_Bcast, MPI_Scatter
	AllToOne            // from each to the root: MPI_Gather, MPI_Reduce
	AllToAll            // from each to each: MPI_Allreduce, MPI_Allgather, MPI_Alltoall
	Prefix              // from each to those of higher rank: MPI_Scan
	Neighbours          // to neighbours in the topology
)

// Sync says which members a call of a collective waits for. An implementation may wait for
// more; a program must not rely on that.
type Sync uint8

const (
	SyncNone       Sync = iota
	SyncSome            // possibly for some members: up to the library
	SyncAll             // for all members
	SyncRoot            // for the root
	SyncAtRoot          // the root waits for all members, the others for none
	SyncLower           // for the members of lower rank
	SyncNeighbours      // for neighbours in the topology
)

// Scope says who the members of a collective are.
type Scope uint8

const (
	ScopeObject Scope = iota // those of the communicator, window or file of the call
	ScopeWorld               // all processes of the world
	ScopeGroup               // those of a group that is an argument
)

// Variant says how a procedure differs from its base: see Proc.Base.
type Variant uint8

const (
	Plain       Variant = iota // not at all
	Nonblocking                // issues an active request
	Persistent                 // issues a request that must be started
	SplitBegin                 // the first half
	SplitEnd                   // the second half
	Testing                    // does not wait: MPI_Iprobe, MPI_Test
)

// Epoch says what a call does to the epochs of a window. It affects the rank Roles.Target, the
// ranks Roles.Group, or otherwise all.
type Epoch uint8

const (
	NoEpoch       Epoch = iota
	Fence               // ends epochs, and begins others
	AccessBegin         // MPI_Win_start
	AccessEnd           // MPI_Win_complete
	ExposureBegin       // MPI_Win_post
	ExposureEnd         // MPI_Win_wait, MPI_Win_test
	Lock                // begins a passive-target epoch
	Unlock              // ends it
	Flush               // completes accesses at origin and target
	FlushLocal          // completes accesses at the origin
	WinSync             // MPI_Win_sync
)

// Values of Proc.Mode.
const (
	StandardMode    = ""
	BufferedMode    = "buffered"
	SynchronousMode = "synchronous"
	ReadyMode       = "ready"
)

// Values of Proc.Completes and Proc.Peeks.
const (
	CompletesOne  = "one"
	CompletesAny  = "any"
	CompletesSome = "some"
	CompletesAll  = "all"
)

var shapeNames = map[string]Shape{
	"none": NoData, "one-to-all": OneToAll, "all-to-one": AllToOne, "all-to-all": AllToAll,
	"prefix": Prefix, "neighbours": Neighbours,
}

// syncOf says which members a collective that moves data waits for.
var syncOf = map[Shape]Sync{
	OneToAll: SyncRoot, AllToOne: SyncAtRoot, AllToAll: SyncAll, Prefix: SyncLower, Neighbours: SyncNeighbours,
}

var syncNames = map[string]Sync{"all": SyncAll, "some": SyncSome}

var scopeNames = map[string]Scope{"world": ScopeWorld, "group": ScopeGroup}

var blockNames = map[string]bool{"send": true, "recv": true, "both": true}

var epochNames = map[string]Epoch{
	"fence": Fence, "access-begin": AccessBegin, "access-end": AccessEnd, "exposure-begin": ExposureBegin,
	"exposure-end": ExposureEnd, "lock": Lock, "unlock": Unlock, "flush": Flush, "flush-local": FlushLocal, "sync": WinSync,
}

// String returns the name of the shape in the table, "" for procedures that are not collective.
func (s Shape) String() string {
	for name, shape := range shapeNames {
		if shape == s {
			return name
		}
	}
	return ""
}

// Collective reports whether all members of a communicator, window, file, group or world must
// make the call, in the same order relative to their other collective calls.
func (p *Proc) Collective() bool { return p.Shape != NotCollective }

// Reduces reports whether a collective combines data with an operation.
func (p *Proc) Reduces() bool { return p.Collective() && p.Roles.Op != 0 }

// Barrier reports whether the call only waits for all members of a communicator, which is its
// only argument.
func (p *Proc) Barrier() bool {
	return p.Shape == NoData && p.Sync == SyncAll && p.ObjectKind() == Comm && len(p.Base.Params) == 1 && p.FreedKind() == Opaque
}

// Synchronises reports whether no member returns before all have entered the call, and the call
// does nothing else but move data: barriers and all-to-all collectives, not their nonblocking
// and persistent variants.
func (p *Proc) Synchronises() bool {
	return p.Variant == Plain && p.Sync == SyncAll && (p.Shape == AllToAll || p.Barrier())
}

// variant computes p.Variant from the attributes.
func (p *Proc) variant() Variant {
	switch {
	case p.Persistent:
		return Persistent
	case p.Issues != "" && p.base != "":
		return Nonblocking
	case p.Split == "begin":
		return SplitBegin
	case p.Split == "end":
		return SplitEnd
	case p.Poll && p.base != "":
		return Testing
	}
	return Plain
}

// inherit copies from the base what also holds for its variants.
func (p *Proc) inherit(base *Proc) {
	p.Base = base
	p.Shape, p.Sync, p.Scope, p.blocks, p.Epoch = base.Shape, base.Sync, base.Scope, base.blocks, base.Epoch
}
