package waits

import (
	"github.com/efg-tools/efg/internal/analysis/match"
	"github.com/efg-tools/efg/signature"
)

// State is a kind of wait.
type State uint8

const (
	LateSender State = iota
	WrongOrder
	LateReceiver
	Barrier
	BarrierCompletion
	NxN
	NxNCompletion
	EarlyReduce
	EarlyScan
	LateBroadcast
	Neighbourhood
	Creation
	Fence
	LatePost
	EarlyWait
	LateComplete
	LockContention
	CollectiveIO
	Init
	InitCompletion
	Finalize
	FinalizeCompletion
	States int = iota
)

var stateNames = [States]string{
	"late sender", "late sender, wrong order", "late receiver", "wait at barrier", "barrier completion", "wait at N×N", "N×N completion",
	"early reduce", "early scan", "late broadcast", "wait at neighbours", "wait at create or free", "wait at fence", "late post",
	"early wait", "late complete", "lock contention", "wait at collective I/O", "wait at init", "init completion", "wait at finalize",
	"finalize completion",
}

var stateKeys = [States]string{
	"late-sender", "wrong-order", "late-receiver", "barrier", "barrier-completion", "nxn", "nxn-completion",
	"early-reduce", "early-scan", "late-broadcast", "neighbours", "create", "fence", "late-post",
	"early-wait", "late-complete", "lock", "io", "init", "init-completion", "finalize", "finalize-completion",
}

// String returns the state's name in the field.
func (s State) String() string { return stateNames[s] }

// Key returns the state's name in documents.
func (s State) Key() string { return stateKeys[s] }

// Apart reports whether the state is one of the beginning and end of MPI, which are shown apart.
func (s State) Apart() bool { return s >= Init }

// collectiveState is the state of waiting for the other members of a collective, and that of the
// time after the first member left; they are equal if that is not looked at.
func collectiveState(p *signature.Proc) (waiting, completion State) {
	switch {
	case p.Begins:
		return Init, InitCompletion
	case p.Ends:
		return Finalize, FinalizeCompletion
	case p.Barrier():
		return Barrier, BarrierCompletion
	case p.Epoch == signature.Fence:
		return Fence, Fence
	}
	switch p.Shape {
	case signature.AllToAll:
		return NxN, NxNCompletion
	case signature.AllToOne:
		return EarlyReduce, EarlyReduce
	case signature.OneToAll:
		return LateBroadcast, LateBroadcast
	case signature.Prefix:
		return EarlyScan, EarlyScan
	case signature.Neighbours:
		return Neighbourhood, Neighbourhood
	}
	if p.OnFiles() && p.MadeKind() == signature.Opaque && p.FreedKind() == signature.Opaque {
		return CollectiveIO, CollectiveIO
	}
	return Creation, Creation
}

// Instance is one wait of a call.
type Instance struct {
	State State
	Time  int64 // ns
	// Culprit is the operation that was waited for; nil for the completion of a collective.
	Culprit *match.Operation
}

// Classifier finds the waits of calls. It must see each call of a walk.
type Classifier struct {
	accessed []int64 // by thread: when its last one-sided access was left
	late     map[int]int64
	found    []Instance
}

// NewClassifier prepares the classification of a trace that is about to be walked.
func NewClassifier(t *match.Trace) *Classifier {
	t.FollowFlights()
	return &Classifier{accessed: make([]int64, len(t.Threads)), late: map[int]int64{}}
}

// Enter notes when an origin was done with its accesses.
func (x *Classifier) Enter(c *match.Call) {
	for _, o := range c.Posted {
		if o.Kind == match.CompleteAccess {
			x.late[o.ID] = x.accessed[c.Thread.Index]
		}
	}
}

// Exit returns the waits of a call, until the next call of Exit.
func (x *Classifier) Exit(c *match.Call) []Instance {
	if c.Proc != nil && c.Proc.Accesses() {
		x.accessed[c.Thread.Index] = c.Exit
	}
	x.found = x.found[:0]
	if len(c.Done) == 0 {
		return nil
	}
	var longest, receiver Instance
	var part *match.Operation
	for _, o := range c.Done {
		i := x.wait(c, o)
		switch {
		case i.Time <= 0:
		case i.State == LateReceiver:
			if i.Time > receiver.Time {
				receiver = i
			}
		case i.Time > longest.Time:
			longest = i
		}
		if o.Kind == match.TakePart {
			part = o
		}
	}
	if longest.Time == 0 {
		longest = receiver
	}
	if longest.Time > 0 {
		x.add(c, longest)
	}
	if part != nil && (longest.Time == 0 || longest.Culprit.Collective == part.Collective) {
		x.completion(c, part)
	}
	return x.found
}

// wait returns how long a call waited for an operation that it completes.
func (x *Classifier) wait(c *match.Call, o *match.Operation) Instance {
	w := o.WaitsFor()
	if w == nil {
		return Instance{}
	}
	i := Instance{Culprit: w, Time: min(w.Enter, c.Exit) - c.Began}
	switch o.Kind {
	case match.ReceiveMessage, match.ProbeMessage:
		i.State = LateSender
		if i.Time > 0 && overtaken(c, w) {
			i.State = WrongOrder
		}
	case match.SendMessage:
		i.State = LateReceiver
		if w.Enter > c.Exit+tolerance(c, w) {
			i.Time = 0
		}
	case match.StartAccess:
		i.State = LatePost
	case match.WaitExposure:
		i.State = EarlyWait
	case match.LockWindow:
		i.State = LockContention
	case match.TakePart:
		i.State, _ = collectiveState(o.Collective.Proc)
		if o.Collective.Proc.Sync == signature.SyncSome && w.Enter > c.Exit+tolerance(c, w) {
			i.Time = 0 // it did not wait
		}
	default:
		i.Time = 0
	}
	return i
}

// tolerance is the difference by which two times may contradict each other.
func tolerance(c *match.Call, w *match.Operation) int64 { return c.Thread.Bound + w.Thread.Bound }

// overtaken reports whether a message was sent to the receiver before s that it has not received
// yet.
func overtaken(c *match.Call, s *match.Operation) bool {
	old := c.Thread.Process.OldestOnItsWay()
	if old == nil || old.Enter >= s.Enter {
		return false
	}
	for _, o := range c.Done {
		if o.Partner == old {
			return false
		}
	}
	return true
}

// add notes a wait; of an early wait the part after the last access is a late complete.
func (x *Classifier) add(c *match.Call, i Instance) {
	if i.State == EarlyWait {
		if late := min(i.Time, i.Culprit.Enter-max(x.late[i.Culprit.ID], c.Began)); late > 0 && x.late[i.Culprit.ID] > 0 {
			x.found = append(x.found, Instance{LateComplete, late, i.Culprit})
			i.Time -= late
		}
		if i.Time == 0 {
			return
		}
	}
	x.found = append(x.found, i)
}

// completion notes how long a call took after the first member had left a collective.
func (x *Classifier) completion(c *match.Call, o *match.Operation) {
	n := o.Collective
	waiting, state := collectiveState(n.Proc)
	if state == waiting || n.Left == 0 || n.Last == nil || n.Entered < n.Members {
		return
	}
	begin := max(n.FirstExit, min(n.Last.Enter, c.Exit), c.Began)
	if c.Exit > begin {
		x.found = append(x.found, Instance{State: state, Time: c.Exit - begin})
	}
}
