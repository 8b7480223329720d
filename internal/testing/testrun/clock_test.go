package testrun_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/internal/testing/testrun"
	"github.com/efg-tools/efg/reconstruct"
)

// barrier is what a program saw of CLOCK_MONOTONIC around a barrier, ns.
type barrier struct{ before, after int64 }

// logged is what testdata/c/barriers.c printed.
type logged struct {
	ranks map[int][]barrier
	rate  float64 // ns of a tick
}

func parseLog(t *testing.T, text string) logged {
	t.Helper()
	l := logged{ranks: map[int][]barrier{}}
	var ticks []float64
	var at []float64
	for line := range strings.Lines(text) {
		var rank int
		var b barrier
		var tick, ns uint64
		if _, err := fmt.Sscanf(line, "tick %d %d", &tick, &ns); err == nil {
			ticks, at = append(ticks, float64(tick)), append(at, float64(ns))
		} else if _, err := fmt.Sscanf(line, "%d %d %d", &rank, &b.before, &b.after); err == nil {
			l.ranks[rank] = append(l.ranks[rank], b)
		}
	}
	if len(ticks) == 2 && ticks[1] > ticks[0] {
		l.rate = (at[1] - at[0]) / (ticks[1] - ticks[0])
	}
	return l
}

// near is how far, in ns, a reconstructed time may be from what a program sees.
const near = 1000

// What processes see of CLOCK_MONOTONIC is what is reconstructed, to a microsecond, at every
// barrier, whether they end or are killed; and the rate of their clock is right, so that this
// holds after hours, too.
func TestOneClock(t *testing.T) {
	seconds := os.Getenv("EFG_SOAK_SECONDS")
	if seconds == "" {
		seconds = "1"
	}
	programs := []testrun.Program{
		{Source: "c/barriers.c", Args: seconds, Ranks: 3, Time: "trace=exact"},
		{Source: "c/barriers.c", Args: seconds + " kill", Ranks: 3, Time: "trace=exact", Fails: true},
	}
	testrun.Record(t, programs, func(t *testing.T, r *testrun.Recording) {
		l := parseLog(t, r.Stdout)
		if len(l.ranks) == 0 {
			t.Fatalf("nothing was printed: %.200s", r.Stdout)
		}
		found := map[int][]barrier{}
		testrun.EachEvent(t, r.Run, func(p *reconstruct.Process, e *reconstruct.Event) {
			if start, end, ok := e.Times(); ok && e.Op() == "MPI_Barrier" {
				found[e.Rank()] = append(found[e.Rank()], barrier{start - p.Data().Clock, end - p.Data().Clock})
			}
		})
		for rank, want := range l.ranks {
			compareBarriers(t, rank, found[rank], want)
		}
		checkRate(t, r, l.rate)
	})
}

// compareBarriers demands that each barrier is within what the program saw, and that in each part
// of the run, of 30 barriers or more, that is hardly more somewhere: on a busy machine another process
// comes in between, or empties the caches, at many of them.
func compareBarriers(t *testing.T, rank int, found, want []barrier) {
	t.Helper()
	if len(found) < len(want) {
		t.Fatalf("rank %d: %d barriers, it says %d", rank, len(found), len(want))
	}
	parts := min(max(len(want)/30, 3), 10)
	for part := range parts {
		from, to := part*len(want)/parts, (part+1)*len(want)/parts
		tightest := barrier{1 << 62, 1 << 62}
		for i := from; i < to; i++ {
			before, after := found[i].before-want[i].before, want[i].after-found[i].after
			if before < -near || after < -near {
				t.Fatalf("rank %d, barrier %d: it began %d ns after the program said so, and ended %d ns before", rank, i, before, after)
			}
			tightest.before, tightest.after = min(tightest.before, before), min(tightest.after, after)
		}
		if from < to && (tightest.before > near || tightest.after > near) {
			t.Errorf("rank %d, barriers %d to %d: they begin at least %d ns late and end %d ns early", rank, from, to, tightest.before, tightest.after)
		}
	}
}

// checkRate compares the rate of the machine's clock with that which the program measured.
func checkRate(t *testing.T, r *testrun.Recording, want float64) {
	t.Helper()
	p, err := r.Run.Process(0)
	if err != nil {
		t.Fatal(err)
	}
	rate := float64(p.Streams[0].Trace.Clock.Rate) / (1 << efg.RateBits)
	if rate == 0 || want == 0 {
		t.Logf("ticks are nanoseconds")
		return
	}
	const most = 0.5e-6
	if d := rate/want - 1; d > most || d < -most {
		t.Errorf("a tick takes %.12f ns, the program says %.12f: %.3f ppm", rate, want, d*1e6)
	}
	t.Logf("%.3f ppm from the program's rate", (rate/want-1)*1e6)
}
