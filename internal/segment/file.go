package segment

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"syscall"

	"github.com/efg-tools/efg/efg"
)

// Read returns the content of a segment file.
func Read(path string) (*efg.Process, error) {
	s, err := ReadFile(path)
	if err != nil {
		return nil, err
	}
	return &s.Process, nil
}

// ReadHeader reads only the header of a segment file.
func ReadHeader(path string) (*Header, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data := make([]byte, HeaderSize)
	if _, err := f.ReadAt(data, 0); err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Base(path), ErrNotSegment)
	}
	s, err := (&reader{data: data, size: func() uint64 { return math.MaxUint64 }}).parseHeader()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Base(path), err)
	}
	return &s.Header, nil
}

// HasBegun reports whether anything was written to a segment.
func HasBegun(path string) (bool, error) {
	f, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	head := make([]byte, HeaderSize)
	n, err := io.ReadFull(f, head)
	for _, c := range head[:n] {
		if c != 0 {
			return true, nil
		}
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil
	}
	return false, err
}

// ReadFile reads a segment file. The process may be running: each stream then holds its events
// up to some moment after the call began. Following a stream that never pauses takes time in
// proportion to its events.
func ReadFile(path string) (*Segment, error) {
	s, err := readFile(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Base(path), err)
	}
	return s, nil
}

func readFile(path string) (*Segment, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, errors.Unwrap(err)
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !st.Mode().IsRegular() || st.Size() < HeaderSize {
		return nil, ErrNotSegment
	}
	// The file may grow while it is read: map the space after it, too.
	data, err := syscall.Mmap(int(f.Fd()), 0, int(2*min(st.Size(), MaxFile)+64<<20), syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		return nil, err
	}
	defer syscall.Munmap(data)
	size := func() uint64 {
		if st, err := f.Stat(); err == nil {
			return min(uint64(st.Size()), uint64(len(data)))
		}
		return 0
	}
	for try := 0; ; try++ {
		s, err := parseMapped(&reader{data: data, size: size, filled: func() uint64 { return allocated(f) }, lastTry: try == 4})
		if err == nil || !errors.Is(err, errBusy) || try == 4 {
			return s, err
		}
	}
}

// allocated is the number of bytes of a file that are stored.
func allocated(f *os.File) uint64 {
	st, err := f.Stat()
	if err != nil {
		return 0
	}
	return uint64(st.Sys().(*syscall.Stat_t).Blocks) * 512
}

// parseMapped parses a mapping. Accessing a part that was truncated causes an ordinary error.
func parseMapped(r *reader) (s *Segment, err error) {
	err = guarded(func() (err error) {
		s, err = r.parse()
		return err
	})
	if err != nil {
		return nil, err
	}
	return s, nil
}
