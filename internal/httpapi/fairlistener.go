package httpapi

import (
	"net"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/efg-tools/efg/internal/peercred"
)

// Bounds of connections over TCP.
const (
	maxKnown     = 256
	maxStrangers = 64
)

// fairListener is a TCP listener that no one can block by holding connections. A connection is
// untrusted until it has sent a request with the token, unless the kernel says that it belongs
// to this user or root. Untrusted connections are limited in number and time. When there are
// too many, a new one replaces the oldest from the origin with the most.
type fairListener struct {
	net.Listener
	mu    sync.Mutex
	conns []*fairConn // in order of arrival
}

// fairConn is a connection through a fairListener.
type fairConn struct {
	net.Conn
	listener *fairListener
	origin   origin
	known    bool // guarded by the listener's mutex
	patience *time.Timer
}

// origin is where a connection comes from: an address, and on this machine the user.
type origin struct {
	address string
	user    uint32
	local   bool // the user is known
}

// trusted reports whether the kernel identifies the origin as the user of this process, or
// root.
func (o origin) trusted() bool {
	return o.local && (o.user == 0 || o.user == uint32(os.Geteuid()))
}

// originOf determines the origin of a connection. Tests replace it.
var originOf = func(c net.Conn) origin {
	a, ok := c.RemoteAddr().(*net.TCPAddr)
	if !ok {
		return origin{}
	}
	o := origin{address: a.IP.String()}
	if a.IP.IsLoopback() {
		user, err := peercred.OfLoopback(c)
		o.user, o.local = user, err == nil
	}
	return o
}

func (g *fairListener) Accept() (net.Conn, error) {
	c, err := g.Listener.Accept()
	if err != nil {
		return nil, err
	}
	v := &fairConn{Conn: c, listener: g, origin: originOf(c)}
	if out := g.enter(v); out != nil {
		out.Close()
	}
	return v, nil
}

// enter adds a connection, and returns the one, if any, that must be closed in exchange.
func (g *fairListener) enter(v *fairConn) (out *fairConn) {
	g.mu.Lock()
	defer g.mu.Unlock()
	v.known = v.origin.trusted() && g.count(true) < maxKnown
	if !v.known {
		if g.count(false) >= maxStrangers {
			out = g.leastPreferred()
		}
		v.patience = time.AfterFunc(timeouts.stranger, func() { g.expire(v) })
	}
	g.conns = append(g.conns, v)
	return out
}

func (g *fairListener) count(known bool) (n int) {
	for _, v := range g.conns {
		if v.known == known {
			n++
		}
	}
	return n
}

// leastPreferred removes the oldest untrusted connection from the origin with the most.
func (g *fairListener) leastPreferred() *fairConn {
	strangers := map[origin]int{}
	for _, v := range g.conns {
		if !v.known {
			strangers[v.origin]++
		}
	}
	worst := -1
	for i, v := range g.conns {
		if !v.known && (worst < 0 || strangers[v.origin] > strangers[g.conns[worst].origin]) {
			worst = i
		}
	}
	out := g.conns[worst]
	g.conns = slices.Delete(g.conns, worst, worst+1)
	return out
}

// expire closes a connection that is still untrusted.
func (g *fairListener) expire(v *fairConn) {
	g.mu.Lock()
	known := v.known
	g.mu.Unlock()
	if !known {
		v.Close()
	}
}

// admit marks a connection as trusted after it has sent the token. It reports whether there is
// a slot for it.
func (v *fairConn) admit() bool {
	g := v.listener
	g.mu.Lock()
	defer g.mu.Unlock()
	if v.known {
		return true
	}
	if !slices.Contains(g.conns, v) || g.count(true) >= maxKnown {
		return false
	}
	v.patience.Stop()
	v.known = true
	return true
}

func (v *fairConn) isKnown() bool {
	v.listener.mu.Lock()
	defer v.listener.mu.Unlock()
	return v.known
}

// Close implements net.Conn.
func (v *fairConn) Close() error {
	v.leave()
	return v.Conn.Close()
}

func (v *fairConn) leave() {
	g := v.listener
	g.mu.Lock()
	defer g.mu.Unlock()
	if v.patience != nil {
		v.patience.Stop()
	}
	if i := slices.Index(g.conns, v); i >= 0 {
		g.conns = slices.Delete(g.conns, i, i+1)
	}
}
