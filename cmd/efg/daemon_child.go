package main

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/efg-tools/efg/hook"
	"github.com/efg-tools/efg/internal/daemon"
	"github.com/efg-tools/efg/internal/daemon/multiuser"
	"github.com/efg-tools/efg/internal/httpapi"
	"github.com/efg-tools/efg/internal/service"
)

// childMode is a daemon started by a service for all users.
type childMode struct {
	*multiuser.Child
	server *httpapi.Server
	asked  uint64 // number of requests at the last check
}

// runChild runs a daemon for its user until the service ends it.
func runChild(ctx context.Context, opt *daemonOptions, errOut io.Writer) error {
	syscall.Umask(0o077)
	signal.Ignore(syscall.SIGPIPE)                                 // nobody reads its output when the service has ended
	os.WriteFile("/proc/self/oom_score_adj", []byte("500"), 0o644) // killed before the service, and before programs
	child, ctx, err := multiuser.NewChild(ctx)
	if err != nil {
		return err
	}
	opt.http.child = &childMode{Child: child}
	err = runDaemon(ctx, opt, errOut)
	if taken := new(daemon.InUseError); errors.As(err, &taken) {
		return &exitError{multiuser.StatusTaken, err}
	}
	if err != nil {
		return err
	}
	if spool, err := daemon.OpenSpool(opt.spool, false); err == nil && !spool.Empty() {
		return &exitError{multiuser.StatusAgain, nil}
	}
	return nil
}

// join connects the daemon to the service, and takes over the settings for all users.
func (c *childMode) join(o *daemon.Options, opt *daemonOptions) {
	o.Ready = func(string) { c.Ready() }
	o.Works = c.Works
	o.Occupied = func(occupied bool) {
		now, total := c.server.Questions()
		c.Occupied(occupied || now > 0 || total != c.asked)
		c.asked = total
	}
	o.Settings = func() ([][2]string, error) {
		s, ok := service.Find()
		if !ok {
			return nil, errors.New("the service did not send its recording options")
		}
		return opt.howToRecord(s.Back, s.Building), nil
	}
	o.Reader = func(layout uint64) (string, bool) {
		s, ok := service.Find()
		if !ok {
			return "", false
		}
		return hook.ReaderBeside(s.Back, layout)
	}
}

// checkStart makes the server listen at the service's socket. Its token is new each time: after
// a child has ended, another user may take its port, and would see what browsers send.
func (c *childMode) checkStart(where *httpapi.Listening, token string) error {
	where.Given = append(where.Given, c.Asked)
	if err := os.Remove(token); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// wakeService starts a daemon for this user, if the machine's service for all users keeps a
// store, and waits until the daemon is running.
func wakeService(dir string) {
	s, ok := service.Find()
	if !ok {
		return
	}
	store := &daemon.Store{Dir: dir}
	if mine, err := s.MyStore(); err != nil || mine != dir || store.Served() || s.Wake() != nil {
		return
	}
	for end := time.Now().Add(wakeTime); !store.Served() && time.Now().Before(end); {
		time.Sleep(20 * time.Millisecond)
	}
}

// wakeTime is the maximum time that a daemon takes to start.
const wakeTime = 5 * time.Second
