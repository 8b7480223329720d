package daemon

import (
	"encoding/binary"
	"strings"

	"golang.org/x/sys/unix"
)

// changes reports which segments were added to a directory, or removed, without listing it
// repeatedly. It is not safe for concurrent use.
type changes struct {
	fd     int // inotify; -1 if not available
	buffer []byte
}

const changeEvents = unix.IN_CREATE | unix.IN_MOVED_TO | unix.IN_MOVED_FROM | unix.IN_DELETE | unix.IN_ATTRIB |
	unix.IN_DELETE_SELF | unix.IN_MOVE_SELF | unix.IN_ONLYDIR

// watchChanges begins to watch a directory.
func watchChanges(dir string) *changes {
	c := &changes{buffer: make([]byte, 16<<10)}
	var err error
	if c.fd, err = unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK); err != nil {
		c.fd = -1
		return c
	}
	if _, err = unix.InotifyAddWatch(c.fd, dir, changeEvents); err != nil {
		c.close()
	}
	return c
}

func (c *changes) close() {
	if c.fd >= 0 {
		unix.Close(c.fd)
		c.fd = -1
	}
}

// since returns the names of segments that may have been added or removed since the last call,
// or beside which something was written. If the list is not complete the directory must be
// listed.
func (c *changes) since() (names []string, complete bool) {
	complete = c.fd >= 0
	for c.fd >= 0 {
		n, err := unix.Read(c.fd, c.buffer)
		if err == unix.EINTR {
			continue
		}
		if err != nil || n <= 0 {
			return names, complete && err == unix.EAGAIN // EAGAIN: that was all
		}
		for b := c.buffer[:n]; len(b) >= unix.SizeofInotifyEvent; {
			mask, size := binary.NativeEndian.Uint32(b[4:]), unix.SizeofInotifyEvent+int(binary.NativeEndian.Uint32(b[12:]))
			name := strings.TrimRight(string(b[unix.SizeofInotifyEvent:size]), "\x00")
			name = strings.TrimSuffix(name, jobExt)
			b = b[size:]
			switch {
			case mask&unix.IN_Q_OVERFLOW != 0:
				complete = false
			case mask&(unix.IN_DELETE_SELF|unix.IN_MOVE_SELF|unix.IN_IGNORED) != 0: // it is no longer the directory of that name
				c.close()
				return nil, false
			case isSegment(name):
				names = append(names, name)
			}
		}
	}
	return nil, false
}
