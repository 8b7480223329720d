// Package chrome writes a run in the JSON format of Chrome's trace viewer, which speedscope and
// Perfetto read, too: for small parts of runs, because it is large. A rank is a process, a call a
// complete event ("X"), a flow a pair of events ("s" and "f"); see package slices.
package chrome

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/efg-tools/efg/internal/export"
	"github.com/efg-tools/efg/internal/export/slices"
)

// Write writes about most slices, see slices.Write.
func Write(out io.Writer, job *export.Job, most uint64) (resolution int64, err error) {
	w := &writer{out: bufio.NewWriterSize(out, 1<<16), rank: -1 << 31}
	w.b = append(w.b, `{"displayTimeUnit":"ns","traceEvents":[`...)
	resolution, err = slices.Write(job, most, w)
	w.b = append(w.b, "\n]}\n"...)
	return resolution, errors.Join(err, w.flush(), w.out.Flush())
}

type writer struct {
	out   *bufio.Writer
	b     []byte
	some  bool // an event was written
	track slices.Track
	// regions: the track of the thread's regions was named.
	regions bool
	rank    int
}

func (w *writer) flush() error {
	_, err := w.out.Write(w.b)
	w.b = w.b[:0]
	return err
}

// begin begins an event: its phase and the track, which all have.
func (w *writer) begin(phase string) {
	if w.some {
		w.b = append(w.b, ',')
	}
	w.some = true
	w.b = fmt.Appendf(w.b, "\n"+`{"ph":"%s","pid":%d,"tid":%d`, phase, w.track.Rank, w.track.Thread)
}

// Track implements slices.Sink.
func (w *writer) Track(t *slices.Track) error {
	w.track, w.regions = *t, false
	if w.rank != t.Rank {
		w.rank = t.Rank
		name := fmt.Sprintf("rank %d", t.Rank)
		if t.Host != "" {
			name += " on " + t.Host
		}
		w.name("process_name", name)
	}
	w.name("thread_name", fmt.Sprintf("thread %d", t.Thread))
	return w.flush()
}

func (w *writer) name(what, name string) {
	w.begin("M")
	w.b = append(w.b, `,"name":"`+what+`","args":{"name":`...)
	w.text(name)
	w.b = append(w.b, "}}"...)
}

// Slice implements slices.Sink.
func (w *writer) Slice(s *slices.Slice) error {
	w.begin("X")
	w.b = append(w.b, `,"name":`...)
	w.text(s.Name)
	w.b = append(w.b, `,"cat":`...)
	w.text(s.Class)
	w.time("ts", s.Start)
	w.time("dur", s.End-s.Start)
	w.arguments(s)
	w.b = append(w.b, '}')
	for _, f := range s.Begin {
		w.flow("s", f, s.Start)
	}
	for _, f := range s.Finish {
		w.flow("f", f, s.End)
	}
	return w.flush()
}

// arguments appends what is known of a call.
func (w *writer) arguments(s *slices.Slice) {
	w.b = append(w.b, `,"args":{"calls":`...)
	w.b = strconv.AppendUint(w.b, s.Calls, 10)
	if s.Calls == 1 {
		w.integer(true, "seq", int64(s.Seq))
		for _, v := range [][2]string{{"site", s.Site}, {"func", s.Func}, {"comm", s.Comm}, {"datatype", s.Datatype}, {"error", s.Error}} {
			if v[1] != "" {
				w.b = append(w.b, `,"`+v[0]+`":`...)
				w.text(v[1])
			}
		}
	}
	if s.Path != "" { // of one call
		w.b = append(append(w.b, `,"path":`...), s.Path...)
	}
	w.integer(s.HasPeer, "peer", int64(s.Peer))
	w.integer(s.HasTag, "tag", s.Tag)
	w.integer(s.HasCount, "count", s.Count)
	w.integer(s.HasSize, "sent", int64(s.Sent))
	w.integer(s.HasSize, "received", int64(s.Received))
	if s.Unfinished {
		w.b = append(w.b, `,"returned":false`...)
	}
	if len(s.Args) > 0 {
		w.b = append(append(w.b, `,"args":`...), s.Args...)
		w.b = append(append(w.b, `,"out":`...), s.Out...)
	}
	w.b = append(w.b, '}')
}

func (w *writer) integer(known bool, name string, v int64) {
	if known {
		w.b = strconv.AppendInt(append(w.b, `,"`+name+`":`...), v, 10)
	}
}

// time appends ns as µs. Times before the run began are 0.
func (w *writer) time(name string, ns int64) {
	ns = max(ns, 0)
	w.b = fmt.Appendf(w.b, `,"%s":%d.%03d`, name, ns/1000, ns%1000)
}

// flow appends one end of a flow. Numbers of flows may exceed what JavaScript's have exactly.
func (w *writer) flow(phase string, id uint64, at int64) {
	w.begin(phase)
	w.b = fmt.Appendf(w.b, `,"name":"flow","cat":"flow","id":"%x"`, id)
	if phase == "f" {
		w.b = append(w.b, `,"bp":"e"`...)
	}
	w.time("ts", at)
	w.b = append(w.b, '}')
}

// regionsTrack is what is added to the number of a thread for that of the track of its regions.
const regionsTrack = 1 << 20

// Enter implements slices.Sink.
func (w *writer) Enter(name string, at int64) error {
	track := w.track
	w.track.Thread += regionsTrack
	defer func() { w.track = track }()
	if !w.regions {
		w.regions = true
		w.name("thread_name", fmt.Sprintf("regions of thread %d", track.Thread))
	}
	w.begin("B")
	w.b = append(w.b, `,"name":`...)
	w.text(name)
	w.b = append(w.b, `,"cat":"region"`...)
	w.time("ts", at)
	w.b = append(w.b, '}')
	return w.flush()
}

// Leave implements slices.Sink.
func (w *writer) Leave(at int64) error {
	track := w.track
	w.track.Thread += regionsTrack
	defer func() { w.track = track }()
	w.begin("E")
	w.time("ts", at)
	w.b = append(w.b, '}')
	return w.flush()
}

// Counter implements slices.Sink.
func (w *writer) Counter(at int64, c *slices.Counter, value uint64) error {
	w.begin("C")
	w.b = append(w.b, `,"name":`...)
	w.text(c.Name)
	w.b = fmt.Appendf(w.b, `,"id":"%d.%d"`, w.track.Rank, w.track.Thread)
	w.time("ts", at)
	w.b = append(w.b, `,"args":{`...)
	w.text(cmp.Or(c.Unit, "count"))
	w.b = fmt.Appendf(w.b, `:%d}}`, value)
	return w.flush()
}

func (w *writer) text(s string) {
	text, err := json.Marshal(s)
	if err != nil {
		text = []byte(`""`)
	}
	w.b = append(w.b, text...)
}
