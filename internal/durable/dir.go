package durable

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// WriteDir creates a directory with its content, or replaces one. content writes into an empty
// hidden directory beside it, which then gets the name at once. If that fails, an existing
// directory stays. A killed process leaves the hidden directory, which the next WriteDir for the
// name removes.
//
// An existing directory that is not empty is replaced only if owned reports that WriteDir made
// it; otherwise, and if another file has the name, the error is ErrForeign.
func WriteDir(path string, owned func(dir string) bool, content func(dir string) error) error {
	path = filepath.Clean(path)
	if err := replaceable(path, owned); err != nil {
		return err
	}
	tmp, lock, err := beginDir(path)
	if err != nil {
		return err
	}
	defer lock.Close()
	defer func() {
		if isAt(lock, tmp) { // it failed
			os.RemoveAll(tmp)
		}
	}()
	if err := content(tmp); err != nil {
		return err
	}
	if err := syncTree(tmp); err != nil {
		return err
	}
	if err := replaceable(path, owned); err != nil { // by now
		return err
	}
	if err := exchange(tmp, path); err != nil {
		return err
	}
	return SyncDir(filepath.Dir(path))
}

// ErrForeign reports that a directory or file was made by something else, and is not replaced.
var ErrForeign = errors.New("exists, and is something else")

// replaceable returns an error if WriteDir must not replace what has the name.
func replaceable(path string, owned func(dir string) bool) error {
	st, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if st.IsDir() {
		entries, err := os.ReadDir(path)
		if err != nil || len(entries) == 0 || owned(path) {
			return err
		}
	}
	return fmt.Errorf("%s: %w", path, ErrForeign)
}

// beginDir makes the hidden directory for a path. The lock is held while it is written.
func beginDir(path string) (tmp string, lock *os.File, err error) {
	tmp = filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".tmp")
	for {
		if err := os.Mkdir(tmp, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			return "", nil, err
		}
		if lock, err = os.Open(tmp); err != nil {
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			return "", nil, err
		}
		if err := lockFile(lock); err != nil {
			lock.Close()
			return "", nil, fmt.Errorf("%s: %w", path, err)
		}
		if isAt(lock, tmp) { // not renamed or removed since by the previous holder of the lock
			return tmp, lock, clearDir(tmp)
		}
		lock.Close()
	}
}

// clearDir removes what a killed process left.
func clearDir(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
			return err
		}
	}
	return nil
}

// syncTree makes all files of a directory durable.
func syncTree(dir string) error {
	return filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return errors.Join(err, SyncDir(name))
		}
		f, err := os.Open(name)
		if err != nil {
			return err
		}
		return errors.Join(f.Sync(), f.Close())
	})
}

// exchange gives a directory its final name, and removes what had it.
func exchange(tmp, path string) error {
	old, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return os.Rename(tmp, path)
	}
	if err != nil {
		return err
	}
	defer old.Close()
	// Nobody takes the old directory over while it has the hidden name.
	if err := lockFile(old); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	err = unix.Renameat2(unix.AT_FDCWD, tmp, unix.AT_FDCWD, path, unix.RENAME_EXCHANGE)
	if err == nil {
		return os.RemoveAll(tmp)
	}
	if !errors.Is(err, unix.EINVAL) && !errors.Is(err, unix.ENOSYS) {
		return err
	}
	// The file system cannot exchange names.
	if err := os.RemoveAll(path); err != nil {
		return err
	}
	return os.Rename(tmp, path)
}
