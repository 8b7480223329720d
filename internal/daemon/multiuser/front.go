package multiuser

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/efg-tools/efg/internal/account"
	"github.com/efg-tools/efg/internal/peercred"
	"github.com/efg-tools/efg/internal/service"
)

// sockets are the service's sockets: for requesting a daemon, and for HTTP.
type sockets struct{ wake, http net.Listener }

func (x *sockets) close() {
	x.wake.Close()
	x.http.Close()
}

// listen opens the sockets, for everyone: the kernel says who connects. Sockets that are passed
// in are distinguished by their paths.
func (s *supervisor) listen() (*sockets, error) {
	find := func(name string) (net.Listener, error) {
		path := filepath.Join(s.opt.Dir, name)
		for _, l := range s.opt.Given {
			if a, ok := l.Addr().(*net.UnixAddr); ok && a.Name == path {
				return l, nil
			}
		}
		return listenForAll(path)
	}
	wake, err := find(service.SocketFile)
	if err != nil {
		return nil, err
	}
	questions, err := find(service.HTTPFile)
	if err != nil {
		wake.Close()
		return nil, err
	}
	return &sockets{wake, questions}, nil
}

func listenForAll(path string) (net.Listener, error) {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(path, 0o666); err != nil {
		l.Close()
		return nil, err
	}
	return l, nil
}

// accept starts daemons for users who connect. Nothing is read from the connections.
func (s *supervisor) accept(l net.Listener) {
	for {
		c, err := l.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			time.Sleep(10 * time.Millisecond) // no descriptors left, for example
			continue
		}
		if peer, err := peercred.Of(c.(*net.UnixConn)); err == nil {
			if err := s.clearSpool(peer.Uid); err != nil {
				s.opt.Log.Warn("cannot clear a user's spool", "uid", peer.Uid, "problem", err)
			}
			s.wake(peer.Uid, false)
		}
		c.Close()
	}
}

// Bounds of simultaneous requests from users.
const (
	maxConnections = 64 // of one user
	maxHeader      = 16 << 10
	headerTimeout  = 5 * time.Second
	idleTimeout    = time.Minute
	startTimeout   = 30 * time.Second // for a child to become ready
	closeTimeout   = 2 * time.Second
)

// boundedListener limits the connections of each user, and the total of those whose user is
// unknown. Others are closed.
type boundedListener struct {
	net.Listener
	known func(uid uint32) bool
	mu    sync.Mutex
	open  map[uint32]int
}

// unknownUser is the number under which connections of unknown users are counted.
const unknownUser = ^uint32(0)

// connection is a connection of a user.
type connection struct {
	net.Conn
	uid   uint32
	leave func()
}

func (b *boundedListener) Accept() (net.Conn, error) {
	for {
		c, err := b.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if peer, err := peercred.Of(c.(*net.UnixConn)); err == nil {
			if leave, ok := b.enter(peer.Uid); ok {
				return &connection{Conn: c, uid: peer.Uid, leave: sync.OnceFunc(leave)}, nil
			}
		}
		c.Close()
	}
}

func (b *boundedListener) enter(uid uint32) (leave func(), ok bool) {
	if !b.known(uid) {
		uid = unknownUser
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.open[uid] >= maxConnections {
		return nil, false
	}
	b.open[uid]++
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		if b.open[uid]--; b.open[uid] == 0 {
			delete(b.open, uid)
		}
	}, true
}

// Close implements net.Conn.
func (c *connection) Close() error {
	c.leave()
	return c.Conn.Close()
}

type uidKey struct{}

// serve answers requests until the service ends.
func (s *supervisor) serve(l net.Listener) {
	srv := &http.Server{
		Handler: s.routes(), DisableGeneralOptionsHandler: true, MaxHeaderBytes: maxHeader, ReadHeaderTimeout: headerTimeout, IdleTimeout: idleTimeout,
		ErrorLog: slog.NewLogLogger(s.opt.Log.Handler(), slog.LevelDebug),
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			return context.WithValue(ctx, uidKey{}, c.(*connection).uid)
		},
	}
	var ending sync.WaitGroup
	ending.Go(func() {
		<-s.ctx.Done()
		quick, cancel := context.WithTimeout(context.Background(), closeTimeout)
		defer cancel()
		if srv.Shutdown(quick) != nil {
			srv.Close()
		}
	})
	if err := srv.Serve(&boundedListener{Listener: l, known: s.known, open: map[uint32]int{}}); !errors.Is(err, http.ErrServerClosed) {
		s.opt.Log.Error("HTTP has ended", "problem", err)
	}
	ending.Wait()
}

// peerOf is the number of the client's user.
func peerOf(r *http.Request) uint32 { return r.Context().Value(uidKey{}).(uint32) }

func (s *supervisor) routes() http.Handler {
	mux := http.NewServeMux()
	metrics := s.metrics.handler()
	mux.HandleFunc("/healthz", s.health)
	mux.HandleFunc("/users", s.showUsers)
	mux.HandleFunc("/users/{name}/{rest...}", s.askNamed)
	mux.HandleFunc("/metrics", func(w http.ResponseWriter, r *http.Request) {
		if peerOf(r) == 0 {
			metrics.ServeHTTP(w, r)
			return
		}
		s.askChild(w, r, peerOf(r), r.URL.Path)
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { s.askChild(w, r, peerOf(r), r.URL.Path) })
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method != http.MethodGet && r.Method != http.MethodHead:
			w.Header().Set("Allow", "GET, HEAD")
			fail(w, http.StatusMethodNotAllowed, "only GET and HEAD")
		case r.ContentLength != 0:
			w.Header().Set("Connection", "close")
			fail(w, http.StatusRequestEntityTooLarge, "want no body")
		default:
			mux.ServeHTTP(w, r)
		}
	})
}

// visible returns the users whose states the client may see.
func visible(r *http.Request) func(uid uint32) bool {
	peer := peerOf(r)
	return func(uid uint32) bool { return peer == 0 || uid == peer }
}

// health reports that the service works, and, to those concerned, which children fail.
func (s *supervisor) health(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	io.WriteString(w, "ok\n")
	for _, u := range s.list(visible(r)) {
		if u.State == stateFailing {
			fmt.Fprintf(w, "%s: failing, %d times: %s\n", u.Name, u.Failures, u.Problem)
		}
	}
}

// showUsers lists users: all to root, and to others only themselves.
func (s *supervisor) showUsers(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(struct {
		Version int         `json:"version"`
		Users   []UserState `json:"users"`
	}{1, s.list(visible(r))})
}

// askNamed forwards a request to the child of a named user: root may name any.
func (s *supervisor) askNamed(w http.ResponseWriter, r *http.Request) {
	peer := peerOf(r)
	a, err := account.ByName(r.Context(), r.PathValue("name"))
	switch {
	case peer != 0 && (err != nil || a.UID != peer):
		fail(w, http.StatusForbidden, "belongs to another user")
	case err != nil:
		fail(w, http.StatusNotFound, err.Error())
	default:
		s.askChild(w, r, a.UID, "/"+r.PathValue("rest"))
	}
}

// askChild forwards a request to a user's child.
func (s *supervisor) askChild(w http.ResponseWriter, r *http.Request, uid uint32, path string) {
	ctx, cancel := context.WithTimeout(r.Context(), startTimeout)
	defer cancel()
	socket, done, err := s.ask(ctx, uid)
	if err != nil {
		w.Header().Set("Retry-After", "1")
		fail(w, http.StatusServiceUnavailable, "no daemon: "+err.Error())
		return
	}
	defer done()
	transport := &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", socket)
		},
		DisableKeepAlives: true, DisableCompression: true, MaxResponseHeaderBytes: 4 * maxHeader,
	}
	proxy := &httputil.ReverseProxy{
		Transport: transport, FlushInterval: -1, ErrorLog: slog.NewLogLogger(s.opt.Log.Handler(), slog.LevelDebug),
		Rewrite: func(p *httputil.ProxyRequest) {
			p.Out.URL.Scheme, p.Out.URL.Host, p.Out.URL.Path, p.Out.URL.RawPath = "http", "efg", path, ""
			p.Out.Header.Del("Upgrade")
		},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			fail(w, http.StatusBadGateway, "the daemon has ended: "+err.Error())
		},
	}
	proxy.ServeHTTP(w, r)
}

// fail writes an error as JSON.
func fail(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(struct {
		Error string `json:"error"`
	}{text})
}
