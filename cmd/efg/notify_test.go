package main

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// asMain makes the test binary efg itself.
const asMain = "EFG_TEST_AS_MAIN"

// testDir is shared by several tests.
var testDir string

func TestMain(m *testing.M) {
	if os.Getenv(asMain) != "" {
		extendTable()
		main()
	}
	var err error
	if testDir, err = os.MkdirTemp("", "efg-test-"); err != nil {
		panic(err)
	}
	status := m.Run()
	os.RemoveAll(testDir)
	os.Exit(status)
}

// unit is a daemon as systemd starts it.
type unit struct {
	t      *testing.T
	cmd    *exec.Cmd
	notify *net.UnixConn
	log    bytes.Buffer
}

// startService starts a daemon with sockets passed by systemd, and with additional environment
// variables.
func startService(t *testing.T, given []*os.File, env ...string) *unit {
	t.Helper()
	dir := t.TempDir()
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: filepath.Join(dir, "notify"), Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	s := &unit{t: t, notify: conn}
	// LISTEN_PID must be the daemon's own.
	s.cmd = exec.Command("sh", "-c", `export LISTEN_PID=$$; exec "$@"`, "sh", os.Args[0], "daemon", "--http", "off",
		"--store", filepath.Join(dir, "store"), "--spool", filepath.Join(dir, "spool"))
	s.cmd.Env = append(append(os.Environ(), asMain+"=1", "NOTIFY_SOCKET="+filepath.Join(dir, "notify")), env...)
	s.cmd.ExtraFiles, s.cmd.Stderr = given, &s.log
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.cmd.Process.Kill()
		s.cmd.Wait()
	})
	return s
}

// told waits until systemd receives a message.
func (s *unit) told(want string) {
	s.t.Helper()
	s.notify.SetReadDeadline(time.Now().Add(time.Minute))
	b := make([]byte, 4096)
	for {
		n, err := s.notify.Read(b)
		if err != nil {
			s.t.Fatalf("not told %s: %v\n%s", want, err, &s.log)
		}
		if strings.HasPrefix(string(b[:n]), want) {
			return
		}
	}
}

// systemd is notified when programs are recorded, that the daemon works, and that it ends.
func TestNotify(t *testing.T) {
	s := startService(t, nil, "WATCHDOG_USEC=20000")
	s.told("READY=1\nSTATUS=recording into " + filepath.Dir(s.cmd.Args[len(s.cmd.Args)-1]) + "/spool")
	if _, err := os.Stat(filepath.Join(s.cmd.Args[len(s.cmd.Args)-1], "hook")); err != nil {
		t.Errorf("it is ready, but does not record: %v", err)
	}
	for range 3 {
		s.told("WATCHDOG=1")
	}
	if err := s.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	s.told("STOPPING=1")
	if err := s.cmd.Wait(); err != nil {
		t.Errorf("%v\n%s", err, &s.log)
	}
}

// The daemon answers at a socket that was opened before it started.
func TestSocketActivation(t *testing.T) {
	path := filepath.Join(t.TempDir(), "efg.sock")
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	f, err := l.File()
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	client := http.Client{Timeout: time.Minute, Transport: &http.Transport{
		DialContext: func(context.Context, string, string) (net.Conn, error) { return net.Dial("unix", path) },
	}}
	s := startService(t, []*os.File{f}, "LISTEN_FDS=1")
	r, err := client.Get("http://efg/healthz") // it may come first: the socket exists
	if err != nil {
		t.Fatalf("%v\n%s", err, &s.log)
	}
	defer r.Body.Close()
	if text, err := io.ReadAll(r.Body); err != nil || r.StatusCode != http.StatusOK {
		t.Errorf("status %d, %s, %v", r.StatusCode, text, err)
	}
	s.told("READY=1")
}

// efg site writes the files for the program that wrote them.
func TestSite(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "site")
	if _, errOut, status := efgRun(t, nil, "site", dir); status != 0 || errOut != "" {
		t.Fatalf("status %d, %s", status, errOut)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	unit, err := os.ReadFile(filepath.Join(dir, "systemd", "user", "efg.service"))
	if err != nil || !strings.Contains(string(unit), "\nExecStart="+self+" daemon\n") {
		t.Errorf("%v: %s", err, unit)
	}
	if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, errOut, status := efgRun(t, nil, "site", filepath.Join(dir, "file")); status != 2 || errOut != "efg: "+dir+"/file: not a directory\n" {
		t.Errorf("a file in place of a directory: status %d, %s", status, errOut)
	}
}
