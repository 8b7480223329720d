package analysis

import (
	"errors"
	"slices"

	"github.com/efg-tools/efg/signature"
)

// OperationKind says what an operation is.
type OperationKind uint8

const (
	OtherOperation OperationKind = iota
	SendOperation
	ReceiveOperation
	CollectiveOperation
	OneSidedOperation
	FileOperation
)

// NoRank stands for an absent or unknown process.
const NoRank = outside

// Operation is one thing that a call does, an object of the MPI Trace Format: MPI_Sendrecv is
// two, MPI_Startall as many as it starts. Values that were not requested (Fields), absent or
// unknown are NoRank, absent or 0.
type Operation struct {
	Kind  OperationKind
	Proc  *signature.Proc // of a started operation: the procedure that made it; may be nil
	Class string          // of the MPI Trace Format
	// Prepared: a persistent operation is made, and nothing done yet. Started: it
	// is started.
	Prepared, Started bool
	Comm              uint64 // word of the communicator, window or file
	Peer              int    // rank in the run of the other side
	Tag               uint64 // word; of a blocking receive, the message's
	Datatype          uint64 // word
	Count             uint64 // word, elements
	// Moves: a message, access or collective takes place; not with MPI_PROC_NULL, nor if the
	// call failed.
	Moves          bool
	Sent, Received uint64 // bytes; see the package comment
	Known          bool   // the bytes are recorded
}

// Call is an event, or those of the events of a node together whose operations
// are equal. Operations are valid until the next one.
type Call struct {
	Times      uint64
	Operations []Operation
}

// Fields selects attributes of operations, besides those that determine the kind of operation.
type Fields uint8

const (
	CommField  Fields = 1 << iota // Comm
	BytesField                    // Sent, Received, Known, Moves, Comm, Peer, Datatype, Count
	TagField                      // Tag
)

// statusWords returns the words of the source and tag in the status of a receive.
func (a *plan) statusWords() (source, tag int) {
	if a.kind != pointToPoint {
		return 0, 0
	}
	return a.Roles.StatusSource, a.Roles.StatusTag
}

// wordsOf returns the words of a procedure that determine the selected attributes.
func (f Fields) wordsOf(p *signature.Proc) (mask uint64) {
	if p == nil {
		return 0
	}
	a := planOf(p)
	source, tag := a.statusWords()
	if f&(CommField|BytesField) != 0 {
		mask |= 1 << signature.ObjectWord
	}
	if f&BytesField != 0 {
		mask |= a.mask | 1<<source
	}
	if f&TagField != 0 && a.kind == pointToPoint {
		mask |= 1<<a.Roles.SendTag | 1<<a.Roles.RecvTag | 1<<tag
	}
	if a.kind == starting {
		mask |= 1 << a.Roles.Requests
	}
	return mask &^ 1
}

// Calls calls f for the events of a node of Data.Streams[i], grouped by equal operations in the
// selected fields.
func (p *Process) Calls(i, node int, fields Fields, f func(*Call) error) error {
	s := p.streams[i]
	proc := procOf(&s.Nodes[node])
	if planOf(proc).kind == starting && signature.Header(s.Nodes[node].Words[0]).ErrorClass() == 0 {
		return s.startingCalls(node, fields, f)
	}
	call := Call{}
	return s.instances(node, fields.wordsOf(proc), func(c *instance) error {
		call.Times, call.Operations = c.times, c.operations(call.Operations[:0], fields)
		return f(&call)
	})
}

// operations appends what an event does; starts are not its own.
func (c *instance) operations(list []Operation, fields Fields) []Operation {
	if c.proc == nil {
		return append(list, Operation{Class: signature.OtherOps, Peer: NoRank, Tag: signature.Absent, Datatype: signature.Absent, Count: signature.Absent})
	}
	failed := signature.Header(c.words[0]).ErrorClass() != 0
	for k, class := range c.proc.MTF {
		o := Operation{
			Proc: c.proc, Class: class, Kind: c.kindOf(k), Prepared: c.proc.Persistent,
			Peer: NoRank, Tag: signature.Absent, Datatype: signature.Absent, Count: signature.Absent,
		}
		if fields&(CommField|BytesField) != 0 {
			o.Comm = c.words[signature.ObjectWord]
		}
		if fields&TagField != 0 {
			o.Tag = c.tagOf(o.Kind)
		}
		if fields&BytesField != 0 {
			c.fill(&o, failed)
		}
		list = append(list, o)
	}
	return list
}

// kindOf is the kind of operation k of the call. A call that sends and receives sends first.
func (c *instance) kindOf(k int) OperationKind {
	switch c.plan.kind {
	case pointToPoint:
		if c.proc.Receives() && (!c.proc.Sends() || k > 0) {
			return ReceiveOperation
		}
		return SendOperation
	case collective:
		return CollectiveOperation
	case oneSided:
		return OneSidedOperation
	case fileRead, fileWrite:
		return FileOperation
	}
	return OtherOperation
}

// tagOf is the tag of a message. For a receive of any tag it is the one received.
func (c *instance) tagOf(kind OperationKind) uint64 {
	i := 0
	switch kind {
	case SendOperation:
		i = c.plan.Roles.SendTag
	case ReceiveOperation:
		_, told := c.plan.statusWords()
		if i = c.plan.Roles.RecvTag; told != 0 && (i == 0 || signature.IsConst(c.words[i])) {
			i = told
		}
	}
	if i == 0 {
		return signature.Absent
	}
	return c.words[i]
}

// fill computes what the operation moves, and its peer.
func (c *instance) fill(o *Operation, failed bool) {
	var t transfer
	a := &c.plan.Roles
	data := a.Send
	switch o.Kind {
	case SendOperation:
		o.Peer = c.process.peer(c.process.comm(c.words[signature.ObjectWord]), c.words[a.Dest])
		c.send(&t)
		o.Moves = t.Messages > 0
	case ReceiveOperation:
		data = a.Recv
		o.Peer = c.process.peer(c.process.comm(c.words[signature.ObjectWord]), c.senderWord())
		c.receive(&t)
		o.Moves = t.Receives > 0
	case OneSidedOperation:
		o.Peer = c.process.peer(c.process.window(c.words[signature.ObjectWord]), c.words[a.Target])
		c.transfer(&t)
		o.Moves = c.words[a.Target] != signature.ProcNull
	case CollectiveOperation, FileOperation:
		c.transfer(&t)
		o.Moves = true
	default:
		return
	}
	if !data.Present() {
		data = a.Recv
	}
	c.describe(o, &data)
	o.Moves = o.Moves && !failed && !o.Prepared
	o.Known = !o.Moves || t.Unknown == 0
	if o.Moves {
		o.Sent, o.Received = t.Sent+t.Written, t.Received+t.Read
	}
}

// describe sets datatype and count if there is one of each.
func (c *instance) describe(o *Operation, q *signature.Payload) {
	if q.Type != 0 && !c.isVec(q.Type) {
		o.Datatype = c.words[q.Type]
	}
	switch {
	case q.Single():
		o.Count = 1
	case q.Count != 0 && !c.isVec(q.Count):
		if o.Count = c.words[q.Count]; q.Parts != 0 && !signature.IsConst(o.Count) {
			o.Count *= c.words[q.Parts]
		}
	}
}

// senderWord is the sender's rank in the communicator. For a receive from any source it is the
// actual sender.
func (c *instance) senderWord() uint64 {
	i := c.plan.Roles.Source
	told, _ := c.plan.statusWords()
	switch {
	case told != 0 && (i == 0 || signature.IsConst(c.words[i]) && c.words[i] != signature.ProcNull):
		return c.words[told]
	case i == 0:
		return signature.Absent
	}
	return c.words[i]
}

// startingCalls is Calls for a node that starts persistent operations.
func (s *stream) startingCalls(node int, fields Fields, f func(*Call) error) error {
	list, doubt, err := s.startedCalls(node, fields)
	if err != nil {
		return err
	}
	if doubt {
		if list, err = s.walkedCalls(node, fields); err != nil {
			return err
		}
	}
	for i := range list {
		if err := f(&list[i]); err != nil {
			return err
		}
	}
	return nil
}

// startedCalls finds the calls of a node on the graph, unless they depend on the order of
// events.
func (s *stream) startedCalls(node int, fields Fields) (list []Call, doubt bool, err error) {
	requests := planOf(procOf(&s.Nodes[node])).Roles.Requests
	err = s.instances(node, 1<<requests, func(c *instance) error {
		array := []uint64{c.words[requests]}
		if c.isVec(requests) {
			known, ok := c.vec(requests)
			if !ok && c.words[requests] == signature.Same {
				if known, ok = s.reaching(node); !ok {
					return errDoubt
				}
			}
			array = known
		}
		call := Call{Times: c.times}
		for _, w := range array {
			o, err := s.process.operation(w)
			if err == nil && s.process.doubtful(w, fields) {
				err = errDoubt
			}
			if err != nil {
				return err
			}
			call.Operations = o.startedOperations(call.Operations, fields)
		}
		list = append(list, call)
		return nil
	})
	if errors.Is(err, errDoubt) {
		return nil, true, nil
	}
	return list, false, err
}

// doubtful reports whether attributes of a persistent operation vary that operation does not
// consider.
func (p *Process) doubtful(request uint64, fields Fields) bool {
	id, ok := signature.ParseID(request)
	s := p.threads[id.Thread]
	if !ok || s == nil || int(id.Node) >= len(s.Nodes) {
		return false
	}
	n := &s.Nodes[id.Node]
	proc := procOf(n)
	return proc != nil && proc.Persistent && n.Mask&fields.wordsOf(proc)&^planOf(proc).mask != 0
}

// startedOperations appends the operations that starting a request performs.
func (c *instance) startedOperations(list []Operation, fields Fields) []Operation {
	if c.plan == nil {
		return append(list, Operation{Class: signature.OtherOps, Started: true, Peer: NoRank,
			Tag: signature.Absent, Datatype: signature.Absent, Count: signature.Absent, Moves: true})
	}
	n := len(list)
	list = c.operations(list, fields)
	for i := n; i < len(list); i++ {
		o := &list[i]
		o.Prepared, o.Started = false, true
		if fields&BytesField != 0 {
			c.fill(o, false)
		}
	}
	return list
}

// walkedCalls finds the calls of a node by walking the stream.
func (s *stream) walkedCalls(node int, fields Fields) ([]Call, error) {
	var list []Call
	index := map[uint64]int{}
	err := s.eachEvent(func(e event, follower *Follower) error {
		call, err := follower.Call(e)
		if err != nil || e.Node() != node {
			return err
		}
		key := keyOf(call.Operations)
		at, ok := index[key]
		if !ok {
			at = len(list)
			index[key] = at
			list = append(list, Call{Operations: slices.Clone(call.Operations)})
		}
		list[at].Times++
		return nil
	}, fields)
	return list, err
}

func keyOf(list []Operation) uint64 {
	var key []uint64
	for i := range list {
		o := &list[i]
		id := uint64(0)
		if o.Proc != nil {
			id = uint64(o.Proc.ID)
		}
		flags := uint64(o.Kind)<<8 | uint64(truth(o.Moves))<<1 | uint64(truth(o.Known))
		key = append(key, id, flags, signature.HashString(o.Class), o.Comm, uint64(o.Peer), o.Tag, o.Datatype, o.Count, o.Sent, o.Received)
	}
	return signature.Hash(key...)
}
