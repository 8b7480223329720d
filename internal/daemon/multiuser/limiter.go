package multiuser

import (
	"sync"
	"time"
)

// limiter limits the rate per minute.
type limiter struct {
	most  int
	mu    sync.Mutex
	since time.Time
	n     int
}

// pass reports whether one more may pass, and whether it is the first that may not.
func (l *limiter) pass() (ok, first bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if now := time.Now(); now.Sub(l.since) > time.Minute {
		l.since, l.n = now, 0
	}
	l.n++
	return l.n <= l.most, l.n == l.most+1
}
