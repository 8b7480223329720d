package query_test

import (
	"path/filepath"
	"testing"

	"github.com/efg-tools/efg/bench/sim"
	"github.com/efg-tools/efg/efg"
)

// simulated makes a run file of a simulated program and opens it. With traced
// times event n of a stream lasts about 400 ns, 600 ns after the one before.
func simulated(tb testing.TB, c sim.Config, traced bool) *efg.Run {
	tb.Helper()
	var procs []*efg.Process
	for p, err := range c.All(2) {
		if err != nil {
			tb.Fatal(err)
		}
		if traced {
			trace(tb, p)
		}
		procs = append(procs, p)
	}
	meta, err := c.Meta()
	if err != nil {
		tb.Fatal(err)
	}
	if traced {
		meta.Time = efg.TraceTime(efg.ErrorUnit / 100)
	}
	file := filepath.Join(tb.TempDir(), c.Program+".efg")
	if err := efg.WriteRun(file, procs, meta); err != nil {
		tb.Fatal(err)
	}
	return open(tb, file)
}

func open(tb testing.TB, file string) *efg.Run {
	tb.Helper()
	run, err := efg.OpenRun(file)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { run.Close() })
	return run
}

// trace gives all events of a process times, as a recorder writes them.
func trace(tb testing.TB, p *efg.Process) {
	tb.Helper()
	for i := range p.Streams {
		s := &p.Streams[i]
		s.Trace = &efg.Trace{Error: efg.ErrorUnit / 100}
		q, err := efg.NewQuantum(s.Trace.Error)
		if err != nil {
			tb.Fatal(err)
		}
		for k := range s.Nodes {
			s.Nodes[k].Times = &efg.Times{}
		}
		ahead := int64(0)
		add := func(to *efg.TimeSeq, ns uint64) {
			var c efg.TimeCode
			c, ahead = q.Encode(ns, ahead)
			to.Append(c)
		}
		w := s.Walk(p.Defs)
		for w.Next() {
			t := s.Nodes[w.Node()].Times
			add(&t.Gap, 600)
			add(&t.Dur, 400)
		}
		if err := w.Err(); err != nil {
			tb.Fatal(err)
		}
	}
}
