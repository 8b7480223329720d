package httpapi

import (
	"context"
	"net"
	"net/http"

	"github.com/efg-tools/efg/internal/peercred"
)

type peerKey struct{}

// withPeer is the ConnContext of a server: it records the peer of a connection, which is
// unknown unless it is a unix socket's.
func withPeer(ctx context.Context, c net.Conn) context.Context {
	p := &peer{}
	if l, ok := c.(interface{ NetConn() net.Conn }); ok { // crypto/tls, for example
		c = l.NetConn()
	}
	switch c := c.(type) {
	case *net.UnixConn:
		p.unix = true
		p.uid, p.err = credentials(c)
	case *fairConn:
		p.conn = c
	}
	return context.WithValue(ctx, peerKey{}, p)
}

// credentials asks the kernel for the peer's user. Tests replace it.
var credentials = func(c *net.UnixConn) (uid uint32, err error) {
	cred, err := peercred.Of(c)
	if err != nil {
		return 0, err
	}
	return cred.Uid, nil
}

// peerOf returns the client; none if it is unknown.
func peerOf(r *http.Request) *peer {
	if p, ok := r.Context().Value(peerKey{}).(*peer); ok {
		return p
	}
	return &peer{}
}
