package httpapi

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"
)

const (
	// maxStreams is the maximum number of clients of event streams.
	maxStreams = 64
	// heartbeat is the interval of a stream's keep-alive messages.
	heartbeat = 15 * time.Second
	// retry is after how long a browser reconnects to a stream that has ended.
	retry = 2 * time.Second
)

// message is a server-sent event.
type message struct {
	id   uint64
	name string
	data []byte // a line
}

// producer produces the events of a stream until the context is done or there are no more.
type producer func(ctx context.Context, emit func(name string, data []byte))

// feeds are streams of events. Clients of the same stream share it: it is computed once, and
// only while there are listeners.
type feeds struct {
	ctx context.Context

	mu      sync.Mutex
	open    map[string]*feed
	clients int
}

type feed struct {
	cancel    context.CancelFunc
	last      *message // for later listeners
	listeners map[chan message]bool
}

func newFeeds(ctx context.Context) *feeds { return &feeds{ctx: ctx, open: map[string]*feed{}} }

// listen subscribes to a stream. The channel is closed when the stream has ended; of events
// that are not read in time only the newest is kept.
func (f *feeds) listen(key string, produce producer) (<-chan message, func(), error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.clients >= maxStreams {
		return nil, nil, &statusError{http.StatusServiceUnavailable, "too many clients listen to events"}
	}
	s := f.open[key]
	if s == nil {
		s = f.start(key, produce)
	}
	c := newMessages()
	s.listeners[c] = true
	f.clients++
	if s.last != nil {
		c <- *s.last
	}
	return c, func() { f.leave(key, s, c) }, nil
}

func newMessages() chan message { return make(chan message, 1) }

func (f *feeds) start(key string, produce producer) *feed {
	s := &feed{listeners: map[chan message]bool{}}
	var ctx context.Context
	ctx, s.cancel = context.WithCancel(f.ctx)
	f.open[key] = s
	go func() {
		var id uint64
		produce(ctx, func(name string, data []byte) {
			f.mu.Lock()
			defer f.mu.Unlock()
			id++
			s.last = &message{id, name, data}
			for c := range s.listeners {
				select {
				case <-c:
				default:
				}
				c <- *s.last // nobody else sends, and there is room
			}
		})
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.open[key] == s {
			delete(f.open, key)
		}
		for c := range s.listeners {
			close(c)
		}
		s.listeners = nil
		s.cancel()
	}()
	return s
}

func (f *feeds) leave(key string, s *feed, c chan message) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.clients--
	delete(s.listeners, c)
	if len(s.listeners) == 0 {
		s.cancel()
		if f.open[key] == s {
			delete(f.open, key)
		}
	}
}

// streams is the number of listeners.
func (f *feeds) streams() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.clients
}

// stream answers with the events of a feed.
func (s *Server) stream(w http.ResponseWriter, r *http.Request, key string, produce producer) error {
	messages, leave, err := s.feeds.listen(key, produce)
	if err != nil {
		return err
	}
	defer leave()
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	if r.Method == http.MethodHead {
		return nil
	}
	control := http.NewResponseController(w)
	write := func(format string, args ...any) bool {
		_, err := fmt.Fprintf(w, format, args...)
		return err == nil && control.Flush() == nil
	}
	alive := time.NewTicker(heartbeat)
	defer alive.Stop()
	for ok := write("retry: %d\n\n", retry.Milliseconds()); ok; {
		select {
		case m, more := <-messages:
			if !more {
				return nil
			}
			ok = write("id: %d\nevent: %s\ndata: %s\n\n", m.id, m.name, m.data)
		case <-alive.C:
			ok = write(": alive\n\n")
		case <-r.Context().Done():
			return nil
		}
	}
	return nil
}
