package waitfor

import (
	"slices"

	"github.com/efg-tools/efg/efg"
)

// Rank is a process and what its threads are doing.
type Rank struct {
	Process *efg.Process
	Number  int // rank in the job, where worlds follow each other; -1 if unknown
	First   int // rank in the job of rank 0 of its MPI_COMM_WORLD
	Ended   bool
	Threads []Thread // of each of the process's streams
}

// Thread is what a thread is doing.
type Thread struct {
	InCall bool
	Moved  bool     // it moved while it was examined
	Words  []uint64 // of its call in progress
}

// Recorded returns a process from a run file; first is the rank in the run of rank 0 of its
// MPI_COMM_WORLD.
func Recorded(p *efg.Process, first int) *Rank {
	r := &Rank{Process: p, Number: p.Rank, First: first}
	exited := false
	for i := range p.Streams {
		s := &p.Streams[i]
		r.Ended = r.Ended || s.End == efg.EndFinalized
		exited = exited || s.End == efg.EndExit
		t := Thread{}
		if s.Pending != nil {
			t.InCall, t.Words = true, s.Pending.Words
		}
		r.Threads = append(r.Threads, t)
	}
	if exited {
		r.Exited(false)
	}
	return r
}

// Exited notes that the process exited without MPI_Finalize; running: others of the job still
// run. A process that exited inside a call was ended by the library (MPI_Abort, an error),
// which also ends the others: it waits for no rank, and it means nothing that the others, once
// they have ended, were waiting for it.
func (r *Rank) Exited(running bool) {
	r.Ended = r.Ended || running || !slices.ContainsFunc(r.Threads, func(t Thread) bool { return t.InCall })
	r.Died()
}

// Died notes that the process was ended by the calls that it is in: it does not wait in them.
func (r *Rank) Died() {
	for i := range r.Threads {
		r.Threads[i].InCall = false
	}
}

// dropped reports whether events of the process are missing: what it has done is unknown.
func (r *Rank) dropped() bool {
	for i := range r.Process.Streams {
		if r.Process.Streams[i].Dropped > 0 {
			return true
		}
	}
	return false
}

// maxListed bounds lists of ranks: a broken segment can claim any size.
const maxListed = 1 << 17
