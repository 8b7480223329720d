package live

import (
	"fmt"
	"testing"

	"github.com/efg-tools/efg/internal/analysis/check"
	"github.com/efg-tools/efg/internal/testing/groundtruth"
)

// A thread that hangs is shown where it hangs. It is not a deadlock while another thread of the
// rank that it waits for may still serve it.
func TestHangingThreads(t *testing.T) {
	for _, m := range groundtruth.Installed() {
		program := compile(t, m, "hangs_threads.c")
		for _, c := range []struct {
			kind     string
			hang     int // threads
			deadlock string
		}{{"one", 1, "[]"}, {"both", 2, "[]"}, {"all", 4, "[0 1]"}} {
			t.Run(m.Name+"/"+c.kind, func(t *testing.T) {
				j := launch(t, m, 2, program, c.kind)
				seen := j.until(t, func(r *JobState) bool { return hanging(r) == c.hang && deadlocked(r) == c.deadlock })
				for range 5 { // the others continue, and nothing else is reported
					if r := j.jobState(t); hanging(r) != c.hang || deadlocked(r) != c.deadlock || len(r.InVain)+len(r.Mismatches) > 0 {
						t.Fatalf("%s\nand then\n%s", describe(seen), describe(r))
					}
				}
				j.kill()
				j.until(t, func(r *JobState) bool { return !r.Running })
				r := j.stored(t)
				if hanging(r) != c.hang || deadlocked(r) != c.deadlock {
					t.Errorf("stored: %s", describe(r))
				}
				found, err := check.New(j.run(t))
				if err != nil {
					t.Fatal(err)
				}
				if found.Hangs() != (c.deadlock != "[]") {
					t.Errorf("a check finds that it hangs: %v", found.Hangs())
				}
			})
		}
	}
}

// hanging counts the threads that wait for the missing message.
func hanging(r *JobState) (n int) {
	for i := range r.Threads {
		if x := &r.Threads[i]; (x.State == InCall || x.State == Killed) && x.Op == "MPI_Recv" {
			n++
		}
	}
	return n
}

func deadlocked(r *JobState) string {
	var ranks []int
	for _, d := range r.Deadlocks {
		ranks = append(ranks, d.Ranks...)
	}
	return fmt.Sprint(ranks)
}
