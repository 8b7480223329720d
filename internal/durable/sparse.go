package durable

import (
	"errors"
	"io"
	"os"
	"syscall"
)

// ErrStopped reports that copying was stopped.
var ErrStopped = errors.New("stopped")

// lseek's ways to find data and holes; Linux, the BSDs and Solaris have them.
const (
	seekData = 3
	seekHole = 4
)

// copyStep is the amount that is copied between checks whether to stop.
const copyStep = 1 << 20

// CopySparse copies the first size bytes of a file to an empty one, and preserves its holes. At
// most data bytes are written: the result is shorter if there are more. A nil stop never stops.
func CopySparse(to, from *os.File, size, data int64, stop <-chan struct{}) error {
	for at := int64(0); at < size && data > 0; {
		begin, end, err := nextData(from, at, size)
		if err != nil {
			return err
		}
		if end-begin > data {
			end, size = begin+data, begin+data
		}
		if err := copyRange(to, from, begin, end, stop); err != nil {
			return err
		}
		data -= end - begin
		at = end
	}
	return to.Truncate(size)
}

// nextData finds the next range with data at or after a position; it is empty, at the end, if
// there is none. If holes cannot be detected, everything is data.
func nextData(f *os.File, at, size int64) (begin, end int64, err error) {
	begin, err = f.Seek(at, seekData)
	switch {
	case errors.Is(err, syscall.ENXIO):
		return size, size, nil
	case errors.Is(err, syscall.EINVAL):
		return at, size, nil
	case err != nil:
		return 0, 0, err
	}
	if end, err = f.Seek(begin, seekHole); err != nil {
		return 0, 0, err
	}
	return min(begin, size), min(end, size), nil
}

func copyRange(to, from *os.File, begin, end int64, stop <-chan struct{}) error {
	for begin < end {
		select {
		case <-stop:
			return ErrStopped
		default:
		}
		n := min(end-begin, copyStep)
		if _, err := io.Copy(io.NewOffsetWriter(to, begin), io.NewSectionReader(from, begin, n)); err != nil {
			return err
		}
		begin += n
	}
	return nil
}
