package daemon

import (
	"cmp"
	"slices"
	"time"
)

// Exit says how a job was started and how it ended, as far as a daemon that was running then
// could observe it; exit statuses need Linux 6.15 or newer.
type Exit struct {
	// Launcher is the command line of mpiexec and the like, if it was on this machine.
	Launcher []string `json:"launcher,omitempty"`
	// Status is the launcher's exit status, 128 + n after signal n; nil if unknown.
	Status *int `json:"status,omitempty"`
	// Ranks are those known to have ended with a nonzero status.
	Ranks []RankExit `json:"ranks,omitempty"`
}

// RankExit is a rank's exit status.
type RankExit struct {
	Rank   int `json:"rank"`
	Status int `json:"status"` // 128 + n after signal n
}

// How long to wait for exit statuses. A launcher ends after its ranks, but may have other commands
// to run, and on a busy machine it takes seconds. Of processes that have ended, their parents learn
// the statuses first; ranks whose parent is gone may be left to an init process that takes its time.
const (
	launcherRunning = 10 * time.Second
	launcherUntold  = time.Second
	ranksUntold     = time.Second / 2
)

// exitRecorded reports whether everything that can be known about the end of the processes is
// known.
func (j *Job) exitRecorded(now time.Time) bool {
	wait := time.Duration(0)
	for _, s := range j.Segments {
		if s.process != nil && s.process.Learning() {
			wait = ranksUntold
		}
	}
	switch {
	case j.starter == nil:
	case j.starter.Running():
		wait = launcherRunning
	case j.starter.Learning():
		wait = launcherUntold
	}
	return now.Sub(j.changed) >= wait
}

// exit is what is known about the end; nil if nothing is.
func (j *Job) exit() *Exit {
	x := &Exit{}
	if j.starter != nil {
		if status, ok := j.starter.Status(); ok {
			x.Status = &status
		}
	}
	for _, s := range j.Segments {
		if len(x.Launcher) == 0 {
			x.Launcher = s.origin.Launched
		}
		if s.process == nil || s.Header.Rank < 0 {
			continue
		}
		if status, ok := s.process.Status(); ok && status != 0 {
			x.Ranks = append(x.Ranks, RankExit{int(s.Header.Rank), status})
		}
	}
	slices.SortFunc(x.Ranks, func(a, b RankExit) int { return cmp.Compare(a.Rank, b.Rank) })
	if len(x.Launcher) == 0 && x.Status == nil && len(x.Ranks) == 0 {
		return nil
	}
	return x
}

// join adds what another machine knows about the launch.
func (x *Exit) join(o *Exit) *Exit {
	if x == nil || o == nil {
		return cmp.Or(x, o)
	}
	all := Exit{Launcher: x.Launcher, Status: cmp.Or(x.Status, o.Status), Ranks: slices.Concat(x.Ranks, o.Ranks)}
	if len(all.Launcher) == 0 {
		all.Launcher = o.Launcher
	}
	slices.SortFunc(all.Ranks, func(a, b RankExit) int { return cmp.Compare(a.Rank, b.Rank) })
	return &all
}
