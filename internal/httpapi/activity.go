package httpapi

import "sync/atomic"

// activity counts requests.
type activity struct {
	now   atomic.Int64
	total atomic.Uint64
}

// begin counts a request as in progress, until end is called.
func (a *activity) begin() (end func()) {
	a.total.Add(1)
	a.now.Add(1)
	return func() { a.now.Add(-1) }
}

// Questions returns the number of requests in progress, including streams of events, and the
// total since the server started.
func (s *Server) Questions() (now int, total uint64) {
	return int(s.activity.now.Load()), s.activity.total.Load()
}
