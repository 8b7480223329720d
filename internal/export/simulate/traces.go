package simulate

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// trace writes the calls of a rank as liballprof does: a line each, with its arguments between the times
// of its start and end, in µs. Addresses are 0. The first error of the output is kept for end.
type trace struct {
	out      *bufio.Writer
	members  string // of a communicator: the caller's rank and their number
	requests uint64 // the address of the last one
	now      int64  // the end of the last call, ns
}

const (
	tracePrefix = "trace-rank-"
	traceSuffix = ".txt"
	// requestBytes is how far requests are apart. Those of one MPI_Waitall follow each other.
	requestBytes = 8
	// mostBytes is the largest size.
	mostBytes = 1<<31 - 1
	// firstCollective is the first tag on communicator 0 that Schedgen uses for collective calls.
	firstCollective = 1_000_000
	// Communicators have numbers of 8 bits, and tags 23: 0 is MPI_COMM_WORLD, 1 has the messages of
	// collective calls, the others those tags for which numbers were given.
	joinedComm = 1
	namedComm  = 2
	namedBits  = 20
	joinedBits = 23
)

func traceName(rank int) string { return tracePrefix + strconv.Itoa(rank) + traceSuffix }

func newTrace(f *os.File, rank, ranks int) *trace {
	w := &trace{out: bufio.NewWriterSize(f, 1<<16), members: fmt.Sprintf(",%d,%d", rank, ranks)}
	w.call("MPI_Init", &thread{}, "0", "0")
	return w
}

// end ends the trace.
func (w *trace) end() error {
	w.call("MPI_Finalize", &thread{})
	return w.out.Flush()
}

// call writes a call of a thread. The clock of traces goes on in computation and in the calls that are
// written, and stands still in others, as unsuccessful polls: Schedgen takes all time between calls for
// computation. Of several calls that one becomes, the first has its time.
func (w *trace) call(name string, t *thread, args ...string) {
	start := w.now + t.computed
	w.now = start + t.end - t.start
	t.computed, t.start = 0, t.end
	w.out.WriteString(name + ":" + micros(start) + ":")
	for _, a := range args {
		w.out.WriteString(a + ":")
	}
	w.out.WriteString(micros(w.now) + "\n")
}

func micros(ns int64) string { return strconv.FormatFloat(float64(ns)/1e3, 'f', 3, 64) }

// Datatypes and communicators are written as their number and two more: size and extent, the caller's
// rank and the number of members.

const bytesType = "0,1,1"

func (w *trace) comm(number int64) string { return strconv.FormatInt(number, 10) + w.members }

// tag is the tag of a message, and the communicator that it is on.
func (w *trace) tag(m *message) (tag, comm string) {
	n, on := m.tag, int64(0)
	switch {
	case n >= firstJoinedTag:
		n, on = (n-firstJoinedTag)&(1<<joinedBits-1), joinedComm
	case n >= firstCollective:
		n -= firstCollective
		n, on = n&(1<<namedBits-1), namedComm+n>>namedBits
	}
	return strconv.FormatInt(n, 10), w.comm(on)
}

// data are the arguments for what is sent or received.
func data(m *message) []string {
	return []string{"0", strconv.FormatUint(m.bytes, 10), bytesType, strconv.Itoa(m.peer)}
}

func (w *trace) transfer(t *thread, list []message) {
	if len(list) > 1 {
		if w.sendrecv(t, list) {
			return
		}
		w.wait(t, []*request{w.issued(t, list)})
		return
	}
	m := &list[0]
	tag, comm := w.tag(m)
	args := append(data(m), tag, comm)
	if m.sends {
		w.call("MPI_Send", t, args...)
	} else {
		w.call("MPI_Recv", t, append(args, "0")...)
	}
}

// sendrecv writes two messages as one call; false if they are not a pair for which Schedgen does, which
// takes both tags for equal.
func (w *trace) sendrecv(t *thread, list []message) bool {
	s, r := &list[0], &list[1]
	if len(list) != 2 || !s.sends || r.sends || s.tag != r.tag {
		return false
	}
	tag, comm := w.tag(s)
	w.call("MPI_Sendrecv", t, append(append(append(data(s), tag), data(r)...), tag, comm, "0")...)
	return true
}

func (w *trace) issue(t *thread, list []message, r *request) {
	for i := range list {
		m := &list[i]
		name := "MPI_Irecv"
		if m.sends {
			name = "MPI_Isend"
		}
		w.requests += requestBytes
		r.marks = append(r.marks, w.requests)
		tag, comm := w.tag(m)
		w.call(name, t, append(data(m), tag, comm, strconv.FormatUint(w.requests, 10))...)
	}
}

// issued writes messages of a new request.
func (w *trace) issued(t *thread, list []message) *request {
	r := &request{}
	w.issue(t, list, r)
	return r
}

// join writes the calls that Schedgen knows by name. Of others, the messages of a round wait for those
// before, unless the call only begins: a trace goes on with it at no other time.
func (w *trace) join(t *thread, c *collective, r *request) {
	if r != nil {
		for _, list := range c.rounds {
			w.issue(t, list, r)
		}
		return
	}
	if c.whole && w.named(t, c) {
		return
	}
	for _, list := range c.rounds {
		w.wait(t, []*request{w.issued(t, list)})
	}
}

// named writes a call by its name; false if Schedgen does not know it.
func (w *trace) named(t *thread, c *collective) bool {
	bytes, root, comm := strconv.FormatUint(c.bytes, 10), strconv.Itoa(c.root), w.comm(0)
	name := c.plan.name
	switch name {
	case "MPI_Barrier":
		w.call(name, t, comm)
	case "MPI_Bcast":
		w.call(name, t, "0", bytes, bytesType, root, comm)
	case "MPI_Reduce":
		w.call(name, t, "0", "0", bytes, bytesType, "0", root, comm)
	case "MPI_Allreduce":
		w.call(name, t, "0", "0", bytes, bytesType, "0", comm)
	case "MPI_Allgather", "MPI_Alltoall":
		w.call(name, t, "0", bytes, bytesType, "0", bytes, bytesType, comm)
	default:
		return false
	}
	return true
}

func (w *trace) wait(t *thread, list []*request) {
	var waited []uint64
	for _, r := range list {
		waited = append(waited, r.marks...)
	}
	slices.Sort(waited)
	n := uint64(len(waited))
	switch {
	case n == 0:
	case n > 1 && waited[n-1]-waited[0] == (n-1)*requestBytes:
		w.call("MPI_Waitall", t, strconv.FormatUint(n, 10), strconv.FormatUint(waited[0], 10), "0")
	default:
		for _, at := range waited {
			w.call("MPI_Wait", t, strconv.FormatUint(at, 10), "0")
		}
	}
}

// OwnsLiballprof reports whether a directory was written by WriteLiballprof, and may be replaced: it has nothing
// but traces.
func OwnsLiballprof(dir string) bool {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return false
	}
	for _, e := range entries {
		if name := e.Name(); !strings.HasPrefix(name, tracePrefix) || !strings.HasSuffix(name, traceSuffix) {
			return false
		}
	}
	_, err = os.Stat(filepath.Join(dir, traceName(0)))
	return err == nil
}
