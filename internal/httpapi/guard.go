package httpapi

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"
)

// guard lets only authorised clients in, and tells browsers what pages may do.
type guard struct {
	token string
	hosts []string // accepted host names, besides loopback ones
	any   bool     // listens beyond loopback: then addresses are accepted host names
	next  http.Handler
}

// policy: only resources from this server.
const policy = "default-src 'self'; img-src 'self' data: blob:; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

func (g *guard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	who := peerOf(r)
	if who.untrusted() {
		h.Set("Connection", "close")
	}
	switch {
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		h.Set("Allow", "GET, HEAD")
		fail(w, r, http.StatusMethodNotAllowed, "only GET and HEAD")
	case r.ContentLength != 0:
		h.Set("Connection", "close")
		http.NewResponseController(w).SetReadDeadline(time.Now().Add(time.Second)) // nobody waits for it
		fail(w, r, http.StatusRequestEntityTooLarge, "want no body")
	case who.unix && !who.allowed():
		fail(w, r, http.StatusForbidden, "belongs to another user")
	case !who.unix && !g.called(r.Host):
		fail(w, r, http.StatusMisdirectedRequest, "unknown host name; add it with --http-host")
	case !g.sameOrigin(r):
		fail(w, r, http.StatusForbidden, "request from another site")
	case !who.unix && r.URL.Path != "/healthz" && !g.entered(w, r, who):
	default:
		g.next.ServeHTTP(w, r)
	}
}

// called reports whether a Host header is a name of this server: a page under another name that
// resolves here (DNS rebinding) must not read anything.
func (g *guard) called(host string) bool {
	name := host
	if n, _, err := net.SplitHostPort(host); err == nil {
		name = n
	}
	name = strings.ToLower(strings.TrimSuffix(strings.Trim(name, "[]"), "."))
	if ip := net.ParseIP(name); ip != nil {
		return ip.IsLoopback() || g.any
	}
	return name == "localhost" || slices.ContainsFunc(g.hosts, func(h string) bool { return strings.EqualFold(h, name) })
}

// sameOrigin reports whether a page's request comes from our page. Addresses that users open
// themselves, and programs other than browsers, have no origin.
func (g *guard) sameOrigin(r *http.Request) bool {
	if list, ok := r.Header["Origin"]; ok {
		u, err := url.Parse(list[0])
		scheme := "http"
		if r.TLS != nil {
			scheme = "https"
		}
		if err != nil || len(list) > 1 || u.Host != r.Host || u.Scheme != scheme {
			return false
		}
	}
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "none", "same-origin":
		return true
	}
	return r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Header.Get("Sec-Fetch-Dest") == "document"
}

// entered reports whether the client has the token: in a header, in a cookie, or once in the
// URL, which sets the cookie. Otherwise it has answered the request.
func (g *guard) entered(w http.ResponseWriter, r *http.Request, who *peer) bool {
	if header := r.Header.Get("Authorization"); header != "" {
		token, ok := strings.CutPrefix(header, "Bearer ")
		if ok && g.matches(token) {
			return admitted(w, r, who)
		}
		return g.refuse(w, r)
	}
	query := r.URL.Query()
	if token := query.Get("token"); token != "" {
		if !g.matches(token) {
			return g.refuse(w, r)
		}
		http.SetCookie(w, &http.Cookie{
			Name: g.cookie(), Value: token, Path: "/", HttpOnly: true, Secure: r.TLS != nil, SameSite: http.SameSiteStrictMode,
		})
		query.Del("token")
		to := url.URL{Path: "/" + strings.TrimLeft(r.URL.Path, `/\`), RawQuery: query.Encode()}
		w.Header().Set("Cache-Control", "no-store")
		http.Redirect(w, r, to.String(), http.StatusSeeOther)
		return false
	}
	if c, err := r.Cookie(g.cookie()); err == nil && g.matches(c.Value) {
		return admitted(w, r, who)
	}
	return g.refuse(w, r)
}

// admitted marks the connection of a client with the token as trusted. If there is no place for
// it, it has answered the request and returns false.
func admitted(w http.ResponseWriter, r *http.Request, who *peer) bool {
	if who.conn == nil || who.conn.admit() {
		w.Header().Del("Connection")
		return true
	}
	w.Header().Set("Retry-After", "1")
	fail(w, r, http.StatusServiceUnavailable, fmt.Sprintf("%d connections are open: close some, or use them again", maxKnown))
	return false
}

// refuse answers that the token is required, and closes the connection.
func (g *guard) refuse(w http.ResponseWriter, r *http.Request) bool {
	w.Header().Set("Connection", "close")
	w.Header().Set("WWW-Authenticate", `Bearer realm="efg"`)
	fail(w, r, http.StatusUnauthorized, "token required: open the address that efg daemon or efg view printed, or send Authorization: Bearer TOKEN")
	return false
}

func (g *guard) matches(token string) bool {
	a, b := sha256.Sum256([]byte(token)), sha256.Sum256([]byte(g.token))
	return g.token != "" && subtle.ConstantTimeCompare(a[:], b[:]) == 1
}

// cookie is the name of the cookie with the token: ports share cookies, so each token
// has its own.
func (g *guard) cookie() string {
	sum := sha256.Sum256([]byte("efg cookie " + g.token))
	return "efg-" + hex.EncodeToString(sum[:6])
}

// peer is the client, as identified by the kernel.
type peer struct {
	unix bool
	uid  uint32
	err  error
	conn *fairConn // over TCP, through a fairListener
}

// untrusted reports whether the client is unknown.
func (p *peer) untrusted() bool { return p.conn != nil && !p.conn.isKnown() }

// allowed: the user of this process, and root.
func (p *peer) allowed() bool {
	return p.err == nil && (p.uid == 0 || p.uid == uint32(os.Geteuid()))
}
