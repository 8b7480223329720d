package daemon

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/efg-tools/efg/internal/segment"
)

// Spool is the directory into which the hook records.
type Spool struct{ Dir string }

// Names in the spool.
const (
	hookFile   = "hook"
	socketFile = "socket"
	httpFile   = "http"
	spoolLock  = "lock"
	segmentExt = ".seg"
	jobExt     = ".job"
	hookLimit  = 16 << 10 // EFG_SETTINGS_MAX of hook/shim/setting.h
)

// OpenSpool opens a spool directory, and makes it if make is set. It must be private: its
// contents decide what programs load.
func OpenSpool(dir string, create bool) (*Spool, error) {
	if !filepath.IsAbs(dir) || strings.ContainsAny(dir, "\n:") {
		return nil, fmt.Errorf("%s: want an absolute path without colons", dir)
	}
	if create {
		if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
			return nil, err
		}
	}
	fi, err := os.Lstat(dir)
	if err != nil {
		return nil, err
	}
	if err := checkPrivate(dir, fi); err != nil {
		return nil, err
	}
	return &Spool{dir}, nil
}

// checkPrivate rejects a spool that programs would not record into, and says how to repair it.
func checkPrivate(dir string, fi os.FileInfo) error {
	const unrecorded = "programs would not record there"
	switch {
	case segment.CheckOwner(fi) != nil:
		return fmt.Errorf("%s: belongs to another user, %s: have it removed (rm -r %s), or name another directory with EFG_SPOOL", dir, unrecorded, dir)
	case !fi.IsDir():
		return fmt.Errorf("%s: is no directory, %s: rm %s", dir, unrecorded, dir)
	case fi.Mode().Perm()&0o077 != 0:
		return fmt.Errorf("%s: is open to other users (mode %#o), %s: chmod 700 %s", dir, fi.Mode().Perm(), unrecorded, dir)
	}
	return nil
}

// lock makes this process the only daemon of the spool, until it ends.
func (s *Spool) lock() (*os.File, error) {
	f, err := lockFile(s.path(spoolLock))
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, &InUseError{s.Dir + ": another daemon is using this spool"}
	}
	return f, err
}

// Served reports whether a daemon is using the spool.
func (s *Spool) Served() bool { return locked(s.path(spoolLock)) }

func (s *Spool) path(name string) string { return filepath.Join(s.Dir, name) }

// HTTPSocket is the path of the socket at which a daemon answers questions.
func (s *Spool) HTTPSocket() string { return s.path(httpFile) }

// Publish tells the hook that there is a daemon and how to record: lines NAME=VALUE.
func (s *Spool) Publish(settings [][2]string) error {
	var b bytes.Buffer
	for _, v := range append(settings, [2]string{"EFG_DIR", s.Dir}) {
		if strings.Contains(v[1], "\n") {
			return fmt.Errorf("%s has a line break", v[0])
		}
		fmt.Fprintf(&b, "%s=%s\n", v[0], v[1])
	}
	if b.Len() > hookLimit {
		return fmt.Errorf("%d bytes of settings are too many", b.Len())
	}
	return s.write(hookFile, b.Bytes())
}

// Refresh says that the daemon is alive: ten minutes after the last refresh the hook assumes
// that a daemon that does not listen was killed.
func (s *Spool) Refresh(now time.Time) error { return os.Chtimes(s.path(hookFile), now, now) }

// write replaces a whole file. Its content need not survive a crash of the machine.
func (s *Spool) write(name string, data []byte) error {
	tmp := s.path("." + name + ".tmp")
	if err := os.WriteFile(tmp, data, 0o600); err != nil {
		return err
	}
	return os.Rename(tmp, s.path(name))
}

// Withdraw says that there is no longer a daemon. Running processes continue to record.
func (s *Spool) Withdraw() error {
	err := os.Remove(s.path(hookFile))
	if e := os.Remove(s.path(socketFile)); e != nil && !errors.Is(e, os.ErrNotExist) {
		err = errors.Join(err, e)
	}
	return err
}

// Published reports whether the hook would record into the spool.
func (s *Spool) Published() bool {
	_, err := os.Stat(s.path(hookFile))
	return err == nil
}

// isSegment reports whether a file is a segment by its name.
func isSegment(name string) bool {
	return filepath.Ext(name) == segmentExt && !strings.HasPrefix(name, ".")
}

// isOwn reports whether a file is one that the hook may have made for this user.
func isOwn(fi os.FileInfo) bool { return segment.CheckOwner(fi) == nil && fi.Mode().IsRegular() }

// Empty reports whether there are no segments of this user in the spool.
func (s *Spool) Empty() bool {
	names, _, err := s.segments()
	return err == nil && len(names) == 0
}

// segments lists the names of this user's segments, and counts those of other users.
func (s *Spool) segments() (names []string, foreign int, err error) {
	entries, err := os.ReadDir(s.Dir)
	if err != nil {
		return nil, 0, err
	}
	for _, e := range entries {
		if !isSegment(e.Name()) {
			continue
		}
		info, err := e.Info()
		switch {
		case err != nil: // it is gone
		case !isOwn(info):
			foreign++
		default:
			names = append(names, e.Name())
		}
	}
	return names, foreign, nil
}
