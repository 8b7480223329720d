package httpapi

import (
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// from makes connections appear to come from where the test says, until it ends.
func from(t *testing.T, where func(net.Conn) origin) {
	kernel := originOf
	originOf = where
	t.Cleanup(func() { originOf = kernel })
}

// patient gives unknown and slow clients all the time that a test takes, unless it says
// otherwise.
func patient(t *testing.T) {
	kept := timeouts
	t.Cleanup(func() { timeouts = kept })
	timeouts.header, timeouts.stranger = time.Hour, time.Hour
}

// holder opens connections, sends a text on each, and replaces each one that is closed, until
// the test ends.
func holder(t *testing.T, address, text string, n int) {
	t.Helper()
	var work sync.WaitGroup
	var mu sync.Mutex
	ended := false
	open := map[net.Conn]bool{}
	hold := func() bool {
		c, err := net.Dial("tcp", address)
		if err != nil {
			return true // no places left: try again
		}
		mu.Lock()
		open[c] = true
		goOn := !ended
		mu.Unlock()
		if goOn {
			io.WriteString(c, text)
			io.Copy(io.Discard, c)
		}
		mu.Lock()
		defer mu.Unlock()
		delete(open, c)
		c.Close()
		return !ended
	}
	for range n {
		work.Go(func() {
			for hold() {
			}
		})
	}
	t.Cleanup(func() {
		mu.Lock()
		ended = true
		for c := range open {
			c.Close()
		}
		mu.Unlock()
		work.Wait()
	})
	full := func() bool { mu.Lock(); defer mu.Unlock(); return len(open) >= min(n, maxStrangers) }
	for !full() {
		time.Sleep(time.Millisecond)
	}
}

// tokenClient sends requests with the token, each over another connection.
func tokenClient(t *testing.T, l *Listeners) (ask func() int) {
	c := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: time.Minute}
	return func() int {
		for {
			r, err := http.NewRequest("GET", l.Address()+"v1/runs", nil)
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Authorization", "Bearer "+testToken)
			answer, err := c.Do(r)
			if err == nil {
				answer.Body.Close()
				return answer.StatusCode
			}
			if strings.Contains(err.Error(), "Timeout") {
				t.Fatal(err)
			} // it is untrusted until its request was read: it may be closed, and tries again
		}
	}
}

// A client with the token is answered, whatever others without it hold: idle connections,
// unfinished requests, repeated requests.
func TestHeldConnections(t *testing.T) {
	for name, text := range map[string]string{
		"silent": "", "begun": "GET / HTTP/1.1\r\nHost: localhost\r\n", "refused": "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
		"healthy": "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			patient(t)
			from(t, func(net.Conn) origin { return origin{address: "192.0.2.1"} })
			s := New(Options{Runs: sampleFiles(t), Token: testToken})
			l := listen(t, Listening{TCP: "127.0.0.1:0"})
			serve(t, s, l)
			holder(t, l.tcp.String(), text, 4*maxStrangers)
			ask := tokenClient(t, l)
			for range 20 {
				if code := ask(); code != http.StatusOK {
					t.Fatalf("status %d", code)
				}
			}
		})
	}
}

// A connection without the token is closed after the answer, and an idle one after a while.
func TestStrangersGo(t *testing.T) {
	patient(t)
	timeouts.stranger = 50 * time.Millisecond
	from(t, func(net.Conn) origin { return origin{address: "192.0.2.1"} })
	s := New(Options{Runs: sampleFiles(t), Token: testToken})
	l := listen(t, Listening{TCP: "127.0.0.1:0"})
	serve(t, s, l)
	for _, text := range []string{
		"", "GET / HTTP/1.1\r\nHost: localhost\r\n", "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n",
		"GET /v1/runs HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer x\r\n\r\n", "GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n",
	} {
		c, err := net.Dial("tcp", l.tcp.String())
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(c, text)
		c.SetReadDeadline(time.Now().Add(time.Minute))
		if _, err := io.Copy(io.Discard, c); errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("%q: the connection stays", text)
		}
		c.Close()
	}
}

// If there are too many connections, the origin with the most loses its oldest one; those of
// others, and trusted ones, stay.
func TestLeastWelcome(t *testing.T) {
	patient(t)
	g := &fairListener{}
	enter := func(o origin) (v, out *fairConn) {
		a, b := net.Pipe()
		t.Cleanup(func() { a.Close(); b.Close() })
		v = &fairConn{Conn: a, listener: g, origin: o}
		out = g.enter(v)
		t.Cleanup(v.leave)
		return v, out
	}
	me := origin{address: "127.0.0.1", user: uint32(os.Geteuid()), local: true}
	own, _ := enter(me)
	few, _ := enter(origin{address: "192.0.2.2"})
	admitted, _ := enter(origin{address: "192.0.2.1"})
	if !own.isKnown() || few.isKnown() || !admitted.admit() {
		t.Fatal("who is known is not told from who is not")
	}
	var many []*fairConn
	for range 3 * maxStrangers {
		v, out := enter(origin{address: "192.0.2.1"})
		if want := len(many) - (maxStrangers - 1); want >= 0 && out != many[want] || want < 0 && out != nil {
			t.Fatalf("after %d: another than the oldest of those goes", len(many))
		}
		many = append(many, v)
	}
	if g.count(true) != 2 || g.count(false) != maxStrangers || !few.admit() {
		t.Errorf("%d are known, %d not", g.count(true), g.count(false))
	}
	if many[0].admit() {
		t.Error("one that had to go is admitted")
	}
	for g.count(true) < maxKnown {
		enter(me)
	}
	if v, _ := enter(me); v.isKnown() || v.admit() {
		t.Error("there is no end of those who are known")
	}
}

// The kernel identifies the user of a connection within this machine.
func TestLocalUser(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	six, err := net.Listen("tcp", "[::1]:0")
	if err != nil {
		t.Fatal(err)
	}
	defer six.Close()
	for _, l := range []net.Listener{l, six} {
		mine, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		c, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		if o := originOf(c); !o.trusted() || o.user != uint32(os.Geteuid()) {
			t.Errorf("own connection: %+v", o)
		}
		mine.Close()
		io.Copy(io.Discard, c)
		if o := originOf(c); o.trusted() {
			t.Errorf("a closed connection: %+v", o)
		}
		c.Close()
	}
	if os.Geteuid() != 0 {
		return // switching to another user is impossible
	}
	cmd := otherUser(t, dialVar+"="+l.Addr().String())
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	c, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if o := originOf(c); o.trusted() || !o.local || o.user != 65534 {
		t.Errorf("another user's connection: %+v", o)
	}
}

// dialVar names an address to which this program connects until the connection is closed.
const dialVar = "EFG_TEST_DIAL"

func dial(address string) int {
	c, err := net.Dial("tcp", address)
	if err != nil {
		return 1
	}
	io.Copy(io.Discard, c)
	return 0
}

// otherUser runs this program as another user.
func otherUser(t *testing.T, env ...string) *exec.Cmd {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "efg-peer-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	copied := filepath.Join(dir, "client")
	copyTo(t, program, copied)
	for _, path := range []string{dir, copied} {
		if err := os.Chmod(path, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(copied)
	cmd.Env, cmd.Dir = env, "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	return cmd
}
