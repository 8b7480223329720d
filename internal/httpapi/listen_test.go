package httpapi

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// serve answers requests at sockets until the test ends or stop is called.
func serve(t *testing.T, s *Server, l *Listeners) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- l.Serve(ctx, s) }()
	ended := false
	stop = func() {
		if cancel(); !ended {
			ended = true
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
	}
	t.Cleanup(stop)
	return stop
}

func listen(t *testing.T, o Listening) *Listeners {
	t.Helper()
	l, err := o.Listen()
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// unixClient sends requests to a socket.
func unixClient(path string) *http.Client {
	return &http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", path)
		},
	}}
}

func status(t *testing.T, c *http.Client, url string) (int, string) {
	t.Helper()
	r, err := c.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return r.StatusCode, string(b)
}

// At the unix socket the kernel identifies the client: the user of the server and root need no
// token, others get nothing.
func TestPeers(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "http")
	s := New(Options{Runs: sampleFiles(t), Token: testToken})
	serve(t, s, listen(t, Listening{Unix: socket}))
	c := unixClient(socket)
	if code, text := status(t, c, "http://any.name/v1/runs"); code != 200 || !strings.Contains(text, "mesh") {
		t.Errorf("status %d, %s", code, text)
	}
	if fi, err := os.Stat(socket); err != nil || fi.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", fi, err)
	}
	asked := credentials
	defer func() { credentials = asked }()
	for _, peer := range []struct {
		uid  uint32
		err  error
		code int
	}{{uint32(os.Geteuid()), nil, 200}, {0, nil, 200}, {12345, nil, 403}, {0, errors.New("no credentials"), 403}} {
		credentials = func(*net.UnixConn) (uint32, error) { return peer.uid, peer.err }
		for _, path := range []string{"/v1/runs", "/openapi.yaml", "/healthz", "/v1/runs/halo/file"} {
			code, text := status(t, c, "http://localhost"+path)
			if code != peer.code || code != 200 && (strings.Contains(text, "mesh") || strings.Contains(text, "halo")) {
				t.Errorf("user %d, %s: status %d, %s", peer.uid, path, code, text)
			}
		}
	}
}

// Another user cannot connect to the socket, and would get nothing if its mode allowed it.
func TestOtherUser(t *testing.T) {
	if os.Geteuid() != 0 {
		return // switching to another user is impossible; TestPeers replaces the kernel
	}
	dir, err := os.MkdirTemp("/tmp", "efg-peer-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(dir, "http")
	s := New(Options{Runs: sampleFiles(t), Token: testToken})
	serve(t, s, listen(t, Listening{Unix: socket}))
	ask := func() string {
		out, _ := otherUser(t, clientVar+"="+socket).CombinedOutput()
		return string(out)
	}
	if out := ask(); !strings.Contains(out, "permission denied") || strings.Contains(out, "mesh") {
		t.Errorf("a closed socket says %s", out)
	}
	if err := os.Chmod(socket, 0o666); err != nil {
		t.Fatal(err)
	}
	if out := ask(); out != `{"error":"belongs to another user"}`+"\n" {
		t.Errorf("an open socket says %s", out)
	}
}

// clientVar names the socket to which this program sends a request for runs, if set.
const clientVar = "EFG_TEST_CLIENT"

func client(socket string) int {
	r, err := unixClient(socket).Get("http://localhost/v1/runs")
	if err != nil {
		fmt.Println(err)
		return 1
	}
	io.Copy(os.Stdout, r.Body)
	return 0
}

// Invalid, too large, or slow requests, and requests with a body.
func TestHostileConnections(t *testing.T) {
	defer func(d serverTimeouts) { timeouts = d }(timeouts)
	timeouts.header = 50 * time.Millisecond
	s := New(Options{Runs: sampleFiles(t), Token: testToken})
	l := listen(t, Listening{TCP: "127.0.0.1:0"})
	serve(t, s, l)
	for name, c := range map[string]struct{ send, want string }{
		"large header":   {"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + strings.Repeat("x", 64<<10) + "\r\n\r\n", "431"},
		"long address":   {"GET /" + strings.Repeat("x", 64<<10) + " HTTP/1.1\r\nHost: localhost\r\n\r\n", "431"},
		"no host":        {"GET / HTTP/1.1\r\n\r\n", "400"},
		"old, no host":   {"GET /v1/runs HTTP/1.0\r\n\r\n", "421"},
		"rubbish":        {"\x00\xff\r\n\r\n", "400"},
		"never ends":     {"GET / HTTP/1.1\r\nHost: localhost\r\n", ""},
		"nothing":        {"", ""},
		"body":           {"GET /healthz HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\nx", "413"},
		"chunked":        {"GET /healthz HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n", "413"},
		"two lengths":    {"GET /healthz HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\nContent-Length: 5\r\n\r\n", "400"},
		"proxy request":  {"GET http://evil.example/v1/runs HTTP/1.1\r\nHost: localhost\r\n\r\n", "421"},
		"connect":        {"CONNECT localhost:22 HTTP/1.1\r\nHost: localhost\r\n\r\n", "405"},
		"upgrade":        {"GET /v1/runs HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAA\r\n\r\n", "401"},
		"another method": {"BREW / HTTP/1.1\r\nHost: localhost\r\n\r\n", "405"},
	} {
		conn, err := net.Dial("tcp", l.tcp.String())
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(conn, c.send) // it may be closed before everything is read
		line, _ := bufio.NewReader(conn).ReadString('\n')
		if c.want == "" && line != "" && !strings.Contains(line, "408") || c.want != "" && !strings.HasPrefix(line, "HTTP/1.1 "+c.want) && !strings.HasPrefix(line, "HTTP/1.0 "+c.want) {
			t.Errorf("%s: answers %q, want %s", name, line, c.want)
		}
		conn.Close()
	}
}

// Serving ends with the context, also for listeners of events, and leaves nothing behind.
func TestServeEnds(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	s := New(Options{Runs: sampleFiles(t), Token: testToken})
	l := listen(t, Listening{TCP: "127.0.0.1:0", Unix: filepath.Join(t.TempDir(), "http")})
	stop := serve(t, s, l)
	r, err := http.NewRequest("GET", l.Address()+"v1/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+testToken)
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	answer, err := transport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	events := bufio.NewReader(answer.Body)
	for line := ""; !strings.HasPrefix(line, "data: "); {
		if line, err = events.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
	}
	stop()
	if rest, err := io.ReadAll(events); err != nil {
		t.Errorf("%q, %v", rest, err)
	}
	if _, err := net.Dial("unix", l.list[len(l.list)-1].Addr().String()); err == nil {
		t.Error("the socket is still there")
	}
}

// With a certificate, only https is supported.
func TestTLS(t *testing.T) {
	cert, key := makeCertificate(t)
	s := New(Options{Runs: sampleFiles(t), Token: testToken})
	l := listen(t, Listening{TCP: "127.0.0.1:0", Cert: cert, Key: key})
	serve(t, s, l)
	if !strings.HasPrefix(l.Address(), "https://127.0.0.1:") {
		t.Error(l.Address())
	}
	c := tlsClient(t, cert)
	if code, text := status(t, c, l.Address()+"healthz"); code != 200 {
		t.Errorf("status %d, %s", code, text)
	}
	if code, _ := status(t, c, l.Address()+"v1/runs"); code != 401 {
		t.Errorf("status %d without a token", code)
	}
	if code, _ := status(t, http.DefaultClient, strings.Replace(l.Address(), "https", "http", 1)+"healthz"); code != 400 {
		t.Errorf("http is answered with %d", code)
	}
	if _, err := (&Listening{TCP: "127.0.0.1:0", Cert: cert, Key: cert}).Listen(); err == nil {
		t.Error("a certificate is taken for a key")
	}
}

func TestTokenFiles(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "token")
	token, err := KeepToken(path)
	if err != nil || len(token) < minToken {
		t.Fatal(token, err)
	}
	if again, err := KeepToken(path); err != nil || again != token {
		t.Errorf("%q, then %q, %v", token, again, err)
	}
	if a, b := NewToken(), NewToken(); a == b {
		t.Error("two tokens are equal")
	}
	for name, c := range map[string]struct {
		text string
		mode os.FileMode
		want string
	}{
		"open": {token, 0o640, "others can read it"}, "short": {"abc\n", 0o600, "want a token"}, "empty": {"", 0o600, "want a token"},
		"blank": {"a token with some blanks in it", 0o600, "want a token"}, "binary": {strings.Repeat("\x01", 20), 0o600, "want a token"},
	} {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.WriteFile(path, []byte(c.text), 0o600), os.Chmod(path, c.mode)); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadToken(path); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := ReadToken(dir); err == nil {
		t.Error("a directory is taken for a token")
	}
}

func TestLoopback(t *testing.T) {
	for address, want := range map[string]string{
		"127.0.0.1:0": "true", "localhost:80": "true", "[::1]:8080": "true", "127.9.9.9:1": "true", "0.0.0.0:80": "false", ":80": "false", "[::]:80": "false",
		"192.0.2.1:80": "false", "80": "error", "localhost:http:1": "error", "localhost:99999": "error",
	} {
		in, err := Loopback(address)
		got := fmt.Sprint(in)
		if err != nil {
			got = "error"
		}
		if got != want {
			t.Errorf("%s: %s, %v", address, got, err)
		}
	}
}

// The connection of a client that does not read is closed, and others are answered.
func TestClientThatDoesNotRead(t *testing.T) {
	var w slowWriter
	p := &deadlineWriter{&w, http.NewResponseController(&w)}
	if n, err := p.Write(bytes.Repeat([]byte("x"), 3*piece)); !errors.Is(err, os.ErrDeadlineExceeded) || n != piece {
		t.Errorf("%d bytes, %v", n, err)
	}
	if w.deadlines != 2 {
		t.Errorf("%d deadlines for 2 pieces", w.deadlines)
	}
}

// slowWriter accepts one piece, and then nothing more.
type slowWriter struct {
	http.ResponseWriter
	taken, deadlines int
}

func (w *slowWriter) Write(p []byte) (int, error) {
	if w.taken += len(p); w.taken > piece {
		return 0, os.ErrDeadlineExceeded
	}
	return len(p), nil
}

func (w *slowWriter) SetWriteDeadline(time.Time) error { w.deadlines++; return nil }

// makeCertificate writes a certificate for this machine's loopback names, and its key.
func makeCertificate(t *testing.T) (cert, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		DNSNames: []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, &c, &c, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalECPrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	cert, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	for path, block := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: der}, key: {Type: "EC PRIVATE KEY", Bytes: secret}} {
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return cert, key
}

func tlsClient(t *testing.T, cert string) *http.Client {
	t.Helper()
	data, err := os.ReadFile(cert)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(data) {
		t.Fatal("no certificate")
	}
	return &http.Client{Transport: &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{RootCAs: pool}}}
}
