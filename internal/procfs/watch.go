package procfs

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// Watch tracks which processes are running without polling each: the kernel reports which have
// ended. It is not safe for concurrent use.
type Watch struct {
	epoll int // -1 if not available
	byFD  map[int32]*Watched
}

// Watched is a process that a Watch tracks.
type Watched struct {
	Process
	watch *Watch
	fd    int // of the process; -1: none, poll instead
	ended bool
	// How it ended, as in wait(2); known once its parent has been notified, from Linux 6.15 on.
	wait  unix.WaitStatus
	known bool
}

// NewWatch returns a Watch without processes.
func NewWatch() *Watch {
	w := &Watch{byFD: map[int32]*Watched{}}
	var err error
	if w.epoll, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		w.epoll = -1
	}
	return w
}

// Add tracks a process until it is dropped. If the system has no process descriptors, or no
// more of them, /proc is polled instead.
func (w *Watch) Add(p Process) *Watched {
	x := &Watched{Process: p, watch: w, fd: -1}
	if w.epoll >= 0 {
		x.open()
	}
	if x.ended = !p.Running(); x.ended { // checked after open: the descriptor then belongs to this process
		w.Drop(x)
	}
	return x
}

func (x *Watched) open() {
	fd, err := unix.PidfdOpen(x.PID, 0)
	if err != nil {
		return
	}
	event := unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(fd)}
	if unix.EpollCtl(x.watch.epoll, unix.EPOLL_CTL_ADD, fd, &event) != nil {
		unix.Close(fd)
		return
	}
	x.fd, x.watch.byFD[int32(fd)] = fd, x
}

// Update notes which processes have ended since the last call.
func (w *Watch) Update() {
	var events [64]unix.EpollEvent
	for len(w.byFD) > 0 {
		n, err := unix.EpollWait(w.epoll, events[:], 0)
		if err == unix.EINTR {
			continue
		}
		for i := range max(n, 0) {
			if x := w.byFD[events[i].Fd]; x != nil {
				x.ended = true
				if x.learn() || events[i].Events&unix.EPOLLHUP != 0 {
					w.Drop(x)
				}
			}
		}
		if n < len(events) {
			return
		}
	}
}

// FD is readable, for poll(2), when a process may have ended since the last Update; -1: not available.
func (w *Watch) FD() int { return w.epoll }

// Reported: the kernel reports when it ends, or it has ended.
func (x *Watched) Reported() bool { return x.ended || x.fd >= 0 }

// learn determines how an ended process has ended, and reports whether there is nothing more to
// learn. Until then the descriptor only says that its parent has been notified.
func (x *Watched) learn() (done bool) {
	info := unix.PidfdInfo{Mask: unix.PIDFD_INFO_EXIT}
	if unix.IoctlPidfdInfo(x.fd, &info) != nil {
		return true
	}
	if info.Mask&unix.PIDFD_INFO_EXIT != 0 {
		x.wait, x.known = unix.WaitStatus(info.Exit_code), true
		return true
	}
	event := unix.EpollEvent{Fd: int32(x.fd)} // EPOLLHUP always comes
	return unix.EpollCtl(x.watch.epoll, unix.EPOLL_CTL_MOD, x.fd, &event) != nil
}

// Learning: it has ended, and its exit status may become known by another Update.
func (x *Watched) Learning() bool { return x.ended && x.fd >= 0 }

// TellsExits reports whether this kernel reports the exit status of processes that are not
// children of the caller.
func TellsExits() bool {
	var name unix.Utsname
	var major, minor int
	if unix.Uname(&name) != nil {
		return false
	}
	fmt.Sscanf(unix.ByteSliceToString(name.Release[:]), "%d.%d", &major, &minor)
	return major > 6 || major == 6 && minor >= 15
}

// Status is the exit status of an ended process as shells have it, 128 + n after signal n; ok
// is false if it is unknown.
func (x *Watched) Status() (status int, ok bool) {
	switch {
	case !x.known:
		return 0, false
	case x.wait.Signaled():
		return 128 + int(x.wait.Signal()), true
	}
	return x.wait.ExitStatus(), true
}

// Running reports whether the process was running at the last Update. A zombie is not.
func (x *Watched) Running() bool {
	if !x.ended && x.fd < 0 {
		x.ended = !x.Process.Running()
	}
	return !x.ended
}

// Drop stops tracking a process.
func (w *Watch) Drop(x *Watched) {
	if x.fd >= 0 {
		delete(w.byFD, int32(x.fd))
		unix.Close(x.fd)
		x.fd = -1
	}
}

// Close closes all descriptors.
func (w *Watch) Close() {
	for _, x := range w.byFD {
		w.Drop(x)
	}
	if w.epoll >= 0 {
		unix.Close(w.epoll)
		w.epoll = -1
	}
}
