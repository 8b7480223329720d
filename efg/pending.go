package efg

import (
	"fmt"

	"github.com/efg-tools/efg/signature"
)

// Pending is a call in progress, which had not returned when the recording ended. It is not an
// event, and not part of the graph, so ranks that were killed in different calls still share
// their graphs.
type Pending struct {
	// Words are like those of an event. What a call returns is
	// absent; arrays that are recorded then are words without a definition.
	Words []uint64
	// Since is when the call was entered: nanoseconds after the process's Start; 0 if unknown.
	Since uint64
	// Inner is the call that the program made inside this one, in a function that MPI called, and was in, too; nil:
	// none.
	Inner *Pending
}

// MaxPending is how many calls in progress a thread has at most, inside each other.
const MaxPending = 32

// Calls are the call and those inside it, the innermost last.
func (p *Pending) Calls() (list []*Pending) {
	for ; p != nil; p = p.Inner {
		list = append(list, p)
	}
	return list
}

// Inside adds a call to those in progress: inside the innermost one. Beyond MaxPending it takes the place of
// that one.
func (p *Pending) Inside(call *Pending) {
	list := p.Calls()
	at := len(list)
	if at == MaxPending {
		at--
	}
	call.Words[0] = uint64(signature.Header(call.Words[0]).AtDepth(at))
	list[at-1].Inner = call
}

// NewPending makes a call in progress from the words that a recorder had of it.
func NewPending(words []uint64, since uint64) *Pending {
	p := &Pending{Words: append([]uint64(nil), words...), Since: since}
	p.Words[0] = uint64(signature.Header(words[0]).WithoutError())
	proc := signature.ProcByID(signature.Header(words[0]).Proc())
	for i := signature.FirstWord; proc != nil && i < min(len(words), len(proc.Words)); i++ {
		if w := &proc.Words[i]; w.Out || w.Form == signature.SlotForm {
			p.Words[i] = signature.Absent
		}
	}
	return p
}

// At is when the call of a thread of the process was entered, in Unix nanoseconds; 0 if
// unknown.
func (p *Pending) At(of *Process) int64 {
	if p.Since == 0 || of.Start == 0 {
		return 0
	}
	return of.Start + int64(p.Since)
}

// InRun is when the call of a thread of the process, which is from a file, was entered: ns since the run began. Since must
// be known.
func (p *Pending) InRun(of *Process) int64 { return p.At(of) - of.Mono + of.Clock }

// LatestEnd is when the calls in progress of the process had ended at the latest, in Unix nanoseconds, of a run that had ended
// by a time.
func (p *Process) LatestEnd(ended int64) int64 {
	if p.Gone == 0 || p.Start == 0 {
		return ended
	}
	return min(ended, p.Start+int64(p.Gone))
}

// LatestEndInRun is LatestEnd of a process from a file, in ns since the run began, as is ended.
func (p *Process) LatestEndInRun(ended int64) int64 {
	if p.Gone == 0 || p.Start == 0 {
		return ended
	}
	return min(ended, p.Start+int64(p.Gone)-p.Mono+p.Clock)
}

// Check checks the rules of the run file's format.
func (p *Pending) Check() error {
	list := p.Calls()
	if len(list) > MaxPending {
		return fmt.Errorf("%d calls in progress", len(list))
	}
	for _, c := range list {
		if err := c.checkWords(); err != nil {
			return err
		}
	}
	return nil
}

func (p *Pending) checkWords() error {
	n := len(p.Words)
	if n < signature.FirstWord || n > signature.MaxWords || signature.Header(p.Words[0]).Words() != n {
		return fmt.Errorf("call in progress: %d words", n)
	}
	if signature.Header(p.Words[0]).Counted() {
		return fmt.Errorf("call in progress: header %#x is of counted polls", p.Words[0])
	}
	return nil
}
