package check

import (
	"fmt"

	"github.com/efg-tools/efg/signature"
)

// Libraries check arguments, and end the program in a call with one that is invalid. Such a
// call is in progress when the recording ends; its arguments show why.

// InvalidArgument is a call with an argument that can never be valid.
const InvalidArgument Kind = "invalid argument"

// arguments checks the arguments of a call.
type arguments struct {
	t     *tally
	r     *roles
	words []uint64
}

// invalidArgument describes the first invalid argument; "" if none is known to be invalid.
func (t *tally) invalidArgument(words []uint64) string {
	p := signature.ProcByID(signature.Header(words[0]).Proc())
	if p == nil || len(p.Words) != len(words) {
		return ""
	}
	a := &arguments{t, &allRoles()[p.ID], words}
	for i := signature.ObjectWord; i < len(words); i++ {
		w := &p.Words[i]
		if w.Param < 0 || w.Out || w.Form == signature.SlotForm {
			continue
		}
		q := &p.Params[w.Param]
		for _, v := range a.values(i) {
			if text := a.invalid(q, i, v); text != "" {
				return q.Name + " " + text
			}
		}
	}
	return ""
}

// values are the values of an argument: the elements of an array, if they are known.
func (a *arguments) values(i int) []uint64 {
	if a.r.proc.Words[i].Form == signature.VecForm {
		return a.t.p.Vec(a.words[i])
	}
	return a.words[i : i+1]
}

const wasFreed = "was freed"

// invalid describes what is wrong with a value; "" if it is valid.
func (a *arguments) invalid(q *signature.Param, i int, v uint64) string {
	switch {
	case v == signature.Absent:
		return ""
	case v == signature.Unknown && q.Kind == signature.Req:
		return "is not an active request: it is complete or freed, or was never created"
	case v == signature.Unknown:
		return "is not a known handle: no recorded call created it"
	case v == signature.Freed:
		return wasFreed
	case q.Kind.Handle():
		return a.invalidHandle(q, i, v)
	case q.Kind == signature.Peer:
		return a.invalidPeer(i, v)
	case q.Kind == signature.Root:
		return a.invalidRoot(v)
	case q.Kind == signature.Tag && signature.IsConst(v) && !(v == signature.AnyTag && i == a.r.recvTag):
		return "is " + tagText(v) + ", which is not a valid tag"
	case q.NonNegative() && negative(v):
		return fmt.Sprintf("is %d: it is negative", int64(v))
	case q.Kind == signature.Buf && (v == wordNull || v == wordBottom):
		return a.invalidBuffer(i)
	}
	return ""
}

// negative reports whether a word is a number below 0.
func negative(v uint64) bool { return !signature.IsConst(v) && int64(v) < 0 }

func (a *arguments) invalidHandle(q *signature.Param, i int, v uint64) string {
	p := a.r.proc
	if k, ok := signature.ConstNumber(v); ok {
		c := signature.ConstantByID(k)
		switch {
		case c == nil:
		case c.IsNull() && !p.TakesNull(q):
			return "is " + c.Name
		case p.Frees && c.Group == q.Kind.String():
			return fmt.Sprintf("is %s, which cannot be freed", c.Name)
		}
		return ""
	}
	switch {
	case q.Kind == signature.Req:
		return a.invalidRequest(v)
	case a.freed(q.Kind, v):
		return wasFreed
	case q.Kind == signature.Type && a.transfers() && !a.t.committed(v):
		return "was never committed"
	}
	return ""
}

// freed reports whether an object was freed as often as it was made. (A datatype is identified
// by its content, and may have been made several times.)
func (a *arguments) freed(kind signature.Kind, v uint64) bool {
	l := a.t.objects[object{kind, v}]
	return l != nil && l.made > 0 && l.freed >= l.made
}

// transfers reports whether the call needs committed datatypes.
func (a *arguments) transfers() bool {
	p := a.r.proc
	return a.r.sends || a.r.receives || collectiveOf(a.r) != nil || p.Accesses()
}

// committed reports whether a datatype was committed.
func (t *tally) committed(word uint64) bool {
	for i := range t.p.Data.Streams {
		for k := range t.p.Data.Streams[i].Nodes {
			n := &t.p.Data.Streams[i].Nodes[k]
			if p := procOf(n); p != nil && p.Commits && !failed(n) && (n.Mask>>signature.FirstWord != 0 || n.Words[signature.FirstWord] == word) {
				return true
			}
		}
	}
	def := t.p.TypeDef(word)
	return def == nil || len(def.Words) > 0 && neverCommitted[def.Words[0]]
}

// neverCommitted are the combiners of datatypes that need not be committed.
var neverCommitted = map[uint64]bool{
	signature.ConstWord("MPI_COMBINER_F90_REAL"): true, signature.ConstWord("MPI_COMBINER_F90_COMPLEX"): true, signature.ConstWord("MPI_COMBINER_F90_INTEGER"): true,
	signature.ConstWord("MPI_COMBINER_NAMED"): true,
}

// invalidRequest: only persistent requests can be started.
func (a *arguments) invalidRequest(v uint64) string {
	n, _, ok := a.t.issuer(v)
	if !a.r.starts || !ok {
		return ""
	}
	if p := procOf(n); p != nil && !p.Persistent {
		return fmt.Sprintf("was made by %s and is not persistent", p.Name)
	}
	return ""
}

func (a *arguments) invalidPeer(i int, v uint64) string {
	if signature.IsConst(v) {
		if v == signature.ProcNull || v == signature.AnySource && i == a.r.source {
			return ""
		}
		return fmt.Sprintf("is %s, which is not a rank", tagText(v))
	}
	return a.outOfRange(v)
}

// outOfRange checks a rank against the remote group, or against the group of the communicator.
func (a *arguments) outOfRange(v uint64) string {
	own, other := a.t.p.Members(a.words[signature.ObjectWord])
	if other != nil {
		own = other
	}
	switch {
	case negative(v):
		return fmt.Sprintf("is %d: a rank cannot be negative", int64(v))
	case own != nil && own.Size() > 0 && v >= uint64(own.Size()):
		return fmt.Sprintf("is %d, and the ranks are 0 to %d", int64(v), own.Size()-1)
	}
	return ""
}

func (a *arguments) invalidRoot(v uint64) string {
	if !signature.IsConst(v) {
		return a.outOfRange(v)
	}
	if _, other := a.t.p.Members(a.words[signature.ObjectWord]); other != nil && (v == signature.RootHere || v == signature.ProcNull) {
		return ""
	}
	return fmt.Sprintf("is %s, which is not a rank of an intracommunicator", tagText(v))
}

// MPI_BOTTOM is a null pointer in most libraries.
var wordNull, wordBottom = signature.ConstWord("EFG_NULL"), signature.ConstWord("MPI_BOTTOM")

// invalidBuffer: a null pointer is valid for no elements, or for datatypes with absolute
// addresses.
func (a *arguments) invalidBuffer(i int) string {
	p := a.r.proc
	d := p.Roles.DataOf(i)
	if d == nil || d.Count == 0 || d.Type == 0 || p.Vector(d.Count) || p.Vector(d.Type) || !a.significant(i) {
		return ""
	}
	if n := a.words[d.Count]; n == 0 || signature.IsConst(n) || !a.basic(a.words[d.Type]) {
		return ""
	}
	return fmt.Sprintf("is a null pointer or MPI_BOTTOM, for %d of a basic datatype", a.words[d.Count])
}

// significant reports whether the process's buffer is significant: one that only the root of a
// collective uses may have any value elsewhere.
func (a *arguments) significant(buffer int) bool {
	p := a.r.proc
	r := &p.Roles
	if r.Root == 0 {
		return true
	}
	all := r.Send.Buffer == r.Recv.Buffer // of MPI_Bcast
	atRoot := !all && (p.Shape == signature.AllToOne && buffer == r.Recv.Buffer || p.Shape == signature.OneToAll && buffer == r.Send.Buffer)
	root := a.words[r.Root]
	own, other := a.t.p.Members(a.words[signature.ObjectWord])
	switch {
	case root == signature.ProcNull:
		return false
	case root == signature.RootHere:
		return all || atRoot
	case other != nil:
		return !atRoot
	}
	return !atRoot || own != nil && own.Index(a.t.p.Data.Rank) == int(root)
}

// basic reports whether a datatype is predefined and has elements.
func (a *arguments) basic(word uint64) bool {
	size, ok := a.t.p.TypeBytes(word)
	return signature.IsConst(word) && ok && size > 0
}
