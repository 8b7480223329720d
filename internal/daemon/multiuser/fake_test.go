package multiuser

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestMain makes the test binary a child, or a user's program that connects to the service.
func TestMain(m *testing.M) {
	switch {
	case len(os.Args) > 2 && os.Args[1] == "daemon" && os.Args[2] == "--child":
		os.Exit(fakeChild(os.Args[4], os.Args[6], os.Args[7:]))
	case len(os.Args) == 3 && os.Args[1] == "knock":
		c, err := net.Dial("unix", os.Args[2])
		if err == nil {
			_, err = io.ReadAll(c)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	case len(os.Args) == 4 && os.Args[1] == "hold":
		os.Exit(hold(os.Args[2], os.Args[3]))
	}
	os.Exit(m.Run())
}

// hold keeps a number of connections open, each with an unfinished request.
func hold(path, number string) int {
	n, err := strconv.Atoi(number)
	for range n {
		c, e := net.Dial("unix", path)
		if e != nil {
			err = e
			break
		}
		fmt.Fprintf(c, "GET /healthz HTTP/1.1\r\nHost: efg\r\n\r\n")
		if _, e = c.Read(make([]byte, 1)); e != nil { // it was accepted
			err = e
		}
		defer c.Close()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	fmt.Println("held")
	select {}
}

// fakeChild is a child that does what the file "do" in its store says or, if there is none,
// what a child should.
func fakeChild(store, spool string, args []string) int {
	do, err := os.ReadFile(filepath.Join(store, "do"))
	if err == nil {
		os.Rename(filepath.Join(store, "do"), filepath.Join(store, "done"))
	}
	if always, err := os.ReadFile(filepath.Join(store, "always")); err == nil {
		do = always
	}
	if f, err := os.OpenFile(filepath.Join(store, "starts"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600); err == nil {
		fmt.Fprintf(f, "uid=%d gid=%d home=%s args=%s\n", os.Getuid(), os.Getgid(), os.Getenv("HOME"), strings.Join(args, " "))
		f.Close()
	}
	if err := os.Mkdir(spool, 0o700); err != nil && !os.IsExist(err) {
		fmt.Fprintln(os.Stderr, "efg:", err)
		return 2
	}
	signals, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	c, ctx, err := NewChild(signals)
	if err != nil {
		fmt.Fprintln(os.Stderr, "efg:", err)
		return 2
	}
	switch string(do) {
	case "fail":
		fmt.Fprintln(os.Stderr, "efg: the store is made of cheese")
		return 2
	case "taken":
		fmt.Fprintln(os.Stderr, "efg: another daemon is using this spool")
		return StatusTaken
	case "stop":
		syscall.Kill(os.Getpid(), syscall.SIGSTOP)
		time.Sleep(time.Hour) // a thread may continue for a moment
	case "lie":
		for {
			if _, err := c.control.WriteString(strings.Repeat("x", 4000)); err != nil {
				break
			}
		}
		for {
			fmt.Fprintln(os.Stderr, "user=root msg=lies"+strings.Repeat("x", 5000))
		}
	}
	go http.Serve(c.Asked, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "uid %d: %s", os.Getuid(), r.URL.Path)
	}))
	c.Ready()
	c.Occupied(string(do) == "busy")
	<-ctx.Done()
	if string(do) == "again" {
		time.Sleep(2 * quick)
		return StatusAgain
	}
	return 0
}

// quick is the retry interval of the service in tests.
const quick = 20 * time.Millisecond

// testService is a machine with a service and users whom only the name service knows.
type testService struct {
	t                          *testing.T
	base, dir, spools, program string
	opt                        Options
	log                        *log
	stop                       func()
}

// Users of the machine.
const alice, bob, carol, nobody = 61021, 61022, 61023, 61029

func newTestService(t *testing.T) *testService {
	t.Helper()
	base, err := os.MkdirTemp("", "efg-all-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(base) })
	s := &testService{
		t: t, base: base, dir: filepath.Join(base, "run"), spools: filepath.Join(base, "spools"), program: filepath.Join(base, "bin", "efg"), log: &log{},
	}
	s.must(os.Chmod(base, 0o755))
	for _, name := range []string{"bin", "store"} {
		s.must(os.Mkdir(filepath.Join(base, name), 0o755))
	}
	s.must(os.Mkdir(s.spools, 0o700))
	s.must(os.Chmod(s.spools, 0o777|os.ModeSticky))
	program, err := os.ReadFile(os.Args[0])
	s.must(err)
	s.must(os.WriteFile(s.program, program, 0o755))
	s.must(os.WriteFile(filepath.Join(base, "bin", "getent"), []byte(getent), 0o755))
	t.Setenv("PATH", filepath.Join(base, "bin")+":"+os.Getenv("PATH"))
	s.opt = Options{
		Dir: s.dir, Store: filepath.Join(base, "store", "%u"), Spools: s.spools, Program: s.program, Args: []string{"--keep=1d"}, Children: 8, Idle: time.Hour,
		Settings: func() ([][2]string, error) { return [][2]string{{"EFG_BACK", "none"}}, nil },
		Log:      newLog(s.log), Output: s.log, retry: quick,
	}
	return s
}

// getent is a name service that knows a few users more than the machine.
const getent = `#!/bin/sh
case "$2 $3" in
"passwd 61021"|"passwd alice") echo "alice:x:61021:61021:A. L.:/nonexistent:/bin/sh";;
"passwd 61022"|"passwd bob") echo "bob:x:61022:61022::/nonexistent:/bin/sh";;
"passwd 61023"|"passwd carol") echo "carol:x:61023:61023:::/bin/sh";;
"initgroups alice") echo "alice                 61021 61098";;
initgroups*) echo "$3";;
*) exit 2;;
esac
`

func (s *testService) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatalf("%v (this test needs to be root)", err)
	}
}

// start starts the service; it ends with the test, or by stop.
func (s *testService) start() {
	s.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ready, done := make(chan struct{}), make(chan error, 1)
	s.opt.Ready = func(string) { close(ready) }
	go func() { done <- Run(ctx, s.opt) }()
	select {
	case <-ready:
	case err := <-done:
		cancel()
		s.t.Fatal(err)
	}
	ended := false
	s.stop = func() {
		cancel()
		if !ended {
			ended = true
			if err := <-done; err != nil {
				s.t.Error(err)
			}
		}
	}
	s.t.Cleanup(s.stop)
}

// as runs a program as a user.
func (s *testService) as(uid int, args ...string) (string, error) {
	s.t.Helper()
	id := fmt.Sprint(uid)
	out, err := exec.Command("setpriv", append([]string{"--reuid", id, "--regid", id, "--clear-groups"}, args...)...).CombinedOutput()
	return string(out), err
}

// connect does what the hook does.
func (s *testService) connect(uid int) {
	s.t.Helper()
	if out, err := s.as(uid, s.program, "knock", filepath.Join(s.dir, "socket")); err != nil {
		s.t.Fatalf("%v: %s", err, out)
	}
}

// ask asks the service as a user.
func (s *testService) ask(uid int, path string) string {
	s.t.Helper()
	out, err := s.as(uid, "curl", "-sS", "--max-time", "60", "--unix-socket", filepath.Join(s.dir, "http"), "http://efg"+path)
	if err != nil {
		s.t.Fatalf("%v: %s", err, out)
	}
	return out
}

// tell says what the next child of a user is to do or, in the file always, what all children
// are to do.
func (s *testService) tell(user, file, what string) {
	s.t.Helper()
	dir := filepath.Join(s.base, "store", user)
	if err := os.Mkdir(dir, 0o700); err != nil && !os.IsExist(err) {
		s.t.Fatal(err)
	}
	s.must(os.WriteFile(filepath.Join(dir, file), []byte(what), 0o644))
	s.must(os.Chown(dir, map[string]int{"alice": alice, "bob": bob, "carol": carol}[user], -1))
}

// starts returns the lines that a user's children have written.
func (s *testService) starts(user string) []string {
	data, _ := os.ReadFile(filepath.Join(s.base, "store", user, "starts"))
	lines := strings.Split(string(data), "\n")
	return slices.DeleteFunc(lines, func(l string) bool { return l == "" })
}

func (s *testService) wait(what string, ok func() bool) {
	s.t.Helper()
	for end := time.Now().Add(2 * time.Minute); !ok(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			s.t.Fatalf("it does not come to this: %s\n%s\n%s", what, s.ask(0, "/users"), s.log.String())
		}
	}
}
