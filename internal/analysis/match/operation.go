package match

import (
	"github.com/efg-tools/efg/signature"
)

// Kind is what an operation does.
type Kind uint8

const (
	SendMessage Kind = iota
	ReceiveMessage
	ProbeMessage   // finds a message, or a part of one, without receiving it
	TakePart       // as a member in a collective call
	PostExposure   // MPI_Win_post, for one origin
	StartAccess    // MPI_Win_start, for one target
	CompleteAccess // MPI_Win_complete, for one target
	WaitExposure   // MPI_Win_wait, for one origin
	LockWindow     // MPI_Win_lock, MPI_Win_unlock …, for one target
	ReadyParts     // says that parts of a message are ready, but not the last ones
)

// Origin is the call that posted an operation: it sends, receives, issues, or starts it.
type Origin struct {
	Thread *Thread
	Node   int
	Event  uint64
	Enter  int64 // ns since the run began
}

// Operation is one side of a message, a member's part in a collective call, or a part of a
// one-sided synchronisation. It may be used again once the calls that complete it and its
// partner have been visited.
//
// What matching needs is in its first 64 bytes: those that are open do not fit into a cache.
type Operation struct {
	Kind      Kind
	root      bool // of a collective
	excluded  bool // of a collective: it neither waits nor is waited for
	cancelled bool
	done      bool
	flight    int32 // one more than its place among the messages in flight; 0: it is none
	before    bool  // it was complete before all members of the collective had entered
	// ID is unique among the operations that are open, and small.
	ID int
	// Partner is the other side; nil while it is not posted, or if it is unknown.
	Partner *Operation
	channel *channel
	next    *Operation // on the channel
	sibling *Operation // of the same request
	waiter  *Thread    // held back until the operation is matched
	// Collective is the call that the operation takes part in, Member its number there.
	Collective *Collective

	Origin
	Member int
	// Bytes is the size of a message that is sent, or of what the caller receives in a collective
	// call; 0 if it is unknown, or differs from peer to peer.
	Bytes uint64
	// Tag and Comm are the word of the tag, and that which stands for the communicator in all its
	// processes, of a receive that has a partner.
	Tag, Comm uint64
	later     *Operation // see Thread.hideLater
	parts     span       // of a partitioned message, that are ready or asked for
	round     uint64     // of a partitioned message: which of its channel
}

// WaitsFor returns the operation without which this one cannot complete; of several the one that
// was posted last. It is nil if there is none, or none was posted so far.
func (o *Operation) WaitsFor() *Operation {
	if o.Collective == nil {
		return o.Partner
	}
	return o.Collective.neededBy(o)
}

// Turn is how many operations that had an ID are over: complete, as those that they were matched with, so that nothing
// depends on them any more.
func (t *Trace) Turn(id int) uint32 { return t.turns[id] }

// Collective is a collective call of all members of a communicator, window, file, group or world.
type Collective struct {
	// ID is unique among the collective calls that are open, and small.
	ID      int
	Proc    *signature.Proc // the base of the procedure that the first member called
	Members int
	// Entered and Left are how many members have entered the call that starts their part, and
	// left the one that completes it.
	Entered, Left int
	// Last and Before are the members that entered last, and last but one.
	Last, Before *Operation
	// FirstLeft is the member that left first, at FirstExit.
	FirstLeft Origin
	FirstExit int64

	nested   bool // a member takes part inside another call
	scope    *scope
	parts    []*Operation
	sides    [2]side // of an intercommunicator
	root     *Operation
	lowest   int          // members below it have entered
	latest   []*Operation // of each member below lowest: the last of those up to it that entered
	waiters  []*Thread
	sequence uint64
}

// side is what one group of an intercommunicator has done.
type side struct {
	entered int
	last    *Operation
}

// across returns the other side of an intercommunicator, if a member waits for all of that, and that
// alone: in collectives that exchange data, and barriers.
func (c *Collective) across(o *Operation) (other *side, members int) {
	g := c.scope.group
	all := c.Proc.Sync == signature.SyncAll || c.Proc.Sync == signature.SyncAtRoot && o.root
	if g.second == 0 || !all || c.Proc.Shape == signature.NoData && !c.Proc.Barrier() {
		return nil, 0
	}
	if o.Member < g.second {
		return &c.sides[1], len(g.members) - g.second
	}
	return &c.sides[0], g.second
}

// Side is the group of an intercommunicator that the caller of a collective is in: 1 or 2; 0 if it is on
// none.
func (o *Operation) Side() int {
	switch second := o.Collective.scope.group.second; {
	case second == 0:
		return 0
	case o.Member < second:
		return 1
	}
	return 2
}

// NeedsOtherSide reports whether the caller of a collective on an intercommunicator waits for all of the other
// group, and for nobody of its own.
func (o *Operation) NeedsOtherSide() bool {
	other, _ := o.Collective.across(o)
	return other != nil
}

// Comm is the word that stands for the communicator, window or file in all its processes; that of no
// object if the members are a world or a group.
func (c *Collective) Comm() uint64 { return c.scope.key.word }

// Part returns a member's part, nil if it has not entered.
func (c *Collective) Part(member int) *Operation { return c.parts[member] }

// neededBy returns the member that o needs and that entered last.
func (c *Collective) neededBy(o *Operation) *Operation {
	if o.excluded {
		return nil
	}
	if other, members := c.across(o); other != nil {
		if other.entered == members {
			return other.last
		}
		return nil
	}
	switch c.Proc.Sync {
	case signature.SyncRoot:
		if !o.root {
			return c.root
		}
	case signature.SyncAtRoot:
		if o.root {
			return c.lastExcept(o)
		}
	case signature.SyncLower:
		if o.Member > 0 && o.Member <= len(c.latest) {
			return c.latest[o.Member-1]
		}
	case signature.SyncNeighbours:
		return c.lastOf(o.Thread.Process.neighbours(c.scope), o)
	case signature.SyncAll, signature.SyncSome:
		if c.Last != o && c.Entered == c.Members && !o.before {
			return c.Last
		}
	}
	return nil
}

func (c *Collective) lastExcept(o *Operation) *Operation {
	if c.Last == o {
		return c.Before
	}
	return c.Last
}

func (c *Collective) lastOf(members []int32, except *Operation) *Operation {
	var last *Operation
	for _, i := range members {
		if p := c.parts[i]; p != nil && p != except && (last == nil || p.Enter > last.Enter) {
			last = p
		}
	}
	return last
}

// complete reports whether all have entered whom o needs.
func (c *Collective) complete(o *Operation) bool {
	if o.excluded || c.Entered == c.Members {
		return true
	}
	if other, members := c.across(o); other != nil {
		return other.entered == members
	}
	switch c.Proc.Sync {
	case signature.SyncAll:
		return false
	case signature.SyncRoot:
		return o.root || c.root != nil
	case signature.SyncAtRoot:
		return !o.root
	case signature.SyncLower:
		return c.lowest >= o.Member
	case signature.SyncNeighbours:
		for _, i := range o.Thread.Process.neighbours(c.scope) {
			if c.parts[i] == nil {
				return false
			}
		}
	}
	return true
}

// follows reports whether o was posted after another operation, which may be nil; at the same time, the
// thread with the higher index counts as later.
func (o *Operation) follows(p *Operation) bool {
	return p == nil || o.Enter > p.Enter || o.Enter == p.Enter && o.Thread.Index >= p.Thread.Index
}

// enter adds a member.
func (c *Collective) enter(o *Operation) {
	c.parts[o.Member] = o
	c.Entered++
	if o.follows(c.Last) {
		c.Last, c.Before = o, c.Last
	} else if o.follows(c.Before) {
		c.Before = o
	}
	if o.root {
		c.root = o
	}
	if g := c.scope.group; g.second > 0 {
		s := &c.sides[0]
		if o.Member >= g.second {
			s = &c.sides[1]
		}
		s.entered++
		if o.follows(s.last) {
			s.last = o
		}
	}
	if c.Proc.Sync != signature.SyncLower {
		return
	}
	for c.lowest < len(c.parts) && c.parts[c.lowest] != nil {
		last := c.parts[c.lowest]
		if c.lowest > 0 && c.latest[c.lowest-1].Enter > last.Enter {
			last = c.latest[c.lowest-1]
		}
		c.latest = append(c.latest, last)
		c.lowest++
	}
}
