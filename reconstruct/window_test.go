package reconstruct

import (
	"math/rand"
	"testing"

	"github.com/efg-tools/efg/efg"
)

// eventLines are the texts of the events in the range of opt.
func eventLines(t *testing.T, p *Process, opt Options) []string {
	t.Helper()
	var out []string
	for e, err := range p.Events(0, opt) {
		if err != nil {
			t.Fatal(err)
		}
		b := e.AppendJSON(nil)
		if opt.Issues {
			b = e.AppendMTF(b)
		}
		out = append(out, string(b))
	}
	return out
}

// compareWindows compares windows, read from checkpoints, with the same events of the whole.
func compareWindows(t *testing.T, p *Process, rng *rand.Rand, step uint64) {
	t.Helper()
	defer func(old uint64) { firstStepBack = old }(firstStepBack)
	firstStepBack = step
	for _, issues := range []bool{false, true} {
		all := eventLines(t, p, Options{Issues: issues})
		if len(all) == 0 {
			return
		}
		for range 12 {
			from := rng.Intn(len(all))
			to := min(len(all), from+1+rng.Intn(20))
			got := eventLines(t, p, Options{From: uint64(from), To: uint64(to), Issues: issues})
			if len(got) != to-from {
				t.Fatalf("from %d to %d: %d events", from, to, len(got))
			}
			for i, line := range got {
				if line != all[from+i] {
					t.Fatalf("from %d: event %d:\n%s\nwant\n%s", from, from+i, line, all[from+i])
				}
			}
		}
	}
}

// Random events, with requests that were issued long before, arrays that stay the same, and
// persistent requests.
func TestWindowsFromMarks(t *testing.T) {
	rng := rand.New(rand.NewSource(7))
	marked := 0
	for range 60 {
		data := make([]byte, 2000+rng.Intn(30000))
		rng.Read(data)
		for i := range data { // few procedures and values, so that loops form
			data[i] &= byte(1<<(1+rng.Intn(8)) - 1)
		}
		var defs efg.Definitions
		b := efg.NewBuilder(0, 4, &defs)
		for s := (&source{data}); len(s.b) > 0; {
			if err := b.Add(s.event(&defs)); err != nil {
				t.Fatal(err)
			}
		}
		p := throughFile(t, b, &defs)
		if err := p.streams[0].AddCheckpoints(p.proc.Defs, 30); err != nil {
			t.Fatal(err)
		}
		if p.streams[0].Checkpoints != nil {
			marked++
		}
		compareWindows(t, p, rng, 16)
	}
	if marked < 40 {
		t.Errorf("only %d streams have marks", marked)
	}
}
