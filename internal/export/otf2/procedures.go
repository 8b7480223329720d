package otf2

import (
	"github.com/efg-tools/efg/signature"
)

// Roles of regions.
const (
	roleFunction       = 1
	roleCode           = 2
	roleBarrier        = 15
	roleOneToAll       = 23
	roleAllToOne       = 24
	roleAllToAll       = 25
	roleOther          = 26
	roleFile           = 27
	rolePointToPoint   = 28
	roleRMA            = 29
	roleArtificial     = 31
	roleFileMetadata   = 38
	paradigmUser       = 1
	paradigmCompiler   = 2
	paradigmMPI        = 4
	paradigmMeasuring  = 6
	groupCommLocations = 4
	groupCommGroup     = 5
	groupCommSelf      = 6
)

// roleOf is the role of a procedure's region, as Score-P has it.
func roleOf(p *signature.Proc) byte {
	if p == nil {
		return roleFunction
	}
	switch {
	case p.OnFiles() && (p.Roles.Send.Present() || p.Roles.Recv.Present()):
		return roleFile
	case p.OnFiles():
		return roleFileMetadata
	case p.Base.Barrier():
		return roleBarrier
	case p.Shape == signature.OneToAll:
		return roleOneToAll
	case p.Shape == signature.AllToOne:
		return roleAllToOne
	case p.Shape == signature.AllToAll:
		return roleAllToAll
	case p.Collective() && (p.Shape == signature.Prefix || p.Shape == signature.Neighbours):
		return roleOther
	case p.Accesses() || p.Epoch != signature.NoEpoch:
		return roleRMA
	case p.Sends() || p.Receives() || p.Probes() || p.Completes != "" || p.Starts:
		return rolePointToPoint
	}
	return roleFunction
}

// collectiveOps are the numbers of OTF2's collective operations.
var collectiveOps = map[string]byte{
	"MPI_Barrier": 0, "MPI_Bcast": 1, "MPI_Gather": 2, "MPI_Gatherv": 3, "MPI_Scatter": 4, "MPI_Scatterv": 5,
	"MPI_Allgather": 6, "MPI_Allgatherv": 7, "MPI_Alltoall": 8, "MPI_Alltoallv": 9, "MPI_Alltoallw": 10, "MPI_Allreduce": 11,
	"MPI_Reduce": 12, "MPI_Reduce_scatter": 13, "MPI_Scan": 14, "MPI_Exscan": 15, "MPI_Reduce_scatter_block": 16,
}

// Operations that create and destroy the handles that several processes have.
const (
	createHandle         = 17
	destroyHandle        = 18
	createAndAllocate    = 21
	destroyAndDeallocate = 22
)

// collectiveOf returns the operation of a collective procedure on a communicator; false if OTF2 has
// none for it.
func collectiveOf(p *signature.Proc) (op byte, ok bool) {
	if p == nil || !p.Collective() || p.ObjectKind() != signature.Comm || p.Scope != signature.ScopeObject {
		return 0, false
	}
	if op, ok = collectiveOps[p.Base.Name]; ok {
		return op, true
	}
	switch {
	case p.FreedKind() == signature.Comm:
		return destroyHandle, true
	case p.MadeKind() == signature.Comm:
		return createHandle, true
	}
	return 0, false
}
