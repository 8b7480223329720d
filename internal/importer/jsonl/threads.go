package jsonl

import (
	"bufio"
	"bytes"
	"cmp"
	"io"
	"maps"
	"math"
	"slices"
)

// cursor reads the lines of a thread, wherever they are.
type cursor struct {
	scan   *bufio.Scanner
	rank   int
	number uint32
	line   int // number of the last one that was read
	left   int // lines that are not read yet
	next   *line
	thread *thread
	waits  bool // next names what another thread has to make first
}

// threads adds the calls of a process whose threads are in the file one after the other: the call that comes next is the one that ended first, unless it names a request or message that a
// call of another thread makes later in the file. Without times, that decides alone.
func (r *reader) threads(number int, q *rank) error {
	var list []*cursor
	for _, thread := range slices.Sorted(maps.Keys(q.parts)) {
		p := q.parts[thread]
		c := &cursor{scan: bufio.NewScanner(io.NewSectionReader(r.file, p.from, math.MaxInt64-p.from)), rank: number, number: thread, line: p.line - 1, left: p.lines}
		c.scan.Buffer(make([]byte, 1<<16), maxLine)
		if err := c.advance(r); err != nil {
			return err
		}
		c.thread = r.thread(q, c.next)
		list = append(list, c)
	}
	last := r.line
	for len(list) > 0 {
		for _, c := range list {
			c.waits = c.thread.Awaits(&c.next.call)
		}
		c := slices.MinFunc(list, before)
		r.line = c.line
		if err := r.add(q, c.thread, c.next); err != nil {
			return err
		}
		if err := c.advance(r); err != nil {
			return err
		}
		if c.next == nil {
			list = slices.DeleteFunc(list, func(x *cursor) bool { return x == c })
		}
	}
	r.line = last
	return nil
}

// before orders threads by which call comes next.
func before(x, y *cursor) int {
	waits := func(c *cursor) int {
		if c.waits {
			return 1
		}
		return 0
	}
	return cmp.Or(cmp.Compare(waits(x), waits(y)), cmp.Compare(x.at(), y.at()), cmp.Compare(x.number, y.number))
}

// at is when the next call ended, 0 if there are no times.
func (c *cursor) at() int64 {
	if c.next.entered {
		return math.MaxInt64
	}
	return c.next.t1
}

// advance reads the next line of the thread; there is none after the last.
func (c *cursor) advance(r *reader) error {
	for c.next = nil; c.left > 0 && c.scan.Scan(); {
		c.line++
		b := bytes.TrimSpace(bytes.TrimPrefix(c.scan.Bytes(), []byte("\xef\xbb\xbf")))
		if len(b) == 0 {
			continue
		}
		l, err := parseLine(b)
		if err != nil {
			r.line = c.line
			return err
		}
		if l.define == "" && l.run == nil && l.rank == c.rank && l.thread == c.number {
			c.next = l
			c.left--
			return nil
		}
	}
	return c.scan.Err()
}
