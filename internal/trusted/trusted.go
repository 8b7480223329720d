// Package trusted opens directories and files that only the user of this process, or root, can
// have created: libraries that are loaded into programs, and recordings.
//
// A path is followed directory by directory, by descriptors. Each directory and each link on
// the way must belong to the user or to root, and only they may write to it; a directory with
// the sticky bit, like /tmp, may be on the way, because nobody can replace other users' files
// in it. After a path has been checked, it may therefore be used by name.
package trusted

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/efg-tools/efg/internal/account"
)

// Error reports who else can change the content of a path.
type Error struct {
	Path    string
	Problem string // including how to repair it
}

func (e *Error) Error() string { return e.Path + ": " + e.Problem }

// Dir checks a directory and returns its path without links. Missing directories are created
// with these permissions; with 0 nothing is created.
func Dir(path string, perm fs.FileMode) (string, error) {
	f, err := walk(path, perm)
	if err != nil {
		return "", err
	}
	return f.Name(), f.Close()
}

// Open opens a file for reading. Its directory and the file itself are checked.
func Open(path string) (*os.File, error) {
	dir, err := walk(filepath.Dir(path), 0)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	fd, err := unix.Openat(int(dir.Fd()), filepath.Base(path), unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	f := os.NewFile(uintptr(fd), path)
	var st unix.Stat_t
	if err = unix.Fstat(fd, &st); err == nil {
		err = check(path, &st, unix.S_IFREG)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// maxLinks is the maximum number of symbolic links in a path.
const maxLinks = 40

// walker is a position on the way to a directory.
type walker struct {
	perm  fs.FileMode
	fd    int
	path  string   // of fd
	rest  []string // names still to follow
	links int
}

// walk opens a directory with O_PATH.
func walk(path string, perm fs.FileMode) (*os.File, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	w := &walker{perm: perm, fd: -1}
	for err = w.enter(path); err == nil && len(w.rest) > 0; {
		name := w.rest[0]
		w.rest = w.rest[1:]
		err = w.step(name)
	}
	if err == nil {
		err = w.check(true)
	}
	if err != nil {
		unix.Close(w.fd)
		return nil, err
	}
	return os.NewFile(uintptr(w.fd), w.path), nil
}

// enter makes the rest of the way a path: from here, or from the root.
func (w *walker) enter(path string) error {
	w.rest = append(strings.FieldsFunc(path, func(r rune) bool { return r == '/' }), w.rest...)
	if !filepath.IsAbs(path) {
		return nil
	}
	fd, err := unix.Open("/", unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	return w.moveTo(fd, "/")
}

func (w *walker) moveTo(fd int, path string) error {
	unix.Close(w.fd)
	w.fd, w.path = fd, path
	return w.check(false)
}

// step moves to a name in the directory.
func (w *walker) step(name string) error {
	to := filepath.Join(w.path, name)
	fd, err := w.open(name)
	if err != nil {
		return err
	}
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		unix.Close(fd)
		return err
	}
	if st.Mode&unix.S_IFMT != unix.S_IFLNK {
		return w.moveTo(fd, to)
	}
	defer unix.Close(fd)
	if err := owned(to, &st); err != nil {
		return err
	}
	if w.links++; w.links > maxLinks {
		return &fs.PathError{Op: "open", Path: to, Err: unix.ELOOP}
	}
	target := make([]byte, unix.PathMax)
	n, err := unix.Readlinkat(fd, "", target)
	if err != nil {
		return &fs.PathError{Op: "readlink", Path: to, Err: err}
	}
	return w.enter(string(target[:n]))
}

// open opens a name in the directory; a missing directory is created.
func (w *walker) open(name string) (int, error) {
	const flags = unix.O_PATH | unix.O_NOFOLLOW | unix.O_CLOEXEC
	op := "open"
	fd, err := unix.Openat(w.fd, name, flags, 0)
	if errors.Is(err, unix.ENOENT) && w.perm != 0 {
		op, err = "mkdir", unix.Mkdirat(w.fd, name, uint32(w.perm.Perm()))
		if err == nil || errors.Is(err, unix.EEXIST) {
			op = "open"
			fd, err = unix.Openat(w.fd, name, flags, 0)
		}
	}
	if err != nil {
		return -1, &fs.PathError{Op: op, Path: filepath.Join(w.path, name), Err: err}
	}
	return fd, nil
}

// check checks the current directory; last: nobody else may even add to it.
func (w *walker) check(last bool) error {
	var st unix.Stat_t
	if err := unix.Fstat(w.fd, &st); err != nil {
		return err
	}
	if !last && st.Mode&unix.S_IFMT == unix.S_IFDIR && st.Mode&unix.S_ISVTX != 0 {
		return owned(w.path, &st)
	}
	return check(w.path, &st, unix.S_IFDIR)
}

// check checks the file at a path: its type, its owner, and who may write to it.
func check(path string, st *unix.Stat_t, kind uint32) error {
	if st.Mode&unix.S_IFMT != kind {
		if kind == unix.S_IFDIR {
			return &fs.PathError{Op: "open", Path: path, Err: unix.ENOTDIR}
		}
		return &Error{path, "is not a regular file"}
	}
	if err := owned(path, st); err != nil {
		return err
	}
	if st.Mode&0o002 != 0 || st.Mode&0o020 != 0 && !ownGroup(st.Gid) {
		return &Error{path, "writable by others: chmod go-w " + path}
	}
	return nil
}

func owned(path string, st *unix.Stat_t) error {
	me := os.Geteuid()
	if st.Uid == 0 || int(st.Uid) == me {
		return nil
	}
	whose := "root"
	if me != 0 {
		whose = fmt.Sprintf("user %d or root", me)
	}
	return &Error{path, fmt.Sprintf("belongs to user %d, not to %s: use another path", st.Uid, whose)}
}

// ownGroup reports whether a group is the user's private one: where each user has such a group,
// it may write to most of the user's files.
func ownGroup(gid uint32) bool {
	uid := os.Geteuid()
	return uid != 0 && int(gid) == os.Getegid() && account.PrivateGroup(context.Background(), uint32(uid), gid)
}
