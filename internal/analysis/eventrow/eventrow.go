// Package eventrow provides the columns of tables of events: what the events of a node have in
// common, and what the operations of an event are, as one peer, tag, count and datatype.
package eventrow

import (
	"fmt"
	"strings"

	"github.com/efg-tools/efg/internal/analysis"
	"github.com/efg-tools/efg/reconstruct"
	"github.com/efg-tools/efg/signature"
)

// Fields are those that Peer, Tag, Count, Datatype and Volume need.
const Fields = analysis.CommField | analysis.BytesField | analysis.TagField

// Node has what the events of a node have in common. Texts are "" if there is none.
type Node struct {
	Proc                         *signature.Proc // nil if it is not in this version's table
	Op, Class, Site, Func, Error string
	PMPI                         bool   // called by its PMPI_ name
	Path                         string // call path, a JSON array as in JSON Lines
	Depth                        int    // of how many calls the call was made inside
}

// Nodes describes the nodes of a stream of a process.
func Nodes(p *reconstruct.Process, i int) []Node {
	s := &p.Data().Streams[i]
	list := make([]Node, len(s.Nodes))
	for k := range list {
		list[k] = NodeOf(s.Nodes[k].Words, p.Names())
	}
	return list
}

// NodeOf describes the node of these words.
func NodeOf(words []uint64, names *reconstruct.Names) Node {
	header := signature.Header(words[0])
	n := Node{
		Proc: signature.ProcByID(header.Proc()), Op: fmt.Sprintf("procedure %d", header.Proc()), Class: signature.OtherOps,
		Site: names.Place(words[1]), Func: names.Func(words[1]), PMPI: header.ByPMPI(), Depth: header.Depth(),
	}
	if n.Proc != nil {
		n.Op, n.Class = n.Proc.Name, strings.Join(n.Proc.MTF, ",")
	}
	if c := header.ErrorClass(); c != 0 {
		n.Error = reconstruct.ErrorName(c)
	}
	if path := names.Path(words[1]); path != nil {
		n.Path = string(reconstruct.AppendJSONPath(nil, path))
	}
	return n
}

// Object returns the name of the communicator, window or file of an event of the node, "" if it
// has none.
func (n *Node) Object(e *reconstruct.Event, names *reconstruct.Names) string {
	if n.Proc == nil || n.Proc.Object < 0 {
		return ""
	}
	return names.Handle(n.Proc.Params[n.Proc.Object].Kind, e.Word(signature.ObjectWord))
}

// Peer returns the rank in the run of the other side of the first operation that has one.
func Peer(list []analysis.Operation) (rank int, ok bool) {
	for i := range list {
		if list[i].Peer >= 0 {
			return list[i].Peer, true
		}
	}
	return 0, false
}

// Tag returns the tag of the first operation that has one.
func Tag(list []analysis.Operation) (tag int64, ok bool) {
	for i := range list {
		if !signature.IsConst(list[i].Tag) {
			return int64(list[i].Tag), true
		}
	}
	return 0, false
}

// Count returns the number of elements of the first operation that has one.
func Count(list []analysis.Operation) (count int64, ok bool) {
	for i := range list {
		if !signature.IsConst(list[i].Count) {
			return int64(list[i].Count), true
		}
	}
	return 0, false
}

// Datatype returns the name of the datatype of the first operation that has one, "" if none has.
func Datatype(list []analysis.Operation, names *reconstruct.Names) string {
	for i := range list {
		if list[i].Datatype != signature.Absent {
			return names.Handle(signature.Type, list[i].Datatype)
		}
	}
	return ""
}

// Volume returns the bytes that all operations of a call move; ok is false if nothing moves, or
// how much is unknown.
func Volume(list []analysis.Operation) (sent, received uint64, ok bool) {
	for i := range list {
		o := &list[i]
		if o.Kind == analysis.OtherOperation || !o.Moves {
			continue
		}
		if !o.Known {
			return 0, 0, false
		}
		ok = true
		sent += o.Sent
		received += o.Received
	}
	return sent, received, ok
}
