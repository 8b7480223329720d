package paraver

import (
	"bufio"
	"cmp"
	"container/heap"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
)

// sorter sorts lines by time, with up to mostHeld bytes of them in memory; others are in files, which
// are removed in the end. Lines of the same time stay in the order in which they came.
type sorter struct {
	dir   string
	lines []timedLine
	text  []byte
	files []string
	most  int
}

// timedLine is a line, as a part of the sorter's text.
type timedLine struct {
	at       int64
	from, to int
}

// mostHeld bounds the text in memory.
const mostHeld = 64 << 20

func newSorter(dir string) *sorter { return &sorter{dir: dir, most: mostHeld} }

// add adds a line, which the caller may use again.
func (s *sorter) add(at int64, line []byte) error {
	from := len(s.text)
	s.text = append(s.text, line...)
	s.lines = append(s.lines, timedLine{at, from, len(s.text)})
	if len(s.text) < s.most {
		return nil
	}
	return s.spill()
}

func (s *sorter) sort() {
	slices.SortStableFunc(s.lines, func(a, b timedLine) int { return cmp.Compare(a.at, b.at) })
}

// spill moves the lines in memory to a file: of each its time, its length and itself.
func (s *sorter) spill() (err error) {
	s.sort()
	name := filepath.Join(s.dir, fmt.Sprintf("sorting-%d", len(s.files)))
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	s.files = append(s.files, name)
	w := bufio.NewWriterSize(f, 1<<16)
	var head []byte
	for _, l := range s.lines {
		head = binary.AppendUvarint(binary.AppendVarint(head[:0], l.at), uint64(l.to-l.from))
		w.Write(head)
		w.Write(s.text[l.from:l.to])
	}
	s.lines, s.text = s.lines[:0], s.text[:0]
	return w.Flush()
}

// write writes all lines in order.
func (s *sorter) write(out io.Writer) (err error) {
	s.sort()
	if len(s.files) == 0 {
		for _, l := range s.lines {
			if _, err := out.Write(s.text[l.from:l.to]); err != nil {
				return err
			}
		}
		return nil
	}
	if err := s.spill(); err != nil {
		return err
	}
	var parts merged
	defer func() {
		for i := range parts.all {
			err = errors.Join(err, parts.all[i].file.Close(), os.Remove(parts.all[i].file.Name()))
		}
	}()
	for i, name := range s.files {
		f, err := os.Open(name)
		if err != nil {
			return err
		}
		p := &sorted{file: f, in: bufio.NewReaderSize(f, 1<<16), number: i}
		parts.all = append(parts.all, p)
		if err := p.next(); err == nil {
			parts.open = append(parts.open, p)
		} else if !errors.Is(err, io.EOF) {
			return err
		}
	}
	return parts.write(out)
}

// sorted are the lines of a file.
type sorted struct {
	file   *os.File
	in     *bufio.Reader
	number int
	at     int64
	line   []byte
}

// next reads a line; the error is io.EOF at the end.
func (p *sorted) next() error {
	at, err := binary.ReadVarint(p.in)
	if err != nil {
		return err
	}
	n, err := binary.ReadUvarint(p.in)
	if err != nil {
		return io.ErrUnexpectedEOF
	}
	p.at, p.line = at, slices.Grow(p.line[:0], int(n))[:n]
	_, err = io.ReadFull(p.in, p.line)
	return err
}

// merged merges files. It is a heap of those that have lines left.
type merged struct{ open, all []*sorted }

func (m *merged) Len() int { return len(m.open) }
func (m *merged) Less(i, j int) bool {
	a, b := m.open[i], m.open[j]
	return a.at < b.at || a.at == b.at && a.number < b.number
}
func (m *merged) Swap(i, j int) { m.open[i], m.open[j] = m.open[j], m.open[i] }
func (m *merged) Push(x any)    { m.open = append(m.open, x.(*sorted)) }
func (m *merged) Pop() any {
	last := m.open[len(m.open)-1]
	m.open = m.open[:len(m.open)-1]
	return last
}

func (m *merged) write(out io.Writer) error {
	heap.Init(m)
	for len(m.open) > 0 {
		p := m.open[0]
		if _, err := out.Write(p.line); err != nil {
			return err
		}
		switch err := p.next(); {
		case errors.Is(err, io.EOF):
			heap.Pop(m)
		case err != nil:
			return err
		default:
			heap.Fix(m, 0)
		}
	}
	return nil
}
