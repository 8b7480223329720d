// Package merge merges the recordings of one launch: run files of many nodes, or segments of
// many processes. It works alone, or shares the work with other processes that a launcher
// started with the same arguments.
//
// The inputs are divided into chunks. A worker merges each of its chunks into a part, in a
// directory that all workers see; worker 0 then merges the parts into the run file. A restarted
// merge reuses existing parts. That the result depends on the recordings alone, not on how they
// are grouped, is a property of efg.EncodeMerged. What one worker can hold in memory becomes a
// run file at once.
//
// Every recording ends here: that of efg run, that of a daemon, and efg merge.
package merge

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/durable"
)

// Options say how to merge.
type Options struct {
	Output     string
	SkipBroken bool // omit inputs that cannot be read
	Discard    bool // leave nothing behind after a failed merge, not even reusable parts
	Tool       string
	// Launcher and Status say how the segments' processes were started and ended, as known to a
	// daemon, see efg.Meta; other files contain them. A nil Status is unknown.
	Launcher []string
	Status   *int
	// Processors are those of the segments' machine, see efg.Meta; nil: not known.
	Processors []string
	// Ended is when processes that did not end regularly were gone, or were last seen, in Unix
	// nanoseconds; 0 if unknown.
	Ended int64
	// Gone is when the processes of segments, by path, were seen to have ended: ns of this machine's CLOCK_MONOTONIC.
	Gone map[string]uint64
	// Recorded, if not nil, is what is known about the run by whoever recorded the segments:
	// they are those of all its processes, no one else merges them, and they need not contain
	// what the run was recorded with. If it has no end time, that is the last heartbeat. Worlds
	// with one ID get different ones.
	Recorded *runfile.Meta
	// Worker is this process's number among Workers. Worker 0 writes the output.
	Worker, Workers int
	// Log, if not nil, is called with progress messages, one line at a time.
	Log func(line string)

	timing timing
	limits limits
}

// Result describes what was merged.
type Result struct {
	Written   bool // the output; written by worker 0
	Files     int  // number of merged files
	Processes int
	Events    uint64
	Dropped   uint64   // events that were not recorded for lack of space
	LeftOut   []string // inputs, and why
	Running   []string // segments of processes that are still running
}

// merger is one worker.
type merger struct {
	opt    Options
	plan   *plan
	work   string // the work directory
	places places
	worlds map[string]uint64 // by segment, if segments do not distinguish worlds
	wrote  runfile.Totals    // of the last file
}

// Run merges files, and those in directories.
func Run(args []string, opt Options) (*Result, error) {
	if opt.Workers < 1 || opt.Worker < 0 || opt.Worker >= opt.Workers {
		return nil, &ArgumentError{fmt.Errorf("worker %d of %d", opt.Worker, opt.Workers)}
	}
	if st, err := os.Stat(opt.Output); err == nil && !st.Mode().IsRegular() {
		return nil, argumentError(opt.Output, errNotRegular)
	}
	opt.timing, opt.limits = opt.timing.orDefault(), opt.limits.orDefault()
	inputs, err := findInputs(args, opt.Output)
	if err != nil {
		return nil, err
	}
	if len(inputs) == 0 {
		return nil, &ArgumentError{errors.New("nothing to merge")}
	}
	p, err := newPlan(inputs, &opt)
	if err != nil {
		return nil, err
	}
	m := &merger{opt: opt, plan: p, places: newPlaces()}
	if opt.Recorded != nil {
		m.worlds = nameWorlds(inputs)
	}
	if opt.Worker > 0 {
		return &Result{}, m.help()
	}
	return m.lead()
}

func (m *merger) log(format string, args ...any) {
	if m.opt.Log != nil {
		m.opt.Log(fmt.Sprintf(format, args...))
	}
}

// lead is worker 0: it ensures that all chunks are merged, and writes the output.
func (m *merger) lead() (result *Result, err error) {
	begin := durable.Begin
	if m.opt.Recorded != nil {
		begin = durable.Create
	}
	out, err := begin(m.opt.Output)
	switch {
	case errors.Is(err, durable.ErrBusy):
		return nil, fmt.Errorf("%s: %w", m.opt.Output, err)
	case err != nil:
		return nil, argumentError(m.opt.Output, err)
	}
	defer out.Discard()
	if m.opt.Discard {
		defer func() {
			if err != nil {
				m.cleanUp()
			}
		}()
	}
	if m.fitsInMemory() {
		result, err = m.makeAtOnce(out)
	} else {
		result, err = m.makeOfChunks(out)
	}
	if err == nil {
		m.cleanUp()
	}
	return result, err
}

// fitsInMemory reports whether the output can be written without parts.
func (m *merger) fitsInMemory() bool {
	return len(m.plan.chunks) == 1 && m.plan.chunks[0].kind == segmentFile && m.opt.Workers == 1
}

// makeAtOnce writes the output from the segments of the only chunk.
func (m *merger) makeAtOnce(out *durable.File) (*Result, error) {
	o, err := m.makeOfSegments(&m.plan.chunks[0], out, (*runfile.Writer).EncodeRun)
	if err != nil {
		return nil, err
	}
	if !o.HasPart {
		return nil, &allInputsBroken{o.LeftOut}
	}
	result := &Result{LeftOut: o.LeftOut, Running: o.Running}
	m.describe(result)
	return result, nil
}

// makeOfChunks writes the output from the chunks' parts.
func (m *merger) makeOfChunks(out *durable.File) (*Result, error) {
	if err := m.makeWorkDir(); err != nil {
		return nil, err
	}
	if err := m.leadChunks(); err != nil {
		m.dropUseless()
		return nil, err
	}
	return m.finish(out)
}

// finish writes the output from the parts.
func (m *merger) finish(out *durable.File) (*Result, error) {
	result := &Result{}
	var parts []string
	origin := map[string]*chunk{} // chunk of a part in the work directory
	for i := range m.plan.chunks {
		c := &m.plan.chunks[i]
		if m.isDirect(c) {
			parts = append(parts, c.paths()...)
			continue
		}
		o, ok := m.finished(c)
		if !ok {
			return nil, fmt.Errorf("%s: a finished part is gone", m.partFile(c))
		}
		result.LeftOut = append(result.LeftOut, o.LeftOut...)
		result.Running = append(result.Running, o.Running...)
		if o.HasPart {
			parts = append(parts, m.partFile(c))
			origin[m.partFile(c)] = c
		}
	}
	left, err := m.write(out, parts, (*runfile.Writer).EncodeMerged)
	if err != nil {
		return nil, explain(err, origin)
	}
	result.LeftOut = append(result.LeftOut, left...)
	if len(left) == len(parts) {
		return nil, &allInputsBroken{result.LeftOut}
	}
	m.describe(result)
	return result, nil
}

// write writes a run file from parts. Inputs that cannot be read are omitted if that was
// requested; if none remain, there is no file.
func (m *merger) write(out *durable.File, parts []string, encode func(*runfile.Writer, io.Writer, []string) error) (left []string, err error) {
	for len(parts) > 0 {
		var rw runfile.Writer
		err := out.Write(func(w io.Writer) error { return encode(&rw, w, parts) }, rw.ReadBack)
		var broken *runfile.PartError
		if !m.opt.SkipBroken || !errors.As(err, &broken) {
			m.wrote = rw.Totals()
			return left, err
		}
		left = append(left, broken.Error())
		parts = slices.DeleteFunc(slices.Clone(parts), func(p string) bool { return p == broken.Part })
	}
	return left, nil
}

// allInputsBroken reports that all inputs are broken.
type allInputsBroken struct{ leftOut []string }

func (e *allInputsBroken) Error() string {
	return "nothing is left to merge: " + strings.Join(e.leftOut, "; ")
}

// explain names inputs instead of the parts that were made from them.
func explain(err error, origin map[string]*chunk) error {
	var different *runfile.DifferentError
	var duplicate *runfile.DuplicateError
	switch {
	case errors.As(err, &different):
		e := *different
		for i, p := range e.Parts {
			if c := origin[p]; c != nil {
				e.Parts[i] = c.inputs[0].path // any of them will do
			}
		}
		return &ArgumentError{&e}
	case errors.As(err, &duplicate):
		for _, p := range duplicate.Parts {
			if origin[p] != nil {
				err = fmt.Errorf("%s is in several parts", duplicate.Process())
			}
		}
		return &ArgumentError{err}
	}
	return err
}

// describe adds a description of the output, which was written last.
func (m *merger) describe(result *Result) {
	result.Written = true
	result.Files = len(m.plan.inputs) - len(result.LeftOut)
	result.Processes, result.Events, result.Dropped = m.wrote.Processes, m.wrote.Events, m.wrote.Dropped
}
