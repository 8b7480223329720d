package signature_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/efg-tools/efg/signature"
)

// Procedures that, according to the standard, all members of a communicator, window, file,
// group or world call, and those that only look like them.
func TestEveryCollectiveHasAShape(t *testing.T) {
	shapes := map[signature.Shape]int{}
	for i := range signature.Procs() {
		p := &signature.Procs()[i]
		shapes[p.Shape]++
		if p.Issues == "coll" && !p.Collective() {
			t.Errorf("%s issues the request of a collective, but has no shape", p.Name)
		}
		collective := p.Roles.Root != 0 || p.Ctor != "" && p.MadeKind() != signature.Type && p.Class == signature.Event
		if collective && !p.Collective() && p.Name != "MPI_Comm_join" {
			t.Errorf("%s has a root, or makes something of all, but no shape", p.Name)
		}
		if p.Collective() && p.Scope == signature.ScopeObject && p.Object < 0 {
			t.Errorf("%s: nothing says who the members are", p.Name)
		}
		if p.Collective() && p.Scope == signature.ScopeGroup && p.Roles.Group == 0 {
			t.Errorf("%s: the group of the members is not an argument", p.Name)
		}
		if p.Collective() != (p.Sync != signature.SyncNone) {
			t.Errorf("%s: collective: %v, waits for %d", p.Name, p.Collective(), p.Sync)
		}
		rooted := p.Shape == signature.OneToAll || p.Shape == signature.AllToOne
		if rooted && p.Roles.Root == 0 {
			t.Errorf("%s has no root", p.Name)
		}
		data := p.Roles.Send.Present() || p.Roles.Recv.Present()
		if p.Shape > signature.NoData && !data {
			t.Errorf("%s moves data of no buffer", p.Name)
		}
		if p.Shape == signature.NoData && data && p.ObjectKind() != signature.File {
			t.Errorf("%s has a buffer, but no data go to others", p.Name)
		}
	}
	for s := signature.NoData; s <= signature.Neighbours; s++ {
		if shapes[s] == 0 || s.String() == "" {
			t.Errorf("no procedure is %q", s)
		}
	}
}

// Variants have the shape of their base, and their names are derived from its name.
func TestVariants(t *testing.T) {
	for i := range signature.Procs() {
		p := &signature.Procs()[i]
		if p.Base == nil || p.Base.Base != p.Base {
			t.Errorf("%s: the base is %v", p.Name, p.Base)
			continue
		}
		if (p.Base == p) != (p.Variant == signature.Plain) {
			t.Errorf("%s: variant %d of %s", p.Name, p.Variant, p.Base.Name)
		}
		if p.Shape != p.Base.Shape || p.Sync != p.Base.Sync || p.Epoch != p.Base.Epoch {
			t.Errorf("%s is not collective as %s is", p.Name, p.Base.Name)
		}
		name, base := strings.ToLower(p.Name), strings.ToLower(p.Base.Name)
		if !contains(name, base) && !contains(name, strings.Replace(base, "wait", "test", 1)) {
			t.Errorf("%s is said to be a variant of %s", p.Name, p.Base.Name)
		}
	}
	for name, want := range map[string]signature.Variant{
		"MPI_Bcast": signature.Plain, "MPI_Ibcast": signature.Nonblocking, "MPIX_Bcast_init": signature.Persistent,
		"MPI_File_read_all_begin": signature.SplitBegin, "MPI_File_read_all_end": signature.SplitEnd,
		"MPI_Testany": signature.Testing, "MPI_Iprobe": signature.Testing, "MPI_Improbe": signature.Testing,
		"MPI_Rput": signature.Nonblocking, "MPI_Psend_init": signature.Persistent, "MPI_Grequest_start": signature.Plain,
	} {
		if p := signature.ProcByName(name); p.Variant != want {
			t.Errorf("%s: variant %d, want %d", name, p.Variant, want)
		}
	}
}

// contains reports whether name has the letters of a base, in order.
func contains(name, base string) bool {
	for _, c := range strings.TrimPrefix(base, "mpi_") {
		i := strings.IndexRune(name, c)
		if i < 0 {
			return false
		}
		name = name[i+1:]
	}
	return true
}

// The roles agree with the classes of the MPI Trace Format about messages.
func TestMessagesAgree(t *testing.T) {
	for i := range signature.Procs() {
		p := &signature.Procs()[i]
		has := func(classes ...string) bool {
			return slices.ContainsFunc(classes, func(c string) bool { return slices.Contains(p.MTF, c) })
		}
		if p.Sends() != has("Send", "NonBlockingSend") || p.Receives() != has("Receive", "NonBlockingReceive") ||
			p.Probes() != has("ProbeOperation") {
			t.Errorf("%s: sends %v, receives %v, probes %v, but is %v", p.Name, p.Sends(), p.Receives(), p.Probes(), p.MTF)
		}
		if completes := p.Completes != ""; completes && (p.Roles.Requests == 0) {
			t.Errorf("%s completes requests that it does not have", p.Name)
		}
		if (p.Roles.Request != 0) != (p.Issues != "") {
			t.Errorf("%s: issues %q, request in word %d", p.Name, p.Issues, p.Roles.Request)
		}
	}
}

// The roles of a few procedures, by the names of the words.
func TestRoles(t *testing.T) {
	for name, want := range map[string]string{
		"MPI_Isend":                  "send=buf,count,datatype dest=dest sendtag=tag request=request",
		"MPI_Precv_init":             "recv=buf,count,datatype,partitions source=source recvtag=tag info=info request=request",
		"MPI_Sendrecv_replace":       "send=buf,count,datatype recv=buf,count,datatype dest=dest source=source sendtag=sendtag recvtag=recvtag status=status.source",
		"MPI_Mrecv":                  "recv=buf,count,datatype message=message status=status.source",
		"MPI_Improbe":                "source=source recvtag=tag matched=message flag=flag status=status.source",
		"MPI_Bcast":                  "send=buffer,count,datatype recv=buffer,count,datatype root=root",
		"MPI_Scatterv":               "send=sendbuf,sendcounts,sendtype,displs,blocks recv=recvbuf,recvcount,recvtype root=root",
		"MPI_Igatherv":               "send=sendbuf,sendcount,sendtype recv=recvbuf,recvcounts,recvtype,displs,blocks root=root request=request",
		"MPI_Reduce_scatter":         "send=sendbuf,recvcounts,datatype,blocks recv=recvbuf,recvcounts,datatype op=op",
		"MPI_Neighbor_alltoallw":     "send=sendbuf,sendcounts,sendtypes,sdispls,blocks recv=recvbuf,recvcounts,recvtypes,rdispls,blocks",
		"MPI_Get":                    "recv=origin_addr,origin_count,origin_datatype target=target_rank at=target_count,target_datatype disp=target_disp",
		"MPI_Fetch_and_op":           "send=origin_addr,,datatype recv=result_addr,,datatype op=op target=target_rank disp=target_disp",
		"MPI_Win_lock":               "target=rank assert=assert",
		"MPI_Win_post":               "group=group assert=assert",
		"MPI_File_read_at_all_begin": "recv=buf,count,datatype offset=offset",
		"MPI_File_write_all_end":     "send=buf,, bytes=status.bytes",
		"MPI_Testsome":               "requests=array_of_requests outcount=outcount indices=array_of_indices statuses=array_of_statuses",
		"MPI_Cart_sub":               "made=newcomm remain=remain_dims",
		"MPI_Comm_create_group":      "group=group made=newcomm",
		"MPI_Comm_free":              "freed=comm",
		"MPI_Win_create":             "info=info made=win",
		"MPI_Buffer_attach":          "",
		"MPI_Pack":                   "local=inbuf,incount,datatype",
		"MPI_Unpack_external":        "local=outbuf,outcount,datatype",
		"MPI_Reduce_local":           "local=inbuf,count,datatype",
		"MPI_Cart_get":               "",
		"MPI_Comm_get_attr":          "flag=flag",
	} {
		p := signature.ProcByName(name)
		if got := roles(p); got != want {
			t.Errorf("%s\n got %s\nwant %s", name, got, want)
		}
	}
}

func roles(p *signature.Proc) string {
	var list []string
	r := &p.Roles
	name := func(word int) string {
		if word == 0 {
			return ""
		}
		return p.Words[word].Name
	}
	data := func(what string, d *signature.Payload) {
		if *d == (signature.Payload{}) {
			return
		}
		s := []string{name(d.Buffer), name(d.Count), name(d.Type)}
		if d.Buffer == 0 {
			s = s[1:]
		}
		for _, w := range []int{d.Displs, d.Parts} {
			if w != 0 {
				s = append(s, name(w))
			}
		}
		if d.Blocks {
			s = append(s, "blocks")
		}
		list = append(list, what+"="+strings.Join(s, ","))
	}
	data("send", &r.Send)
	data("recv", &r.Recv)
	data("local", &r.Local)
	for _, x := range []struct {
		what string
		word int
	}{
		{"dest", r.Dest}, {"source", r.Source}, {"sendtag", r.SendTag}, {"recvtag", r.RecvTag}, {"root", r.Root}, {"op", r.Op},
		{"target", r.Target},
	} {
		if x.word != 0 {
			list = append(list, x.what+"="+name(x.word))
		}
	}
	data("at", &r.TargetData)
	bytes := r.StatusBytes
	if r.StatusSource != 0 {
		bytes = 0
	}
	for _, x := range []struct {
		what string
		word int
	}{
		{"disp", r.TargetDisp}, {"group", r.Group}, {"assert", r.Assert}, {"info", r.Info}, {"offset", r.Offset},
		{"message", r.Message}, {"matched", r.MatchedMessage}, {"request", r.Request}, {"requests", r.Requests},
		{"flag", r.Flag}, {"index", r.Index}, {"outcount", r.Outcount}, {"indices", r.Indices}, {"statuses", r.Statuses},
		{"status", r.StatusSource}, {"bytes", bytes}, {"made", r.Made}, {"freed", r.Freed}, {"remain", r.Topology.Remain},
	} {
		if x.word != 0 {
			list = append(list, x.what+"="+name(x.word))
		}
	}
	return strings.Join(list, " ")
}

// Only some procedures may be called before MPI begins and after it ends, and a few begin and
// end it.
func TestWhenCalled(t *testing.T) {
	for name, want := range map[string]bool{
		"MPI_Initialized": true, "MPI_Info_create": true, "MPI_Session_init": true, "MPI_Comm_create_errhandler": true,
		"MPI_Send": false, "MPI_Comm_rank": false, "MPI_Init": false, "MPI_Finalize": false, "MPI_Comm_set_errhandler": false,
	} {
		if p := signature.ProcByName(name); p.Anytime != want {
			t.Errorf("%s: at any time: %v", name, p.Anytime)
		}
	}
	var begin, end []string
	for _, p := range signature.Procs() {
		if p.Begins {
			begin = append(begin, p.Name)
		}
		if p.Ends {
			end = append(end, p.Name)
		}
	}
	if !slices.Equal(begin, []string{"MPI_Init", "MPI_Init_thread"}) || !slices.Equal(end, []string{"MPI_Finalize"}) {
		t.Errorf("%v begin MPI, %v end it", begin, end)
	}
}

// Every procedure on a window that is neither an access nor a local query takes part in the
// synchronisation of epochs.
func TestEpochs(t *testing.T) {
	for _, p := range signature.Procs() {
		if p.ObjectKind() != signature.Win || p.Class != signature.Event || p.Accesses() {
			continue
		}
		other := p.FreedKind() == signature.Win || p.MadeKind() == signature.Win || p.Name == "MPI_Win_attach" ||
			p.Name == "MPI_Win_detach" || p.Name == "MPI_Win_call_errhandler" || p.Name == "MPI_Win_set_info"
		if (p.Epoch == signature.NoEpoch) != other {
			t.Errorf("%s: epoch %d", p.Name, p.Epoch)
		}
	}
}

// The constants that are named in Go are those of the table.
func TestNamedConstants(t *testing.T) {
	for name, w := range map[string]uint64{
		"EFG_ABSENT": signature.Absent, "EFG_SAME": signature.Same, "EFG_AS_POSTED": signature.AsPosted,
		"EFG_UNKNOWN": signature.Unknown, "EFG_FREED": signature.Freed,
		"MPI_ANY_SOURCE": signature.AnySource, "MPI_ANY_TAG": signature.AnyTag, "MPI_PROC_NULL": signature.ProcNull,
		"MPI_ROOT": signature.RootHere, "MPI_UNDEFINED": signature.Undefined, "MPI_IN_PLACE": signature.InPlace,
		"MPI_COMM_NULL": signature.CommNull, "MPI_COMM_WORLD": signature.CommWorld, "MPI_COMM_SELF": signature.CommSelf,
		"MPI_MESSAGE_NO_PROC": signature.MessageNoProc, "MPI_REQUEST_NULL": signature.RequestNull, "MPI_NO_OP": signature.OpNoOp,
		"MPI_BYTE": signature.TypeByte, "MPI_PACKED": signature.TypePacked,
	} {
		if c := signature.ConstantByName(name); c.Word() != w || !signature.IsConst(w) || signature.IsID(w) || signature.IsPlain(w) {
			t.Errorf("%s has word %#x, not %#x", name, c.Word(), w)
		}
	}
	family := signature.Ident(signature.HashString("family")) &^ signature.SequenceMask
	if signature.Family(family|5) != family || !signature.IsPlain(family) || signature.IsConst(family) {
		t.Errorf("the family of %#x is %#x", family|5, signature.Family(family|5))
	}
	if id := (signature.ID{Thread: 1, Node: 2, Slot: 3}).Word(); !signature.IsID(id) || signature.IsConst(id) || signature.IsPlain(id) {
		t.Errorf("%#x is no id", id)
	}
}

// Procedures can be added, and are then found; existing ones keep their numbers.
func TestExtend(t *testing.T) {
	send, n := signature.ProcByName("MPI_Send"), len(signature.Procs())
	err := signature.Extend(strings.NewReader("X_Isend event of=MPI_Send issue=send : buf:buf< count:num< datatype:type< dest:peer< tag:tag< comm:comm< request:req>"))
	if err != nil {
		t.Fatal(err)
	}
	p := signature.ProcByName("X_Isend")
	if p == nil || p.ID != n+1 || p.Base != send || !p.Sends() || signature.ProcByID(n+1) != p || signature.ProcByName("MPI_Send") != send {
		t.Errorf("after an addition: %+v", p)
	}
	for _, line := range []string{"MPI_Send event", "X_A event of=X_B", "X_A"} {
		if signature.Extend(strings.NewReader(line)) == nil {
			t.Errorf("%q is added", line)
		}
	}
	long := ""
	for range 100 {
		long += "Y_" + strings.Repeat("y", strings.Count(long, "\n")) + " event\n"
	}
	if signature.Extend(strings.NewReader(long)) == nil || len(signature.Procs()) != n+1 {
		t.Error("more procedures are added than there is room for")
	}
}
