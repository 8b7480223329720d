package groundtruth

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// Programs that poll, and programs whose arrays of requests were passed to polls before.
var pollers = []app{
	{source: "c/polling.c"},
	{source: "c/polls.c", args: []string{"20"}},
	{source: "c/probes.c"},
	{source: "c/eager.c"},
	{source: "c/persistent.c"},
	{source: "c/posted.c"},
	{source: "c/rma.c"},
	{source: "c/amr.c"},
	{source: "fortran/halo_mpifh.f"},
	{source: "fortran/all_f08.f90", args: []string{"DIR"}},
}

// TestTotals checks that with --polls totals all calls except polls that found nothing are in
// order, as without it, and that all of these polls are in the sums.
func TestTotals(t *testing.T) {
	for _, b := range benches {
		for _, a := range pollers {
			t.Run(b.Name+"-"+a.name(), func(t *testing.T) { checkTotals(t, b, a) })
		}
	}
}

func checkTotals(t *testing.T, b *Bench, a app) {
	ctx := t.Context()
	program, err := b.Build(ctx, a.source)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	logs, file := filepath.Join(dir, "logs"), filepath.Join(dir, "run.efg")
	if err := os.Mkdir(logs, 0o755); err != nil {
		t.Fatal(err)
	}
	r, err := b.BothTotals(ctx, file, logs, 4, a.command(program, dir)...)
	if err != nil || r.Status != 0 {
		t.Fatalf("status %d: %v\n%s", r.Status, err, r.Stderr)
	}
	c, err := b.CheckTotals(ctx, file, logs)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range c.Differences {
		t.Error(d)
	}
	processes, err := ReadLogs(logs)
	if err != nil {
		t.Fatal(err)
	}
	want, failed := pollsOf(processes)
	out, err := command(ctx, dir, b.Efg, "report", file, "--json")
	if err != nil {
		t.Fatal(err)
	}
	var report struct {
		Procedures []struct {
			Op    string
			Calls int
		}
	}
	if err := json.Unmarshal([]byte(out), &report); err != nil {
		t.Fatal(err)
	}
	for _, p := range report.Procedures {
		if n, ok := want[p.Op]; ok && n != p.Calls {
			t.Errorf("%d calls of %s, should be %d", p.Calls, p.Op, n)
		}
		delete(want, p.Op)
	}
	if len(want) > 0 {
		t.Errorf("polls are missing: %v", want)
	}
	t.Logf("%d events equal, %d polls counted", c.Events, failed)
}

// pollsOf counts the calls of procedures that poll, and those that found nothing.
func pollsOf(processes []*Process) (calls map[string]int, failed int) {
	calls = map[string]int{}
	for _, p := range processes {
		for _, thread := range p.Threads {
			for i := range thread {
				if polls[thread[i].Op] && thread[i].Done {
					calls["MPI_"+thread[i].Op]++
				}
				if thread[i].foundNothing() {
					failed++
				}
			}
		}
	}
	return calls, failed
}
