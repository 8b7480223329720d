package testrun

import (
	"runtime"
	"testing"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/signature"
)

// callsPerLoop is the number of calls in each of the loops of Loops.
const callsPerLoop = 7

// Loops is a run of two ranks that iterate a number of small loops forty times: each of the
// loops has seven calls of MPI_Barrier, with callsites of their own.
func Loops(tb testing.TB, loops int) *runfile.Run {
	tb.Helper()
	var procs []*efg.Process
	for rank := range 2 {
		var defs efg.Definitions
		b := efg.NewBuilder(0, efg.DefaultDemote, &defs)
		for range 40 {
			for l := range loops {
				for call := range 3 * callsPerLoop {
					if err := b.Add(efg.Input{Words: barrier(1 + l*callsPerLoop + call%callsPerLoop)}); err != nil {
						tb.Fatal(err)
					}
				}
			}
		}
		s, err := b.Stream()
		if err != nil {
			tb.Fatal(err)
		}
		s.End = efg.EndFinalized
		procs = append(procs, &efg.Process{Rank: rank, Size: 2, Streams: []efg.Stream{*s}, Defs: defs.List})
	}
	return Of(tb, procs, runfile.Meta{})
}

// barrier returns the words of a barrier of all ranks.
func barrier(site int) []uint64 {
	p := signature.ProcByName("MPI_Barrier")
	w := make([]uint64, len(p.Words))
	w[0], w[1] = uint64(signature.MakeHeader(p.ID, signature.C, false, len(w), 0)), uint64(site)
	w[signature.ObjectWord] = signature.ConstantByName("MPI_COMM_WORLD").Word()
	return w
}

// Allocated is the number of bytes that f allocates, including those that are freed again.
func Allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}
