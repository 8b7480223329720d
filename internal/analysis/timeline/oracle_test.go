package timeline

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/testing/sim"
	"github.com/efg-tools/efg/reconstruct"
)

// call is an event as reconstructed.
type call struct {
	rank       int
	thread     uint32
	start, end int64
	op, site   string
}

// thread holds what was recorded of a thread.
type thread struct {
	begin, end int64
	calls      []call
}

// threadsOf reconstructs the threads of each process of a run.
func threadsOf(t testing.TB, run *runfile.Run) [][]thread {
	t.Helper()
	r, err := reconstruct.NewRun(run)
	if err != nil {
		t.Fatal(err)
	}
	out := make([][]thread, len(run.Procs))
	for i := range run.Procs {
		p, err := r.Process(i)
		if err != nil {
			t.Fatal(err)
		}
		out[i] = make([]thread, p.Streams())
		for j := range out[i] {
			s := &p.Data().Streams[j]
			th := &out[i][j]
			th.begin = int64(s.Trace.BeginMono()) + p.Data().Clock
			th.end = th.begin
			for e, err := range p.Events(j, reconstruct.Options{}) {
				if err != nil {
					t.Fatal(err)
				}
				start, end, ok := e.Times()
				if !ok {
					t.Fatal("no times")
				}
				site := e.Site()
				if f := e.Func(); f != "" {
					site = f + " " + site
				}
				th.end = end
				if strings.HasPrefix(e.Op(), "efg_") { // an annotation, and no call
					continue
				}
				th.calls = append(th.calls, call{e.Rank(), e.Thread(), start, end, e.Op(), site})
			}
			if c := p.Pending(j); c != nil && s.Trace.Untimed == 0 {
				from, to := s.Pending.InRun(p.Data()), run.Meta.Ended-run.Meta.Started
				if gone := run.Procs[i].Gone; gone != 0 { // both are counted from when the process began
					to = min(to, from-int64(s.Pending.Since)+int64(gone))
				}
				if from = max(from, th.end); from < to {
					text := c.Describe()
					th.calls, th.end = append(th.calls, call{p.Data().Rank, s.Thread, from, to, text.Op, text.Site}), to
				}
			}
		}
	}
	return out
}

func overlap(a, b, from, to int64) uint64 { return uint64(max(0, min(b, to)-max(a, from))) }

// compare checks a view against the calls, pixel by pixel.
func compare(t *testing.T, all [][]thread, procs []int, v *View) {
	t.Helper()
	legend := map[string]uint64{}
	at := 0
	for y, row := range v.Rows {
		for x := range v.Width {
			from := v.From + int64(x)*v.Pixel
			recorded, inside, by := uint64(0), uint64(0), map[string]uint64{}
			for _, i := range procs[at : at+row.Ranks] {
				for _, th := range all[i] {
					recorded += overlap(th.begin, th.end, from, from+v.Pixel)
					k, _ := slices.BinarySearchFunc(th.calls, from, func(c call, at int64) int { return int(max(-1, min(1, c.end-at))) })
					for ; k < len(th.calls) && th.calls[k].start < from+v.Pixel; k++ {
						c := &th.calls[k]
						ns := overlap(c.start, c.end, from, from+v.Pixel)
						by[c.op] += ns
						legend[c.op] += ns
						inside += ns
					}
				}
			}
			comparePixel(t, v, y, x, recorded, inside, by)
		}
		at += row.Ranks
		if row.Read != row.Ranks {
			t.Errorf("row %d: %d of %d ranks", y, row.Read, row.Ranks)
		}
	}
	for _, p := range v.Legend {
		if legend[p.Op] != p.Time {
			t.Errorf("%s: %d ns, want %d", p.Op, p.Time, legend[p.Op])
		}
		delete(legend, p.Op)
	}
	for op, ns := range legend {
		if ns > 0 {
			t.Errorf("%s with %d ns is not in the legend", op, ns)
		}
	}
	if at != len(procs) || !v.Complete {
		t.Errorf("rows have %d ranks of %d; complete: %v", at, len(procs), v.Complete)
	}
}

func comparePixel(t *testing.T, v *View, y, x int, recorded, inside uint64, by map[string]uint64) {
	t.Helper()
	got := v.Pixels[y*v.Width+x]
	most := uint64(0)
	for _, ns := range by {
		most = max(most, ns)
	}
	ok := false
	switch {
	case recorded == 0:
		ok = got == Nothing
	case recorded-inside > most || most == 0:
		ok = got == Outside
	case got > Outside && int(got) <= len(v.Legend):
		ok = by[v.Legend[got-1].Op] == most
	}
	if !ok {
		t.Fatalf("row %d, pixel %d of %d ns from %d: %d, but %d ns recorded, %d in MPI: %v; legend %v", y, x, v.Pixel, v.From, got, recorded, inside, by, v.Legend)
	}
	if v.Share == nil {
		return
	}
	share := v.Share[y*v.Width+x]
	if recorded == 0 && share != 255 || recorded > 0 && (float64(share)-0.51 > 254*float64(inside)/float64(recorded) || float64(share)+0.51 < 254*float64(inside)/float64(recorded)) {
		t.Fatalf("row %d, pixel %d: share %d, but %d ns recorded, %d in MPI", y, x, share, recorded, inside)
	}
}

// compareSlices checks the slices of a view.
func compareSlices(t *testing.T, all [][]thread, procs []int, v *View, limit int) {
	t.Helper()
	var want []call
	for _, i := range procs {
		for _, th := range all[i] {
			for _, c := range th.calls {
				if c.start < v.To() && c.end >= v.From {
					want = append(want, c)
				}
			}
		}
	}
	if len(want) > limit {
		if v.Slices != nil {
			t.Errorf("%d slices, of %d, limit %d", len(v.Slices), len(want), limit)
		}
		return
	}
	var got []call
	for _, s := range v.Slices {
		c := call{s.Rank, s.Thread, s.Start, s.End, "", s.Site}
		if s.Proc > 0 && int(s.Proc) <= len(v.Legend) {
			c.op = v.Legend[s.Proc-1].Op
		}
		got = append(got, c)
	}
	if len(got) != len(want) {
		t.Fatalf("%d slices, want %d", len(got), len(want))
	}
	for i, w := range want {
		if got[i].op == "" && v.Slices[i].Proc == NoTime {
			w.op = ""
		}
		if got[i] != w {
			t.Fatalf("slice %d: %+v, want %+v", i, got[i], w)
		}
	}
}

// simulated makes a run in which each event has a random time.
func simulated(t testing.TB, c sim.Config) *runfile.Run {
	t.Helper()
	run, err := c.Run(func(p *efg.Process) error { return timed(p, anyTime) })
	if err != nil {
		t.Fatal(err)
	}
	return run
}

// written writes a run and opens it.
func written(t testing.TB, procs ...*efg.Process) *runfile.Run {
	t.Helper()
	var file bytes.Buffer
	if err := runfile.EncodeRun(&file, procs, runfile.Meta{Time: "trace=1"}); err != nil {
		t.Fatal(err)
	}
	run, err := runfile.NewRun(bytes.NewReader(file.Bytes()), int64(file.Len()))
	if err != nil {
		t.Fatal(err)
	}
	return run
}

// anyTime is a time up to a microsecond, occasionally a longer one.
func anyTime(r *rand.Rand) uint64 {
	ns := r.Uint64N(1000)
	if r.IntN(20) == 0 {
		ns *= 300
	}
	return ns
}

// timed gives each event a time chosen by pick.
func timed(p *efg.Process, pick func(r *rand.Rand) uint64) error {
	r := rand.New(rand.NewPCG(uint64(p.Rank), 9))
	return sim.GiveTimes(p, func() uint64 { return r.Uint64N(300_000) }, func() uint64 { return pick(r) })
}

// giveTimes is timed for tests.
func giveTimes(t testing.TB, p *efg.Process, pick func(r *rand.Rand) uint64) {
	t.Helper()
	if err := timed(p, pick); err != nil {
		t.Fatal(err)
	}
}
