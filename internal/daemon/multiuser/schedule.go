package multiuser

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/efg-tools/efg/internal/account"
)

const (
	// maxStarting is the number of children that begin at a time: each looks up its user, and
	// reads the spool and the store. One that takes longer than slow no longer delays others:
	// its store may be on a file system that hangs.
	maxStarting = 4
	slow        = 10 * time.Second
	startLimit  = 2 * time.Minute // then it is killed
	// Numbers of unknown users are looked up one after another, because a user with user
	// namespaces has many. Those without a user are not looked up again for some time.
	newEvery    = 100 * time.Millisecond
	maxNew      = 1024
	unknownTime = 10 * time.Minute

	firstRetry      = time.Second
	longestRetry    = time.Minute
	settled         = time.Minute      // then a child counts as working
	maxTakenRetries = 4                // attempts to take over from a daemon that may be ending
	takenRetry      = 10 * time.Minute // after these
	hangs           = 30 * time.Minute // without a word
	endTime         = time.Minute      // for a child to end
)

// wake ensures that a user has a child. look says that this is only to check whether there is
// anything to do.
func (s *supervisor) wake(uid uint32, look bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if u := s.userLocked(uid); u != nil {
		s.wantLocked(u, look)
	}
}

// userLocked returns the record of a user; nil if there is no such user, or if too many others
// are being looked up.
func (s *supervisor) userLocked(uid uint32) *user {
	if u := s.users[uid]; u != nil {
		return u
	}
	if time.Now().Before(s.unknown[uid]) {
		s.metrics.refused.WithLabelValues("unknown user").Inc()
		return nil
	}
	waiting := 0
	for _, u := range s.users {
		if u.account == nil {
			waiting++
		}
	}
	if waiting >= maxNew || s.stopping {
		s.metrics.refused.WithLabelValues("too many users").Inc()
		return nil
	}
	u := &user{uid: uid, changed: make(chan struct{})}
	s.users[uid] = u
	return u
}

// known reports whether a number belongs to a user, if it has been looked up.
func (s *supervisor) known(uid uint32) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	u := s.users[uid]
	return uid == 0 || u != nil && u.account != nil
}

func (s *supervisor) wantLocked(u *user, look bool) {
	now := time.Now()
	if u.working && !u.ending { // it finds the news itself
		u.look = u.look && look
		u.idle = now
		return
	}
	if u.look = look && (u.look || !u.wanted); !u.wanted {
		u.wanted, u.since = true, now
	}
	if u.taken {
		u.taken, u.failures, u.retry = false, 0, s.soonest(u)
	}
	s.scheduleLocked(now)
}

func (s *supervisor) schedule() {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	for uid, until := range s.unknown {
		if now.After(until) {
			delete(s.unknown, uid)
		}
	}
	for _, u := range s.users {
		switch {
		case u.process == nil || u.ending:
		case now.Sub(u.heard) > hangs || !u.ready && now.Sub(u.began) > startLimit:
			s.opt.Log.Warn("child does not answer", "user", u.name())
			u.process.kill()
		case u.ready && !u.busy && u.asking == 0 && (u.look || now.Sub(u.idle) > s.opt.Idle):
			s.endLocked(u)
		}
	}
	s.scheduleLocked(now)
}

// scheduleLocked starts children for waiting users: those who are known first, then in order of
// arrival. If there is no place, it makes one.
func (s *supervisor) scheduleLocked(now time.Time) {
	if s.stopping {
		return
	}
	var waiting []*user
	working, starting := 0, 0
	for _, u := range s.users {
		switch {
		case u.working:
			working++
			if !u.ready && now.Sub(u.began) < slow {
				starting++
			}
		case u.wanted && !now.Before(u.retry):
			waiting = append(waiting, u)
		}
	}
	slices.SortFunc(waiting, func(a, b *user) int {
		if (a.account == nil) != (b.account == nil) {
			return cmp.Compare(len(b.name()), len(a.name()))
		}
		return cmp.Or(a.since.Compare(b.since), cmp.Compare(a.uid, b.uid))
	})
	for _, u := range waiting {
		switch {
		case starting >= maxStarting:
			return
		case u.account == nil && now.Before(s.nextNew): // so are the following ones
			s.laterLocked(s.nextNew.Sub(now))
			return
		case working >= s.opt.Children:
			s.makePlaceLocked()
			return
		}
		if u.account == nil {
			s.nextNew = now.Add(newEvery)
		}
		working++
		starting++
		u.working, u.began = true, now
		s.work.Go(func() { s.run(u) })
	}
}

// laterLocked schedules another call of scheduleLocked.
func (s *supervisor) laterLocked(after time.Duration) {
	if s.later {
		return
	}
	s.later = true
	time.AfterFunc(after, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.later = false
		s.scheduleLocked(time.Now())
	})
}

// makePlaceLocked ends the child that has been idle for longest, unless one is already ending.
func (s *supervisor) makePlaceLocked() {
	var longest *user
	for _, u := range s.users {
		switch {
		case u.working && u.ending:
			return
		case !u.working || !u.ready || u.busy || u.asking > 0:
		case longest == nil || u.idle.Before(longest.idle):
			longest = u
		}
	}
	if longest != nil {
		s.endLocked(longest)
	}
}

func (s *supervisor) endLocked(u *user) {
	u.ending = true
	u.process.end()
	p := u.process
	timer := time.AfterFunc(endTime, p.kill)
	s.work.Go(func() { // until it has ended
		<-p.ended
		timer.Stop()
	})
}

// run runs a child of a user until it ends.
func (s *supervisor) run(u *user) {
	began := time.Now()
	p, err := s.begin(u)
	if err != nil {
		s.failed(u, err)
		return
	}
	status, last := p.wait()
	s.ended(u, status, last, time.Since(began))
}

// begin starts a child.
func (s *supervisor) begin(u *user) (*process, error) {
	ctx, cancel := context.WithCancel(s.ctx)
	defer cancel()
	a, err := account.ByUID(ctx, u.uid)
	if err != nil {
		return nil, err
	}
	store, err := s.storeFor(a)
	if err == nil {
		err = s.clearSpool(u.uid)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if u.account = a; err != nil {
		return nil, err
	}
	if u.store = store; s.stopping {
		return nil, context.Canceled
	}
	l := &launch{account: a, store: store, spool: s.site.Spool(u.uid), socket: childSocket(s.opt.Dir, u.uid)}
	p, err := s.start(l, func(word string) { s.heard(u, word) })
	if err != nil {
		return nil, err
	}
	u.process, u.heard = p, time.Now()
	u.ready, u.busy, u.ending = false, true, false
	u.starts++
	s.metrics.starts.Inc()
	return p, nil
}

// heard processes what a child says.
func (s *supervisor) heard(u *user, word string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	u.heard = now
	switch word {
	case sayReady:
		if !u.ready {
			u.ready, u.wanted, u.taken, u.problem = true, false, false, ""
			s.scheduleLocked(now)
		}
	case sayBusy:
		u.busy, u.look = true, false
	case sayIdle:
		u.busy, u.idle = false, now
		if u.look && u.ready && u.asking == 0 && !u.ending {
			s.endLocked(u)
		}
	}
	u.news()
}

// failed records that no child could be started.
func (s *supervisor) failed(u *user, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	u.working = false
	defer u.news()
	defer s.scheduleLocked(time.Now())
	if errors.Is(err, account.ErrUnknown) {
		s.metrics.refused.WithLabelValues("unknown user").Inc()
		s.opt.Log.Warn("refused", "problem", err)
		delete(s.users, u.uid)
		if len(s.unknown) < maxNew {
			s.unknown[u.uid] = time.Now().Add(unknownTime)
		}
		u.problem = err.Error()
		return
	}
	s.troubleLocked(u, err.Error())
}

// troubleLocked schedules a retry, with increasing delays.
func (s *supervisor) troubleLocked(u *user, problem string) {
	if s.stopping {
		return
	}
	u.failures++
	u.wanted, u.retry = true, time.Now().Add(s.backoff(u.failures))
	s.metrics.failures.Inc()
	if problem != u.problem {
		s.opt.Log.Warn("child has failed", "user", u.name(), "uid", u.uid, "problem", problem)
	}
	u.problem = problem
}

// soonest is the earliest time when the next child of a user may begin, whatever the user does.
func (s *supervisor) soonest(u *user) time.Time { return u.began.Add(s.opt.retry) }

func (s *supervisor) backoff(failures int) time.Duration {
	return min(s.opt.retry<<min(failures-1, 16), longestRetry)
}

// ended records that a child has ended, and how.
func (s *supervisor) ended(u *user, status int, last string, after time.Duration) {
	seen := s.spoolTime(u.uid)
	s.mu.Lock()
	defer s.mu.Unlock()
	if u.ready && after > settled {
		u.failures = 0
	}
	if status != StatusAgain || after > settled {
		u.agains = 0
	}
	u.working, u.process, u.ready, u.ending, u.seen = false, nil, false, false, seen
	u.taken = status == StatusTaken
	switch {
	case status == 0:
		u.failures, u.problem, u.retry = 0, "", s.soonest(u)
	case status == StatusAgain: // with increasing delays, if that is all that it does
		u.agains++
		u.wanted, u.since = true, time.Now()
		u.retry = u.since.Add(s.backoff(u.agains))
	case u.own():
		u.wanted, u.retry, u.problem = true, time.Now().Add(takenRetry), last
	default:
		s.troubleLocked(u, last)
	}
	if u.asking > 0 && !u.wanted {
		u.wanted, u.since = true, time.Now()
	}
	u.news()
	s.scheduleLocked(time.Now())
}

// ask waits until a user's child accepts requests. done must be called afterwards.
func (s *supervisor) ask(ctx context.Context, uid uint32) (socket string, done func(), err error) {
	s.mu.Lock()
	u := s.userLocked(uid)
	if u == nil {
		s.mu.Unlock()
		return "", nil, errors.New("no such user")
	}
	s.wantLocked(u, false)
	u.asking++
	tried := u.failures
	s.mu.Unlock()
	done = func() {
		s.mu.Lock()
		u.asking--
		u.idle = time.Now()
		s.mu.Unlock()
	}
	for {
		s.mu.Lock()
		ready, changed, problem := u.ready && !u.ending, u.changed, u.problem
		gone := s.users[uid] != u || u.failures > tried && !u.taken || u.own() && !u.working
		s.mu.Unlock()
		if ready {
			return childSocket(s.opt.Dir, uid), done, nil
		}
		if gone {
			done()
			return "", nil, errors.New(problem)
		}
		select {
		case <-changed:
		case <-ctx.Done():
			done()
			return "", nil, errors.New(cmp.Or(problem, "too many users' daemons are running"))
		}
	}
}

// endAll ends all children, and waits for that.
func (s *supervisor) endAll() {
	s.mu.Lock()
	s.stopping = true
	for _, u := range s.users {
		if u.process != nil && !u.ending {
			s.endLocked(u)
		}
	}
	s.mu.Unlock()
	s.work.Wait()
}
