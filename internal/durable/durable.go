// Package durable writes files that exist completely and on disk, or not at all.
package durable

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// Write creates a file, or replaces it. If it fails, the existing file stays.
func Write(path string, content func(io.Writer) error) error {
	f, err := Create(path)
	if err != nil {
		return err
	}
	defer f.Discard()
	return f.Write(content)
}

// Create begins a file. A process that is killed leaves nothing behind if the file system
// supports unnamed files; otherwise a hidden file.
func Create(path string) (*File, error) {
	fd, err := unix.Open(filepath.Dir(path), unix.O_TMPFILE|unix.O_RDWR|unix.O_CLOEXEC, 0o600)
	if err == nil {
		return &File{path: path, tmp: os.NewFile(uintptr(fd), path)}, nil
	}
	f, err := createHidden(path)
	if err != nil {
		return nil, err
	}
	return &File{path, f, f.Name()}, nil
}

func createHidden(path string) (*os.File, error) {
	return os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*.tmp")
}

// File is a file that is being written.
type File struct {
	path string
	tmp  *os.File
	name string // of tmp; "" if it has none
}

// ErrBusy reports that another process is writing the file.
var ErrBusy = errors.New("is being written by another process")

// Begin begins a file that takes long to write, and that no other process may write meanwhile.
// A process that is killed leaves a hidden file, which the next one takes over.
func Begin(path string) (*File, error) {
	name := filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".tmp")
	for {
		f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o644)
		if err != nil {
			return nil, err
		}
		err = lockFile(f)
		if err == nil && !isAt(f, name) { // renamed since by the previous holder of the lock
			f.Close()
			continue
		}
		if err != nil {
			f.Close()
			return nil, err
		}
		return &File{path, f, name}, nil
	}
}

// lockFile locks a file or directory. On file systems without locks it does nothing.
func lockFile(f *os.File) error {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	switch {
	case errors.Is(err, syscall.EWOULDBLOCK):
		return ErrBusy
	case errors.Is(err, syscall.ENOSYS) || errors.Is(err, errors.ErrUnsupported) || errors.Is(err, syscall.ENOLCK):
		return nil
	}
	return err
}

func isAt(f *os.File, name string) bool {
	a, err1 := f.Stat()
	b, err2 := os.Stat(name)
	return err1 == nil && err2 == nil && os.SameFile(a, b)
}

// Write writes the content, runs the checks, and moves the file to its final name. Errors of
// content and checks are returned unchanged; another attempt may follow.
func (f *File) Write(content func(io.Writer) error, checks ...func(file io.ReaderAt, size int64) error) (err error) {
	if err = f.tmp.Truncate(0); err != nil {
		return err
	}
	if _, err = f.tmp.Seek(0, io.SeekStart); err != nil {
		return err
	}
	if err = content(f.tmp); err != nil {
		return err
	}
	if err = f.check(checks); err != nil {
		return err
	}
	if err = errors.Join(f.tmp.Chmod(0o644), f.tmp.Sync()); err != nil {
		return err
	}
	if err = f.giveName(); err != nil {
		return err
	}
	if err = os.Rename(f.name, f.path); err != nil {
		return err
	}
	return SyncDir(filepath.Dir(f.path))
}

// WriteFile is like Write, for content that needs the file itself, to leave holes in it.
func (f *File) WriteFile(content func(w *os.File) error) error {
	return f.Write(func(io.Writer) error { return content(f.tmp) })
}

func (f *File) check(checks []func(file io.ReaderAt, size int64) error) error {
	st, err := f.tmp.Stat()
	for _, check := range checks {
		if err == nil {
			err = check(f.tmp, st.Size())
		}
	}
	return err
}

// giveName gives the file a hidden name if it has none: unlike renaming, a link does not
// replace an existing file.
func (f *File) giveName() error {
	for f.name == "" {
		name := filepath.Join(filepath.Dir(f.path), "."+filepath.Base(f.path)+"."+rand.Text()[:10]+".tmp")
		err := unix.Linkat(unix.AT_FDCWD, fmt.Sprintf("/proc/self/fd/%d", f.tmp.Fd()), unix.AT_FDCWD, name, unix.AT_SYMLINK_FOLLOW)
		switch {
		case err == nil:
			f.name = name
		case !errors.Is(err, os.ErrExist):
			return f.copyNamed()
		}
	}
	return nil
}

// copyNamed copies the file to one with a name, if there is no /proc, or no links.
func (f *File) copyNamed() error {
	c, err := createHidden(f.path)
	if err != nil {
		return err
	}
	from := f.tmp
	defer from.Close()
	f.tmp, f.name = c, c.Name()
	if _, err := from.Seek(0, io.SeekStart); err != nil {
		return err
	}
	_, err = io.Copy(c, from)
	return errors.Join(err, c.Chmod(0o644), c.Sync())
}

// WriteNew creates a file that must not exist: the error is then fs.ErrExist. Of several
// processes on any machines, one succeeds. tmp, on the same file system, must be this process's
// own; it is replaced, and removed. The file system must have hard links.
func WriteNew(tmp, path string, data []byte) error {
	// An existing file may be a link to one that a killed process made: it must not be written
	// to.
	if err := os.Remove(tmp); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	f, err := os.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer os.Remove(tmp)
	_, err = f.Write(data)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Link(tmp, path); err != nil {
		return err
	}
	return SyncDir(filepath.Dir(path))
}

// Discard closes the file and drops it unless it has its final name.
func (f *File) Discard() {
	if f.name != "" && isAt(f.tmp, f.name) {
		os.Remove(f.name)
	}
	f.tmp.Close()
}

// SyncDir makes renamed and created entries of a directory durable; it does nothing on file
// systems that cannot sync directories.
func SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	if err := d.Sync(); err != nil && !errors.Is(err, errors.ErrUnsupported) && !errors.Is(err, os.ErrInvalid) {
		return fmt.Errorf("%s: %w", dir, err)
	}
	return nil
}
