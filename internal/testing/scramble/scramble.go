// Package scramble modifies files while others read them, for tests of the readers.
package scramble

import (
	"errors"
	"math/rand/v2"
	"os"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"
)

// Files are files that are being modified.
type Files struct {
	maps, whole [][]byte
	stop        chan struct{}
	changes     chan int
}

// Start begins to modify words of files: bits, counts, references to other records, arbitrary
// numbers. Occasionally it restores the original words. The files may be removed meanwhile. The
// first kept bytes are not modified.
func Start(paths []string, kept int) (*Files, error) {
	f := &Files{stop: make(chan struct{}), changes: make(chan int)}
	for _, path := range paths {
		data, err := mapFile(path)
		if err == nil && len(data) < kept+8 {
			err = errors.New("too short to be changed")
		}
		if err != nil {
			f.unmap()
			return nil, err
		}
		f.maps, f.whole = append(f.maps, data), append(f.whole, append([]byte(nil), data...))
	}
	go func() { f.changes <- f.change(kept) }()
	return f, nil
}

func mapFile(path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	return syscall.Mmap(int(f.Fd()), 0, int(st.Size()), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
}

func (f *Files) unmap() {
	for _, m := range f.maps {
		syscall.Munmap(m)
	}
}

// Stop stops modifying, and returns the number of modifications.
func (f *Files) Stop() int {
	close(f.stop)
	n := <-f.changes
	f.unmap()
	return n
}

// changed bounds the part of a file that is modified: its beginning matters most.
const changed = 24 << 10

func (f *Files) change(kept int) (changes int) {
	rng := rand.New(rand.NewPCG(5, 6))
	for ; ; changes++ {
		select {
		case <-f.stop:
			return changes
		default:
		}
		k := rng.IntN(len(f.maps))
		data := f.maps[k]
		if changes%40 == 0 {
			copy(data, f.whole[k])
			time.Sleep(200 * time.Microsecond)
		}
		word := func() *uint64 {
			words := (min(len(data), changed) - kept) / 8
			return (*uint64)(unsafe.Pointer(&data[kept+8*rng.IntN(words)]))
		}
		to := word()
		v := atomic.LoadUint64(to)
		switch rng.IntN(5) {
		case 0:
			v ^= 1 << rng.IntN(64)
		case 1:
			v++
		case 2:
			v = 1 << rng.IntN(64)
		case 3:
			v = v&^(1<<32-1) | uint64(rng.IntN(len(data)/16+1))
		default:
			v = atomic.LoadUint64(word())
		}
		atomic.StoreUint64(to, v)
	}
}
