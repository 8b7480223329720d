package recording

import (
	"encoding/binary"
	"math"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"github.com/efg-tools/efg/internal/procfs"
	"github.com/efg-tools/efg/internal/segment"
)

// A process that creates a segment maps it soon: until then it is not known which process it is.
const (
	mapsWithin = 2 * time.Second
	askAgain   = 10 * time.Millisecond
)

// follower notes when the processes that record into a directory end. It sleeps until the system reports that one has.
type follower struct {
	dir       *Directory
	created   int // inotify of the directory
	watch     int // in it
	ended     int // eventfd: the command has ended
	processes *procfs.Watch
	known     map[string]bool
	fresh     map[string]time.Time // when segments appeared whose process is not known so far
	running   map[string]*procfs.Watched
	most      int // processes at once: each takes a file descriptor, and others are needed, too
}

// Follow begins to note when processes of this machine that record into the directory end, so that Seal can say when one
// was gone that was killed. stop ends it.
func (d *Directory) Follow() (stop func()) {
	f := &follower{
		dir: d, created: -1, ended: -1, processes: procfs.NewWatch(),
		known: map[string]bool{}, fresh: map[string]time.Time{}, running: map[string]*procfs.Watched{},
	}
	d.gone = map[string]uint64{}
	if !f.open() {
		f.close()
		return func() {}
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		f.follow()
	}()
	return func() {
		unix.Write(f.ended, []byte{1, 0, 0, 0, 0, 0, 0, 0})
		<-done
		f.rest()
	}
}

func (f *follower) open() bool {
	var files unix.Rlimit
	err := unix.Getrlimit(unix.RLIMIT_NOFILE, &files)
	if err != nil {
		return false
	}
	f.most = int(min(files.Cur/2, math.MaxInt32))
	if f.created, err = unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK); err != nil {
		return false
	}
	if f.watch, err = unix.InotifyAddWatch(f.created, f.dir.Path, unix.IN_CREATE|unix.IN_MOVED_TO); err != nil {
		return false
	}
	f.ended, err = unix.Eventfd(0, unix.EFD_CLOEXEC)
	return err == nil && f.processes.FD() >= 0
}

func (f *follower) close() {
	for _, fd := range []int{f.created, f.ended} {
		if fd >= 0 {
			unix.Close(fd)
		}
	}
	f.processes.Close()
}

// rest closes what was used, but for inotify, which is closed with the directory: the system takes milliseconds to
// forget what it watched, in which the file is written.
func (f *follower) rest() {
	unix.InotifyRmWatch(f.created, uint32(f.watch))
	f.dir.forget = append(f.dir.forget, f.created)
	f.created = -1
	f.close()
}

// follow returns when the command has ended.
func (f *follower) follow() {
	fds := []unix.PollFd{{Fd: int32(f.created), Events: unix.POLLIN}, {Fd: int32(f.processes.FD()), Events: unix.POLLIN}, {Fd: int32(f.ended), Events: unix.POLLIN}}
	for {
		timeout := -1
		if len(f.fresh) > 0 {
			timeout = int(askAgain.Milliseconds())
		}
		if _, err := unix.Poll(fds, timeout); err != nil && err != unix.EINTR {
			return
		}
		if fds[0].Revents != 0 {
			f.list()
		}
		f.identify()
		f.note()
		if fds[2].Revents != 0 {
			return
		}
	}
}

// list finds new segments: those that the events name, without reading the directory anew for each of many.
func (f *follower) list() {
	buf := make([]byte, 16<<10)
	for {
		n, err := unix.Read(f.created, buf)
		if err == unix.EINTR {
			continue
		}
		if err != nil || n <= 0 {
			return
		}
		for events := buf[:n]; len(events) >= unix.SizeofInotifyEvent; {
			mask, length := binary.NativeEndian.Uint32(events[4:]), binary.NativeEndian.Uint32(events[12:])
			name := events[unix.SizeofInotifyEvent:][:length]
			events = events[unix.SizeofInotifyEvent+int(length):]
			if mask&unix.IN_Q_OVERFLOW != 0 {
				f.listAll()
			} else {
				f.add(filepath.Join(f.dir.Path, unix.ByteSliceToString(name)))
			}
		}
	}
}

// listAll finds the new segments of the directory, because events were lost.
func (f *follower) listAll() {
	files, _ := f.dir.Segments()
	for _, path := range files {
		f.add(path)
	}
}

func (f *follower) add(path string) {
	if !f.known[path] && filepath.Ext(path) == ".seg" {
		f.known[path], f.fresh[path] = true, time.Now()
	}
}

// identify finds the processes of new segments.
func (f *follower) identify() {
	for path, since := range f.fresh {
		if len(f.running) >= f.most {
			delete(f.fresh, path)
			continue
		}
		_, pid, _ := segment.ProcessIn(filepath.Base(path))
		if s, ok := procfs.ReadStatus(pid); ok && segment.Running(path) {
			if p := f.processes.Add(s.Process); p.Reported() { // others would have to be polled: when they end stays unknown
				f.running[path] = p
			}
			delete(f.fresh, path)
		} else if time.Since(since) > mapsWithin {
			delete(f.fresh, path)
		}
	}
}

// note notes which processes have ended.
func (f *follower) note() {
	f.processes.Update()
	var now unix.Timespec
	if unix.ClockGettime(unix.CLOCK_MONOTONIC, &now) != nil {
		return
	}
	for path, p := range f.running {
		if !p.Running() {
			f.dir.gone[path] = uint64(now.Nano())
			f.processes.Drop(p)
			delete(f.running, path)
		}
	}
}
