package multiuser

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/efg-tools/efg/internal/service"
)

// Options are the options of the service.
type Options struct {
	Dir    string // of the service; see package service
	Store  string // of each user, with %u, %U or %h in it; see service.Expand
	Spools string // the directory of all spools
	// Program is efg, and Args are the arguments of each child's efg daemon besides store and
	// spool.
	Program string
	Args    []string
	// Children is the maximum number of children at a time; further users wait. Idle is how
	// long an idle child is kept.
	Children int
	Idle     time.Duration
	// Settings is what the hook is told, as NAME and value; EFG_BACK among it. It is requested
	// again from time to time, and often for as long as EFG_BUILDING among it is 1.
	Settings func() ([][2]string, error)
	// Given are open sockets for socket and http in Dir.
	Given  []net.Listener
	Log    *slog.Logger
	Output io.Writer // gets what children write, each line with its user
	// Ready, if any, is called when programs are being recorded, and Works repeatedly.
	Ready func(text string)
	Works func(now time.Time)

	retry time.Duration // 0 means firstRetry
}

const (
	usersDir = "users" // in Dir: sockets of children
	lockFile = "lock"

	step        = time.Second      // between checks of who is waiting
	sweepTime   = 10 * time.Second // between scans of spools
	refreshTime = time.Minute      // the hook's: see daemon.Spool.Refresh
	settingTime = time.Hour        // so that builds in a cache stay in use
)

// supervisor is a running service.
type supervisor struct {
	opt     Options
	site    *service.Service
	metrics *metrics
	ctx     context.Context // ends when the service does
	work    sync.WaitGroup  // of users
	putAway limiter         // of log lines

	building bool // the hook is still being built

	mu       sync.Mutex
	users    map[uint32]*user
	unknown  map[uint32]time.Time // numbers without a user, and when they may be looked up again
	nextNew  time.Time            // when the next unknown number may be looked up
	later    bool                 // a timer runs for that
	stopping bool
}

// Run serves until the context ends. Then children end, too; programs continue to record, and
// the next service handles their segments.
func Run(ctx context.Context, opt Options) error {
	if os.Geteuid() != 0 {
		return errors.New("--all-users: only root can serve all users; efg daemon without it serves you")
	}
	syscall.Umask(0o022) // created files are readable by everyone
	if err := check(&opt); err != nil {
		return err
	}
	if opt.retry == 0 {
		opt.retry = firstRetry
	}
	lock, err := makeDir(opt.Dir)
	if err != nil {
		return err
	}
	defer lock.Close()
	s := &supervisor{
		opt: opt, site: &service.Service{Dir: opt.Dir, Spools: opt.Spools, Store: opt.Store}, users: map[uint32]*user{}, unknown: map[uint32]time.Time{},
		putAway: limiter{most: maxLines},
	}
	s.metrics = newMetrics(s)
	var stop context.CancelFunc
	s.ctx, stop = context.WithCancel(context.Background())
	defer stop()
	sockets, err := s.listen()
	if err != nil {
		return err
	}
	if err := s.publish(); err != nil {
		sockets.close()
		return err
	}
	var serving sync.WaitGroup
	serving.Go(func() { s.accept(sockets.wake) })
	serving.Go(func() { s.serve(sockets.http) })
	opt.Log.Info("recording for all users", "spools", opt.Spools, "stores", opt.Store, "socket", filepath.Join(opt.Dir, service.HTTPFile))
	if opt.Ready != nil {
		opt.Ready("recording for all users into " + opt.Spools)
	}
	err = s.turn(ctx)
	s.withdraw()
	sockets.wake.Close()
	stop() // ends serving first: otherwise the closed socket would be an error
	s.endAll()
	serving.Wait()
	return err
}

func check(opt *Options) error {
	if err := checkStore(opt.Store); err != nil {
		return fmt.Errorf("--store %s: %w", opt.Store, err)
	}
	if err := checkSpools(opt.Spools); err != nil {
		return fmt.Errorf("--spool %w", err)
	}
	if opt.Children <= 0 {
		return fmt.Errorf("--children %d: want at least 1", opt.Children)
	}
	if opt.Idle <= 0 {
		return fmt.Errorf("--idle %s: want a time", opt.Idle)
	}
	if strings.ContainsAny(opt.Store, "\n") {
		return errors.New("--store: has a line break")
	}
	return makeStores(opt.Store)
}

// makeDir creates the directory of the service, and makes this process the only one that serves
// there.
func makeDir(dir string) (*os.File, error) {
	if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	if err := service.OnlyRootWrites(dir); err != nil {
		return nil, err
	}
	if err := os.Mkdir(filepath.Join(dir, usersDir), 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Join(dir, lockFile), os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			err = errors.New("another service is already running here")
		}
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	return f, nil
}

// publish tells the hook and users' commands that there is a service.
func (s *supervisor) publish() error {
	settings, err := s.opt.Settings()
	if err != nil {
		return err
	}
	s.building = slices.Contains(settings, [2]string{service.BuildingName, "1"})
	settings = append(settings, [2]string{service.SpoolsName, s.opt.Spools})
	if err := s.write(service.SiteFile, append(settings, [2]string{service.StoreName, s.opt.Store})); err != nil {
		return err
	}
	return s.write(service.HookFile, settings)
}

// write replaces a whole file of lines NAME=VALUE.
func (s *supervisor) write(name string, values [][2]string) error {
	var b strings.Builder
	for _, v := range values {
		if strings.Contains(v[1], "\n") {
			return fmt.Errorf("%s has a line break", v[0])
		}
		fmt.Fprintf(&b, "%s=%s\n", v[0], v[1])
	}
	path := filepath.Join(s.opt.Dir, name)
	if err := os.WriteFile(path+".tmp", []byte(b.String()), 0o644); err != nil {
		return err
	}
	return os.Rename(path+".tmp", path)
}

// withdraw tells starting programs that there is no service any more.
func (s *supervisor) withdraw() {
	if err := os.Remove(filepath.Join(s.opt.Dir, service.HookFile)); err != nil {
		s.opt.Log.Warn("cannot tell the hook", "problem", err)
	}
}

// turn does periodic work until the context is done. It is an error if no hook can be built.
func (s *supervisor) turn(ctx context.Context) error {
	tick := time.NewTicker(step)
	defer tick.Stop()
	now := time.Now()
	sweep, refresh, settings := now, now.Add(refreshTime), now.Add(settingTime)
	for {
		if s.building {
			if err := s.publish(); ctx.Err() == nil && err != nil {
				return err
			}
		}
		if now = time.Now(); !now.Before(sweep) {
			sweep = now.Add(sweepTime)
			s.sweep()
		}
		if now.After(settings) {
			settings = now.Add(settingTime)
			if err := s.publish(); err != nil {
				s.opt.Log.Warn("cannot tell the hook", "problem", err)
			}
		}
		if now.After(refresh) {
			refresh = now.Add(refreshTime)
			os.Chtimes(filepath.Join(s.opt.Dir, service.HookFile), now, now)
		}
		s.schedule()
		if s.opt.Works != nil {
			s.opt.Works(now)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// sweep looks for spools with news that nobody has reported: from before the service began, and
// from programs whose message was lost.
func (s *supervisor) sweep() {
	for uid, t := range s.spoolsThere() {
		s.mu.Lock()
		u := s.users[uid]
		news := u == nil || !u.working && !u.wanted && !u.seen.Equal(t)
		s.mu.Unlock()
		if news {
			s.wake(uid, true)
		}
	}
}
