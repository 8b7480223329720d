package jsonl

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/export"
	"github.com/efg-tools/efg/internal/importer"
)

// maxLine bounds a line.
const maxLine = 16 << 20

// maxRank bounds the ranks.
const maxRank = 1 << 24

// File is what is read: several times, and of processes with several threads in several places at once.
type File interface {
	io.ReadSeeker
	io.ReaderAt
}

// Read reads a file, and hands its processes to sink, by rank if the file has them in this order.
// Errors are of type *importer.LineError unless sink fails. progress is called from time to time
// with the number of bytes read.
func Read(name string, in File, times importer.Times, sink export.Sink, progress func(bytes int64)) error {
	r := &reader{name: name, file: in, times: times, sink: sink, progress: progress, names: importer.NewNames(), ranks: map[int]*rank{}, comms: map[string]*comm{}}
	if err := r.pass(in, r.survey); err != nil {
		return err
	}
	if len(r.ranks) == 0 {
		return &importer.LineError{File: name, Line: r.line, Err: errors.New("no calls")}
	}
	r.nameComms()
	if _, err := in.Seek(0, io.SeekStart); err != nil {
		return err
	}
	return r.pass(in, r.take)
}

// reader reads a file.
type reader struct {
	name     string
	file     File
	times    importer.Times
	sink     export.Sink
	progress func(int64)
	names    *importer.Names

	part  *part // of the last line
	line  int
	at    int64 // where it begins
	bytes int64
	// advance is how many bytes the line takes.
	advance int
	meta    runfile.Meta // its CallPath is the length of the longest path
	world   int          // number of ranks
	timed   bool
	began   int64 // Unix ns, if the run was described
	ranks   map[int]*rank
	comms   map[string]*comm
}

// rank is a process.
type rank struct {
	last    int // line
	process *importer.Process
	threads map[uint32]*thread
	parts   map[uint32]*part
	// mixed: the lines of a thread are not all together. They are in the order of time then.
	mixed bool
}

// part is where the lines of a thread are.
type part struct {
	from  int64 // offset of the first
	line  int   // its number, from 1
	lines int
}

// thread is where a stream is.
type thread struct {
	*importer.Thread
	next    uint64 // number of the next call
	begun   bool
	entered bool
	at      int64 // end of the last call
}

// pass calls take for each line that is not empty.
func (r *reader) pass(in io.Reader, take func(line *line) error) error {
	scan := bufio.NewScanner(in)
	scan.Buffer(make([]byte, 1<<16), maxLine)
	scan.Split(func(data []byte, atEOF bool) (int, []byte, error) {
		n, token, err := bufio.ScanLines(data, atEOF)
		r.advance = n
		return n, token, err
	})
	r.line, r.bytes = 0, 0
	for scan.Scan() {
		r.line++
		b := scan.Bytes()
		r.at = r.bytes
		r.bytes += int64(r.advance)
		if r.line == 1 {
			b = bytes.TrimPrefix(b, []byte("\xef\xbb\xbf"))
		}
		if len(bytes.TrimSpace(b)) == 0 {
			continue
		}
		l, err := parseLine(b)
		if err == nil {
			err = take(l)
		}
		if err != nil {
			return r.failed(err)
		}
		if r.line%(1<<12) == 0 && r.progress != nil {
			r.progress(r.bytes)
		}
	}
	if err := scan.Err(); errors.Is(err, bufio.ErrTooLong) {
		r.line++
		return r.failed(fmt.Errorf("a line of more than %d bytes", maxLine))
	} else if err != nil {
		return err
	}
	return nil
}

func (r *reader) failed(err error) error {
	var sink *export.SinkError
	if errors.As(err, &sink) {
		return err
	}
	return &importer.LineError{File: r.name, Line: r.line, Err: err}
}

// survey notes what the second pass has to know.
func (r *reader) survey(l *line) error {
	switch {
	case l.define != "":
		return r.define(l)
	case l.run != nil:
		return r.describe(l.run)
	}
	if l.rank < 0 || l.rank >= maxRank {
		return fmt.Errorf("rank %d", l.rank)
	}
	q := r.ranks[l.rank]
	if q == nil {
		q = &rank{threads: map[uint32]*thread{}, parts: map[uint32]*part{}}
		r.ranks[l.rank] = q
	}
	q.last = r.line
	p := q.parts[l.thread]
	if p == nil {
		p = &part{from: r.at, line: r.line}
		q.parts[l.thread] = p
	}
	q.mixed = q.mixed || p.lines > 0 && p != r.part
	p.lines++
	r.part = p
	r.world = max(r.world, l.rank+1)
	r.timed = r.timed || l.timed
	for c := l; c != nil; c = c.inner {
		if c.path != nil {
			r.meta.CallPath = max(r.meta.CallPath, len(c.path.calls))
		}
	}
	return r.madeComm(l)
}

// describe reads what is said of the run as a whole.
func (r *reader) describe(v *importer.Value) error {
	for i := range v.Members {
		m := &v.Members[i]
		switch m.Name {
		case "ranks":
			if m.Value.Number < 1 || m.Value.Number > maxRank {
				return fmt.Errorf("a run of %d ranks", m.Value.Number)
			}
			r.world = max(r.world, int(m.Value.Number))
		case "started":
			r.began = m.Value.Number
		case "command":
			r.meta.Command = r.meta.Command[:0]
			for k := range m.Value.List {
				r.meta.Command = append(r.meta.Command, m.Value.List[k].Text)
			}
		default:
			return fmt.Errorf("the run has no %.40q: want ranks, started or command", m.Name)
		}
	}
	return nil
}

// take adds a call to its stream.
func (r *reader) take(l *line) error {
	if l.define != "" || l.run != nil {
		return nil
	}
	q := r.ranks[l.rank]
	if len(q.parts) > 1 && !q.mixed {
		if r.line < q.last {
			return nil
		}
		if err := r.threads(l.rank, q); err != nil {
			return err
		}
		return r.end(l.rank)
	}
	if err := r.add(q, r.thread(q, l), l); err != nil {
		return err
	}
	if r.line == q.last {
		return r.end(l.rank)
	}
	return nil
}

// thread is the thread of a line, of a process that begins with it if there is none.
func (r *reader) thread(q *rank, l *line) *thread {
	if q.process == nil {
		q.process = r.begin(l.rank)
	}
	t := q.threads[l.thread]
	if t == nil {
		t = &thread{Thread: q.process.Thread(l.thread)}
		q.threads[l.thread] = t
	}
	return t
}

func (r *reader) add(q *rank, t *thread, l *line) error {
	for c := l; c != nil; c = c.inner {
		if c.path != nil {
			c.call.Site = q.process.PathSite(c.path.calls, c.path.start)
		}
	}
	switch {
	case t.entered:
		return fmt.Errorf("rank %d, thread %d: a call after one that had not returned", l.rank, l.thread)
	case l.entered:
		t.entered = true
		since := uint64(0)
		if l.since != 0 {
			since = uint64(max(t.at, 1))
			q.process.Data.Start = l.since - int64(since)
		}
		return r.enter(q, t, l, since)
	case l.seq >= 0 && t.begun && uint64(l.seq) != t.next:
		return fmt.Errorf("rank %d, thread %d: call %d after %d", l.rank, l.thread, l.seq, int64(t.next)-1)
	case l.timed && (l.t0 < t.at || l.t1 < l.t0):
		return fmt.Errorf("rank %d, thread %d: a call from %d to %d after one that ended at %d", l.rank, l.thread, l.t0, l.t1, t.at)
	}
	if !t.begun && l.seq > 0 {
		t.next = uint64(l.seq)
	}
	t.begun = true
	t.next++
	if l.timed {
		if l.call.Depth == 0 { // others come before the call around them, and start after it
			t.at = l.t1
		}
		l.call.Start, l.call.End, l.call.Timed = uint64(l.t0), uint64(l.t1), true
	}
	return t.AddDescribed(&l.call)
}

// enter takes a call that had not returned, and those inside it.
func (r *reader) enter(q *rank, t *thread, l *line, since uint64) error {
	err := t.EnterDescribed(&l.call, since)
	for c := l.inner; c != nil && err == nil; c = c.inner {
		inside := uint64(0)
		if c.since != 0 {
			inside = uint64(max(c.since-q.process.Data.Start, 1))
		}
		err = t.EnterDescribed(&c.call, inside)
	}
	return err
}

// begin begins a process.
func (r *reader) begin(number int) *importer.Process {
	times := r.times
	times.Off = times.Off || !r.timed
	times.Each = times.Each && r.timed
	return importer.NewProcess(&efg.Process{Rank: number, Size: r.world}, r.names, times)
}

// end hands a process on.
func (r *reader) end(number int) error {
	q := r.ranks[number]
	p, err := q.process.Finish()
	if err != nil {
		return err
	}
	q.process, q.threads = nil, nil
	if err := export.Check(p); err != nil {
		return err
	}
	meta := r.meta
	meta.Started, meta.StatusUnknown, meta.Sites = r.began, true, r.names.Sites
	meta.Time = importer.Times{Off: true}.Text()
	if r.timed {
		meta.Time = r.times.Text()
	}
	if err := r.sink(&meta, p); err != nil {
		return &export.SinkError{Err: err}
	}
	return nil
}
