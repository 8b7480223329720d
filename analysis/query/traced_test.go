package query_test

import (
	"testing"

	"github.com/efg-tools/efg/bench/sim"
	"github.com/efg-tools/efg/efg"
)

// simulated is a run of a simulated program. With traced times event n of a stream
// lasts about 400 ns, 600 ns after the one before.
func simulated(tb testing.TB, c sim.Config, traced bool) *efg.Run {
	tb.Helper()
	var times func(p *efg.Process) error
	if traced {
		times = everyMicrosecond
	}
	run, err := c.Run(times)
	if err != nil {
		tb.Fatal(err)
	}
	return run
}

func everyMicrosecond(p *efg.Process) error {
	ns := uint64(400)
	return sim.GiveTimes(p, func() uint64 { return 0 }, func() uint64 {
		ns = 1000 - ns
		return ns
	})
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
