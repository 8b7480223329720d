package match

import (
	"sync"

	"github.com/efg-tools/efg/signature"
)

// epoch is what a process synchronises on a window: with MPI_Win_start and MPI_Win_post.
type epoch struct {
	targets, origins []int // ranks
	accesses         []*Operation
	locked           map[int]bool // whether the lock of a rank is exclusive
}

func (e *epoch) exclusive(target int, is bool) {
	if e.locked == nil {
		e.locked = map[int]bool{}
	}
	e.locked[target] = is
}

// windowRank is the rank in the run of a rank of a window; -1 if it is not known.
func (p *Process) windowRank(window, rank uint64) int {
	own, _ := p.Facts.Members(window)
	if own == nil || signature.IsConst(rank) || rank >= uint64(own.Size()) {
		return -1
	}
	return own.At(int(rank))
}

func (p *Process) epoch(window uint64) *epoch {
	e := p.epochs[window]
	if e == nil {
		e = &epoch{}
		p.epochs[window] = e
	}
	return e
}

// ranksOf are the members of a group that an epoch is about, as far as they are in the run.
func (m *matcher) ranksOf(p *Process, group uint64) []int {
	list, ok := p.groups[group]
	if ok {
		return list
	}
	for _, q := range m.trace.among(p.Facts.GroupMembers(group)) {
		list = append(list, q.Rank)
	}
	p.groups[group] = list
	return list
}

// synchronize posts the operations of a call that begins or ends an epoch.
func (m *matcher) synchronize(t *Thread, n *node) {
	p, window := t.Process, t.Word(signature.ObjectWord)
	e := p.epoch(window)
	name := p.name(window)
	switch n.action {
	case exposes:
		e.origins = m.ranksOf(p, t.Word(n.roles.Group))
		for _, r := range e.origins {
			m.send(m.channel(channelKey{int32(p.Rank), int32(r), exposures, 0, name, 0}), m.operation(t, PostExposure))
		}
	case accesses:
		e.targets = m.ranksOf(p, t.Word(n.roles.Group))
		for _, r := range e.targets {
			o := m.operation(t, StartAccess)
			m.receive(m.channel(channelKey{int32(r), int32(p.Rank), exposures, 0, name, 0}), o)
			e.accesses = append(e.accesses, o)
		}
	case endsAccess:
		t.call.Done = append(t.call.Done, e.accesses...)
		e.accesses = e.accesses[:0]
		for _, r := range e.targets {
			o := m.operation(t, CompleteAccess)
			m.send(m.channel(channelKey{int32(p.Rank), int32(r), completions, 0, name, 0}), o)
			t.call.Done = append(t.call.Done, o)
		}
		e.targets = nil
	case awaitsAccess:
		if n.poll != 0 && t.Word(int(n.poll)) == 0 {
			return
		}
		for _, r := range e.origins {
			o := m.operation(t, WaitExposure)
			m.receive(m.channel(channelKey{int32(r), int32(p.Rank), completions, 0, name, 0}), o)
			t.call.Done = append(t.call.Done, o)
		}
		e.origins = nil
	}
}

// accessed: MPI_Win_start may return before the exposure has begun. What it did wait for is
// complete; for the rest MPI_Win_complete waits.
func (m *matcher) accessed(t *Thread) {
	e := t.Process.epoch(t.Word(signature.ObjectWord))
	kept := e.accesses[:0]
	for _, o := range e.accesses {
		if o.Partner != nil && o.Partner.Enter <= t.key && o.Thread == t && o.Event == t.call.Event {
			t.call.Done = append(t.call.Done, o)
		} else {
			kept = append(kept, o)
		}
	}
	e.accesses = kept
}

// lockKey names what is locked: the memory of a rank in a window, or that of all ranks.
type lockKey struct {
	window uint64
	target int // rank in the run, or one of the following
}

const (
	eachTarget = -2 // locked with MPI_Win_lock_all
	anyTarget  = -3 // locked exclusively, whichever it is
)

// lockHistory has the last unlocks of a rank's window, by different processes.
type lockHistory struct{ unlocks [2]*unlock }

// unlock is a lock that was given back.
type unlock struct {
	Operation
	exclusive bool
	process   *Process
}

// lock notes for which other process a call had to wait that locks or unlocks a window: the last
// one that gave the lock back meanwhile, if one of both locks is exclusive.
func (m *matcher) lock(t *Thread, n *node) {
	key, mine, ok := t.locked(n)
	switch {
	case !ok:
	case key.target == eachTarget:
		m.contend(t, lockKey{key.window, anyTarget}, mine)
	case !m.contend(t, key, mine) && mine:
		m.contend(t, lockKey{key.window, eachTarget}, mine)
	}
}

// unlock notes that a call begins to give a lock back. Who waits for that may have it before the call
// returns.
func (m *matcher) unlock(t *Thread, n *node) {
	key, mine, ok := t.locked(n)
	if !ok || n.proc.Epoch != signature.Unlock {
		return
	}
	u := &unlock{exclusive: mine, process: t.Process}
	u.Kind, u.Origin = LockWindow, Origin{t, t.call.Node, t.call.Event, t.call.Enter}
	m.unlocked(key, u)
	if mine {
		m.unlocked(lockKey{key.window, anyTarget}, u)
	}
}

// locked returns what a call locks or unlocks, and whether that is or was locked exclusively.
func (t *Thread) locked(n *node) (key lockKey, exclusive, ok bool) {
	p, window := t.Process, t.Word(signature.ObjectWord)
	if key = (lockKey{p.name(window), eachTarget}); n.roles.Target == 0 {
		return key, false, true
	}
	if key.target = p.windowRank(window, t.Word(n.roles.Target)); key.target < 0 {
		return key, false, false
	}
	if n.proc.Epoch == signature.Lock {
		p.epoch(window).exclusive(key.target, t.Word(lockType(n.proc)) == exclusiveLock())
	}
	return key, p.epoch(window).locked[key.target], true
}

// contend reports whether a call waited for another process to unlock something, and notes that.
func (m *matcher) contend(t *Thread, key lockKey, mine bool) bool {
	h := m.windows[key]
	if h == nil {
		return false
	}
	for _, u := range h.unlocks {
		if u != nil && u.process != t.Process && (mine || u.exclusive) && u.Enter > t.call.Enter && u.Enter <= t.call.Exit {
			o := m.operation(t, LockWindow)
			partner := u.Operation
			o.Partner = &partner
			t.call.Done = append(t.call.Done, o)
			return true
		}
	}
	return false
}

// unlocked notes that a lock was given back.
func (m *matcher) unlocked(key lockKey, u *unlock) {
	h := m.windows[key]
	if h == nil {
		h = &lockHistory{}
		m.windows[key] = h
	}
	if h.unlocks[0] != nil && h.unlocks[0].process != u.process {
		h.unlocks[1] = h.unlocks[0]
	}
	h.unlocks[0] = u
}

// exclusiveLock is not found when the program starts: that parses a table that few commands need.
var exclusiveLock = sync.OnceValue(func() uint64 { return signature.ConstWord("MPI_LOCK_EXCLUSIVE") })

// lockType is the word of the type of a lock.
func lockType(p *signature.Proc) int {
	for i := range p.Words {
		if q := p.Words[i].Param; q >= 0 && p.Params[q].Kind == signature.Enum {
			return i
		}
	}
	return 0
}
