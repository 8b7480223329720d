package diff_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/analysis/diff"
	"github.com/efg-tools/efg/internal/testing/sim"
	"github.com/efg-tools/efg/internal/testing/testrun"
)

func runsOf(t testing.TB, a, b *runfile.Run) *diff.Runs {
	t.Helper()
	r, err := diff.NewRuns(a, b, [2][]int{all(a), all(b)}, func(uint64) {})
	if err != nil {
		t.Fatal(err)
	}
	checkRuns(t, a, b, r)
	return r
}

// checkRuns counts the events of both runs by expanding them, and demands that each rank is in
// one class.
func checkRuns(t testing.TB, a, b *runfile.Run, r *diff.Runs) {
	t.Helper()
	for k, run := range []*runfile.Run{a, b} {
		var events, inClasses uint64
		for i := range run.Procs {
			p, err := run.Process(i)
			if err != nil {
				t.Fatal(err)
			}
			for j := range p.Streams {
				for w := p.Streams[j].Walk(p.Defs); w.Next(); {
					events++
				}
			}
		}
		var ranks []int
		for _, c := range r.Classes {
			ranks = append(ranks, c.Ranks[k]...)
			inClasses += c.Total[k].Calls
		}
		slices.Sort(ranks)
		if len(ranks) != len(run.Procs) || len(slices.Compact(ranks)) != len(run.Procs) || r.Ranks[k] != len(run.Procs) {
			t.Errorf("ranks of classes: %v", ranks)
		}
		for _, c := range r.Classes {
			if c.Match != diff.NoMatch {
				continue
			}
			for _, rank := range c.Ranks[k] {
				if slices.ContainsFunc([2]*runfile.Run{b, a}[k].Procs, func(p runfile.ProcInfo) bool { return p.Rank == rank }) {
					t.Errorf("rank %d is in both runs, and matched with nothing", rank)
				}
			}
		}
		if r.Total[k].Calls != events || inClasses != events {
			t.Errorf("%d calls, in classes %d, want %d", r.Total[k].Calls, inClasses, events)
		}
	}
}

func matches(r *diff.Runs) (list []diff.Match) {
	for _, c := range r.Classes {
		list = append(list, c.Match)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// A run compared with itself, and with runs that have more iterations, more ranks or an
// additional call.
func TestRuns(t *testing.T) {
	base := sim.Config{Program: "halo", Ranks: 27, Steps: 20, Stats: true}
	longer, larger := base, base
	longer.Steps, larger.Ranks = 30, 64
	a := testrun.Simulated(t, base)
	for _, c := range []struct {
		name      string
		b         *runfile.Run
		match     []diff.Match
		identical bool
		fails     string
	}{
		{"itself", a, []diff.Match{diff.GraphMatch}, true, ""},
		{"again", testrun.Simulated(t, base), []diff.Match{diff.GraphMatch}, true, ""},
		{"longer", testrun.Simulated(t, longer), []diff.Match{diff.ShapeMatch}, false, "calls,bytes,time"},
		{"larger", testrun.Simulated(t, larger), []diff.Match{diff.ShapeMatch}, false, "calls,bytes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := runsOf(t, a, c.b)
			if got := matches(r); !slices.Equal(got, c.match) || r.Identical() != c.identical || len(r.Structure) > 0 {
				t.Errorf("matched by %v, identical: %v, %+v", got, r.Identical(), r.Structure)
			}
			if c.identical && len(r.Changes) > 0 {
				t.Errorf("%+v", r.Changes)
			}
			for _, m := range []string{"calls", "bytes", "time", "structure"} {
				text := m + ">4%"
				if m == "structure" {
					text = m
				}
				holds := holds(t, r, text)
				if want := strings.Contains(c.fails, m); holds != want && !(m == "time" && c.name == "larger") {
					t.Errorf("%s: %v, want %v", text, holds, want)
				}
			}
		})
	}
}

func holds(t testing.TB, r *diff.Runs, text string) bool {
	t.Helper()
	list, err := diff.ParseConditions(text)
	if err != nil {
		t.Fatal(err)
	}
	for i := range list {
		is, err := list[i].Holds(r)
		if err != nil {
			t.Fatal(err)
		}
		if is {
			return true
		}
	}
	return false
}

// One rank makes an additional call: it is found, with the steps to it and from it.
func TestPlantedInRun(t *testing.T) {
	a := testrun.Of(t, workers(t, 8, nil), runfile.Meta{})
	b := testrun.Of(t, workers(t, 8, func(rank int, r *recorder) {
		if rank == 3 {
			r.send(8, 1, 7)
			r.barrier(3)
		}
	}), runfile.Meta{})
	r := runsOf(t, a, b)
	if i := slices.IndexFunc(r.Classes, func(c diff.ClassPair) bool { return c.Match == diff.RankMatch }); i < 0 || !slices.Equal(r.Classes[i].Ranks[1], []int{3}) {
		t.Errorf("rank 3 is not in a class of its own: %+v", r.Classes)
	}
	var got []string
	for _, s := range r.Structure {
		got = append(got, fmt.Sprint(s.Side, s.Op, ">", s.To, s.Ranks))
	}
	want := []string{"1MPI_Send>1", "1MPI_Barrier>MPI_Send1", "1MPI_Send>MPI_Barrier1"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if !holds(t, r, "structure") || !holds(t, r, "bytes>55B") || holds(t, r, "bytes>56B") {
		t.Error("conditions")
	}
	if r.Changes[0].Op != "MPI_Send" || r.Changes[0].Side[0].Calls != 0 || r.Changes[0].Side[1].Bytes != 56 {
		t.Errorf("%+v", r.Changes[0])
	}
	if _, err := (&diff.Condition{Metric: diff.TimeMetric}).Holds(r); !errors.Is(err, diff.ErrUntimed) {
		t.Errorf("times that were not recorded: %v", err)
	}
	if part := runsOf(t, a, testrun.Of(t, workers(t, 8, nil)[:6], runfile.Meta{})); part.Identical() {
		t.Error("runs of different ranks are identical")
	}
}

// Callsites are matched although their lines have moved.
func TestMovedLines(t *testing.T) {
	meta := func(lines ...int) (m runfile.Meta) {
		for i, l := range lines {
			m.Sites = append(m.Sites, runfile.Site{Word: uint64(i + 1), Place: fmt.Sprintf("work.c:%d", l), Func: "main"})
		}
		return m
	}
	a := testrun.Of(t, workers(t, 4, nil), meta(10, 20, 30))
	for _, c := range []struct {
		lines []int
		equal bool
	}{{[]int{10, 20, 30}, true}, {[]int{11, 24, 30}, true}, {[]int{20, 30, 40}, true}, {[]int{30, 20, 10}, false}} {
		r := runsOf(t, a, testrun.Of(t, workers(t, 4, nil), meta(c.lines...)))
		if r.Identical() != c.equal {
			t.Errorf("lines %v: identical: %v", c.lines, r.Identical())
		}
	}
}

func TestConditions(t *testing.T) {
	for text, want := range map[string]string{
		"structure":                "structure",
		"time>5%":                  "time>0.05%",
		" time > 5 % , structure ": "time>0.05% structure",
		"time>1.5ms":               "time>1.5e+06",
		"time>2s,bytes>1KiB":       "time>2e+09 bytes>1024",
		"calls>0":                  "calls>0",
	} {
		list, err := diff.ParseConditions(text)
		var got []string
		for _, c := range list {
			switch {
			case c.Metric == "":
				got = append(got, "structure")
			case c.Relative:
				got = append(got, fmt.Sprintf("%s>%g%%", c.Metric, c.Limit))
			default:
				got = append(got, fmt.Sprintf("%s>%g", c.Metric, c.Limit))
			}
		}
		if err != nil || strings.Join(got, " ") != want {
			t.Errorf("%q: %v, %q, want %q", text, err, got, want)
		}
	}
	for text, want := range map[string]string{
		"":                  "want structure, calls, bytes or time\n  \n  ^",
		"time":              "want > after time\n  time\n      ^",
		"time>":             "want a number\n  time>\n       ^",
		"time>x":            "want a number\n  time>x\n       ^",
		"time>1.2.3%":       "want a number\n  time>1.2.3%\n       ^",
		"time>5":            "want % or ns, µs, ms, s, min\n  time>5\n        ^",
		"bytes>5s":          "want % or B, KiB, MiB, GiB, TiB\n  bytes>5s\n         ^",
		"calls>5s":          "want % or nothing after a number of calls\n  calls>5s\n         ^",
		"structure>5":       "want a comma or the end\n  structure>5\n           ^",
		"time>5%,,calls>1":  "want structure, calls, bytes or time\n  time>5%,,calls>1\n          ^",
		"time>5%,structur":  "want structure, calls, bytes or time\n  time>5%,structur\n          ^",
		"time>5% structure": "want a comma or the end\n  time>5% structure\n          ^",
		"µ>1":               "want structure, calls, bytes or time\n  µ>1\n  ^",
	} {
		_, err := diff.ParseConditions(text)
		var wrong *diff.ConditionError
		if !errors.As(err, &wrong) || err.Error() != want {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}
