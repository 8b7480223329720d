package multiuser

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/efg-tools/efg/internal/account"
	"github.com/efg-tools/efg/internal/service"
)

// process is a running child.
type process struct {
	cmd     *exec.Cmd
	control net.Conn
	text    io.ReadCloser // what it writes
	socket  string        // on which it accepts requests
	heard   sync.WaitGroup
	last    string        // line that it wrote last
	ended   chan struct{} // closed when it has ended
}

// launch holds what is needed to start a child.
type launch struct {
	account      *account.Account
	store, spool string
	socket       string
}

// start starts a child as the user. heard is called with each word that it says until it ends.
func (s *supervisor) start(l *launch, heard func(word string)) (*process, error) {
	ours, theirs, err := socketPair()
	if err != nil {
		return nil, err
	}
	defer theirs.Close()
	asked, err := listenAt(l.socket)
	if err != nil {
		ours.Close()
		return nil, err
	}
	defer asked.Close()
	p := &process{control: ours, socket: l.socket, ended: make(chan struct{})}
	p.cmd = exec.Command(s.opt.Program, append([]string{"daemon", "--child", "--store", l.store, "--spool", l.spool}, s.opt.Args...)...)
	p.cmd.Dir, p.cmd.Env = "/", environment(l.account, s.opt.Dir)
	p.cmd.ExtraFiles = []*os.File{theirs, asked} // controlFD, listenFD
	p.cmd.SysProcAttr = &syscall.SysProcAttr{
		Credential: &syscall.Credential{Uid: l.account.UID, Gid: l.account.GID, Groups: l.account.Groups}, Setsid: true,
	}
	if p.text, err = p.cmd.StderrPipe(); err == nil {
		err = p.cmd.Start()
	}
	if err != nil {
		ours.Close()
		return nil, err
	}
	p.heard.Go(func() { listen(ours, heard); p.end() })
	p.heard.Go(func() { p.copyText(s.opt.Output, l.account.Name) })
	return p, nil
}

// end asks the child to end.
func (p *process) end() { p.control.Close() }

// kill kills it, and the processes that it has started.
func (p *process) kill() {
	select {
	case <-p.ended:
	default:
		syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL)
	}
}

// rest is how long remaining processes of a child may keep its standard error open.
const rest = 2 * time.Second

// wait waits for its end, and returns its exit status and the last line that it wrote.
func (p *process) wait() (status int, last string) {
	for unix.Waitid(unix.P_PID, p.cmd.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil) == unix.EINTR {
	}
	p.kill() // and those it has started: its number is not reused before it has been waited for
	close(p.ended)
	state, err := p.cmd.Process.Wait()
	p.end()
	timer := time.AfterFunc(rest, func() { p.text.Close() })
	p.heard.Wait()
	timer.Stop()
	p.text.Close()
	os.Remove(p.socket)
	switch {
	case err != nil:
		return -1, err.Error()
	case p.last == "" || state.ExitCode() < 0: // by a signal
		return state.ExitCode(), state.String()
	}
	return state.ExitCode(), p.last
}

// A child writes a line for each run that it stores; output beyond these limits is cut off.
const (
	longestLine = 1000 // bytes
	maxLines    = 300  // a minute
)

// copyText forwards what a child writes, line by line, prefixed with its user.
func (p *process) copyText(out io.Writer, user string) {
	lines, passing := bufio.NewReaderSize(p.text, longestLine), limiter{most: maxLines}
	for {
		line, more, err := lines.ReadLine()
		if err != nil {
			return
		}
		text := strings.ToValidUTF8(string(line), "?")
		for more && err == nil {
			_, more, err = lines.ReadLine()
		}
		p.last = strings.TrimPrefix(text, "efg: ")
		if ok, first := passing.pass(); ok {
			fmt.Fprintf(out, "user=%s %s\n", user, text)
		} else if first {
			fmt.Fprintf(out, "user=%s more lines in this minute are left out\n", user)
		}
	}
}

// environment is that of a user who is not logged in.
func environment(a *account.Account, dir string) []string {
	env := []string{
		"USER=" + a.Name, "LOGNAME=" + a.Name, "HOME=" + a.Home, "SHELL=/bin/sh", "PATH=" + os.Getenv("PATH"), service.DirName + "=" + dir,
	}
	for _, name := range []string{"TZ", "LANG", "GOMEMLIMIT"} {
		if v, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+v)
		}
	}
	if own := fmt.Sprintf("/run/user/%d", a.UID); isDir(own) {
		env = append(env, "XDG_RUNTIME_DIR="+own)
	}
	return env
}

func isDir(path string) bool {
	fi, err := os.Lstat(path)
	return err == nil && fi.IsDir()
}

// socketPair makes a bidirectional pipe.
func socketPair() (ours net.Conn, theirs *os.File, err error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, err
	}
	theirs = os.NewFile(uintptr(fds[1]), "control")
	file := os.NewFile(uintptr(fds[0]), "control")
	defer file.Close()
	if ours, err = net.FileConn(file); err != nil {
		theirs.Close()
	}
	return ours, theirs, err
}

// listenAt makes a socket that only root can connect to, for a child to listen on.
func listenAt(path string) (*os.File, error) {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return nil, err
	}
	l.SetUnlinkOnClose(false)
	defer l.Close()
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, err
	}
	return l.File()
}

// childSocket is the path of the socket of a user's child.
func childSocket(dir string, uid uint32) string {
	return filepath.Join(dir, usersDir, fmt.Sprintf("%d.sock", uid))
}
