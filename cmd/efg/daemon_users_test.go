package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/efg-tools/efg/hook"
	"github.com/efg-tools/efg/internal/jsondoc"
	"github.com/efg-tools/efg/internal/service"
)

// shared is a machine of several users, whom only its name service knows, with a service for
// all of them.
type shared struct {
	t           *testing.T
	base, front string
	store       string
	service     *exec.Cmd
	log         bytes.Buffer
}

// Users of the machine. Dora's home directory does not exist.
var users = map[string]int{"alice": 61031, "bob": 61032, "carol": 61033, "dora": 61034}

func newShared(t *testing.T) *shared {
	t.Helper()
	base, err := os.MkdirTemp("", "efg-shared-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(base) })
	s := &shared{t: t, base: base, store: filepath.Join(base, "store", "%u")}
	for name, mode := range map[string]os.FileMode{"": 0o755, "bin": 0o755, "cache/efg": 0o755, "run": 0o755, "store": 0o755, "spools": 0o777 | os.ModeSticky, "tmp": 0o777 | os.ModeSticky} {
		dir := filepath.Join(base, name)
		s.must(os.MkdirAll(dir, 0o755))
		s.must(os.Chmod(dir, mode))
	}
	build := exec.Command("go", "build", "-o", s.path("bin/efg"), ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	s.run(build)
	s.copyHook()
	s.must(os.WriteFile(s.path("bin/getent"), []byte(nameService()), 0o755))
	for _, m := range mpis {
		for _, source := range []string{"jacobi", "stuck"} {
			program := s.path("bin/" + source + "-" + m.name)
			s.run(exec.Command("cp", compileMPI(t, m, filepath.Join("..", "..", "..", "testdata", "c", source+".c")), program))
			s.must(os.Chmod(program, 0o755))
		}
	}
	return s
}

// nameService is a getent that knows these users besides those of the machine.
func nameService() string {
	text := "#!/bin/sh\ncase \"$2 $3\" in\n"
	for name, uid := range users {
		text += fmt.Sprintf("\"passwd %d\"|\"passwd %s\") echo %s:x:%d:%d::/nonexistent:/bin/sh; exit;;\n\"initgroups %s\") echo %s; exit;;\n", uid, name, name, uid, uid, name, name)
	}
	return text + "esac\nexec /usr/bin/getent \"$@\"\n"
}

// copyHook puts the hook where all users can read it and the service finds it.
func (s *shared) copyHook() {
	s.t.Helper()
	h, err := hook.Ensure(s.t.Context(), hook.Options{})
	s.must(err)
	for _, file := range append([]string{h.Front}, backFiles(h)...) {
		s.run(exec.Command("cp", "-a", filepath.Dir(file), s.path("cache/efg")))
	}
	s.front = filepath.Join(s.path("cache/efg"), filepath.Base(filepath.Dir(h.Front)), filepath.Base(h.Front))
}

func backFiles(h *hook.Hook) (files []string) {
	for _, b := range h.Backs {
		files = append(files, b.File)
	}
	return files
}

func (s *shared) path(name string) string { return filepath.Join(s.base, name) }

func (s *shared) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatalf("%v (this test needs to be root)", err)
	}
}

func (s *shared) run(cmd *exec.Cmd) {
	s.t.Helper()
	if out, err := cmd.CombinedOutput(); err != nil {
		s.t.Fatalf("%v: %v: %s", cmd.Args, err, out)
	}
}

func (s *shared) environment() []string {
	return []string{
		"PATH=" + s.path("bin") + ":" + os.Getenv("PATH"), service.DirName + "=" + s.path("run"), "HOME=/nonexistent", "XDG_CACHE_HOME=" + s.path("cache"),
		// Killed jobs of Open MPI leave files.
		"TMPDIR=" + s.path("tmp"), "OMPI_MCA_btl_vader_backing_directory=" + s.path("tmp"),
	}
}

// start starts the service, with only the privileges that its unit grants.
func (s *shared) start(args ...string) {
	s.t.Helper()
	s.service = exec.Command("setpriv", append([]string{
		"--bounding-set", "-all,+setuid,+setgid,+chown,+kill", "--inh-caps", "-all", "--no-new-privs",
		s.path("bin/efg"), "daemon", "--all-users", "--store", s.store, "--spool", s.path("spools"),
	}, args...)...)
	s.service.Env, s.service.Dir, s.service.Stderr = s.environment(), "/", &s.log
	s.must(s.service.Start())
	s.t.Cleanup(s.kill)
	s.wait("a service", func() bool {
		text, err := s.asRoot("/healthz")
		return err == nil && strings.HasPrefix(text, "ok\n")
	})
}

// kill kills the service.
func (s *shared) kill() {
	s.service.Process.Kill()
	s.service.Wait()
}

// command is a user's command.
func (s *shared) command(user string, args ...string) *exec.Cmd {
	id := fmt.Sprint(users[user])
	cmd := exec.Command("setpriv", append([]string{"--reuid", id, "--regid", id, "--clear-groups"}, args...)...)
	cmd.Env, cmd.Dir = s.environment(), "/"
	return cmd
}

// launch starts a user's program with the hook.
func (s *shared) launch(user string, m mpi, program string, args ...string) *exec.Cmd {
	s.t.Helper()
	line := append(append([]string{}, m.launcher...), "env", "LD_PRELOAD="+s.front, s.path("bin/"+program+"-"+m.name))
	cmd := s.command(user, append(line, args...)...)
	s.must(cmd.Start())
	return cmd
}

// runs is what efg runs reports to a user.
func (s *shared) runs(user string, args ...string) *jsondoc.RunList {
	s.t.Helper()
	out, err := s.command(user, append([]string{"efg", "runs", "--json"}, args...)...).Output()
	l := &jsondoc.RunList{}
	if err != nil || json.Unmarshal(out, l) != nil {
		return l
	}
	return l
}

func (s *shared) asRoot(path string) (string, error) {
	out, err := exec.Command("curl", "-sS", "--max-time", "60", "--unix-socket", s.path("run/http"), "http://efg"+path).Output()
	return string(out), err
}

// asUser sends a request to the service as a user.
func (s *shared) asUser(user, path string) string {
	s.t.Helper()
	out, err := s.command(user, "curl", "-sS", "--max-time", "60", "--unix-socket", s.path("run/http"), "http://efg"+path).CombinedOutput()
	if err != nil {
		s.t.Errorf("%v: %s", err, out)
	}
	return string(out)
}

// child is the process number of a user's daemon, 0 if there is none.
func (s *shared) child(user string) int {
	s.t.Helper()
	text, err := s.asRoot("/users")
	var answer struct {
		Users []struct {
			Name string
			PID  int
		}
	}
	if err != nil || json.Unmarshal([]byte(text), &answer) != nil {
		s.t.Fatalf("%v: %s", err, text)
	}
	for _, u := range answer.Users {
		if u.Name == user {
			return u.PID
		}
	}
	return 0
}

func (s *shared) wait(what string, ok func() bool) {
	s.t.Helper()
	for end := time.Now().Add(2 * time.Minute); !ok(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			s.t.Fatalf("it does not come to this: %s\n%s", what, &s.log)
		}
	}
}

// stuck starts a user's job that hangs, and waits until that is detected.
func (s *shared) stuck(user string, m mpi) (end func()) {
	s.t.Helper()
	cmd := s.command(user, append(append([]string{}, m.launcher...), "env", "LD_PRELOAD="+s.front, s.path("bin/stuck-"+m.name), "recv")...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	s.must(cmd.Start())
	s.wait("a job of "+user+"'s that hangs", func() bool {
		l := s.runs(user)
		return len(l.Jobs) == 1 && l.Jobs[0].Running == 2
	})
	return func() {
		syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM)
		cmd.Wait()
	}
}

// Programs of two users are recorded at once, by a service that neither has started. Each sees
// their own, and root what it names.
func TestAllUsers(t *testing.T) {
	s := newShared(t)
	s.start("--keep", "9d")
	var jobs sync.WaitGroup
	for user, m := range map[string]mpi{"alice": mpis[0], "bob": mpis[1]} {
		cmd := s.launch(user, m, "jacobi", "50")
		jobs.Go(func() {
			if err := cmd.Wait(); err != nil {
				t.Errorf("%s: %v", user, err)
			}
		})
	}
	jobs.Wait()
	for user, m := range map[string]mpi{"alice": mpis[0], "bob": mpis[1]} {
		var l *jsondoc.RunList
		s.wait(user+"'s run", func() bool { l = s.runs(user, "--wait", "60s"); return len(l.Runs) > 0 })
		if len(l.Runs) != 1 || l.Runs[0].Ranks != 2 || !l.Runs[0].Complete || filepath.Base(l.Runs[0].Command[0]) != "jacobi-"+m.name || !l.Daemon || l.Store != s.path("store/"+user) {
			t.Fatalf("%s: %+v", user, l)
		}
		name := l.Runs[0].Name
		if out, err := s.command(user, "efg", "reconstruct", "last", "--verify").CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, out)
		}
		if out, err := s.command(user, "efg", "open", "last").Output(); err != nil || !strings.HasSuffix(string(out), name+"\n") {
			t.Errorf("%v: %s", err, out)
		}
		byRoot, err := s.asRoot("/users/" + user + "/v1/runs/last/report")
		if own := s.asUser(user, "/v1/runs/last/report"); err != nil || own != byRoot || !strings.Contains(own, name) {
			t.Errorf("%v: root sees %.200s, %s %.200s", err, byRoot, user, own)
		}
		for other := range users {
			if other == user {
				continue
			}
			if text := s.asUser(other, "/v1/runs"); strings.Contains(text, name) {
				t.Errorf("%s sees %s", other, text)
			}
			if text := s.asUser(other, "/users/"+user+"/v1/runs"); text != `{"error":"belongs to another user"}`+"\n" {
				t.Errorf("%s sees %s", other, text)
			}
			for _, path := range []string{"store/" + user, fmt.Sprintf("spools/efg-%d", users[user]), "run/users"} {
				if s.command(other, "ls", s.path(path)).Run() == nil {
					t.Errorf("%s can look into %s", other, path)
				}
			}
		}
	}
	if n := len(s.runs("dora").Runs); n != 0 {
		t.Errorf("dora has %d runs", n)
	}
	s.must(s.service.Process.Signal(syscall.SIGTERM))
	if err := s.service.Wait(); err != nil {
		t.Errorf("%v: %s", err, &s.log)
	}
	if out, err := s.command("alice", "efg", "info", "last").CombinedOutput(); err != nil || !strings.Contains(string(out), "jacobi") {
		t.Errorf("without a service: %v: %s", err, out)
	}
}

// The service, and a user's daemon, are killed while jobs run: nothing is lost, and nothing is
// stored twice.
func TestAllUsersKilled(t *testing.T) {
	s := newShared(t)
	s.start()
	for n, m := range mpis {
		end := s.stuck("alice", m)
		s.kill()
		before := s.launch("bob", m, "jacobi", "20") // finds nobody
		s.must(before.Wait())
		s.start()
		s.wait("a daemon", func() bool { return s.child("alice") != 0 })
		pid := s.child("alice")
		s.must(syscall.Kill(pid, syscall.SIGKILL))
		s.wait("another daemon", func() bool { p := s.child("alice"); return p != 0 && p != pid })
		end()
		for user := range map[string]bool{"alice": true, "bob": true} {
			var l *jsondoc.RunList
			s.wait(user+"'s run", func() bool { l = s.runs(user, "--wait", "60s"); return len(l.Runs) > n && len(l.Jobs) == 0 })
			if len(l.Runs) != n+1 || l.Runs[n].Ranks != 2 {
				t.Errorf("%s, %s: %+v", user, m.name, l.Runs)
			}
			s.wait("an empty spool", func() bool {
				left, err := filepath.Glob(s.path(fmt.Sprintf("spools/efg-%d/*.seg", users[user])))
				return err == nil && len(left) == 0
			})
		}
	}
	if l := s.runs("alice"); len(l.Runs) > 0 && !l.Runs[0].Deadlock {
		t.Errorf("%+v", l.Runs[0])
	}
	first := s.page("alice")
	s.must(syscall.Kill(s.child("alice"), syscall.SIGKILL))
	next := ""
	s.wait("another page", func() bool { next = s.page("alice"); return next != "" && next != first })
	_, before, _ := strings.Cut(first, "?token=")
	if _, after, ok := strings.Cut(next, "?token="); !ok || after == before {
		t.Errorf("the token of a port that is anybody's now is still good: %s, %s", before, after)
	}
}

// page is the address of a user's web page, which answers.
func (s *shared) page(user string) string {
	s.t.Helper()
	out, err := s.command(user, "efg", "open").Output()
	address := strings.TrimSpace(string(out))
	if err != nil {
		return ""
	}
	if err := exec.Command("curl", "-sSfL", "-b", "", "-o", "/dev/null", address).Run(); err != nil {
		return ""
	}
	return address
}

// The service is killed repeatedly, at any moment, while two users' jobs come and go.
func TestAllUsersKilledOften(t *testing.T) {
	s := newShared(t)
	s.start("--idle", "1s", "--quiet", "100ms")
	const jobs = 12
	var work sync.WaitGroup
	over := make(chan struct{})
	for user, m := range map[string]mpi{"alice": mpis[0], "bob": mpis[1]} {
		work.Go(func() {
			for range jobs { // separately, without a launcher
				cmd := s.command(user, "timeout", "600", "env", "LD_PRELOAD="+s.front, s.path("bin/jacobi-"+m.name), "3")
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Errorf("%v: %s", err, out)
				}
			}
		})
	}
	go func() { work.Wait(); close(over) }()
	kills := 0
	for rng := rand.New(rand.NewPCG(7, 8)); ; kills++ {
		select {
		case <-over:
		case <-time.After(time.Duration(rng.ExpFloat64() * float64(400*time.Millisecond))):
			s.kill()
			s.start("--idle", "1s", "--quiet", "100ms")
			continue
		}
		break
	}
	for _, user := range []string{"alice", "bob"} {
		s.wait(user+"'s runs", func() bool {
			l := s.runs(user, "--wait", "60s")
			left, err := filepath.Glob(s.path(fmt.Sprintf("spools/efg-%d/*.seg", users[user])))
			return err == nil && len(left) == 0 && len(l.Jobs) == 0 && len(l.Runs) >= jobs
		})
		seen := map[time.Time]bool{}
		l := s.runs(user)
		for i := range l.Runs {
			if seen[l.Runs[i].Started] || l.Runs[i].Ranks != 1 || !l.Runs[i].Complete {
				t.Errorf("%s: %+v", user, l.Runs[i])
			}
			seen[l.Runs[i].Started] = true
		}
		if len(l.Runs) != jobs {
			t.Errorf("%s has %d runs of %d jobs", user, len(l.Runs), jobs)
		}
	}
	t.Logf("%d services killed", kills)
}

// The first program of a user is recorded even if another user occupies the path of the spool.
func TestAllUsersSquatted(t *testing.T) {
	s := newShared(t)
	s.start()
	spool := s.path(fmt.Sprintf("spools/efg-%d", users["carol"]))
	for n, m := range mpis {
		s.must(os.RemoveAll(spool))
		s.run(s.command("bob", "sh", "-c", "mkdir -m 777 "+spool+" && echo EFG_DIR=/tmp >"+spool+"/hook"))
		s.must(s.launch("carol", m, "jacobi", "20").Wait())
		s.wait("carol's run", func() bool { return len(s.runs("carol", "--wait", "60s").Runs) == n+1 })
	}
	if text := s.asUser("bob", "/v1/runs"); strings.Contains(text, "jacobi") {
		t.Errorf("bob sees %s", text)
	}
}

// If stores are in home directories, a user without one is told so; options that cannot apply
// to all users are rejected.
func TestAllUsersMistakes(t *testing.T) {
	s := newShared(t)
	s.store = "%h/efg"
	s.start()
	if text := s.asUser("dora", "/v1/runs"); text != `{"error":"no daemon: mkdir /nonexistent: permission denied"}`+"\n" {
		t.Errorf("%s", text)
	}
	t.Setenv(service.DirName, s.path("run"))
	t.Setenv("XDG_CACHE_HOME", s.path("cache"))
	for _, c := range []struct {
		args []string
		err  string
	}{
		{[]string{"--all-users", "--http", "127.0.0.1:8080"}, "--http 127.0.0.1:8080: the users' pages cannot share one address: want 127.0.0.1:0, which gives each user a port, or off"},
		{[]string{"--all-users", "--token", "x"}, "--token: cannot be set for all users at once"},
		{[]string{"--all-users", "--keep", "soon"}, "--keep soon: want a number of days, as in 30d; or w, h, m"},
		{[]string{"--all-users", "--store", "/data"}, "--store /data: want an absolute path with %u, %U or %h in it: each user needs their own"},
		{[]string{"--all-users", "--spool", "/nowhere"}, "--spool stat /nowhere: no such file or directory"},
		{[]string{"--all-users", "--children", "0"}, "--children 0: want at least 1"},
		{[]string{"--all-users"}, s.path("run") + ": another service is already running here"},
		{[]string{"--children", "3"}, "--children: is for --all-users"},
		{[]string{"--idle", "3s"}, "--idle: is for --all-users"},
	} {
		out, errOut, status := efgRun(t, nil, append([]string{"daemon"}, c.args...)...)
		if out != "" || errOut != "efg: "+c.err+"\n" || status != 2 {
			t.Errorf("%q: status %d, output %q, errors %q", c.args, status, out, errOut)
		}
	}
	cmd := s.command("bob", "efg", "daemon", "--all-users")
	if out, err := cmd.CombinedOutput(); err == nil || string(out) != "efg: --all-users: only root can serve all users; efg daemon without it serves you\n" {
		t.Errorf("%v: %s", err, out)
	}
}
