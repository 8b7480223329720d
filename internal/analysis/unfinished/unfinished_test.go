package unfinished

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/testing/testrun"
)

type args = testrun.Args

const ms = 1000

var world = args{"comm": "MPI_COMM_WORLD"}

func message(peer string, rank any, tag int) args {
	return args{"count": 1, "datatype": "MPI_INT", peer: rank, "tag": tag, "comm": "MPI_COMM_WORLD"}
}

// start begins MPI on n ranks, within 10 ms.
func start(t *testing.T, n int) *testrun.Script {
	s := testrun.NewScript(t, n)
	for rank := range n {
		s.Rank(rank).Call(0, 10*ms, "MPI_Init", nil)
	}
	return s
}

// text is what the rows say, without the lines of callsites.
func text(rows []Row) (list []string) {
	for _, r := range rows {
		var needs []string
		for _, a := range r.Awaited {
			needs = append(needs, fmt.Sprintf("%v %v %s", a.Ranks, a.Doing, a.Op))
		}
		list = append(list, strings.TrimSpace(fmt.Sprintf("%s %v any %v: %s", r.Op, r.Ranks, r.Any, strings.Join(needs, "; "))))
	}
	return list
}

func ofAll(t *testing.T, run *runfile.Run) []Row {
	procs := make([]int, len(run.Procs))
	for i := range procs {
		procs[i] = i
	}
	rows, err := New(run, procs)
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

func TestUnfinished(t *testing.T) {
	for _, c := range []struct {
		name string
		run  func(s *testrun.Script)
		want []string
	}{
		{"all returned", func(s *testrun.Script) {
			for rank := range 3 {
				s.Rank(rank).Call(20*ms, 21*ms, "MPI_Finalize", nil)
			}
		}, nil},
		{"a rank computes on", func(s *testrun.Script) {
			s.Rank(0).Stop(20*ms, "MPI_Barrier", world)
			s.Rank(1).Stop(30*ms, "MPI_Barrier", world)
			s.Rank(2).Kill()
		}, []string{"MPI_Barrier [{0 80000000} {1 70000000}] any false: [2] computing MPI_Init"}},
		{"a ring", func(s *testrun.Script) {
			for rank := range 3 {
				s.Rank(rank).Stop(20*ms, "MPI_Recv", message("source", (rank+1)%3, 5))
			}
		}, []string{"MPI_Recv [{0 80000000} {1 80000000} {2 80000000}] any false: [0 1 2] in call MPI_Recv"}},
		{"the message was on its way", func(s *testrun.Script) {
			s.Rank(0).Stop(20*ms, "MPI_Recv", message("source", 1, 5))
			s.Rank(1).Call(19*ms, 20*ms, "MPI_Send", message("dest", 0, 5))
			s.Rank(1).Kill()
			s.Rank(2).Kill()
		}, []string{"MPI_Recv [{0 80000000}] any false:"}},
		{"any sender", func(s *testrun.Script) {
			s.Rank(0).Stop(20*ms, "MPI_Recv", message("source", "MPI_ANY_SOURCE", 5))
			s.Rank(1).Call(20*ms, 21*ms, "MPI_Finalize", nil)
			s.Rank(2).Stop(90*ms, "MPI_Ssend", message("dest", 1, 5))
		}, []string{
			"MPI_Recv [{0 80000000}] any true: [1] ended MPI_Finalize; [2] in call MPI_Ssend",
			"MPI_Ssend [{2 10000000}] any false: [1] ended MPI_Finalize",
		}},
		{"a request", func(s *testrun.Script) {
			q := s.Rank(0).Call(20*ms, 21*ms, "MPI_Irecv", message("source", 2, 5))
			s.Rank(0).Stop(30*ms, "MPI_Wait", args{"request": q})
			s.Rank(1).Kill()
			s.Rank(2).Kill()
		}, []string{"MPI_Wait [{0 70000000}] any false: [2] computing MPI_Init"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := start(t, 3)
			c.run(s)
			s.Ends(100 * ms)
			if got := text(ofAll(t, s.Run())); !slices.Equal(got, c.want) {
				t.Errorf("%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
		})
	}
}

// Ranks that are not selected are looked at all the same.
func TestSelected(t *testing.T) {
	s := start(t, 2)
	s.Rank(0).Stop(20*ms, "MPI_Recv", message("source", 1, 5))
	s.Rank(1).Stop(20*ms, "MPI_Recv", message("source", 0, 5))
	rows, err := New(s.Run(), []int{1})
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != 1 || len(rows[0].Ranks) != 1 || rows[0].Ranks[0] != (RankTime{1, 0}) || rows[0].Awaited[0].Ranks[0] != 0 {
		t.Errorf("%+v", rows)
	}
}
