package daemon

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// user is one of several on the machine, with a daemon of their own.
type user struct {
	id                 int
	home, store, spool string
}

// newUser makes a user's directories, which others may enter, so that only the daemon itself
// protects them.
func newUser(t *testing.T, base string, id int) *user {
	t.Helper()
	home := filepath.Join(base, fmt.Sprint(id))
	if err := os.Mkdir(home, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(home, id, id); err != nil {
		t.Fatalf("%v (this test needs to be root)", err)
	}
	return &user{id, home, filepath.Join(home, "store"), filepath.Join(home, "spool")}
}

// serve starts the user's daemon.
func (u *user) serve(t *testing.T, program string) {
	t.Helper()
	cmd := exec.Command(program)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), daemonVar + "=" + u.store + ":" + u.spool + ":"}
	cmd.Dir, cmd.Stderr = "/", os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(u.id), Gid: uint32(u.id)}}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	waitFor(t, (&Spool{u.spool}).Published)
}

// can reports whether the user's own shell can do something.
func (u *user) can(script string) bool {
	id := fmt.Sprint(u.id)
	return exec.Command("setpriv", "--reuid", id, "--regid", id, "--clear-groups", "sh", "-c", script).Run() == nil
}

// Two users with daemons: neither can access what the other records, or has recorded, even if
// one puts it, or links to it, where their own daemon finds it.
func TestOtherUsers(t *testing.T) {
	base, err := os.MkdirTemp("", "efg-users-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(base) })
	program := filepath.Join(base, "daemon")
	copyTo(t, os.Args[0], program)
	for _, path := range []string{base, program} {
		if err := os.Chmod(path, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	good, bad := newUser(t, base, 61001), newUser(t, base, 61002)
	good.serve(t, program)
	bad.serve(t, program)

	// A segment of one user in the other's spool: as a file, as a link, as a path.
	victim := filepath.Join(good.home, "victim")
	for _, file := range simulated(t, t.TempDir(), 3, 5) {
		if err := os.Chown(file, good.id, good.id); err != nil {
			t.Fatal(err)
		}
		copyTo(t, file, victim)
		if err := os.Rename(file, filepath.Join(good.spool, filepath.Base(file))); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chown(victim, good.id, good.id); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(victim, bad.spool+"/hard.1.2.seg"); err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string]string{"soft.1.2.seg": victim, "up.1.2.seg": "../../61001/victim"} {
		if !bad.can("ln -s " + to + " " + bad.spool + "/" + name) {
			t.Fatalf("%s cannot be made", name)
		}
	}
	c, err := net.Dial("unix", bad.spool+"/"+socketFile)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(c, "%s/../../61001/victim", bad.spool)
	c.Close()

	s := &Store{good.store}
	var runs []Summary
	waitFor(t, func() bool { // the segments came one by one
		ranks := 0
		runs, _ = s.List()
		for i := range runs {
			ranks += runs[i].Ranks
		}
		return ranks == 3
	})
	b := &Store{bad.store}
	waitFor(t, func() bool {
		x, err := b.State()
		return err == nil && x.Foreign == 3
	})
	time.Sleep(100 * time.Millisecond) // many scans
	if list, err := b.List(); err != nil || len(list) != 0 || len(names(t, bad.store, brokenDir+"/*")) != 0 {
		t.Errorf("the other has %+v, %v", list, err)
	}
	if _, err := os.Stat(victim); err != nil {
		t.Error(err)
	}
	run := s.RunFile(runs[0].Name)
	if !good.can("cat "+run) || !good.can("ls "+good.spool) {
		t.Error("a user cannot read what is his own")
	}
	for _, script := range []string{"cat " + run, "ls " + good.store, "ls " + good.spool, "echo x >" + good.spool + "/x.1.2.seg"} {
		if bad.can(script) {
			t.Errorf("another user can: %s", script)
		}
	}
}

func copyTo(t *testing.T, from, to string) {
	t.Helper()
	data, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	write(t, to, data)
}
