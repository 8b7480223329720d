package jsonl

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/efg-tools/efg/internal/importer"
	"github.com/efg-tools/efg/signature"
)

// comm is a communicator whose members are being found: those that say that they got it.
type comm struct {
	parent  string
	proc    *signature.Proc
	members []member
	seen    map[int]bool
	unclear bool // those who got it disagree
	defined *importer.Members
}

type member struct {
	rank int
	key  int64
}

// define reads the definition of a handle.
func (r *reader) define(l *line) error {
	v := l.fields
	if size := v.Member("size"); size != nil {
		return r.names.DefineType(l.define, size.Number)
	}
	list := v.Member("members")
	if list == nil || list.Kind != importer.List {
		return errors.New("define: want members, or the size of a datatype")
	}
	m := &importer.Members{Kind: "EFG_COMM_OTHER"}
	for i := range list.List {
		e := &list.List[i]
		if e.Kind != importer.Number || e.Number < 0 || e.Number >= maxRank {
			return errors.New("members: want ranks")
		}
		m.Local = append(m.Local, int(e.Number))
	}
	if len(m.Local) == 0 {
		return errors.New("define: a communicator without members")
	}
	if p := v.Member("parent"); p != nil {
		m.Parent = p.Text
	}
	r.comms[l.define] = &comm{defined: m}
	return nil
}

// madeComm notes who gets a new communicator.
func (r *reader) madeComm(l *line) error {
	p := signature.ProcByName(l.call.Op)
	if p == nil || p.MadeKind() != signature.Comm || l.call.Out == nil || p.ObjectKind() != signature.Comm {
		return nil
	}
	v := l.call.Out.Member(p.Params[p.Words[p.Roles.Made].Param].Name)
	if v == nil || !strings.HasPrefix(v.Text, "comm:") {
		return nil
	}
	name, _, _ := strings.Cut(v.Text, ".")
	c := r.comms[name]
	if c == nil {
		c = &comm{proc: p, seen: map[int]bool{}}
		r.comms[name] = c
	}
	if c.defined != nil {
		return nil
	}
	parent, key := "", int64(0)
	if l.call.Args != nil {
		if q := l.call.Args.Member(p.Params[p.Object].Name); q != nil {
			parent, _, _ = strings.Cut(q.Text, ".")
		}
		if q := l.call.Args.Member("key"); q != nil && q.Kind == importer.Number {
			key = q.Number
		}
	}
	if len(c.members) == 0 {
		c.parent = parent
	}
	if c.seen[l.rank] { // again, in a loop
		return nil
	}
	c.seen[l.rank] = true
	c.unclear = c.unclear || c.parent != parent || c.proc != p || !ordered(p, l.call.Args)
	c.members = append(c.members, member{l.rank, key})
	return nil
}

// inParentOrder are the constructors whose members have the order of the parent, or that of their
// keys in it.
var inParentOrder = []string{
	"EFG_COMM_DUP", "EFG_COMM_DUP_WITH_INFO", "EFG_COMM_IDUP", "EFG_COMM_IDUP_WITH_INFO", "EFG_COMM_SPLIT", "EFG_COMM_SPLIT_TYPE", "EFG_COMM_CART_SUB",
}

// ordered reports whether the order of the members follows from what a call says.
func ordered(p *signature.Proc, args *importer.Value) bool {
	if slices.Contains(inParentOrder, p.Ctor) {
		return true
	}
	if args == nil || p.Roles.Topology == (signature.Topology{}) {
		return false
	}
	reorder := args.Member("reorder")
	return reorder != nil && reorder.Kind == importer.Number && reorder.Number == 0
}

// nameComms tells the members of communicators, parents first.
func (r *reader) nameComms() {
	known := map[string]bool{}
	for more := true; more; {
		more = false
		for name, c := range r.comms {
			if known[name] {
				continue
			}
			m := c.defined
			if m == nil {
				m = r.membersOf(c)
			}
			if m != nil {
				r.names.SetMembers(name, m)
				known[name], more = true, true
			}
		}
	}
}

// membersOf are the members of a communicator in their order, nil as long as that is not known.
func (r *reader) membersOf(c *comm) *importer.Members {
	if c.unclear {
		return nil
	}
	var order []int
	switch c.parent {
	case "MPI_COMM_WORLD":
	case "MPI_COMM_SELF", "":
		return nil
	default:
		p := r.names.MembersOf(c.parent)
		if p == nil {
			return nil
		}
		order = p.Local
	}
	place := func(m member) int {
		if order == nil {
			return m.rank
		}
		return slices.Index(order, m.rank)
	}
	list := slices.Clone(c.members)
	slices.SortFunc(list, func(a, b member) int { return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(place(a), place(b))) })
	m := &importer.Members{Parent: c.parent, Kind: c.proc.Ctor}
	for _, x := range list {
		m.Local = append(m.Local, x.rank)
	}
	return m
}
