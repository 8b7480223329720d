package efg

import (
	"testing"

	"github.com/efg-tools/efg/signature"
)

// The results of a call are unknown while it is in progress.
func TestResultsOfACallInProgressAreAbsent(t *testing.T) {
	p := signature.ProcByName("MPI_Irecv")
	words := make([]uint64, len(p.Words))
	for i := range words {
		words[i] = uint64(i)
	}
	words[0] = uint64(signature.MakeHeader(p.ID, 0, false, len(words), 0))
	got := NewPending(words, 0).Words
	for i := signature.FirstWord; i < len(words); i++ {
		told := !p.Words[i].Out && p.Words[i].Form != signature.SlotForm
		if told && got[i] != words[i] || !told && got[i] != signature.Absent {
			t.Errorf("%s: %#x", p.Words[i].Name, got[i])
		}
	}
	if got[len(got)-1] != signature.Absent {
		t.Error("the request is known")
	}
}

// A call ends when its process was gone, if that is known and was before the run ended.
func TestLatestEnd(t *testing.T) {
	for _, c := range []struct {
		p           Process
		ended, want int64 // in Unix ns
	}{
		{Process{Start: 1000}, 1900, 1900},
		{Process{Start: 1000, Gone: 5}, 1900, 1005},
		{Process{Start: 1000, Gone: 950}, 1900, 1900},
		{Process{Gone: 5}, 1900, 1900},
	} {
		if got := c.p.LatestEnd(c.ended); got != c.want {
			t.Errorf("gone after %d: %d, want %d", c.p.Gone, got, c.want)
		}
		c.p.Mono, c.p.Clock = 700, 100 // the run began at 600
		if got := c.p.LatestEndInRun(c.ended - 600); got != c.want-600 {
			t.Errorf("gone after %d: %d in the run, want %d", c.p.Gone, got, c.want-600)
		}
	}
}
