package multiuser

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/efg-tools/efg/internal/service"
)

// checkSpools checks the directory of all spools: everyone creates their own there, so nobody
// may remove another's.
func checkSpools(dir string) error {
	fi, err := os.Stat(dir)
	if err != nil {
		return err
	}
	everybody := fi.Mode().Perm() == 0o777 && fi.Mode()&fs.ModeSticky != 0
	if !filepath.IsAbs(dir) || strings.ContainsAny(dir, "\n:") || !fi.IsDir() || ownerOf(fi) != 0 || !everybody {
		return fmt.Errorf("%s: want a directory of root's in which everybody can create files, as in /tmp (mode 1777)", dir)
	}
	return nil
}

// spoolTime is when something was last added to a user's spool or removed from it. This needs
// no permission to read the directory.
func (s *supervisor) spoolTime(uid uint32) time.Time {
	fi, err := os.Lstat(s.site.Spool(uid))
	if err != nil || !fi.IsDir() || ownerOf(fi) != uid {
		return time.Time{}
	}
	return fi.ModTime()
}

// spoolsThere lists the users who have a spool.
func (s *supervisor) spoolsThere() map[uint32]time.Time {
	entries, err := os.ReadDir(s.site.Spools)
	if err != nil {
		s.opt.Log.Warn("cannot look for spools", "problem", err)
	}
	found := map[uint32]time.Time{}
	for _, e := range entries {
		number, ok := strings.CutPrefix(e.Name(), "efg-")
		uid, err := strconv.ParseUint(number, 10, 32)
		if !ok || err != nil || service.SpoolName(uint32(uid)) != e.Name() {
			continue
		}
		if t := s.spoolTime(uint32(uid)); !t.IsZero() {
			found[uint32(uid)] = t
		}
	}
	return found
}

// clearSpool ensures that nobody else occupies the path of a user's spool.
func (s *supervisor) clearSpool(uid uint32) error {
	path := s.site.Spool(uid)
	fi, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && fi.IsDir() && ownerOf(fi) == uid {
		return nil
	}
	if err != nil {
		return err
	}
	away := filepath.Join(s.site.Spools, fmt.Sprintf("efg-away-%d-%s", uid, rand.Text()[:8]))
	if err := rename(path, away); err != nil {
		return err
	}
	moved, err := os.Lstat(away)
	if err == nil && moved.IsDir() && ownerOf(moved) == uid { // it was created in the last moment
		return rename(away, path)
	}
	if ok, _ := s.putAway.pass(); ok {
		s.opt.Log.Warn("moved aside what was in place of a user's spool", "uid", uid, "of", ownerOf(fi), "to", away)
	}
	s.metrics.squatted.Inc()
	os.Remove(away) // if it is an empty directory
	return makeOwned(path, uid)
}

// rename never replaces anything.
func rename(from, to string) error {
	if err := unix.Renameat2(unix.AT_FDCWD, from, unix.AT_FDCWD, to, unix.RENAME_NOREPLACE); err != nil {
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: err}
	}
	return nil
}

// makeOwned creates a directory that belongs to a user, atomically, where only root can remove
// what belongs to root. An existing one is kept.
func makeOwned(path string, uid uint32) error {
	if _, err := os.Lstat(path); err == nil {
		return nil
	}
	made := filepath.Join(filepath.Dir(path), ".efg-new-"+rand.Text()[:8])
	if err := os.Mkdir(made, 0o700); err != nil {
		return err
	}
	err := os.Lchown(made, int(uid), -1)
	if err == nil {
		err = rename(made, path)
	}
	if err != nil {
		os.Remove(made)
	}
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}

func ownerOf(fi fs.FileInfo) uint32 {
	if st, ok := fi.Sys().(*syscall.Stat_t); ok {
		return st.Uid
	}
	return ^uint32(0)
}
