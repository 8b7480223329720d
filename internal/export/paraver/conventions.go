package paraver

import "github.com/efg-tools/efg/signature"

// Types of events. Those of calls have the number of the procedure as their value where a call is
// entered, and 0 where it is left.
const (
	pointToPoint = 50000001
	collective   = 50000002
	other        = 50000003
	oneSided     = 50000004
	files        = 50000005

	sendSize       = 50100001
	recvSize       = 50100002
	isRoot         = 50100003
	onCommunicator = 50100004
)

// typeLabels are the types of events of calls.
var typeLabels = []struct {
	number int
	label  string
}{
	{pointToPoint, "MPI Point-to-point"}, {collective, "MPI Collective Comm"}, {other, "MPI Other"},
	{oneSided, "MPI One-sided"}, {files, "MPI I/O"},
}

// States of threads.
const (
	idle           = 0
	running        = 1
	waitsMessage   = 3
	sendsBlocking  = 4
	synchronizes   = 5
	tests          = 6
	waits          = 8
	sendsAtOnce    = 10
	receivesAtOnce = 11
	onFiles        = 12
	inGroup        = 13
	others         = 15
	exchanges      = 16
)

// stateLabels are the states, with colours.
var stateLabels = []struct {
	number int
	label  string
	colour [3]int
}{
	{idle, "Idle", [3]int{117, 195, 255}}, {running, "Running", [3]int{0, 0, 255}}, {waitsMessage, "Waiting a message", [3]int{255, 0, 0}},
	{sendsBlocking, "Blocking Send", [3]int{255, 0, 174}}, {synchronizes, "Synchronization", [3]int{179, 0, 0}}, {tests, "Test/Probe", [3]int{0, 255, 0}},
	{waits, "Wait/WaitAll", [3]int{235, 0, 0}}, {sendsAtOnce, "Immediate Send", [3]int{255, 0, 255}}, {receivesAtOnce, "Immediate Receive", [3]int{100, 100, 177}},
	{onFiles, "I/O", [3]int{172, 174, 41}}, {inGroup, "Group Communication", [3]int{255, 144, 26}}, {others, "Others", [3]int{192, 224, 0}},
	{exchanges, "Send Receive", [3]int{66, 66, 66}},
}

// typeOf is the type of the events of calls of a procedure; p may be nil.
func typeOf(p *signature.Proc) int {
	switch {
	case p == nil || p.Setup():
		return other
	case p.OnFiles():
		return files
	case p.ObjectKind() == signature.Win || p.MadeKind() == signature.Win:
		return oneSided
	case p.Collective() && p.MadeKind() != signature.Comm && p.FreedKind() != signature.Comm:
		return collective
	case p.Sends() || p.Receives() || p.Probes() || p.Cancels || p.Completes != "" && p.Variant != signature.Testing:
		return pointToPoint
	}
	return other
}

// stateOf is the state of a thread in a call of a procedure; p may be nil.
func stateOf(p *signature.Proc) int {
	switch {
	case p == nil || p.Setup() || p.Persistent:
		return others
	case p.OnFiles():
		return onFiles
	case p.Barrier():
		return synchronizes
	case typeOf(p) == collective:
		return inGroup
	case p.Sends() && p.Receives():
		return exchanges
	case p.Sends() && p.Issues != "":
		return sendsAtOnce
	case p.Sends():
		return sendsBlocking
	case p.Receives() && p.Issues != "":
		return receivesAtOnce
	case p.Receives():
		return waitsMessage
	case p.Probes() || p.Poll && p.Roles.Requests != 0:
		return tests
	case p.Completes != "":
		return waits
	}
	return others
}

// firstOwnValue is what is added to the numbers of procedures that Extrae has no value for.
const firstOwnValue = 1000

// valueOf is the value of the events of calls of a procedure.
func valueOf(p *signature.Proc) int {
	if v := values[p.Name]; v != 0 {
		return v
	}
	return firstOwnValue + p.ID
}

// values are the numbers that Extrae's traces have for procedures.
var values = numbered(0, "", "Send", "Recv", "Isend", "Irecv", "Wait", "Waitall", "Bcast", "Barrier", "Reduce",
	"Allreduce", "Alltoall", "Alltoallv", "Gather", "Gatherv", "Scatter", "Scatterv", "Allgather", "Allgatherv", "Comm_rank",
	"Comm_size", "Comm_create", "Comm_dup", "Comm_split", "Comm_group", "Comm_free", "Comm_remote_group", "Comm_remote_size", "Comm_test_inter", "Comm_compare",
	"Scan", "Init", "Finalize", "Bsend", "Ssend", "Rsend", "Ibsend", "Issend", "Irsend", "Test",
	"Cancel", "Sendrecv", "Sendrecv_replace", "Cart_create", "Cart_shift", "Cart_coords", "Cart_get", "Cart_map", "Cart_rank", "Cart_sub",
	"Cartdim_get", "Dims_create", "Graph_get", "Graph_map", "Graph_create", "Graph_neighbors", "Graphdims_get", "Graph_neighbors_count", "Topo_test", "Waitany",
	"Waitsome", "Probe", "Iprobe", "Win_create", "Win_free", "Put", "Get", "Accumulate", "Win_fence", "Win_start",
	"Win_complete", "Win_post", "Win_wait", "Win_test", "Win_lock", "Win_unlock", "Pack", "Unpack", "Op_create", "Op_free",
	"Reduce_scatter", "Attr_delete", "Attr_get", "Attr_put", "Group_difference", "Group_excl", "Group_free", "Group_incl", "Group_intersection", "Group_rank",
	"Group_range_excl", "Group_range_incl", "Group_size", "Group_translate_ranks", "Group_union", "Group_compare", "Intercomm_create", "Intercomm_merge", "Keyval_free", "Keyval_create",
	"Abort", "Error_class", "Errhandler_create", "Errhandler_free", "Errhandler_get", "Error_string", "Errhandler_set", "Get_processor_name", "Initialized", "Wtick",
	"Wtime", "Address", "Bsend_init", "Buffer_attach", "Buffer_detach", "Request_free", "Recv_init", "Send_init", "Get_count", "Get_elements",
	"Pack_size", "Rsend_init", "Ssend_init", "Start", "Startall", "Testall", "Testany", "Test_cancelled", "Testsome", "Type_commit",
	"Type_contiguous", "Type_extent", "Type_free", "Type_hindexed", "Type_hvector", "Type_indexed", "Type_lb", "Type_size", "Type_struct", "Type_ub",
	"Type_vector", "File_open", "File_close", "File_read", "File_read_all", "File_write", "File_write_all", "File_read_at", "File_read_at_all", "File_write_at",
	"File_write_at_all", "Comm_spawn", "Comm_spawn_multiple", "Request_get_status", "Ireduce", "Iallreduce", "Ibarrier", "Ibcast", "Ialltoall", "Ialltoallv",
	"Iallgather", "Iallgatherv", "Igather", "Igatherv", "Iscatter", "Iscatterv", "Ireduce_scatter", "Iscan")

// numbered numbers the names of procedures, but empty ones, from a number on.
func numbered(first int, names ...string) map[string]int {
	list := map[string]int{}
	for i, name := range names {
		if name != "" {
			list["MPI_"+name] = first + i
		}
	}
	return list
}
