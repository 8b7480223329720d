package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/efg-tools/efg/hook"
	"github.com/efg-tools/efg/internal/daemon"
	"github.com/efg-tools/efg/internal/service"
)

// lateBuild builds back ends of a hook while a command runs: those that its processes request,
// because their MPI library was unknown before.
type lateBuild struct {
	hook     *hook.Hook
	build    *foregroundBuild
	spool    *daemon.Spool
	listener *net.UnixListener
	work     sync.WaitGroup
	refused  []hook.Back // without a file: they cannot be built
}

// Processes request libraries by name.
const (
	longestName = 255
	askTimeout  = time.Second
)

// late lets processes that record into a directory request missing parts of the hook. If that
// is impossible, everything is built now. end must be called.
func (b *foregroundBuild) late(h *hook.Hook, dir string) (l *lateBuild, err error) {
	l = &lateBuild{hook: h, build: b, spool: &daemon.Spool{Dir: dir}}
	if !h.Incomplete() {
		return l, nil
	}
	l.listener, err = net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(dir, "socket"), Net: "unix"})
	if err != nil { // the directory's name is too long for a socket
		return l, h.BuildBacks(b.ctx)
	}
	l.work.Go(l.serve)
	return l, nil
}

// serve answers until the listener is closed.
func (l *lateBuild) serve() {
	for {
		c, err := l.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			time.Sleep(10 * time.Millisecond) // no descriptors left, for example
			continue
		}
		c.SetReadDeadline(time.Now().Add(askTimeout))
		name, err := bufio.NewReader(io.LimitReader(c, longestName+1)).ReadString(0)
		c.Close()
		if err == nil {
			l.requested(name[:len(name)-1])
		}
	}
}

// requested builds the back end for a library, unless that was tried before.
func (l *lateBuild) requested(soname string) {
	all := slices.Concat(l.hook.Backs, l.refused)
	if slices.ContainsFunc(all, func(b hook.Back) bool { return b.Soname == soname }) {
		return
	}
	if err := l.hook.BuildBacks(l.build.ctx, soname); err != nil && l.build.ctx.Err() == nil {
		fmt.Fprintln(l.build.Log, "efg:", inLine(err))
	}
	if !slices.ContainsFunc(l.hook.Backs, func(b hook.Back) bool { return b.Soname == soname }) {
		l.refused = append(l.refused, hook.Back{Soname: soname})
	}
	said := &hook.Hook{Backs: slices.Concat(l.hook.Backs, l.refused)}
	err := l.spool.Publish([][2]string{{service.BackName, said.BackVar()}, {service.BuildingName, flag(true)}})
	if err != nil {
		fmt.Fprintln(l.build.Log, "efg: cannot publish what was built to the hook:", err)
	}
}

// end stops building when the command has ended.
func (l *lateBuild) end() {
	if l.listener == nil {
		return
	}
	l.build.cancel(nil)
	l.listener.Close()
	l.work.Wait()
	os.Remove(filepath.Join(l.spool.Dir, "hook"))
}
