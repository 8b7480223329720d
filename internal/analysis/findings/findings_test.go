package findings

import (
	"fmt"
	"strings"
	"testing"

	"github.com/efg-tools/efg/internal/testing/sim"
	"github.com/efg-tools/efg/internal/testing/testrun"
)

type args = testrun.Args

// ms is a millisecond of a script, whose times are in µs.
const ms = 1000

// late is a run in which rank 1 computes longer before each barrier.
func late(t *testing.T, steps int) *testrun.Script {
	s := testrun.NewScript(t, 3)
	for rank := range 3 {
		s.Rank(rank).Call(0, 10*ms, "MPI_Init", nil)
	}
	for i := range int64(steps) {
		begin := (10 + 100*i) * ms
		for rank := range 3 {
			enter := begin + 40*ms
			if rank == 1 {
				enter = begin + 99*ms
			}
			s.Rank(rank).Call(enter, begin+100*ms, "MPI_Barrier", args{"comm": "MPI_COMM_WORLD"})
		}
	}
	end := (10 + 100*int64(steps)) * ms
	for rank := range 3 {
		s.Rank(rank).Call(end, end+ms, "MPI_Finalize", nil)
	}
	return s
}

func texts(list []Finding) (text []string) {
	for _, f := range list {
		text = append(text, string(f.Kind)+": "+f.Text)
	}
	return text
}

// Each sentence has the numbers of the run: of 3 times 100 ms a step, ranks 0 and 2 wait 59 each.
func TestSentences(t *testing.T) {
	list, err := New(late(t, 5).Run())
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{
		"efficiency: Ranks compute 60 % of 500 ms; rank 1 computes longest, 66 % longer than the mean, mostly in loop 1 (main).",
		"waiting: Ranks wait for each other 39 % of the time.",
		"state: 100 % of the waiting is wait at barrier in MPI_Barrier",
		"cause: 80 % of the waiting is caused by the computation from MPI_Barrier main script.c",
		"balance: If all ranks computed for equally long, the run would take 197 ms less of 500 ms.",
	} {
		if i >= len(list) || !strings.HasPrefix(string(list[i].Kind)+": "+list[i].Text, want) {
			t.Errorf("sentence %d: want %q of %q", i, want, texts(list))
		}
	}
	if cause := &list[3]; fmt.Sprint(cause.Ranks) != "[1]" || cause.Region == nil || cause.Region.Call || !strings.Contains(cause.Text, "rank 1 takes longer") {
		t.Errorf("%+v", list[3])
	}
}

// Where times do not allow more, the sentences say what to record.
func TestLess(t *testing.T) {
	for want, c := range map[string]sim.Config{
		"--time trace records them":          {Program: "halo", Ranks: 8, Steps: 5, Stats: true},
		"--time stats or trace records them": {Program: "halo", Ranks: 8, Steps: 5},
	} {
		list, err := New(testrun.Simulated(t, c))
		if err != nil {
			t.Fatal(err)
		}
		if last := list[len(list)-1]; last.Kind != Missing || !strings.Contains(last.Text, want) {
			t.Errorf("%q, want %q", texts(list), want)
		}
	}
}

// Nothing is said about causes of waiting where there is none.
func TestNoWaiting(t *testing.T) {
	s := testrun.NewScript(t, 2)
	for rank := range 2 {
		r := s.Rank(rank)
		r.Call(0, 10*ms, "MPI_Init", nil)
		r.Call(500*ms, 501*ms, "MPI_Barrier", args{"comm": "MPI_COMM_WORLD"})
		r.Call(600*ms, 610*ms, "MPI_Finalize", nil)
	}
	list, err := New(s.Run())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range list {
		if f.Kind == State || f.Kind == Cause || f.Kind == Balance || f.Kind == Network {
			t.Errorf("%q", texts(list))
		}
	}
}

// Calls that ranks had been in for long come first, and of what they needed, ranks in no call.
func TestUnfinishedCalls(t *testing.T) {
	for _, c := range []struct {
		after int64 // the run was over so long after the calls were entered
		want  string
	}{
		{100 * ms, "unfinished: When the recording ended, ranks 0-1 were in MPI_Barrier main script.c"},
		{ms, "efficiency: Ranks compute"},
	} {
		s := testrun.NewScript(t, 4)
		for rank := range 4 {
			s.Rank(rank).Call(0, 10*ms, "MPI_Init", nil)
			s.Rank(rank).Call((100+9*int64(rank))*ms, 130*ms, "MPI_Barrier", args{"comm": "MPI_COMM_WORLD"})
		}
		for rank := range 2 {
			s.Rank(rank).Stop(140*ms, "MPI_Barrier", args{"comm": "MPI_COMM_WORLD"})
		}
		s.Rank(2).Stop(141*ms, "MPI_Recv", args{"count": 1, "datatype": "MPI_INT", "source": 3, "tag": 5, "comm": "MPI_COMM_WORLD"})
		s.Rank(3).Kill()
		s.Ends(140*ms + c.after)
		run := s.Run()
		list, err := New(run)
		if err != nil {
			t.Fatal(err)
		}
		if got := texts(list); !strings.HasPrefix(got[0], c.want) || len(got) > 6 {
			t.Errorf("%s\nwant %s", strings.Join(got, "\n"), c.want)
		}
		if first, err := First(run); err != nil || first != list[0].Text {
			t.Errorf("first: %q, %v; the list begins with %q", first, err, list[0].Text)
		}
		if c.after > ms && !strings.Contains(list[0].Text, "for 100 ms, waiting for rank 3 (computing after MPI_Barrier main script.c") {
			t.Error(list[0].Text)
		}
	}
}
