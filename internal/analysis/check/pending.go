package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/internal/analysis"
	"github.com/efg-tools/efg/reconstruct"
	"github.com/efg-tools/efg/signature"
)

// Kinds of ends of a program.
const (
	EndedEarly Kind = "program ended early"
	Aborted    Kind = "program called MPI_Abort"
)

// inCall lists the calls that the threads of a process were in when its recording ended.
func inCall(p *analysis.Process) []candidateFault {
	var list []candidateFault
	for i := range p.Data.Streams {
		s := &p.Data.Streams[i]
		if s.Pending == nil {
			continue
		}
		op := "" // the form in which callers have it
		if q := signature.ProcByID(signature.Header(s.Pending.Words[0]).Proc()); q != nil {
			op = q.Name
		}
		list = append(list, candidateFault{
			kind: NeverReturned, at: place{s.Thread, int32(len(s.Nodes))}, op: op, site: s.Pending.Words[1], count: 1, event: s.Events, call: s.Pending,
		})
	}
	return list
}

// inCallText says which call a thread of a process was in, and which others inside it.
func inCallText(p *efg.Process, thread uint32, outermost *efg.Pending, names *reconstruct.Names) string {
	var text []string
	for _, call := range outermost.Calls() {
		t := reconstruct.DescribePending(p, thread, call, names)
		text = append(text, fmt.Sprintf("%s(%s)", t.Op, strings.Join(t.Args, ", ")))
	}
	return strings.Join(text, ", inside it ")
}

// lastCall is the last call of a stream, or its last annotation if there are only such.
func lastCall(s *efg.Stream, defs []efg.Def) candidateFault {
	f := candidateFault{at: place{s.Thread, 0}, count: 1, event: s.Events - min(s.Events, 1)}
	w := s.WalkFrom(defs, f.event)
	for w.Next() {
		f.at.node = int32(w.Node())
	}
	if procOf(&s.Nodes[f.at.node]).Annotates() {
		for w = s.Walk(defs); w.Next(); {
			if k := w.Node(); !procOf(&s.Nodes[k]).Annotates() {
				f.at.node, f.event = int32(k), w.Seq()
			}
		}
	}
	n := &s.Nodes[f.at.node]
	if q := procOf(n); q != nil {
		f.op = q.Name
	}
	f.site = n.Words[1]
	return f
}

// unfinished: a process that was in no call ended without MPI_Finalize.
func unfinished(p *analysis.Process) []candidateFault {
	s := &p.Data.Streams[0]
	if len(s.Nodes) == 0 || len(inCall(p)) > 0 {
		return nil
	}
	f := lastCall(s, p.Data.Defs)
	f.kind, f.text = NoFinalize, "the process ended without MPI_Finalize; this is its last call"
	return []candidateFault{f}
}

// ends lists how a process ended, if it ended before MPI_Finalize.
func (t *tally) ends() []candidateFault {
	open, exits := false, false
	var aborted []candidateFault
	for i := range t.p.Data.Streams {
		s := &t.p.Data.Streams[i]
		open, exits = open || s.End == efg.EndOpen, exits || s.End == efg.EndExit
		aborted = append(aborted, aborts(s)...)
	}
	list := inCall(t.p)
	for i := range list {
		if why := t.invalidArgument(list[i].call.Words); why != "" {
			list[i].kind, list[i].local = InvalidArgument, why
		} else if exits {
			list[i].kind, list[i].text = NoFinalize, "the process ended without MPI_Finalize"
		}
	}
	list = append(list, aborted...)
	if s := &t.p.Data.Streams; open && len(list) == 0 && len((*s)[0].Nodes) > 0 {
		f := lastCall(&(*s)[0], t.p.Data.Defs)
		f.kind = EndedEarly
		list = append(list, f)
	}
	return list
}

// aborts lists the calls of a stream that do not return: MPI_Abort.
func aborts(s *efg.Stream) (list []candidateFault) {
	for k := range s.Nodes {
		n := &s.Nodes[k]
		if p := procOf(n); p != nil && p.NoReturn {
			list = append(list, candidateFault{
				kind: Aborted, at: place{s.Thread, int32(k)}, op: p.Name, site: n.Words[1], count: 1, event: s.Events - 1,
				text: "the program exited by itself",
			})
		}
	}
	return list
}

// endings decides which of the places where processes ended are errors. A call with an invalid
// argument ends the program, as do MPI_Abort, a process that exits by itself, and a user who
// notices a hang: the state of the other processes then has no meaning. Otherwise it is only
// known that something ended the program.
func (b *builder) endings() {
	cause := b.report.Hangs() || slices.ContainsFunc(b.ends, func(s candidateFault) bool { return s.causes() })
	for k := range b.groups {
		cause = cause || k.kind == NoFinalize || k.kind == FreedHandle
	}
	failed := b.run.Meta.Status != 0 && !b.run.Meta.StatusUnknown
	starting := !slices.ContainsFunc(b.ends, func(s candidateFault) bool { return !s.starting() })
	for _, s := range b.ends {
		switch {
		case s.causes():
		case failed && !cause && (starting || !s.starting()):
			s.kind, s.text = EndedEarly, statusText(b.run.Meta.Status)
		case s.call == nil:
			continue
		default:
			s.remark = "it hung, or it was killed for another reason"
		}
		b.group(s)
	}
}

// starting reports whether the process was in MPI_Init, as late processes are.
func (s *candidateFault) starting() bool {
	p := signature.ProcByName(s.op)
	return s.call != nil && p != nil && p.Begins
}

// causes reports whether this is the reason why a program ended.
func (s *candidateFault) causes() bool {
	return s.kind == InvalidArgument || s.kind == Aborted || s.kind == NoFinalize
}

// lastSignal is Linux's last signal.
const lastSignal = 64

// statusText explains the exit status of a command.
func statusText(status int) string {
	if status > 128 && status <= 128+lastSignal {
		return fmt.Sprintf("the program was ended by signal %d (status %d)", status-128, status)
	}
	return fmt.Sprintf("the program ended with status %d", status)
}
