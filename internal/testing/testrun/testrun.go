// Package testrun makes runs for the tests of packages that read them: from processes that a
// test has made, from simulated programs, from programs that are recorded with each MPI, and
// from those that package text keeps.
package testrun

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/efg/text"
	"github.com/efg-tools/efg/internal/testing/sim"
	"github.com/efg-tools/efg/reconstruct"
)

// Open opens a run file until the test ends.
func Open(tb testing.TB, file string) *runfile.Run {
	tb.Helper()
	run, err := runfile.OpenRun(file)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { run.Close() })
	return run
}

// Encode returns the run file of processes.
func Encode(tb testing.TB, procs []*efg.Process, meta runfile.Meta) []byte {
	tb.Helper()
	var file bytes.Buffer
	if err := runfile.EncodeRun(&file, procs, meta); err != nil {
		tb.Fatal(err)
	}
	return file.Bytes()
}

// Decode reads a run file.
func Decode(tb testing.TB, file []byte) *runfile.Run {
	tb.Helper()
	run, err := runfile.NewRun(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		tb.Fatal(err)
	}
	return run
}

// Of returns a run of processes.
func Of(tb testing.TB, procs []*efg.Process, meta runfile.Meta) *runfile.Run {
	tb.Helper()
	return Decode(tb, Encode(tb, procs, meta))
}

// Simulated returns a run of a simulated program.
func Simulated(tb testing.TB, c sim.Config) *runfile.Run {
	tb.Helper()
	return simulated(tb, c, nil)
}

// SimulatedFile returns the run file of a simulated program.
func SimulatedFile(tb testing.TB, c sim.Config) []byte {
	tb.Helper()
	var procs []*efg.Process
	for p, err := range c.All(1) {
		if err != nil {
			tb.Fatal(err)
		}
		procs = append(procs, p)
	}
	meta, err := c.Meta()
	if err != nil {
		tb.Fatal(err)
	}
	return Encode(tb, procs, meta)
}

// Traced is Simulated with the time of each call: event n of a stream lasts about 400 ns, and
// begins 600 ns after the previous one.
func Traced(tb testing.TB, c sim.Config) *runfile.Run {
	tb.Helper()
	return simulated(tb, c, func(p *efg.Process) error {
		ns := uint64(400)
		return sim.GiveTimes(p, func() uint64 { return 0 }, func() uint64 {
			ns = 1000 - ns
			return ns
		})
	})
}

func simulated(tb testing.TB, c sim.Config, times func(p *efg.Process) error) *runfile.Run {
	tb.Helper()
	run, err := c.Run(times)
	if err != nil {
		tb.Fatal(err)
	}
	return run
}

// Texts returns the run files of recorded programs that a directory holds as text, by name.
func Texts(tb testing.TB, dir string) map[string][]byte {
	tb.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*.txt"))
	if err != nil || len(paths) < 5 {
		tb.Fatalf("%v: %v", paths, err)
	}
	files := map[string][]byte{}
	for _, path := range paths {
		files[strings.TrimSuffix(filepath.Base(path), ".txt")] = Text(tb, path)
	}
	return files
}

// Text returns the run file of a recorded program that is there as text.
func Text(tb testing.TB, path string) []byte {
	tb.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	file, err := text.Parse(path, bytes.NewReader(content))
	if err != nil {
		tb.Fatal(err)
	}
	return Encode(tb, file.Procs, file.Meta)
}

// Timed returns the run of a file without times, whose calls last about 400 ns, 600 ns after the previous
// one.
func Timed(tb testing.TB, file []byte) *runfile.Run {
	tb.Helper()
	run := Decode(tb, file)
	var procs []*efg.Process
	for i := range run.Procs {
		p, err := run.Process(i)
		if err != nil {
			tb.Fatal(err)
		}
		ns := uint64(400)
		err = sim.GiveTimes(p, func() uint64 { return 0 }, func() uint64 {
			ns = 1000 - ns
			return ns
		})
		if err != nil {
			tb.Fatal(err)
		}
		procs = append(procs, p)
	}
	meta := run.Meta
	meta.Time = runfile.TraceTime(scriptError, 0)
	return Of(tb, procs, meta)
}

// InProgress calls f for the calls that the threads of a run were in when its recording ended, of those that have
// times, with the number of the stream.
func InProgress(tb testing.TB, run *runfile.Run, f func(p *reconstruct.Process, stream int, call *reconstruct.Pending)) {
	tb.Helper()
	eachStream(tb, run, func(p *reconstruct.Process, k int) {
		if call := p.Pending(k); call != nil && p.Data().Streams[k].Pending.Since != 0 {
			f(p, k, call)
		}
	})
}

// EachEvent calls f with the events of a run in order: processes, the streams of each, the
// events of each.
func EachEvent(tb testing.TB, run *runfile.Run, f func(p *reconstruct.Process, e *reconstruct.Event)) {
	tb.Helper()
	eachStream(tb, run, func(p *reconstruct.Process, k int) {
		for e, err := range p.Events(k, reconstruct.Options{}) {
			if err != nil {
				tb.Fatal(err)
			}
			f(p, e)
		}
	})
}

// eachStream calls f with the streams of each process of a run.
func eachStream(tb testing.TB, run *runfile.Run, f func(p *reconstruct.Process, stream int)) {
	tb.Helper()
	rebuilder, err := reconstruct.NewRun(run)
	if err != nil {
		tb.Fatal(err)
	}
	for i := range run.Procs {
		p, err := rebuilder.Process(i)
		if err != nil {
			tb.Fatal(err)
		}
		for k := range p.Streams() {
			f(p, k)
		}
	}
}
