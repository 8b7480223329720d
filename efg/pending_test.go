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
