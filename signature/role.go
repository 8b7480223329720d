package signature

import "slices"

// Roles says what the words of a procedure's events mean. Each is an index into the words of an
// event; 0 means that the procedure has no such word.
//
// Inputs take precedence: if a procedure has a word for an argument before and one after the
// call, the role refers to the word before.
type Roles struct {
	// Send is the data that the caller sends, Recv the data that it receives: of messages,
	// collectives, one-sided accesses (the origin's) and files.
	Send, Recv Payload
	// Local is a buffer that a call reads or writes without communication: MPI_Pack,
	// MPI_Unpack, MPI_Reduce_local.
	Local Payload

	Dest, Source     int // ranks of the peers of a message or probe
	SendTag, RecvTag int
	Message          int // matched message that a receive takes
	MatchedMessage   int // likewise, returned by a probe

	Target     int     // target rank of a one-sided access or synchronisation
	TargetData Payload // of an access
	TargetDisp int

	Root, Op     int
	Group        int // of members, or of the ranks of an epoch
	Offset       int // in a file
	Color, Key   int // of a split
	Info, Assert int

	Request  int // that the call issues
	Requests int // one, or an array, that it completes, inspects, starts, frees, cancels …
	// Flag, Index, Indices and Outcount say what completed or was found.
	Flag, Index, Indices, Outcount int

	// StatusSource, StatusTag and StatusBytes are the parts of a single status,
	// Statuses is an array of them.
	StatusSource, StatusTag, StatusBytes, Statuses int

	Made  int // communicator, window, file or datatype that the call creates
	Freed int // object that does not exist afterwards

	Topology Topology
	Parts    Partitions
}

// Partitions are the words that say which partitions of a message are ready, or are asked for: one, all
// from Low to High, or those of an array.
type Partitions struct{ One, Low, High, List int }

// Payload is a buffer of Count elements of a datatype. Its size in bytes is that of the
// datatype times the count, times Parts if that exists.
type Payload struct {
	Buffer int
	// Count and Type may be arrays, with an element for each peer, or for each neighbour.
	// Without a Count it is one element, or unknown.
	Count, Type, Displs int
	Parts               int // partitions, each of Count elements
	// Blocks: the buffer has a block for each peer. If Count is an array and Blocks is not set,
	// only the element of the process's own rank counts.
	Blocks bool
}

// Present reports whether the procedure has such a payload.
func (d *Payload) Present() bool { return d.Type != 0 }

// Single reports whether it is one element of the datatype.
func (d *Payload) Single() bool { return d.Type != 0 && d.Count == 0 }

// DataOf returns the payload of a buffer, a word of the procedure; nil if the procedure does
// not describe its contents.
func (r *Roles) DataOf(buffer int) *Payload {
	for _, d := range []*Payload{&r.Send, &r.Recv, &r.Local} {
		if buffer != 0 && d.Buffer == buffer {
			return d
		}
	}
	return nil
}

// Topology are the words that describe the topology of a new communicator.
type Topology struct {
	Dims, Periods int // Cartesian
	Remain        int // dimensions that a subgrid keeps
	Index, Edges  int // graph
	// Distributed graph: the process's own neighbours; with Degrees those of several processes.
	Sources, Destinations, Degrees int
}

// ObjectWord is the index of the word of a call's communicator, window or file.
const ObjectWord = 2

// in returns the input word of the first of these parameters that the procedure has; 0 if it
// has none of them.
func (p *Proc) in(names ...string) int {
	for _, name := range names {
		q := p.Param(name)
		for i := ObjectWord; q >= 0 && i < len(p.Words); i++ {
			if p.Words[i].Param == q && !p.Words[i].Out {
				return i
			}
		}
	}
	return 0
}

// Vector reports whether a word stands for an array.
func (p *Proc) Vector(word int) bool { return word != 0 && p.Words[word].Form == VecForm }

// findRoles computes p.Roles. It needs the schema, and what p inherits from its base.
func (p *Proc) findRoles() {
	if len(p.Words) == 0 {
		return
	}
	p.findData()
	p.findPeers()
	r := &p.Roles
	for i := ObjectWord; i < len(p.Words); i++ {
		if p.Words[i].Param >= 0 {
			p.findRole(i)
		}
	}
	r.Color, r.Key = p.in("color"), p.in("key")
	r.Offset = p.in("offset")
	r.TargetDisp = p.in("target_disp")
	r.Parts = Partitions{p.in("partition"), p.in("partition_low"), p.in("partition_high"), p.in("array_of_partitions")}
	if p.Ctor != "" {
		r.Topology = Topology{
			Dims: p.in("dims"), Periods: p.in("periods"), Remain: p.in("remain_dims"), Index: p.in("index"), Edges: p.in("edges"),
			Sources: p.in("sources"), Destinations: p.in("destinations"), Degrees: p.in("degrees"),
		}
	}
}

// Names of the parameters of payloads, the most specific first.
var (
	sendNames = payloadNames{
		buffer: []string{"sendbuf", "origin_addr", "buf", "buffer"},
		count:  []string{"sendcount", "sendcounts", "origin_count", "count", "recvcounts", "recvcount"},
		typ:    []string{"sendtype", "sendtypes", "origin_datatype", "datatype"},
		displs: []string{"sdispls"},
	}
	recvNames = payloadNames{
		buffer: []string{"recvbuf", "result_addr", "origin_addr", "buf", "buffer"},
		count:  []string{"recvcount", "recvcounts", "result_count", "origin_count", "count"},
		typ:    []string{"recvtype", "recvtypes", "result_datatype", "origin_datatype", "datatype"},
		displs: []string{"rdispls"},
	}
	readNames    = payloadNames{buffer: []string{"inbuf"}, count: []string{"incount", "count"}, typ: []string{"datatype"}}
	writtenNames = payloadNames{buffer: []string{"outbuf"}, count: []string{"outcount"}, typ: []string{"datatype"}}
)

type payloadNames struct{ buffer, count, typ, displs []string }

// findData finds the buffers: those read are sent, those written are received.
func (p *Proc) findData() {
	r := &p.Roles
	if p.payload(&r.Send, &sendNames, In) {
		r.Send.Blocks = p.blocks == "send" || p.blocks == "both"
	}
	if p.payload(&r.Recv, &recvNames, Out) {
		r.Recv.Blocks = p.blocks == "recv" || p.blocks == "both"
	}
	if p.payload(&r.Local, &readNames, In); r.Local.Count == 0 {
		r.Local = Payload{}
		p.payload(&r.Local, &writtenNames, Out)
	}
	switch d := p.in("displs"); {
	case p.Vector(r.Send.Count):
		r.Send.Displs += d
	case p.Vector(r.Recv.Count):
		r.Recv.Displs += d
	}
	r.TargetData = Payload{Count: p.in("target_count"), Type: p.in("target_datatype")}
}

// payload reports whether there is such a buffer, and whether it holds data, unlike that of
// MPI_Buffer_attach, for example.
func (p *Proc) payload(d *Payload, names *payloadNames, dir Dir) bool {
	buffer, typ := p.in(names.buffer...), p.in(names.typ...)
	if buffer == 0 || p.Params[p.Words[buffer].Param].Dir&dir == 0 || typ == 0 && p.Split == "" {
		return false
	}
	*d = Payload{Buffer: buffer, Type: typ, Parts: p.in("partitions"), Displs: p.in(names.displs...)}
	if typ != 0 {
		d.Count = p.in(names.count...)
	}
	return true
}

// findPeers finds the words of the peers of a message or access.
func (p *Proc) findPeers() {
	r := &p.Roles
	if r.Dest = p.in("dest"); r.Dest != 0 {
		r.SendTag = p.in("sendtag", "tag")
	}
	if r.Source = p.in("source"); r.Source != 0 {
		r.RecvTag = p.in("recvtag", "tag")
	}
	if p.Object >= 0 && p.Params[p.Object].Kind == Win {
		r.Target = p.in("target_rank", "rank")
	}
}

// findRole sets the role of word i if the kind of its parameter determines it.
func (p *Proc) findRole(i int) {
	r, w := &p.Roles, &p.Words[i]
	q := &p.Params[w.Param]
	set := func(role *int) {
		if *role == 0 {
			*role = i
		}
	}
	switch {
	case w.Part == Source:
		set(&r.StatusSource)
	case w.Part == MessageTag:
		set(&r.StatusTag)
	case w.Part == Bytes:
		set(&r.StatusBytes)
	case w.Out:
		p.findOutcome(i, set)
	}
	switch q.Kind {
	case Statuses:
		set(&r.Statuses)
	case Root:
		set(&r.Root)
	case Op:
		if r.Send.Present() || r.Recv.Present() {
			set(&r.Op)
		}
	case Comm, Win, File, Type:
		p.findObject(i, set)
	}
	if w.Out {
		return
	}
	switch q.Kind {
	case Msg:
		set(&r.Message)
	case Req:
		set(&r.Requests)
	case Group:
		set(&r.Group)
	case Info:
		set(&r.Info)
	case Bits:
		if q.Set == "assert" {
			set(&r.Assert)
		}
	}
}

// findOutcome sets the role of word i, a result of the call.
func (p *Proc) findOutcome(i int, set func(*int)) {
	r, w := &p.Roles, &p.Words[i]
	q := &p.Params[w.Param]
	switch {
	case q.Kind == Msg && w.Form == SlotForm:
		set(&r.MatchedMessage)
	case q.Kind == Req && w.Form == SlotForm:
		set(&r.Request)
	case q.Kind == Flag && q.Name == "flag": // others are answers and do not say whether there is a result
		set(&r.Flag)
	case q.Kind == Index && w.Form == VecForm:
		set(&r.Indices)
	case q.Kind == Index:
		set(&r.Index)
	case q.Name == "outcount":
		set(&r.Outcount)
	}
}

// findObject sets the role of word i, a communicator, window, file or datatype.
func (p *Proc) findObject(i int, set func(*int)) {
	w := &p.Words[i]
	switch q := &p.Params[w.Param]; {
	case p.Frees && q.Dir == InOut:
		set(&p.Roles.Freed)
	case p.Ctor != "" && q.Dir == Out && w.Form != VecForm:
		set(&p.Roles.Made)
	}
}

// Sends reports whether the call sends a message, or prepares one.
func (p *Proc) Sends() bool { return p.Roles.Dest != 0 && p.Roles.Send.Present() }

// Receives reports whether the call receives a message, or prepares that.
func (p *Proc) Receives() bool {
	return (p.Roles.Source != 0 || p.Roles.Message != 0) && p.Roles.Recv.Present()
}

// Probes reports whether the call looks for a message.
func (p *Proc) Probes() bool { return p.Roles.Source != 0 && !p.Roles.Recv.Present() }

// Accesses reports whether the call accesses the memory of a window.
func (p *Proc) Accesses() bool {
	return p.Roles.Target != 0 && (p.Roles.Send.Present() || p.Roles.Recv.Present())
}

// ReadsFile reports whether the call reads from a file into a buffer.
func (p *Proc) ReadsFile() bool { return p.ObjectKind() == File && p.Roles.Recv.Buffer != 0 }

// WritesFile reports whether the call writes from a buffer to a file.
func (p *Proc) WritesFile() bool { return p.ObjectKind() == File && p.Roles.Send.Buffer != 0 }

// FreesRequest reports whether the call frees a request that may be active, whose completion is
// then seen by no call.
func (p *Proc) FreesRequest() bool {
	return p.Frees && p.Roles.Requests != 0 && p.Roles.Freed == 0
}

// Readies reports whether the call marks partitions of a message as ready to be sent.
func (p *Proc) Readies() bool { return p.Roles.Requests != 0 && !p.Poll && p.readied() != nil }

// Readied is how many partitions such a call marks.
func (p *Proc) Readied(call interface{ Word(i int) uint64 }) uint64 {
	if f := p.readied(); f != nil {
		return f(call.Word)
	}
	return 0
}

func (p *Proc) readied() func(word func(i int) uint64) uint64 {
	one, low, high := p.in("partition"), p.in("partition_low"), p.in("partition_high")
	length := p.in("length")
	switch {
	case one != 0:
		return func(func(int) uint64) uint64 { return 1 }
	case low != 0 && high != 0:
		return func(word func(int) uint64) uint64 { return word(high) - word(low) + 1 }
	case length != 0 && p.in("array_of_partitions") != 0:
		return func(word func(int) uint64) uint64 { return word(length) }
	}
	return nil
}

// OnFiles reports whether the call belongs to MPI I/O.
func (p *Proc) OnFiles() bool {
	return p.file || slices.ContainsFunc(p.Params, func(q Param) bool { return q.Kind == File })
}

// ObjectKind is the kind of the object of the procedure's calls: Comm, Win or File;
// Opaque if they have none.
func (p *Proc) ObjectKind() Kind {
	if p.Object < 0 {
		return Opaque
	}
	return p.Params[p.Object].Kind
}

// MadeKind is the kind of the object that the procedure creates: Comm, Win, File or Type;
// Opaque if it creates none of these.
func (p *Proc) MadeKind() Kind { return p.kindOf(p.Roles.Made) }

// FreedKind is the kind of the object that the procedure frees: Comm, Win, File or Type; Opaque
// if it frees none of these.
func (p *Proc) FreedKind() Kind { return p.kindOf(p.Roles.Freed) }

func (p *Proc) kindOf(word int) Kind {
	if word == 0 {
		return Opaque
	}
	return p.Params[p.Words[word].Param].Kind
}
