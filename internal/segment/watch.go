package segment

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"sync/atomic"
	"syscall"

	"github.com/efg-tools/efg/efg"
)

// Watch samples a segment repeatedly. It is not safe for concurrent use.
type Watch struct {
	sampler
	path string
	file *os.File
}

// OpenWatch opens a segment. The file may be removed meanwhile: the mapping remains readable. A
// file of another user is rejected.
func OpenWatch(path string) (*Watch, error) {
	f, err := openOwn(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Base(path), err)
	}
	w := &Watch{path: path, file: f}
	w.size = func() uint64 { return min(w.fileSize(), uint64(len(w.data))) }
	if err := w.mapFile(); err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: %w", filepath.Base(path), err)
	}
	return w, nil
}

// ErrForeign: the file belongs to another user.
var ErrForeign = errors.New("belongs to another user")

// openOwn opens a regular file of the current user, without following a symbolic link.
func openOwn(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, errors.Unwrap(err)
	}
	st, err := f.Stat()
	if err == nil {
		err = CheckOwner(st)
	}
	if err == nil && !st.Mode().IsRegular() {
		err = ErrNotSegment
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// CheckOwner returns ErrForeign for a file that does not belong to the user of this process.
func CheckOwner(fi os.FileInfo) error {
	if st, ok := fi.Sys().(*syscall.Stat_t); !ok || int(st.Uid) != os.Geteuid() {
		return ErrForeign
	}
	return nil
}

// mapFile maps the file in its current size, and room to grow.
func (w *Watch) mapFile() error {
	st, err := w.file.Stat()
	if err != nil {
		return err
	}
	if st.Size() < HeaderSize {
		return ErrNotSegment
	}
	data, err := syscall.Mmap(int(w.file.Fd()), 0, int(2*min(st.Size(), MaxFile)+1<<20), syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		return err
	}
	if w.data != nil {
		syscall.Munmap(w.data)
	}
	if len(data) < len(w.data) { // what was found extends past it
		w.sampler = sampler{reader: reader{size: w.size}}
	}
	w.data = data
	return nil
}

// Close unmaps the segment.
func (w *Watch) Close() {
	if w.data != nil {
		syscall.Munmap(w.data)
	}
	w.data = nil
	w.file.Close()
}

// Look samples what the process is doing and, if calls is set, the number and time of its
// calls. The result is valid until the next Look.
func (w *Watch) Look(calls bool) (*Sample, error) {
	var err error
	for range 4 {
		if err = guarded(func() error { return w.look(calls) }); err == nil {
			return &w.found, nil
		}
		if w.fileSize() <= uint64(len(w.data)) {
			break
		}
		if err = w.mapFile(); err != nil { // it has outgrown the mapping
			break
		}
	}
	return nil, fmt.Errorf("%s: %w", filepath.Base(w.path), err)
}

func (w *Watch) fileSize() uint64 {
	st, err := w.file.Stat()
	if err != nil {
		return 0
	}
	return uint64(st.Size())
}

// guarded calls f. Accessing a part of a file that was truncated causes an ordinary error.
func guarded(f func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		switch e := recover().(type) {
		case nil:
		case interface{ Addr() uintptr }:
			err = &CorruptError{"file", 0, errors.New("truncated while it was read")}
		default:
			panic(e)
		}
	}()
	return f()
}

// Defs reads the definitions that the process has made so far.
func (w *Watch) Defs() (defs []efg.Def, err error) {
	r := &reader{data: w.data, size: w.size}
	err = guarded(func() (err error) {
		if r.size() < HeaderSize {
			return ErrNotSegment
		}
		h := view[Header](r.data)
		n := atomic.LoadUint32(&h.NDefs)
		defs, err = r.defs(atomic.LoadUint32(&h.Defs), n)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Base(w.path), err)
	}
	return defs, nil
}
