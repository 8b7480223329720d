package segment

import (
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/signature"
)

// newPollingProgram is a program most of whose callsites poll, and mostly find
// nothing.
func newPollingProgram(seed uint64, sites, events int) *program {
	p := newProgram(seed, sites)
	var polls []*signature.Proc
	for i := range signature.Procs() {
		if q := &signature.Procs()[i]; q.PollWord() > 0 {
			polls = append(polls, q)
		}
	}
	for i := range p.sites {
		if c := &p.sites[i]; p.r.IntN(4) > 0 {
			c.proc = polls[p.r.IntN(len(polls))]
			c.changes = make([]int, len(c.proc.Words))
			c.state = make([]uint64, len(c.proc.Words))
			for k := range c.changes {
				c.changes[k] = p.r.IntN(nChanges) * p.r.IntN(2)
				c.state[k] = p.r.Uint64N(1 << 20)
			}
		}
	}
	p.run(events)
	for _, e := range p.events {
		h := signature.Header(e.Words[0])
		if i := signature.ProcByID(h.Proc()).PollWord(); i > 0 {
			e.Words[i] = []uint64{0, 0, 1, signature.Absent}[p.r.IntN(4)]
		}
	}
	return p
}

// found are the events that are not polls that found nothing.
func (p *program) found() []efg.Input {
	return slices.DeleteFunc(slices.Clone(p.events), func(e efg.Input) bool { return signature.FoundNothing(e.Words) })
}

// Polls that find nothing are counted by the C recorder as by the Go builder, and all other
// calls are in order; also in a run file.
func TestCountedPolls(t *testing.T) {
	exe := feeder(t)
	for seed := range uint64(12) {
		p := newPollingProgram(seed, 2+int(seed*seed)%30, 100<<(seed%6))
		demote := []int{24, 2, 5}[seed%3]
		dir := t.TempDir()
		cmd := feedCommand(exe, dir, p.encode(), demote)
		cmd.Env = append(cmd.Env, "EFG_POLLS=totals")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, out)
		}
		got := &onlySegment(t, dir).Process
		all := efg.Definitions{}
		for _, d := range p.defs.List {
			all.Add(d)
		}
		b := efg.NewBuilder(0, demote, &all)
		b.CountPolls()
		for _, e := range p.events {
			if err := b.Add(e); err != nil {
				t.Fatal(err)
			}
		}
		want, err := b.Stream()
		if err != nil {
			t.Fatal(err)
		}
		want.End = efg.EndFinalized
		compareStreams(t, &got.Streams[0], want)
		checkCounted(t, got, p)
		file := filepath.Join(dir, "run.efg")
		if err := runfile.WriteRun(file, []*efg.Process{got}, runfile.Meta{Polls: "totals"}); err != nil {
			t.Fatal(err)
		}
		checkCounted(t, readBack(t, file), p)
	}
}

// readBack reads the only process of a run file.
func readBack(t *testing.T, file string) *efg.Process {
	t.Helper()
	r, err := runfile.OpenRun(file)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if err := runfile.Validate(r); err != nil {
		t.Fatal(err)
	}
	p, err := r.Process(0)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// checkCounted demands that the process's stream has the events that found
// something, and that as many polls were counted as did not.
func checkCounted(t *testing.T, process *efg.Process, p *program) {
	t.Helper()
	s, found := &process.Streams[0], p.found()
	if s.Events != uint64(len(found)) {
		t.Fatalf("%d events, should be %d", s.Events, len(found))
	}
	if node, err := efg.CheckStream(s); err != nil {
		t.Fatalf("node %d: %v", node, err)
	}
	if err := s.Verify(process.Defs); err != nil {
		t.Fatal(err)
	}
	w := s.Walk(process.Defs)
	for i := 0; w.Next(); i++ {
		if got := w.Words(); !slices.Equal(got, found[i].Words) {
			t.Fatalf("event %d is %x, want %x", i, got, found[i].Words)
		}
	}
	counted := uint64(0)
	for i := range s.Nodes {
		counted += s.Nodes[i].Counted
	}
	if counted != uint64(len(p.events)-len(found)) {
		t.Errorf("%d polls counted, should be %d", counted, len(p.events)-len(found))
	}
}

// A process that is killed while it counts polls has counted exactly those before
// the event in flight.
func TestKilledWhileCounting(t *testing.T) {
	exe := feeder(t)
	r := rand.New(rand.NewPCG(7, 1))
	killed := 0
	for round := range 30 {
		p := newPollingProgram(uint64(round), 8, 300)
		env := []string{"EFG_POLLS=totals", "EFG_TIME=" + []string{"off", "stats", "trace=500"}[round%3]}
		dir := t.TempDir()
		killFeeder(t, feedCommand(exe, dir, p.encode(), 6, "100000"), time.Duration(r.IntN(3000))*time.Microsecond, env...)
		got := &onlySegment(t, dir).Process
		if len(got.Streams) == 0 || got.Streams[0].End != efg.EndOpen {
			continue
		}
		killed++
		checkCountedPrefix(t, got, p)
	}
	if killed < 10 {
		t.Errorf("only %d of 30 processes were killed while they recorded", killed)
	}
}

// checkCountedPrefix demands that the process's stream has the first events of the program,
// which repeats: in order those that found something, and as many counted as did not.
func checkCountedPrefix(t *testing.T, process *efg.Process, p *program) {
	t.Helper()
	s, found := &process.Streams[0], p.found()
	if err := s.Verify(process.Defs); err != nil {
		t.Fatal(err)
	}
	w := s.Walk(process.Defs)
	for i := 0; w.Next(); i++ {
		if got, want := w.Words(), found[i%len(found)].Words; !slices.Equal(got, want) {
			t.Fatalf("event %d is %x, want %x", i, got, want)
		}
	}
	all := s.Events
	for i := range s.Nodes {
		all += s.Nodes[i].Counted
	}
	rounds, rest := all/uint64(len(p.events)), all%uint64(len(p.events))
	want := rounds * uint64(len(found))
	for _, e := range p.events[:rest] {
		if !signature.FoundNothing(e.Words) {
			want++
		}
	}
	if s.Events != want {
		t.Errorf("%d events and %d counted polls: of the first %d calls, %d are events", s.Events, all-s.Events, all, want)
	}
}

// A thread may begin with polls, and do nothing else.
func TestOnlyCountedPolls(t *testing.T) {
	exe := feeder(t)
	for _, rest := range []int{0, 3} {
		p := newPollingProgram(3, 4, 300)
		found := p.found()
		p.events = slices.DeleteFunc(p.events, func(e efg.Input) bool { return !signature.FoundNothing(e.Words) })
		p.events = append(p.events, found[:rest]...)
		dir := t.TempDir()
		cmd := feedCommand(exe, dir, p.encode(), 5)
		cmd.Env = append(cmd.Env, "EFG_POLLS=totals")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		got := &onlySegment(t, dir).Process
		checkCounted(t, got, p)
		file := filepath.Join(dir, "run.efg")
		if err := runfile.WriteRun(file, []*efg.Process{got}, runfile.Meta{}); err != nil {
			t.Fatal(err)
		}
		checkCounted(t, readBack(t, file), p)
	}
}

// A process can be read while it counts polls: what is in order is always right.
func TestReadWhileCounting(t *testing.T) {
	exe := feeder(t)
	between := 0
	for round := range 12 {
		p := newPollingProgram(uint64(round), 4+8*round, 12000)
		dir := t.TempDir()
		cmd := feedCommand(exe, dir, p.encode(), 6, "2")
		cmd.Env = append(cmd.Env, "EFG_POLLS=totals", []string{"EFG_TIME=off", "EFG_TIME=stats", "EFG_TIME=trace=500"}[round%3])
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		go func() { done <- cmd.Wait() }()
		found := &program{events: p.found()}
		for _, s := range readWhileRunning(t, dir, done) {
			for i := range s.Process.Streams {
				stream := &s.Process.Streams[i]
				if stream.End == efg.EndOpen {
					between++
				}
				if node, err := efg.CheckStream(stream); err != nil {
					t.Fatalf("node %d: %v", node, err)
				}
				file := filepath.Join(dir, "run.efg")
				if err := runfile.WriteRun(file, []*efg.Process{&s.Process}, runfile.Meta{}); err != nil {
					t.Fatal(err)
				}
				checkEvents(t, &readBack(t, file).Streams[i], s.Process.Defs, found)
				checkEvents(t, stream, s.Process.Defs, found)
			}
		}
	}
	if between == 0 {
		t.Error("nothing was read before the end")
	}
}
