package simulate

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/efg-tools/efg/internal/export"
)

const (
	// SimGridList is the file that names the traces, one a rank, in the order of ranks. The names are
	// relative to its directory, which has to be smpirun's working directory.
	SimGridList   = "traces.txt"
	actionsPrefix = "rank"
	actionsSuffix = ".trace"
)

func actionsName(rank int) string { return actionsPrefix + strconv.Itoa(rank) + actionsSuffix }

// WriteSimGrid writes a run as SimGrid's time-independent traces into a directory that exists and is empty.
// Errors are those of WriteGOAL.
func WriteSimGrid(dir string, job *export.Job) error {
	x := newExporter(job, firstNamedTag, mostElements*doubleSize)
	x.action, x.named = simGridAction, make([]uint64, x.ranks)
	var list strings.Builder
	for rank := range x.ranks {
		list.WriteString(actionsName(rank) + "\n")
	}
	err := x.processes(func(rank, threads int) (writer, func() error, error) {
		if threads > 1 {
			return nil, nil, fmt.Errorf("a process with several threads that call MPI %w in a trace that is one list of calls: goal has them", ErrUnsuitable)
		}
		f, err := os.Create(filepath.Join(dir, actionsName(rank)))
		if err != nil {
			return nil, nil, err
		}
		w := &actions{out: bufio.NewWriterSize(f, 1<<16), rank: rank}
		w.act(&thread{}, "init")
		return w, func() error {
			w.act(&thread{}, "finalize")
			return errors.Join(w.out.Flush(), f.Close())
		}, nil
	})
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, SimGridList), []byte(list.String()), 0o644)
}

// actions writes what a process does as SimGrid's actions. The first error of the output is kept for Flush.
type actions struct {
	out  *bufio.Writer
	rank int
	line []byte
}

// act writes an action, and the computation before it: a flop for each nanosecond.
func (w *actions) act(t *thread, action string, args ...int64) {
	if t.computed > 0 {
		computed := t.computed
		t.computed = 0
		w.act(t, "compute", computed)
	}
	b := strconv.AppendInt(w.line[:0], int64(w.rank), 10)
	b = append(append(b, ' '), action...)
	for _, a := range args {
		b = strconv.AppendInt(append(b, ' '), a, 10)
	}
	w.line = append(b, '\n')
	w.out.Write(w.line)
}

// message writes that a message is sent or received by an action.
func (w *actions) message(t *thread, m *message, action string) {
	counts, datatype, _ := elements(m.bytes)
	w.act(t, action, int64(m.peer), m.tag, counts[0], datatype)
}

// begin writes that a message is sent or received, and that what follows need not wait for that.
func (w *actions) begin(t *thread, m *message) {
	if m.sends {
		w.message(t, m, "isend")
	} else {
		w.message(t, m, "irecv")
	}
}

// await waits for a message that was begun.
func (w *actions) await(t *thread, m *message) {
	from, to := int64(w.rank), int64(m.peer)
	if !m.sends {
		from, to = to, from
	}
	w.act(t, "wait", from, to, m.tag)
}

func (w *actions) transfer(t *thread, list []message) {
	switch m := &list[0]; {
	case len(list) > 1:
		for i := range list {
			w.begin(t, &list[i])
		}
		for i := range list {
			w.await(t, &list[i])
		}
	case m.sends:
		w.message(t, m, "send")
	default:
		w.message(t, m, "recv")
	}
}

// Marks of requests are what identifies a message of the rank: its peer, tag, and whether it is sent.

func markOf(m *message) uint64 {
	mark := uint64(m.peer)<<32 | uint64(m.tag)<<1
	if m.sends {
		mark |= 1
	}
	return mark
}

func marked(mark uint64) message {
	return message{sends: mark&1 != 0, peer: int(mark >> 32), tag: int64(mark & (1<<32 - 1) >> 1)}
}

func (w *actions) issue(t *thread, list []message, r *request) {
	for i := range list {
		w.begin(t, &list[i])
		r.marks = append(r.marks, markOf(&list[i]))
	}
}

// join writes the action of a call that has one. Of others, the messages of a round wait for those before,
// unless the call only begins: a trace goes on with it at no other time.
func (w *actions) join(t *thread, c *collective, r *request) {
	switch {
	case r != nil:
		for _, list := range c.rounds {
			w.issue(t, list, r)
		}
	case c.action != "":
		w.act(t, c.action)
	default:
		for _, list := range c.rounds {
			w.transfer(t, list)
		}
	}
}

func (w *actions) wait(t *thread, list []*request) {
	for _, r := range list {
		for _, mark := range r.marks {
			m := marked(mark)
			w.await(t, &m)
		}
	}
}

const (
	// Sizes are in elements of these datatypes of SimGrid.
	byteType   = 6
	doubleType = 0
	doubleSize = 8
	// mostElements is the largest count.
	mostElements = 1<<31 - 1
)

// elements converts sizes in bytes to numbers of elements of one datatype; false if one is too large.
func elements(bytes ...uint64) (counts []int64, datatype int64, ok bool) {
	unit := uint64(1)
	datatype = byteType
	for _, n := range bytes {
		if n > mostElements {
			unit, datatype = doubleSize, doubleType
		}
		if n > mostElements*doubleSize {
			return nil, 0, false
		}
	}
	for _, n := range bytes {
		counts = append(counts, int64((n+unit-1)/unit))
	}
	return counts, datatype, true
}

// OwnsSimGrid reports whether a directory was written by WriteSimGrid, and may be replaced: it has nothing but
// traces and their list.
func OwnsSimGrid(dir string) bool {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return false
	}
	foreign := func(e os.DirEntry) bool {
		name := e.Name()
		return name != SimGridList && !(strings.HasPrefix(name, actionsPrefix) && strings.HasSuffix(name, actionsSuffix))
	}
	_, err = os.Stat(filepath.Join(dir, SimGridList))
	return err == nil && !slices.ContainsFunc(entries, foreign)
}
