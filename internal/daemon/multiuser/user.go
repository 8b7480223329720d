package multiuser

import (
	"slices"
	"time"

	"github.com/efg-tools/efg/internal/account"
)

// user is a user whose programs record, or who has sent a request.
type user struct {
	uid     uint32
	account *account.Account // nil while the user is unknown
	store   string

	wanted bool // a child is needed
	// look: it is to end as soon as there is nothing to do, because nobody has requested it.
	look    bool
	since   time.Time // wanted since
	working bool      // a child works, or is beginning to
	began   time.Time // when it began
	process *process  // nil if it has not begun
	ready   bool
	busy    bool
	ending  bool
	idle    time.Time // since when it has been idle
	heard   time.Time // when it last said that it works
	asking  int       // number of its current requests

	starts   int
	failures int       // consecutive
	agains   int       // consecutive children that ended just when something new appeared
	retry    time.Time // earliest time of the next attempt
	problem  string    // why the last one failed
	taken    bool      // because of a daemon started by the user

	seen    time.Time     // when the spool had last changed, when the last child ended
	changed chan struct{} // closed when something changes
}

// states of users, as the service shows them.
const (
	stateNone     = "none"     // no child: nothing to do
	stateWaiting  = "waiting"  // for a place, or for the next attempt
	stateStarting = "starting" //
	stateBusy     = "busy"
	stateIdle     = "idle"
	stateEnding   = "ending"
	stateFailing  = "failing"
	stateOwn      = "own daemon"
)

var states = []string{stateNone, stateWaiting, stateStarting, stateBusy, stateIdle, stateEnding, stateFailing, stateOwn}

func (u *user) state() string {
	switch {
	case u.working && u.ending:
		return stateEnding
	case u.working && !u.ready:
		return stateStarting
	case u.working && u.busy:
		return stateBusy
	case u.working:
		return stateIdle
	case u.own():
		return stateOwn
	case u.wanted && u.failures > 0 && !u.taken:
		return stateFailing
	case u.wanted:
		return stateWaiting
	}
	return stateNone
}

// own reports whether the user has a daemon of their own: one of the service's would have
// ended.
func (u *user) own() bool { return u.taken && u.failures >= maxTakenRetries }

// news wakes those who wait for the user's child.
func (u *user) news() {
	close(u.changed)
	u.changed = make(chan struct{})
}

func (u *user) name() string {
	if u.account == nil {
		return ""
	}
	return u.account.Name
}

// UserState is what the service reports about a user.
type UserState struct {
	Name     string `json:"name"`
	UID      uint32 `json:"uid"`
	State    string `json:"state"`
	Store    string `json:"store"`
	PID      int    `json:"pid,omitempty"`      // of the child
	Starts   int    `json:"starts"`             // number of children since the service began
	Failures int    `json:"failures,omitempty"` // of the last children, consecutive
	Problem  string `json:"problem,omitempty"`
}

// list reports about all users, or some of them.
func (s *supervisor) list(only func(uid uint32) bool) []UserState {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := []UserState{}
	for _, u := range s.users {
		if u.account == nil || !only(u.uid) {
			continue
		}
		x := UserState{
			Name: u.name(), UID: u.uid, State: u.state(), Store: u.store, Starts: u.starts, Failures: u.failures, Problem: u.problem,
		}
		if u.process != nil {
			x.PID = u.process.cmd.Process.Pid
		}
		list = append(list, x)
	}
	slices.SortFunc(list, func(a, b UserState) int { return int(int64(a.UID) - int64(b.UID)) })
	return list
}
