package analysis

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// numberWriter writes numbers as varints. The first error is kept until flush.
type numberWriter struct{ *bufio.Writer }

func (w numberWriter) put(n uint64) {
	var p [binary.MaxVarintLen64]byte
	w.Write(p[:binary.PutUvarint(p[:], n)])
}

// column writes the numbers of a column as differences from the previous one: consecutive
// numbers are similar.
func (w numberWriter) column(n int, at func(i int) uint64) {
	last := uint64(0)
	for i := range n {
		v := at(i)
		d := int64(v - last)
		w.put(uint64(d<<1) ^ uint64(d>>63))
		last = v
	}
}

// errNumbers reports input that Encode did not write.
var errNumbers = errors.New("not what was encoded")

// numberReader reads what numberWriter writes. The first error is kept; all numbers after it
// are 0.
type numberReader struct {
	r   *bufio.Reader
	err error
}

func newNumberReader(r io.Reader) *numberReader { return &numberReader{r: bufio.NewReader(r)} }

func (r *numberReader) get() uint64 {
	if r.err != nil {
		return 0
	}
	n, err := binary.ReadUvarint(r.r)
	if err != nil {
		r.err = fmt.Errorf("%w: %w", errNumbers, err)
		return 0
	}
	return n
}

// count reads a number that must be below a bound.
func (r *numberReader) count(most uint64) int {
	n := r.get()
	if n > most {
		r.err = fmt.Errorf("%w: %d of at most %d", errNumbers, n, most)
		return 0
	}
	return int(n)
}

// column reads n numbers. It allocates memory only for numbers that exist.
func (r *numberReader) column(n int) []uint64 {
	list := make([]uint64, 0, min(n, 1<<16))
	last := uint64(0)
	for range n {
		u := r.get()
		if r.err != nil {
			return nil
		}
		last += uint64(int64(u>>1) ^ -int64(u&1))
		list = append(list, last)
	}
	return list
}
