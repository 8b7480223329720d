package jsonl

import (
	"errors"
	"fmt"
	"math"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/internal/importer"
	"github.com/efg-tools/efg/signature"
)

// line is a line of a file: a call, one that had not returned, a definition, or what is said of the
// run.
type line struct {
	rank    int
	thread  uint32
	seq     int64 // -1 if it has none
	call    importer.Described
	t0, t1  int64
	timed   bool
	entered bool
	since   int64 // Unix ns of a call that had not returned
	inner   *line // the call inside it, which had not returned, either
	path    *callPath

	define string // name of a handle
	fields *importer.Value
	run    *importer.Value
}

// parseLine reads a line.
func parseLine(b []byte) (*line, error) {
	v, err := importer.ParseValue(b)
	if err != nil {
		return nil, err
	}
	if v.Kind != importer.Object {
		return nil, errors.New("want an object")
	}
	l := &line{seq: -1}
	if d := v.Member("define"); d != nil {
		l.define, l.fields = d.Text, &v
		return l, nil
	}
	if l.run = v.Member("run"); l.run != nil {
		return l, nil
	}
	if v.Member("rank") == nil {
		return nil, errors.New("no rank")
	}
	entered := v.Member("entered")
	if err := l.members(&v); err != nil {
		return nil, err
	}
	if entered != nil {
		if l.entered = true; entered.Kind != importer.Object {
			return nil, errors.New("entered: want an object")
		}
		if err := l.members(entered); err != nil {
			return nil, err
		}
		if err := l.inside(entered, 1); err != nil {
			return nil, err
		}
	}
	if l.call.Op == "" {
		return nil, errors.New("no op")
	}
	return l, nil
}

// inside reads the calls inside one that had not returned, which is at a depth.
func (l *line) inside(entered *importer.Value, depth int) error {
	inner := entered.Member("inner")
	if inner == nil {
		return nil
	}
	if depth == efg.MaxPending {
		return fmt.Errorf("more than %d calls inside each other", efg.MaxPending)
	}
	l.inner = &line{rank: l.rank, thread: l.thread}
	if err := l.inner.members(inner); err != nil {
		return err
	}
	if l.inner.call.Op == "" {
		return errors.New("inner: no op")
	}
	return l.inner.inside(inner, depth+1)
}

// members reads the members of a call.
func (l *line) members(v *importer.Value) error {
	times := 0
	var path *importer.Value
	for i := range v.Members {
		m := &v.Members[i]
		if want, ok := kinds[m.Name]; !ok {
			return fmt.Errorf("unknown member %.40q", m.Name)
		} else if m.Value.Kind != want {
			return fmt.Errorf("%s: want %s", m.Name, kindNames[want])
		}
		n := m.Value.Number
		switch m.Name {
		case "rank":
			if l.rank = int(n); n < -1 || n > maxRank {
				return fmt.Errorf("rank %d", n)
			}
		case "thread":
			if l.thread = uint32(n); n < 0 || n >= 1<<signature.ThreadBits {
				return fmt.Errorf("thread %d", n)
			}
		case "seq":
			l.seq = n
		case "op":
			l.call.Op = m.Value.Text
		case "args":
			l.call.Args = &m.Value
		case "out":
			l.call.Out = &m.Value
		case "site":
			l.call.Place = m.Value.Text
		case "function":
			l.call.Function = m.Value.Text
		case "path":
			path = &m.Value
		case "t0":
			l.t0, times = n, times+1
		case "t1":
			l.t1, times = n, times+1
		case "since":
			l.since = n
		case "pmpi":
			l.call.ByPMPI = n != 0
		case "depth":
			if l.call.Depth = int(n); n < 0 || n > signature.MaxDepth {
				return fmt.Errorf("depth %d: want 0 to %d", n, signature.MaxDepth)
			}
		case "inside": // it follows from the depths
		case "counters": // sums of nodes would be missing
		case "lang":
			lang, ok := importer.Languages[m.Value.Text]
			if !ok {
				return fmt.Errorf("lang %.40q: want c, mpif.h or mpi_f08", m.Value.Text)
			}
			l.call.Lang = lang
		}
	}
	if path != nil {
		var err error
		if l.path, err = parsePath(path, l.call.Place, l.call.Function); err != nil {
			return err
		}
	}
	if times == 1 {
		return errors.New("want both t0 and t1, or none")
	}
	l.timed = l.timed || times == 2
	if l.timed && (l.t0 < 0 || l.t1 < l.t0 || l.t1 > math.MaxInt64/4) {
		return fmt.Errorf("a call from %d to %d", l.t0, l.t1)
	}
	return nil
}

// kinds are the members of a call.
var kinds = map[string]importer.ValueKind{
	"rank": importer.Number, "thread": importer.Number, "seq": importer.Number, "op": importer.Text, "args": importer.Object,
	"out": importer.Object, "site": importer.Text, "function": importer.Text, "path": importer.List, "t0": importer.Number, "t1": importer.Number,
	"since": importer.Number, "pmpi": importer.Number, "depth": importer.Number, "inside": importer.Number, "lang": importer.Text, "counters": importer.Object, "entered": importer.Object, "inner": importer.Object,
}

var kindNames = map[importer.ValueKind]string{importer.Number: "an integer", importer.Text: "a string", importer.List: "an array", importer.Object: "an object"}
