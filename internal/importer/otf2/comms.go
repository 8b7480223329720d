package otf2

import (
	"fmt"
	"slices"
	"strings"

	"github.com/efg-tools/efg/internal/importer"
	"github.com/efg-tools/efg/signature"
)

// comm is a communicator as calls name it.
type comm struct {
	name string // in JSON Lines
	// peers are what ranks in it are in the call: nil if they are the same.
	peers []int
	size  int // number of members; 0 of an intercommunicator
}

const (
	world = "MPI_COMM_WORLD"
	self  = "MPI_COMM_SELF"
)

// findComms finds the communicators, and tells who their members are.
func (r *reader) findComms() error {
	d := r.archive.Definitions
	groups := map[uint64]*Group{}
	for i := range d.Groups {
		groups[d.Groups[i].ID] = &d.Groups[i]
	}
	r.groups = groups
	for i := range d.Comms {
		c := &d.Comms[i]
		own := groups[c.Group]
		if own == nil {
			return r.defective("communicator %d has the group %d, which is not defined", c.ID, c.Group)
		}
		if own.Type == CommSelf {
			r.comms[c.ID] = comm{name: self, size: 1}
			continue
		}
		if err := r.addComm(c, own, groups[c.Other]); err != nil {
			return err
		}
	}
	return nil
}

// maxMemberships bounds the members of all communicators: many may have the same group.
const maxMemberships = 1 << 26

// addComm adds a communicator. other is the remote group of an intercommunicator.
func (r *reader) addComm(c *Comm, own, other *Group) error {
	m := &importer.Members{Kind: "EFG_COMM_OTHER"}
	var err error
	if m.Local, err = r.membersOf(own); err != nil {
		return err
	}
	if r.memberships += len(own.Members); r.memberships > maxMemberships {
		return r.defective("communicators of more than %d members in all", maxMemberships)
	}
	if r.isWorld(c, m, other) {
		r.world = true
		r.comms[c.ID] = comm{name: world, peers: m.Local, size: len(m.Local)}
		return nil
	}
	if other != nil {
		if m.Remote, err = r.membersOf(other); err != nil {
			return err
		}
	}
	x := comm{name: r.nameOf(c)}
	if other == nil {
		x.size = len(m.Local)
	}
	r.comms[c.ID] = x
	base, _, _ := strings.Cut(x.name, ".")
	// If only a part of a run was written, communicators lack the other members.
	if len(m.Local) > 0 && (other == nil || len(m.Remote) > 0) && (!r.exact || r.whole()) && r.names.MembersOf(base) == nil {
		r.names.SetMembers(base, m)
	}
	return nil
}

// isWorld reports whether a communicator is MPI_COMM_WORLD: by its name or, if it has none, as the
// first one that all processes are the members of.
func (r *reader) isWorld(c *Comm, m *importer.Members, other *Group) bool {
	switch {
	case other != nil:
		return false
	case c.Name != "":
		return c.Name == world
	case r.world || c.Parent != Undefined || len(m.Local) != len(r.ranks):
		return false
	}
	return slices.IsSorted(m.Local)
}

// nameOf is the name of a communicator in JSON Lines: that of efg's own archives, or one of its
// number.
func (r *reader) nameOf(c *Comm) string {
	if name, _, _ := strings.Cut(c.Name, " "); r.own && strings.HasPrefix(name, "comm:") {
		return name
	}
	const digits = 40 - 2 // bits of the ten digits
	return fmt.Sprintf("comm:%010x", signature.Hash(c.ID, c.Group)&(1<<digits-1))
}

// commOf is the word of a communicator of the archive, absent if it is not defined.
func (p *process) commOf(id uint64) uint64 {
	if w, ok := p.comms[id]; ok {
		return w
	}
	w := signature.Absent
	if c, ok := p.reader.comms[id]; ok {
		if named, err := p.out.Handle(signature.Comm, c.name); err == nil {
			w = named
		}
	}
	p.comms[id] = w
	return w
}

// peer is what a rank in a communicator of the archive is for calls, absent if there is none.
func (p *process) peer(comm, rank uint64) uint64 {
	if rank == Undefined || rank >= maxRank {
		return signature.Absent
	}
	known, ok := p.reader.comms[comm]
	if !ok && comm == Undefined {
		return signature.Absent
	}
	peers := known.peers
	if peers == nil {
		return rank
	}
	if rank >= uint64(len(peers)) {
		return signature.Absent
	}
	return uint64(peers[rank])
}
