package timeline

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/testing/sim"
	"github.com/efg-tools/efg/internal/testing/testrun"
	"github.com/efg-tools/efg/signature"
)

// views compares the views of many windows with the calls.
func views(t *testing.T, run *runfile.Run, all [][]thread, n int) {
	t.Helper()
	tl, err := New(run)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 2))
	var last int64
	for _, threads := range all {
		for _, th := range threads {
			last = max(last, th.end)
		}
	}
	begin, end, err := tl.Extent()
	if err != nil || end < last || end > last+100_000 || begin > last {
		t.Fatalf("extent %d to %d, %v; want an end at %d", begin, end, err, last)
	}
	for k := range n {
		q := Query{Width: 1 + r.IntN(300), Rows: 1 + r.IntN(len(all)+2), Share: k%2 == 0, Slices: 1 + r.IntN(500)}
		if k > 0 {
			q.From = begin - 1000 + r.Int64N(end-begin)
			q.To = q.From + 1 + r.Int64N(max(1, (end-begin)>>r.IntN(14)))
		}
		if k%3 == 2 {
			q.Procs = r.Perm(len(all))[:1+r.IntN(len(all))]
		}
		v, err := tl.View(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		if k > 0 && (v.From > q.From || v.To() < q.To || v.Pixel > 1 && v.Width < q.Width || v.Width > 2*q.Width+2) || len(v.Pixels) != v.Width*len(v.Rows) {
			t.Fatalf("%+v: from %d to %d, %d pixels of %d ns", q, v.From, v.To(), v.Width, v.Pixel)
		}
		procs := q.Procs
		if procs == nil {
			for i := range all {
				procs = append(procs, i)
			}
		}
		compare(t, all, procs, v)
		compareSlices(t, all, procs, v, q.Slices)
	}
}

// Views show the events, whatever is in the cache.
func TestSimulated(t *testing.T) {
	for _, c := range []sim.Config{
		{Program: "halo", Ranks: 12, Steps: 40}, {Program: "mesh", Ranks: 8, Steps: 30}, {Program: "farm", Ranks: 5, Steps: 20},
	} {
		t.Run(c.Program, func(t *testing.T) {
			c.Seed = 4
			run := simulated(t, c)
			views(t, run, threadsOf(t, run), 24)
		})
	}
}

// A stream whose times are in several parts of the file, with chunks made from their halves.
func TestLong(t *testing.T) {
	defer func(n uint64) { leafEvents = n }(leafEvents)
	leafEvents = 1 << 20
	var defs efg.Definitions
	b := efg.NewBuilder(0, efg.DefaultDemote, &defs)
	world := signature.ConstantByName("MPI_COMM_WORLD").Word()
	var inputs []efg.Input
	for i, op := range []string{"MPI_Barrier", "MPI_Comm_free", "MPI_Barrier"} {
		header := uint64(signature.MakeHeader(signature.ProcByName(op).ID, signature.C, false, 3, 0))
		inputs = append(inputs, efg.Input{Words: []uint64{header, uint64(i), world}})
	}
	for i := range 2_300_000 {
		if err := b.Add(inputs[i%3]); err != nil {
			t.Fatal(err)
		}
	}
	s, err := b.Stream()
	if err != nil {
		t.Fatal(err)
	}
	p := &efg.Process{Size: 1, World: 1, Host: "node", Streams: []efg.Stream{*s}, Defs: defs.List}
	n := 0
	giveTimes(t, p, func(*rand.Rand) uint64 { // that are decoded quickly
		n++
		if n%600_000 == 0 {
			return 1e9
		}
		return 100
	})
	run := written(t, p)
	views(t, run, threadsOf(t, run), 3)
	tl, err := New(run)
	if err != nil {
		t.Fatal(err)
	}
	v, err := tl.View(t.Context(), Query{Width: 100, Rows: 1, Events: 1000})
	if err != nil || v.Complete || !slices.Contains(v.Pixels, Unread) || !slices.Contains(v.Pixels, Outside) {
		t.Errorf("after one part: complete %v, %v", v.Complete, err)
	}
}

// Checkpoints, halves and the limit of events, on streams that are short but have checkpoints.
func TestMarked(t *testing.T) {
	defer func(n uint64) { leafEvents = n }(leafEvents)
	leafEvents = 100
	c := sim.Config{Program: "mesh", Ranks: 6, Steps: 60, Seed: 2}
	run := simulated(t, c)
	all := threadsOf(t, run)
	p, err := run.Process(3)
	if err != nil {
		t.Fatal(err)
	}
	s := &p.Streams[0]
	if err := s.AddCheckpoints(p.Defs, 60); err != nil || s.Checkpoints == nil {
		t.Fatalf("marks %v: %v", s.Checkpoints, err)
	}
	th := all[3][0]
	for level := uint8(0); level < 24; level += 7 {
		marks := &checkpointTimes{}
		m := maker{t.Context(), newStream(p, s, 0, marks), newCache(1 << 20), &budget{all: true}}
		few := maker{t.Context(), m.stream, newCache(1 << 20), &budget{left: 150}}
		for i := th.begin >> level >> chunkBits; i <= th.end>>level>>chunkBits && i < 40; i++ {
			at := place{0, level, i}
			got, err := m.make(at)
			if err != nil {
				t.Fatal(err)
			}
			want := countCalls(at, &th)
			if !reflect.DeepEqual(got.entries, want) || len(got.missing) > 0 {
				t.Fatalf("level %d, chunk %d: %v, want %v", level, i, got, want)
			}
			turns := 0
			for ; ; turns++ {
				part, err := few.make(at)
				if err != nil || turns > 1000 {
					t.Fatal(turns, err)
				}
				checkPart(t, part, want)
				if len(part.missing) == 0 {
					break
				}
				few.budget.left = 150
			}
			if level == 21 && turns < 3 {
				t.Errorf("the whole stream needed %d turns of 150 events of %d", turns, s.Events)
			}
		}
	}
}

// checkPart checks that a chunk has everything except what it reports as missing.
func checkPart(t *testing.T, c *chunk, want []entry) {
	t.Helper()
	for _, w := range want {
		missing := slices.ContainsFunc(c.missing, func(m cells) bool { return int(w.cell) >= m.from && int(w.cell) < m.until })
		if !missing && !slices.Contains(c.entries, w) {
			t.Fatalf("%v is neither there nor missing", w)
		}
	}
}

// countCalls computes the entries of a chunk.
func countCalls(at place, th *thread) []entry {
	from, _ := at.span()
	var out []entry
	for cell := range int64(chunkCells) {
		a := from + cell<<at.level
		sums := map[string]uint64{}
		for _, c := range th.calls {
			if c.start < a+1<<at.level && c.end > a {
				sums[c.op] += overlap(c.start, c.end, a, a+1<<at.level)
			}
		}
		for op, ns := range sums {
			out = append(out, entry{uint16(cell), uint16(signature.ProcByName(op).ID), ns})
		}
	}
	return addUp(out)
}

// With a limit of events, repeating the query eventually yields the whole answer.
func TestLimit(t *testing.T) {
	run := simulated(t, sim.Config{Program: "halo", Ranks: 27, Steps: 40, Seed: 1})
	all := threadsOf(t, run)
	tl, err := New(run)
	if err != nil {
		t.Fatal(err)
	}
	q := Query{Width: 200, Rows: 9, Events: 2000, Slices: 100}
	var last *View
	for turn := 0; last == nil || !last.Complete; turn++ {
		v, err := tl.View(t.Context(), q)
		if err != nil || turn > 100 {
			t.Fatal(turn, err)
		}
		read := 0
		for _, r := range v.Rows {
			read += r.Read
		}
		if turn == 0 && (v.Complete || read == 0 || read > 15 || slices.Contains(v.Pixels, Nothing)) {
			t.Errorf("complete %v, %d ranks read", v.Complete, read)
		}
		last = v
	}
	var procs []int
	for i := range all {
		procs = append(procs, i)
	}
	compare(t, all, procs, last)
}

// A query that is given up ends with that error, with and without a limit of events.
func TestGivenUp(t *testing.T) {
	run := simulated(t, sim.Config{Program: "halo", Ranks: 12, Steps: 40, Seed: 4})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, events := range []uint64{0, 1000} {
		tl, err := New(run)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tl.View(ctx, Query{Width: 100, Rows: 4, Events: events}); !errors.Is(err, context.Canceled) {
			t.Errorf("limit %d: %v, want %v", events, err, context.Canceled)
		}
	}
}

// The cache evicts chunks, and answers stay the same.
func TestCacheIsBounded(t *testing.T) {
	run := simulated(t, sim.Config{Program: "halo", Ranks: 8, Steps: 40, Seed: 1})
	all := threadsOf(t, run)
	tl, err := New(run)
	if err != nil {
		t.Fatal(err)
	}
	tl.cache.limit = 100_000
	procs := []int{0, 1, 2, 3, 4, 5, 6, 7}
	for k := range 20 {
		v, err := tl.View(t.Context(), Query{From: int64(k) * 1000, To: int64(k)*1000 + 300_000, Width: 100, Rows: 8})
		if err != nil {
			t.Fatal(err)
		}
		compare(t, all, procs, v)
		sum := 0
		for _, e := range tl.cache.chunks {
			sum += e.Value.(*kept).chunk.memory()
		}
		if sum != tl.cache.bytes || sum > 100_000 || len(tl.cache.chunks) != tl.cache.recent.Len() {
			t.Fatalf("%d bytes kept, counted %d", sum, tl.cache.bytes)
		}
	}
}

// Invalid queries, and runs without times, cause typed errors.
func TestMistakes(t *testing.T) {
	run := simulated(t, sim.Config{Program: "halo", Ranks: 2, Steps: 3, Seed: 1})
	tl, err := New(run)
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range []Query{
		{Width: 0, Rows: 1}, {Width: MaxWidth + 1, Rows: 1}, {Width: 1, Rows: 0}, {Width: 1, Rows: MaxRows + 1}, {Width: 1, Rows: 1, From: 2, To: 1},
		{Width: 1, Rows: 1, From: 1 << 62, To: 1<<62 + 1}, {Width: 1, Rows: 1, From: -1 << 62, To: 1}, {Width: 1, Rows: 1, Procs: []int{2}},
		{Width: 1, Rows: 1, Procs: []int{-1}}, {Width: 1, Rows: 1, Slices: -1}, {Width: 1, Rows: 1, Slices: MaxSlices + 1},
	} {
		if _, err := tl.View(t.Context(), q); !errors.Is(err, ErrQuery) {
			t.Errorf("%+v: %v", q, err)
		}
	}
	for _, q := range []Query{{Width: 1, Rows: 1, From: -1 << 60, To: 1 << 60}, {Width: MaxWidth, Rows: 1, From: -1 << 60, To: 1 << 60}} {
		if v, err := tl.View(t.Context(), q); err != nil || v.From > q.From || v.To() < q.To {
			t.Errorf("%+v: %v", q, err)
		}
	}
	c := sim.Config{Program: "halo", Ranks: 2, Steps: 3, Seed: 1}
	p, err := c.Process(0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := New(written(t, p)); !errors.Is(err, ErrNoTimes) {
		t.Errorf("without times: %v", err)
	}
}

// Recorded programs: one with threads, and one that is killed.
func TestRecorded(t *testing.T) {
	programs := []testrun.Program{
		{Source: "c/jacobi.c", Time: "trace"}, {Source: "c/threads.c", Time: "trace"}, {Source: "c/fail.c", Args: "kill", Time: "trace", Fails: true},
		{Source: "c/inside.c", Args: "end", Time: "trace", Fails: true},
	}
	testrun.Record(t, programs, func(t *testing.T, r *testrun.Recording) {
		all := threadsOf(t, r.Run)
		views(t, r.Run, all, 20)
		if programs[r.Program].Source == "c/inside.c" { // it hangs until it is killed
			checkUnfinished(t, r.Run, all)
		}
	})
}

// checkUnfinished demands that each rank was in a call until it was gone, which was before the command had ended.
func checkUnfinished(t *testing.T, run *runfile.Run, all [][]thread) {
	t.Helper()
	l, err := New(run)
	if err != nil {
		t.Fatal(err)
	}
	begin, end, err := l.Extent()
	if err != nil {
		t.Fatal(err)
	}
	v, err := l.View(t.Context(), Query{From: begin, To: end, Width: 10, Rows: len(all), Slices: 100})
	if err != nil || len(v.Header().Unfinished) != len(all) {
		t.Fatalf("%d slices of calls that had not returned, %v", len(v.Header().Unfinished), err)
	}
	for _, s := range v.Slices {
		if want := all[s.Rank][0].end; s.Unfinished && (s.End != want || want >= run.Meta.Ended-run.Meta.Started || v.Legend[s.Proc-1].Op != "MPI_Reduce_local") {
			t.Errorf("%+v, want a call to %d, before the end of the command", s, want)
		}
	}
}

// Annotations are no calls: their time, of which the recorder notes some, is that of the computation around them.
func TestAnnotations(t *testing.T) {
	script := testrun.NewScript(t, 2)
	script.Each(func(r *testrun.ScriptRank, rank int) {
		for i := range int64(20) {
			at := 10_000 * i
			r.Call(at, at+3000, "efg_region_begin", testrun.Args{"name": "step"})
			r.Call(at+4000, at+5000+int64(rank), "MPI_Barrier", testrun.Args{"comm": "MPI_COMM_WORLD"})
			r.Call(at+8000, at+9000, "efg_region_end", testrun.Args{"name": "step"})
		}
	})
	run := script.Run()
	views(t, run, threadsOf(t, run), 20)
}

// More procedures than a legend can hold.
func TestLegend(t *testing.T) {
	v := &View{From: 0, Pixel: 10, Width: 300, Rows: make([]Row, 1), Complete: true}
	row := newRowSums(v)
	for i := range 300 {
		row.recorded[i] = 10
		row.procs[uint16(i+1)] = make([]uint64, 300)
		row.procs[uint16(i+1)][i] = 10 - uint64(i/250)
	}
	v.draw([]line{row.line(false)})
	if len(v.Legend) != 250 || v.Pixels[0] != 1 || v.Pixels[249] != 250 || v.Pixels[250] != Other || v.Pixels[299] != Other {
		t.Errorf("%d in the legend, pixels %v", len(v.Legend), v.Pixels)
	}
}

func ExampleView_Encode() {
	v := &View{Begin: 0, End: 90, Work: [2]int64{0, 90}, From: 0, Pixel: 32, Width: 3, Rows: []Row{{Ranks: 1, Read: 1}}, Complete: true,
		Legend: []Procedure{{"MPI_Send", "p2p", 20, false}}, Pixels: []byte{1, 0, 255}, Slices: []Slice{{0, 0, 3, 23, 1, "main a.c:5", false}}}
	var b bytes.Buffer
	if err := v.Encode(&b); err != nil {
		fmt.Println(err)
	}
	head, pixels, _ := bytes.Cut(b.Bytes(), []byte("\n"))
	fmt.Printf("%s\n%v\n", head, pixels)
	// Output:
	// {"schema":"efg-timeline/1","begin":0,"end":90,"work":[0,90],"from":0,"to":96,"pixel":32,"width":3,"rows":[[0,0,1,1]],"complete":true,"legend":[{"op":"MPI_Send","class":"p2p","colour":"#0072b2","time":20}],"share":false,"slices":[[0,0,3,23,1,0]],"sites":["main a.c:5"]}
	// [1 0 255]
}

// The part of a run between MPI_Init and MPI_Finalize begins when the first rank is through the one, and
// ends when the last one enters the other. A rank that was killed counts to its end.
func TestWork(t *testing.T) {
	const ms = 1000 // in µs, the unit of a script
	world := testrun.Args{"comm": "MPI_COMM_WORLD"}
	for _, c := range []struct {
		killed   bool
		from, to int64 // ms
	}{{false, 40, 90}, {true, 40, 95}} {
		s := testrun.NewScript(t, 2)
		for rank := range 2 {
			at := int64(rank * 10)
			s.Rank(rank).Call(10*ms, (50-at)*ms, "MPI_Init", nil)
			s.Rank(rank).Call(60*ms, 70*ms, "MPI_Barrier", world)
			if c.killed && rank == 1 {
				s.Rank(rank).Call(80*ms, 95*ms, "MPI_Barrier", world)
			} else {
				s.Rank(rank).Call((80+at)*ms, 120*ms, "MPI_Finalize", nil)
			}
		}
		tl, err := New(s.Run())
		if err != nil {
			t.Fatal(err)
		}
		begin, end, err := tl.Extent()
		if err != nil {
			t.Fatal(err)
		}
		v, err := tl.View(t.Context(), Query{Width: 10, Rows: 2, Trim: true})
		if err != nil {
			t.Fatal(err)
		}
		const scripted = 1e9 // ns, when scripts begin
		for i, want := range []int64{c.from, c.to} {
			if got := v.Work[i] - scripted - want*1e6; got < -1e6 || got > 1e6 {
				t.Errorf("%+v: %d ns off, of %d to %d", c, got, begin, end)
			}
		}
		if v.From > v.Work[0] || v.To() < v.Work[1] || v.From < v.Work[0]-v.Pixel {
			t.Errorf("the view is from %d to %d, want %d", v.From, v.To(), v.Work)
		}
	}
}
