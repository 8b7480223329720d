package gxl

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/text"
	"github.com/efg-tools/efg/internal/export"
	"github.com/efg-tools/efg/signature"
)

// process begins the next process.
func (r *reader) process(o *object) error {
	if err := r.endProcess(); err != nil {
		return err
	}
	f := &fields{o: o}
	r.proc = &efg.Process{
		Rank: int(f.int("rank", 32, -1)), Size: int(f.int("size", 32, 0)), World: f.word("world"), PID: int(f.int("pid", 64, 0)),
		Host: f.text("host"), MPI: f.text("mpi"), Command: f.list("command"),
		Start: f.int("start", 64, -1<<63), Began: f.int("began", 64, -1<<63), Mono: f.int("mono", 64, -1<<63), Gone: f.uint("gone", 61),
	}
	if o.find("anchors") != nil {
		for _, s := range f.list("anchors") {
			a, err := text.ParseAnchor(s)
			if err != nil {
				return err
			}
			r.proc.Anchors = append(r.proc.Anchors, a)
		}
	}
	r.procs++
	return f.err
}

// endProcess checks the process that the preceding objects described.
func (r *reader) endProcess() error {
	if r.proc == nil {
		return nil
	}
	for _, s := range r.streams {
		done, err := s.Finish()
		if err != nil {
			return r.errorf("process %d: %w", r.procs-1, err)
		}
		r.proc.Streams = append(r.proc.Streams, *done)
	}
	if r.defs != nil {
		r.proc.Defs = r.defs.List
	}
	if err := export.Check(r.proc); err != nil {
		return r.errorf("process %d: %w", r.procs-1, err)
	}
	if err := r.sink(&r.about, r.proc); err != nil {
		return &export.SinkError{Err: err}
	}
	r.proc, r.defs, r.streams = nil, nil, nil
	return nil
}

var errOrder = errors.New("there is nothing before that it could belong to")

func (r *reader) definition(o *object) error {
	if r.proc == nil || r.defs != nil {
		return errOrder
	}
	f := &fields{o: o}
	kind, err := text.ParseKind(f.text("kind"))
	if err != nil {
		return err
	}
	d := efg.Def{Kind: kind, Word: f.word("word"), Words: f.words("words")}
	if data := f.text("data"); data != "" {
		d.Data = []byte(data)
	}
	r.proc.Defs = append(r.proc.Defs, d)
	return f.err
}

// stream begins the next stream of the process.
func (r *reader) stream(o *object) error {
	if r.proc == nil {
		return errOrder
	}
	if r.defs == nil {
		r.defs = efg.NewDefinitions(r.proc.Defs)
	}
	f := &fields{o: o}
	head := efg.Stream{Thread: uint32(f.uint("thread", 32)), Events: f.uint("events", 64), Dropped: f.uint("dropped", 64)}
	end, err := text.ParseEnd(f.text("end"))
	if err != nil {
		return err
	}
	head.End = end
	hash := o.find("hash") != nil
	if hash {
		head.Hash = f.word("hash")
	}
	if o.find("error") != nil {
		head.Trace = &efg.Trace{Error: uint32(f.uint("error", 32)), Bound: f.uint("bound", 64), Begin: f.uint("begin", 64)}
		if o.find("untimed") != nil {
			head.Trace.Untimed = f.uint("untimed", 64)
		}
	}
	if o.find("entered") != nil {
		head.Pending = &efg.Pending{Words: f.words("entered"), Since: f.uint("since", 64)}
		head.Pending.Inner = f.inside()
	}
	if f.err != nil {
		return f.err
	}
	s, err := export.NewStream(head, hash, r.defs)
	r.streams = append(r.streams, s)
	return err
}

// signature adds a node to the stream.
func (r *reader) signature(o *object) error {
	if len(r.streams) == 0 {
		return errOrder
	}
	f := &fields{o: o}
	n := efg.Node{Counted: f.uint("counted", 64)}
	for i, s := range f.list("words") {
		w := uint64(0)
		if s == "*" && i < signature.MaxWords {
			n.Mask |= 1 << i
		} else {
			var err error
			if w, err = text.ParseWord(s); err != nil {
				return err
			}
		}
		n.Words = append(n.Words, w)
	}
	if o.find("timed") != nil {
		n.Stats = &efg.Stats{Count: f.uint("timed", 64)}
		var err error
		if n.Stats.Dur, err = export.ParseInterval(f.text("durations")); err != nil {
			return err
		}
		if n.Stats.Gap, err = export.ParseInterval(f.text("gaps")); err != nil {
			return err
		}
	}
	if f.err != nil {
		return f.err
	}
	return r.streams[len(r.streams)-1].AddNode(n)
}

// event adds an event to the stream of its signature, PROCESS.STREAM.NODE.
func (r *reader) event(o *object, signature string) error {
	parts := strings.Split(signature, ".")
	if len(parts) != 3 {
		return fmt.Errorf("%.40q is no signature", signature)
	}
	var at [3]int
	for i := range at {
		v, err := strconv.ParseUint(parts[i], 10, 31)
		if err != nil {
			return fmt.Errorf("%.40q is no signature", signature)
		}
		at[i] = int(v)
	}
	if at[0] != r.procs-1 || r.proc == nil || at[1] >= len(r.streams) {
		return fmt.Errorf("signature %s is not one of the process that was described last", signature)
	}
	s := r.streams[at[1]]
	if err := r.readValues(o, s, at[2]); err != nil {
		return err
	}
	if err := s.Add(at[2], r.values); err != nil {
		return err
	}
	a := o.find("efg.times")
	if a == nil {
		return nil
	}
	gap, dur, err := text.ParsePair(a.text)
	if err != nil {
		return fmt.Errorf("times: %w", err)
	}
	return s.AddTimes(at[2], gap, dur)
}

// readValues reads the values that an event's signature leaves open.
func (r *reader) readValues(o *object, s *export.Stream, node int) error {
	r.values = r.values[:0]
	a := o.find("efg.values")
	if a == nil {
		return nil
	}
	for _, v := range a.list {
		var value export.Value
		var err error
		if list, ok := strings.CutPrefix(v, "["); ok {
			value.Elems, err = parseElements(strings.TrimSuffix(list, "]"))
		} else {
			value.Word, err = text.ParseWord(v)
		}
		if err != nil {
			return err
		}
		r.values = append(r.values, value)
	}
	return nil
}

func parseElements(s string) ([]uint64, error) {
	list := []uint64{}
	for _, v := range strings.Fields(s) {
		w, err := text.ParseWord(v)
		if err != nil {
			return nil, err
		}
		list = append(list, w)
	}
	return list, nil
}
