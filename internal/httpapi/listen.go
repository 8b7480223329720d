package httpapi

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"
)

// Listening says where a server listens.
type Listening struct {
	// TCP is HOST:PORT; "": at none.
	TCP string
	// Unix is the path of a socket; "": none.
	Unix string
	// Given are open sockets, passed by systemd.
	Given []net.Listener
	// Cert and Key are files for TLS over TCP.
	Cert, Key string
}

const (
	maxHeader       = 16 << 10
	shutdownTimeout = 2 * time.Second
)

// serverTimeouts are how long clients may take for a request's header, for the next request,
// for an answer (deadlineWriter gives them more), and to show the token.
type serverTimeouts struct{ header, idle, write, stranger time.Duration }

var timeouts = serverTimeouts{5 * time.Second, time.Minute, 2 * time.Minute, 10 * time.Second}

// Listeners are the sockets of a server.
type Listeners struct {
	list []net.Listener
	tcp  net.Addr // the first over TCP
	tls  *tls.Config
	// Beyond: one can be reached from other machines.
	Beyond bool
}

// Loopback reports whether an address can be reached from this machine only.
func Loopback(address string) (bool, error) {
	a, err := net.ResolveTCPAddr("tcp", address)
	return err == nil && a.IP.IsLoopback(), err
}

// Listen opens sockets.
func (o *Listening) Listen() (l *Listeners, err error) {
	l = &Listeners{}
	defer func() {
		if err != nil {
			l.Close()
			l = nil
		}
	}()
	if o.Cert != "" || o.Key != "" {
		pair, err := tls.LoadX509KeyPair(o.Cert, o.Key)
		if err != nil {
			return l, err
		}
		l.tls = &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"}}
	}
	for _, given := range o.Given {
		l.add(given)
	}
	if o.TCP != "" && l.tcp == nil {
		c, err := net.Listen("tcp", o.TCP)
		if err != nil {
			return l, err
		}
		l.add(c)
	}
	if o.Unix != "" {
		c, err := listenUnix(o.Unix)
		if err != nil {
			return l, err
		}
		l.list = append(l.list, c)
	}
	return l, nil
}

// add adds a socket. Connections over TCP may come from anyone: they go through a fairListener.
func (l *Listeners) add(c net.Listener) {
	a, ok := c.Addr().(*net.TCPAddr)
	if !ok {
		l.list = append(l.list, c)
		return
	}
	if l.tcp == nil {
		l.tcp = a
	}
	l.Beyond = l.Beyond || !a.IP.IsLoopback()
	c = &fairListener{Listener: c}
	if l.tls != nil {
		c = tls.NewListener(c, l.tls)
	}
	l.list = append(l.list, c)
}

// listenUnix opens a socket that only its user can connect to, and replaces a stale one.
func listenUnix(path string) (net.Listener, error) {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	c, err := net.Listen("unix", path)
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(path, 0o600); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// Address returns the address for browsers, without the token; "" if there is none.
func (l *Listeners) Address() string {
	if l.tcp == nil {
		return ""
	}
	u := url.URL{Scheme: "http", Host: l.tcp.String(), Path: "/"}
	if l.tls != nil {
		u.Scheme = "https"
	}
	if a, ok := l.tcp.(*net.TCPAddr); ok && a.IP.IsUnspecified() {
		if host, err := os.Hostname(); err == nil {
			u.Host = net.JoinHostPort(host, fmt.Sprint(a.Port))
		}
	}
	return u.String()
}

// Close closes the sockets.
func (l *Listeners) Close() {
	for _, c := range l.list {
		c.Close()
	}
}

// Serve serves the sockets until the context is done, and closes them.
func (l *Listeners) Serve(ctx context.Context, s *Server) error {
	srv := &http.Server{
		Handler: s, DisableGeneralOptionsHandler: true, ConnContext: withPeer, MaxHeaderBytes: maxHeader, ReadHeaderTimeout: timeouts.header,
		IdleTimeout: timeouts.idle, WriteTimeout: timeouts.write, ErrorLog: slog.NewLogLogger(s.opt.Log.Handler(), slog.LevelDebug),
	}
	ended := make(chan error, len(l.list))
	for _, c := range l.list {
		go func() { ended <- srv.Serve(c) }()
	}
	var err error
	select {
	case <-ctx.Done():
	case err = <-ended:
	}
	s.Close()
	quick, cancel := context.WithTimeout(context.Background(), shutdownTimeout)
	defer cancel()
	if srv.Shutdown(quick) != nil {
		srv.Close()
	}
	if errors.Is(err, http.ErrServerClosed) {
		err = nil
	}
	return err
}

// minToken is the minimum length of a token.
const minToken = 16

// NewToken creates an unguessable token.
func NewToken() string {
	b := make([]byte, 24)
	rand.Read(b) // never fails
	return base64.RawURLEncoding.EncodeToString(b)
}

// ReadToken reads a token file, which must be private to its user.
func ReadToken(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil {
		return "", err
	}
	if !fi.Mode().IsRegular() || fi.Mode().Perm()&0o077 != 0 {
		return "", fmt.Errorf("%s: others can read it; chmod 600", path)
	}
	b := make([]byte, 4096)
	n, _ := f.Read(b)
	token := strings.TrimSpace(string(b[:n]))
	if len(token) < minToken || strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r >= 0x7f || strings.ContainsRune(`",;\`, r) }) {
		return "", fmt.Errorf("%s: want a token of at least %d letters, digits and signs", path, minToken)
	}
	return token, nil
}

// KeepToken reads a token file, or creates it with a new token if it does not exist.
func KeepToken(path string) (string, error) {
	token, err := ReadToken(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return token, err
	}
	token = NewToken()
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", err
	}
	_, err = f.WriteString(token + "\n")
	return token, errors.Join(err, f.Close())
}
