package otf2

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/export"
	"github.com/efg-tools/efg/internal/testing/testrun"
	"github.com/efg-tools/efg/reconstruct"
	"github.com/efg-tools/efg/signature"
)

// Archives without arguments keep order, times, peers, tags, communicators and sizes of messages and
// of collective calls, and what they have of windows and files.
func TestPlain(t *testing.T) {
	programs := []testrun.Program{
		{Source: "c/jacobi.c", Args: "30"}, {Source: "c/blocklu.c"}, {Source: "c/mesh.c"}, {Source: "c/pingpong.c"},
		{Source: "c/planewave.c"}, {Source: "c/nest.c"}, {Source: "c/halo3d.c"}, {Source: "c/eager.c"},
		{Source: "c/icoll.c"}, {Source: "c/threads.c"}, {Source: "c/grid.c"}, {Source: "c/rma.c", Args: "2"}, {Source: "c/io.c", Args: "2 DIR"},
	}
	testrun.Record(t, programs, func(t *testing.T, r *testrun.Recording) {
		run, notes := imported(t, archived(t, r.Run, &export.Job{RawClock: true}))
		for _, note := range notes {
			t.Log(note)
		}
		compareLines(t, transfers(t, run), transfers(t, r.Run))
	})
}

// transfers writes what the calls of a run transfer.
func transfers(t *testing.T, run *runfile.Run) (b []byte) {
	t.Helper()
	source, err := reconstruct.NewRun(run)
	if err != nil {
		t.Fatal(err)
	}
	for i := range run.Procs {
		p, err := source.Process(i)
		if err != nil {
			t.Fatal(err)
		}
		for j := range p.Streams() {
			for e, err := range p.Events(j, reconstruct.Options{}) {
				if err != nil {
					t.Fatal(err)
				}
				b = appendTransfer(b, e, p.Names())
			}
		}
	}
	return b
}

var commName = regexp.MustCompile(`"comm":"[^"]*"`)

func appendTransfer(b []byte, e *reconstruct.Event, names *reconstruct.Names) []byte {
	start, end, _ := e.Times()
	b = fmt.Appendf(b, "%d %d %d %d-%d %s", e.Rank(), e.Thread(), e.Seq, start, end, e.Op())
	p := signature.ProcByID(e.Header().Proc())
	r := &p.Roles
	sends, receives := p.Sends() && !signature.IsConst(e.Word(r.Dest)), p.Receives() && r.Source != 0 && !signature.IsConst(e.Word(r.Source))
	if sends {
		b = fmt.Appendf(b, " to %d tag %d%s", e.Word(r.Dest), e.Word(r.SendTag), size(e, &r.Send, names))
	}
	if receives {
		b = fmt.Appendf(b, " from %d tag %d%s", e.Word(r.Source), e.Word(r.RecvTag), size(e, &r.Recv, names))
	}
	collective := p.Collective() && p.ObjectKind() == signature.Comm && p.MadeKind() != signature.Comm && p.MadeKind() != signature.File
	if collective && p.Shape != signature.Neighbours {
		b = fmt.Appendf(b, "%s%s", size(e, &r.Send, names), size(e, &r.Recv, names))
	}
	if sends || receives || collective {
		b = append(append(b, ' '), commName.Find(e.AppendJSONArguments(nil))...)
	}
	if !e.Failed() { // there are no records of what failed
		b = appendFile(appendWindow(b, e, names), e, names)
	}
	return append(b, '\n')
}

// appendWindow writes what archives have of a call about a window.
func appendWindow(b []byte, e *reconstruct.Event, names *reconstruct.Names) []byte {
	p := signature.ProcByID(e.Header().Proc())
	joins := p.Collective() && (p.MadeKind() == signature.Win || p.FreedKind() == signature.Win)
	if !joins && !p.Accesses() && p.Epoch == signature.NoEpoch {
		return b
	}
	r := &p.Roles
	if r.Flag != 0 && e.Word(r.Flag) != 1 { // likewise of an epoch that is not over
		return b
	}
	text := string(e.AppendJSONArguments(nil)) + string(e.AppendJSONResults(nil))
	b = fmt.Appendf(b, " %q", ofWindow.FindAllString(text, -1))
	if p.Accesses() {
		b = fmt.Appendf(b, "%s%s", size(e, &r.Send, names), size(e, &r.Recv, names))
		if p.Issues != "" {
			b = fmt.Appendf(b, " request %t", e.Word(r.Request) != signature.Absent)
		}
	}
	return b
}

// appendFile writes what archives have of a call about a file.
func appendFile(b []byte, e *reconstruct.Event, names *reconstruct.Names) []byte {
	p := signature.ProcByID(e.Header().Proc())
	r := &p.Roles
	text := string(e.AppendJSONArguments(nil)) + string(e.AppendJSONResults(nil))
	moves := p.ReadsFile() || p.WritesFile()
	switch {
	case p.MadeKind() == signature.File, p.FreedKind() == signature.File, p.Split == "end", moves:
		if found := ofFile.FindAllString(text, -1); found != nil {
			b = fmt.Appendf(b, " %q", found)
		}
		b = fmt.Appendf(b, "%s%s", size(e, &r.Send, names), size(e, &r.Recv, names))
	case strings.HasPrefix(p.Name, "MPI_File_seek"), p.Name == "MPI_File_delete":
		b = fmt.Appendf(b, " %q", ofSeek.FindAllString(text, -1))
	}
	if moves && p.Issues != "" {
		b = fmt.Appendf(b, " request %t", e.Word(r.Request) != signature.Absent)
	}
	if p.OnFiles() && r.StatusBytes != 0 {
		if got := e.Word(r.StatusBytes); !signature.IsConst(got) {
			b = fmt.Appendf(b, " moved %d", got)
		}
	}
	return b
}

var (
	ofWindow = regexp.MustCompile(`"(win|comm|group|lock_type|target_rank|rank)":("[^"]*"|[0-9]+)`)
	ofSeek   = regexp.MustCompile(`"(fh|filename|offset|whence)":("[^"]*"|-?[0-9]+)`)
	ofFile   = regexp.MustCompile(`"(fh|comm|filename|amode)":("[^"]*"|[0-9]+)`)
)

// size is the size of a payload that has one count.
func size(e *reconstruct.Event, d *signature.Payload, names *reconstruct.Names) string {
	p := signature.ProcByID(e.Header().Proc())
	if !d.Present() || d.Count == 0 || p.Vector(d.Count) || p.Vector(d.Type) || signature.IsConst(e.Word(d.Count)) || e.Word(d.Type) == signature.Absent {
		return ""
	}
	n, _ := names.TypeSize(e.Word(d.Type))
	return fmt.Sprintf(" %d bytes", e.Word(d.Count)*n)
}
