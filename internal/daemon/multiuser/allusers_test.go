package multiuser

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/efg-tools/efg/internal/service"
)

// log is text with several writers.
type log struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func newLog(l *log) *slog.Logger { return slog.New(slog.NewTextHandler(l, nil)) }

// user is what the service reports about a user.
func (s *testService) user(name string) UserState {
	s.t.Helper()
	var answer struct{ Users []UserState }
	if text := s.ask(0, "/users"); json.Unmarshal([]byte(text), &answer) != nil {
		s.t.Fatal(text)
	}
	for _, u := range answer.Users {
		if u.Name == name {
			return u
		}
	}
	return UserState{}
}

// Each user has a child of their own, with their groups and no other user's; each gets answers
// only from their own child, and only root from any that it names.
func TestEachHisOwn(t *testing.T) {
	s := newTestService(t)
	s.start()
	s.connect(alice)
	s.wait("a child of alice's", func() bool { return s.user("alice").State == stateIdle })
	if got, want := strings.Join(s.starts("alice"), ";"), "uid=61021 gid=61021 home=/nonexistent args=--keep=1d"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.user("alice").PID))
	s.must(err)
	for _, line := range []string{"\nUid:\t61021\t61021\t61021\t61021\n", "\nGid:\t61021\t61021\t61021\t61021\n", "\nGroups:\t61021 61098 \n", "\nCapEff:\t0000000000000000\n", "\nCapPrm:\t0000000000000000\n"} {
		if !strings.Contains(string(status), line) {
			t.Errorf("no line %q in\n%s", line, status)
		}
	}
	for _, c := range []struct {
		uid  int
		path string
		want string
	}{
		{alice, "/v1/runs", "uid 61021: /v1/runs"},
		{bob, "/v1/runs", "uid 61022: /v1/runs"},
		{bob, "/metrics", "uid 61022: /metrics"},
		{bob, "/users/bob/v1/runs", "uid 61022: /v1/runs"},
		{bob, "/users/alice/v1/runs", `{"error":"belongs to another user"}`},
		{bob, "/users/dave/v1/runs", `{"error":"belongs to another user"}`},
		{0, "/users/alice/v1/runs/last", "uid 61021: /v1/runs/last"},
		{0, "/users/bob/", "uid 61022: /"},
		{0, "/users/dave/v1/runs", `{"error":"no such user"}`},
		{nobody, "/v1/runs", `{"error":"no daemon: user 61029: no such user"}`},
		{nobody, "/healthz", "ok"},
		{nobody, "/users", `{"version":1,"users":[]}`},
	} {
		if got := s.ask(c.uid, c.path); !strings.HasPrefix(got, c.want) {
			t.Errorf("%d asks %s: %s, want %s", c.uid, c.path, got, c.want)
		}
	}
	if text := s.ask(alice, "/users"); !strings.Contains(text, `"alice"`) || strings.Contains(text, `"bob"`) {
		t.Errorf("alice sees %s", text)
	}
	text := s.ask(0, "/metrics")
	for _, line := range []string{"efg_service_users{state=\"idle\"} 2\n", "efg_service_starts_total 2\n", "efg_service_failures_total 0\n", "efg_service_refused_total{reason=\"unknown user\"} "} {
		if !strings.Contains(text, line) {
			t.Errorf("no %q in\n%s", line, text)
		}
	}
	for _, path := range []string{filepath.Join(s.dir, usersDir), filepath.Join(s.dir, usersDir, "61021.sock"), filepath.Join(s.base, "store", "alice")} {
		if _, err := s.as(bob, "ls", path+"/"); err == nil {
			t.Errorf("bob can look into %s", path)
		}
	}
	s.stop()
	if _, err := os.Stat(filepath.Join(s.dir, "hook")); !os.IsNotExist(err) {
		t.Errorf("the hook still finds a service: %v", err)
	}
	if _, err := os.Stat(filepath.Join(s.dir, "site")); err != nil {
		t.Errorf("users do not find their runs any more: %v", err)
	}
}

// A child that has nothing to do ends; one is started again when it is needed.
func TestIdle(t *testing.T) {
	s := newTestService(t)
	s.opt.Idle = time.Millisecond
	s.start()
	for n := 1; n <= 2; n++ {
		s.connect(alice)
		s.wait("a child that has come and gone", func() bool { return len(s.starts("alice")) == n && s.user("alice").State == stateNone })
	}
	s.tell("alice", "do", "busy")
	s.connect(alice)
	s.wait("a child that has something to do", func() bool { return s.user("alice").State == stateBusy })
	time.Sleep(3 * step) // checks for idle users
	if u := s.user("alice"); u.State != stateBusy || u.Starts != 3 {
		t.Errorf("%+v", u)
	}
}

// The next service finds what a killed one has left.
func TestSpoolsFound(t *testing.T) {
	s := newTestService(t)
	for name, uid := range map[string]int{"efg-61021": alice, "efg-61022": alice, "efg-061023": carol, "other": carol} {
		s.must(os.Mkdir(filepath.Join(s.spools, name), 0o700))
		s.must(os.Chown(filepath.Join(s.spools, name), uid, -1))
	}
	s.start()
	s.wait("a look at alice's spool", func() bool { return len(s.starts("alice")) == 1 && s.user("alice").State == stateNone })
	if u := s.user("bob"); u.Starts != 0 || s.user("carol").Starts != 0 {
		t.Errorf("%+v: what is not his own was looked at", u)
	}
	s.must(os.WriteFile(filepath.Join(s.spools, "efg-61021", "x.seg"), nil, 0o600)) // its message was lost
	s.wait("another look", func() bool { return len(s.starts("alice")) == 2 })
}

// If there are more users than children, the users take turns.
func TestChildren(t *testing.T) {
	s := newTestService(t)
	s.opt.Children = 1
	s.start()
	s.tell("alice", "do", "busy")
	s.connect(alice)
	s.wait("alice's turn", func() bool { return s.user("alice").State == stateBusy })
	s.connect(bob)
	s.connect(bob)
	time.Sleep(2 * step)
	if b := s.user("alice"); b.State != stateBusy || len(s.starts("bob")) != 0 {
		t.Errorf("%+v: its place was given away", b)
	}
	s.must(syscall.Kill(s.user("alice").PID, syscall.SIGKILL)) // the next one has nothing to do
	s.wait("bob's turn", func() bool { return len(s.starts("bob")) == 1 })
	s.wait("alice's next turn", func() bool { return len(s.starts("alice")) == 2 })
}

// Children that fail, lie, or are killed are restarted with increasing delays and reported, and
// disturb nobody.
func TestFailingChildren(t *testing.T) {
	s := newTestService(t)
	s.tell("alice", "always", "fail")
	s.tell("bob", "do", "lie")
	s.start()
	s.connect(alice)
	s.connect(bob)
	s.connect(carol)
	s.wait("carol's child", func() bool { return s.user("carol").State == stateIdle })
	s.wait("alice's failures", func() bool { return s.user("alice").Failures >= 3 })
	if u := s.user("alice"); u.State != stateFailing || u.Problem != "the store is made of cheese" || len(s.starts("alice")) > 12 {
		t.Errorf("%+v", u)
	}
	if got := s.ask(0, "/healthz"); !strings.Contains(got, "ok\nalice: failing, ") || !strings.Contains(got, "the store is made of cheese\n") {
		t.Errorf("health: %s", got)
	}
	if got := s.ask(bob, "/healthz"); strings.Contains(got, "alice") {
		t.Errorf("bob sees %s", got)
	}
	if got := s.ask(alice, "/v1/runs"); got != `{"error":"no daemon: the store is made of cheese"}`+"\n" {
		t.Errorf("alice is told %s", got)
	}
	if n := strings.Count(s.log.String(), `msg="child has failed" user=alice`); n != 1 {
		t.Errorf("said %d times", n)
	}
	s.must(os.Remove(filepath.Join(s.base, "store", "alice", "always")))
	s.wait("alice's child", func() bool { return s.user("alice").State == stateIdle })

	s.must(syscall.Kill(s.user("carol").PID, syscall.SIGKILL))
	s.wait("another child of carol's", func() bool { return len(s.starts("carol")) == 2 && s.user("carol").State == stateIdle })
	s.wait("the end of bob's lies", func() bool {
		if u := s.user("bob"); u.PID > 0 && u.State == stateStarting {
			syscall.Kill(u.PID, syscall.SIGKILL)
		}
		return s.user("bob").State == stateIdle
	})
	for _, line := range strings.Split(s.log.String(), "\n") {
		if strings.Contains(line, "lies") && !strings.HasPrefix(line, "user=bob user=root msg=lies") || len(line) > 1100 {
			t.Errorf("in the log: %.80s", line)
		}
	}
	if n := strings.Count(s.log.String(), "lies"); n > maxLines {
		t.Errorf("%d lines of one minute are in the log", n)
	}
}

// A daemon of the user's own is left alone until there is something new.
func TestOwnDaemon(t *testing.T) {
	s := newTestService(t)
	s.tell("alice", "always", "taken")
	s.start()
	s.connect(alice)
	s.wait("a daemon of alice's own", func() bool { return s.user("alice").State == stateOwn })
	if got := s.ask(0, "/healthz"); got != "ok\n" {
		t.Errorf("health: %s", got)
	}
	s.must(os.Remove(filepath.Join(s.base, "store", "alice", "always")))
	s.connect(alice)
	s.wait("a child", func() bool { return s.user("alice").State == stateIdle })
}

// A child that ends just when something new appears is followed by another.
func TestAgain(t *testing.T) {
	s := newTestService(t)
	s.tell("alice", "do", "again")
	s.opt.Idle = time.Millisecond
	s.start()
	s.connect(alice)
	s.wait("the next child", func() bool { return len(s.starts("alice")) == 2 && s.user("alice").State == stateNone })
	if u := s.user("alice"); u.Failures != 0 || u.Problem != "" {
		t.Errorf("%+v", u)
	}
}

// A user who ends their own child repeatedly does not make the service start more than one a
// second.
func TestEndedAgainAndAgain(t *testing.T) {
	s := newTestService(t)
	s.opt.retry = 2 * time.Second
	s.start()
	began := time.Now()
	for len(s.starts("alice")) < 3 {
		s.connect(alice)
		if pid := s.user("alice").PID; pid != 0 {
			syscall.Kill(pid, syscall.SIGTERM)
		}
		if time.Since(began) > 2*time.Minute {
			t.Fatal(s.log)
		}
	}
	if took := time.Since(began); took < 2*s.opt.retry {
		t.Errorf("3 children within %s", took)
	}
}

// If another user occupies the path of a spool, its owner gets it as soon as they record.
func TestSquattedSpool(t *testing.T) {
	s := newTestService(t)
	s.start()
	spool := filepath.Join(s.spools, "efg-61021")
	for _, squat := range []string{
		"mkdir -m 700 " + spool,
		"mkdir -m 777 " + spool + " && touch " + spool + "/hook",
		"ln -s /etc " + spool,
		"touch " + spool,
		"mkfifo " + spool,
	} {
		s.must(os.RemoveAll(spool))
		if out, err := s.as(bob, "sh", "-c", squat); err != nil {
			t.Fatal(out)
		}
		s.connect(alice)
		fi, err := os.Lstat(spool)
		if err != nil || !fi.IsDir() || ownerOf(fi) != alice || fi.Mode().Perm() != 0o700 {
			t.Fatalf("%s: %v, %v", squat, fi, err)
		}
		if list, err := os.ReadDir(spool); err != nil || len(list) > 0 && list[0].Name() == "hook" {
			t.Errorf("%s: in the spool is %v, %v", squat, list, err)
		}
		s.wait("a child", func() bool { return s.user("alice").State == stateIdle }) // its start examines the spool, too
	}
	if fi, err := os.Stat("/etc"); err != nil || ownerOf(fi) != 0 {
		t.Errorf("what a link pointed to has changed: %v", err)
	}
	if n := strings.Count(s.log.String(), "in place of a user's spool"); n != 5 {
		t.Errorf("said %d times:\n%s", n, s.log)
	}
	away, err := filepath.Glob(filepath.Join(s.spools, "efg-away-61021-*"))
	if err != nil || len(away) != 1 { // the one that is not empty
		t.Errorf("%v, %v", away, err)
	}
}

// A store that belongs to another user is not used by anyone.
func TestStoreOfAnother(t *testing.T) {
	s := newTestService(t)
	s.must(os.Mkdir(filepath.Join(s.base, "store", "alice"), 0o755))
	s.must(os.Chown(filepath.Join(s.base, "store", "alice"), bob, -1))
	s.start()
	want := `{"error":"no daemon: ` + s.base + `/store/alice: belongs to user 61022, not to alice"}` + "\n"
	if got := s.ask(alice, "/v1/runs"); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// A user without a home directory, where stores are in homes.
func TestNoHome(t *testing.T) {
	s := newTestService(t)
	s.opt.Store = "%h/efg"
	s.start()
	if got, want := s.ask(carol, "/v1/runs"), `{"error":"no daemon: carol: has no home directory"}`+"\n"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// A user with many numbers, as in a user namespace, is looked up one number after another, and
// does not delay known users.
func TestManyNumbers(t *testing.T) {
	s := newTestService(t)
	s.start()
	s.connect(alice)
	s.wait("a child", func() bool { return s.user("alice").State == stateIdle })
	for uid := range 30 {
		s.connect(200000 + uid)
	}
	pid := s.user("alice").PID
	s.must(syscall.Kill(pid, syscall.SIGKILL))
	s.wait("another child", func() bool { u := s.user("alice"); return u.State == stateIdle && u.PID != pid })
	s.wait("all being refused", func() bool { return strings.Count(s.log.String(), "no such user") >= 30 })
	s.connect(200000)
	if text := s.ask(0, "/metrics"); !strings.Contains(text, "efg_service_refused_total{reason=\"unknown user\"} 31\n") {
		t.Error(text)
	}
}

// A user with all connections that one may have does not block others.
func TestConnections(t *testing.T) {
	s := newTestService(t)
	s.start()
	s.ask(alice, "/v1/runs")
	s.ask(bob, "/v1/runs")
	held := exec.Command("setpriv", "--reuid", fmt.Sprint(alice), "--clear-groups", s.program, "hold", filepath.Join(s.dir, "http"), fmt.Sprint(maxConnections))
	held.Stderr = os.Stderr
	out, err := held.StdoutPipe()
	s.must(err)
	s.must(held.Start())
	defer held.Wait()
	defer held.Process.Kill()
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "held\n" {
		t.Fatalf("%q, %v", line, err)
	}
	if out, err := s.as(alice, "curl", "-sS", "--unix-socket", filepath.Join(s.dir, "http"), "http://efg/v1/runs"); err == nil {
		t.Errorf("one more connection: %s", out)
	}
	if got := s.ask(bob, "/v1/runs"); got != "uid 61022: /v1/runs" {
		t.Errorf("bob is told %s", got)
	}
}

// A child that does not become ready keeps its place, but does not delay others.
func TestSlowChildren(t *testing.T) {
	s := newTestService(t)
	s.start()
	s.tell("bob", "do", "stop")
	s.connect(bob)
	s.wait("bob's child", func() bool { return len(s.starts("bob")) == 1 })
	s.connect(alice)
	s.wait("alice's child", func() bool { return s.user("alice").State == stateIdle })
	if u := s.user("bob"); u.State != stateStarting {
		t.Errorf("%+v", u)
	}
	s.must(syscall.Kill(s.user("bob").PID, syscall.SIGKILL))
}

// Sockets passed by systemd are used if they are the service's, and remain.
func TestGivenSockets(t *testing.T) {
	s := newTestService(t)
	s.must(os.Mkdir(s.dir, 0o755))
	for _, name := range []string{"http", "socket"} {
		l, err := net.Listen("unix", filepath.Join(s.dir, name))
		s.must(err)
		s.must(os.Chmod(filepath.Join(s.dir, name), 0o666))
		l.(*net.UnixListener).SetUnlinkOnClose(false)
		s.opt.Given = append(s.opt.Given, l)
	}
	s.start()
	s.connect(alice)
	if got := s.ask(alice, "/v1/runs"); got != "uid 61021: /v1/runs" {
		t.Errorf("alice is told %s", got)
	}
	s.stop()
	for _, name := range []string{"http", "socket"} {
		if _, err := os.Stat(filepath.Join(s.dir, name)); err != nil {
			t.Error(err)
		}
	}
}

// slowToClose is a socket that takes a while to close, so that a waiting accept returns first.
type slowToClose struct {
	net.Listener
	complaint func() bool
}

func (l *slowToClose) Close() error {
	err := l.Listener.Close()
	for end := time.Now().Add(200 * time.Millisecond); time.Now().Before(end) && !l.complaint(); {
		time.Sleep(time.Millisecond)
	}
	return err
}

// Ending a service on request is not reported as an error.
func TestEndsQuietly(t *testing.T) {
	s := newTestService(t)
	s.must(os.Mkdir(s.dir, 0o755))
	complaint := func() bool { return strings.Contains(s.log.String(), "level=ERROR") }
	for _, name := range []string{"http", "socket"} {
		l, err := net.Listen("unix", filepath.Join(s.dir, name))
		s.must(err)
		s.opt.Given = append(s.opt.Given, &slowToClose{l, complaint})
	}
	s.start()
	if got := s.ask(0, "/healthz"); got != "ok\n" {
		t.Errorf("the service says %q", got)
	}
	s.stop()
	if complaint() {
		t.Error(s.log.String())
	}
}

// Usage errors are refused with one line.
func TestMistakes(t *testing.T) {
	for _, c := range []struct {
		change func(s *testService)
		err    string
	}{
		{func(s *testService) { s.opt.Store = "/data/efg" }, "--store /data/efg: want an absolute path with %u, %U or %h in it: each user needs their own"},
		{func(s *testService) { s.opt.Store = "data/%u" }, "--store data/%u: want an absolute path with %u, %U or %h in it: each user needs their own"},
		{func(s *testService) { s.opt.Store = "/data/%x" }, "--store /data/%x: %x: want %u, %U, %h or %%"},
		{func(s *testService) { s.opt.Store = "/data/%" }, "--store /data/%: % at the end"},
		{func(s *testService) { s.opt.Spools = s.base }, "want a directory of root's in which everybody can create files, as in /tmp (mode 1777)"},
		{func(s *testService) { s.opt.Children = 0 }, "--children 0: want at least 1"},
		{func(s *testService) { s.opt.Idle = 0 }, "--idle 0s: want a time"},
		{func(s *testService) { s.must(os.Mkdir(s.dir, 0o777)); s.must(os.Chmod(s.dir, 0o777)) }, "is not a directory that only root can write to"},
		{func(s *testService) { s.must(os.Mkdir(s.dir, 0o755)); s.must(os.Chown(s.dir, bob, -1)) }, "is not a directory that only root can write to"},
		{func(s *testService) { s.start() }, "another service is already running here"},
	} {
		s := newTestService(t)
		c.change(s)
		if err := Run(t.Context(), s.opt); err == nil || !strings.HasSuffix(err.Error(), c.err) {
			t.Errorf("%v, want %s", err, c.err)
		}
	}
}

// The service is available before the hook is built; programs are told about each part when it
// is built.
func TestToldWhileBuilding(t *testing.T) {
	s := newTestService(t)
	var mu sync.Mutex
	settings, why := [][2]string{{"EFG_BACK", ""}, {"EFG_BUILDING", "1"}}, error(nil)
	s.opt.Settings = func() ([][2]string, error) {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(settings), why
	}
	s.start()
	told := func(back string, building bool) func() bool {
		t.Setenv(service.DirName, s.dir)
		return func() bool {
			x, ok := service.Find()
			return ok && x.Back == back && x.Building == building
		}
	}
	s.wait("it is said that the hook is being built", told("", true))
	mu.Lock()
	settings = [][2]string{{"EFG_BACK", "a=/a"}, {"EFG_BUILDING", "0"}}
	mu.Unlock()
	s.wait("it is said that it is built", told("a=/a", false))
}

// A service ends if no hook can be built.
func TestNoHook(t *testing.T) {
	s := newTestService(t)
	asked, none := 0, errors.New("no hook")
	s.opt.Settings = func() ([][2]string, error) {
		if asked++; asked > 1 {
			return nil, none
		}
		return [][2]string{{"EFG_BUILDING", "1"}}, nil
	}
	if err := Run(t.Context(), s.opt); !errors.Is(err, none) {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(s.dir, service.HookFile)); err == nil {
		t.Error("programs are told of it")
	}
}
