package otf2

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/export"
	"github.com/efg-tools/efg/internal/testing/sim"
	"github.com/efg-tools/efg/internal/testing/testrun"
	"github.com/efg-tools/efg/reconstruct"
)

// write writes a run, and returns the anchor file.
func write(t *testing.T, run *runfile.Run, job *export.Job) string {
	t.Helper()
	dir := t.TempDir()
	if job.Procs == nil {
		for i := range run.Procs {
			job.Procs = append(job.Procs, i)
		}
	}
	job.Run, job.Thread = run, -1
	if err := Write(dir, job); err != nil {
		t.Fatal(err)
	}
	if !Owns(dir) {
		t.Error("the directory is not taken for an archive")
	}
	return filepath.Join(dir, Name+".otf2")
}

// output runs a program, which must succeed.
func output(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%.2000s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

// printed checks that otf2-print accepts an archive.
func printed(t *testing.T, anchor string) {
	t.Helper()
	if out := output(t, "otf2-print", "-Werror", "--silent", anchor); strings.Contains(out, "warning") || strings.Contains(out, "error") {
		t.Errorf("otf2-print: %.1000s", out)
	}
}

// lines writes the calls of a run as JSON Lines.
func lines(t *testing.T, run *runfile.Run) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "calls.jsonl")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	w := bufio.NewWriter(f)
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
				w.Write(e.AppendJSON(nil))
			}
			if c := p.Pending(j); c != nil {
				w.Write(c.AppendJSON(nil))
			}
		}
	}
	if err := errors.Join(w.Flush(), f.Close()); err != nil {
		t.Fatal(err)
	}
	return name
}

// compare compares an archive with the calls of its run, by testdata/compare.py, and returns the
// numbers of records by kind.
func compare(t *testing.T, anchor, calls string) map[string]int {
	t.Helper()
	cmd := exec.Command("/usr/bin/python3", "testdata/compare.py", anchor, calls)
	var errOut bytes.Buffer
	cmd.Stderr = &errOut
	out, err := cmd.Output()
	text := strings.TrimSpace(string(out))
	if err != nil {
		t.Fatalf("%v: %.3000s\n%s", err, text, errOut.String())
	}
	found := map[string]int{}
	if err := json.Unmarshal([]byte(text[strings.LastIndexByte(text, '\n')+1:]), &found); err != nil {
		t.Fatal(err)
	}
	return found
}

// special is what the archives of programs must have.
var special = map[string]string{
	"c/callbacks.c": "inner", "c/paths.c": "inlined", "c/rma.c": "accesses", "c/io.c": "operations on files", "c/comms.c": "CommCreate",
	"c/fail.c": "entered", "c/inside.c": "entered with a path",
}

// OTF2's library reads what we write, and finds every call with its times, arguments and results,
// and the messages and collective calls that follow from them.
func TestArchive(t *testing.T) {
	programs := []testrun.Program{
		{Source: "c/jacobi.c", Args: "30"},
		{Source: "c/fail.c", Args: "kill 50", Fails: true, MPI: "openmpi"},
		{Source: "c/icoll.c", MPI: "openmpi"},
		{Source: "c/persistent.c", MPI: "mpich"},
		{Source: "c/pcoll.c", MPI: "mpich"},
		{Source: "c/probes.c", MPI: "openmpi"},
		{Source: "c/threads.c", MPI: "mpich"},
		{Source: "c/paths.c", MPI: "openmpi", Path: "--callpath"},
		{Source: "c/paths.c", MPI: "mpich", Path: "--callpath=3"},
		{Source: "c/comms.c", MPI: "openmpi"},
		{Source: "c/inter.c", MPI: "mpich"},
		{Source: "c/callbacks.c", Args: "3", MPI: "openmpi", Path: "--callpath"},
		{Source: "c/inside.c", Args: "end", Fails: true, MPI: "openmpi", Path: "--callpath"},
		{Source: "c/nest.c", MPI: "mpich"},
		{Source: "c/rma.c", Args: "2", MPI: "openmpi"},
		{Source: "c/rma.c", Args: "2", MPI: "mpich"},
		{Source: "c/io.c", Args: "2 DIR", MPI: "openmpi"},
		{Source: "c/io.c", Args: "2 DIR", MPI: "mpich"},
		{Source: "c/intercoll.c", MPI: "openmpi"},
		{Source: "fortran/all_f08.f90", MPI: "mpich"},
	}
	testrun.Record(t, programs, func(t *testing.T, r *testrun.Recording) {
		anchor := write(t, r.Run, &export.Job{RawClock: true, What: []string{Arguments, Callsites, Numbers}})
		printed(t, anchor)
		found := compare(t, anchor, lines(t, r.Run))
		calls := 0
		for i := range r.Run.Procs {
			for j := range r.Run.Procs[i].Streams {
				calls += int(r.Run.Procs[i].Streams[j].Events)
			}
		}
		if found["calls"] < calls || found["MpiCollectiveBegin"] != found["MpiCollectiveEnd"] || found["MpiIsend"] != found["MpiIsendComplete"] && programs[r.Program].Source != "c/fail.c" {
			t.Errorf("of %d calls %v", calls, found)
		}
		if kind := special[programs[r.Program].Source]; kind != "" && found[kind] == 0 {
			t.Errorf("no %s in %v", kind, found)
		}
		if path := programs[r.Program].Path; (path != "") != (found["paths"] > 0) || strings.Contains(path, "=") != (found["cut"] > 0) {
			t.Errorf("%d call paths, of which %d are cut", found["paths"], found["cut"])
		}
		if sent, received := found["MpiSend"]+found["MpiIsend"], found["MpiRecv"]+found["MpiIrecv"]; sent != received {
			t.Errorf("%d messages were sent and %d received", sent, received)
		}
	})
}

// Files are those that OTF2's library writes of the same records.
func TestChunks(t *testing.T) {
	dir := t.TempDir()
	program := filepath.Join(dir, "chunks")
	output(t, "gcc", "-o", program, "testdata/chunks.c", "-lotf2")
	output(t, program, filepath.Join(dir, "theirs"))
	var ours bytes.Buffer
	c := newChunks(&ours, eventChunk, true, nil)
	for i := range 300 {
		c.event(uint64(1+i/2), nil, reference(nil, eventEnter, 0))
		c.event(uint64(1+i/2), nil, transfer(nil, eventMpiIsend, &message{uint32(i), 2, 300, 70000}, 1<<40))
		c.event(uint64(1+i/2), nil, request(nil, eventNonBlockingCollectiveRequest, uint64(i)))
		c.event(uint64(1+i/2), nil, collectiveEnd(nil, eventMpiCollectiveEnd, &collective{1, 2, undefined, 5, 6}, 0))
		for _, record := range recordsOfWindows(uint32(i)) {
			c.event(uint64(1+i/2), nil, record)
		}
		c.event(uint64(1+i/2), nil, reference(nil, eventLeave, uint32(i%300)))
	}
	if err := c.close(); err != nil {
		t.Fatal(err)
	}
	theirs, err := os.ReadFile(filepath.Join(dir, "theirs", Name, "0.evt"))
	if err != nil {
		t.Fatal(err)
	}
	compareBytes(t, "0.evt", ours.Bytes(), theirs)
	if err := writeEmpty(filepath.Join(dir, "0.def")); err != nil {
		t.Fatal(err)
	}
	empty, err1 := os.ReadFile(filepath.Join(dir, "0.def"))
	theirs, err2 := os.ReadFile(filepath.Join(dir, "theirs", Name, "0.def"))
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	compareBytes(t, "0.def", empty, theirs)
}

// recordsOfWindows are records about windows, files and communicators.
func recordsOfWindows(i uint32) [][]byte {
	return [][]byte{
		short(nil, eventRmaWinCreate, i), short(nil, eventRmaWinDestroy, i), {eventRmaCollectiveBegin, 0},
		rmaCollectiveEnd(nil, &collective{createAndAllocate, i, undefined, 5, 6}, syncProcess|syncMemory),
		groupSyncRecord(nil, syncProcess, i, 300), lockRecord(nil, eventRmaRequestLock, i, undefined, lockShared),
		unlockRecord(nil, i, 300), syncRecord(nil, i, 300),
		accessRecord(nil, eventRmaPut, i, 300, 70000, 7), accessRecord(nil, eventRmaGet, i, 300, 70000, 7),
		atomicRecord(nil, i, 300, atomicFetchAndAdd, 4, 70000, 7),
		completionRecord(nil, eventRmaOpCompleteNonBlocking, i, 7), completionRecord(nil, eventRmaOpTest, i, 7),
		completionRecord(nil, eventRmaOpCompleteRemote, i, 7),
		createHandleRecord(nil, i, accessReadWrite, 1, 2), short(nil, eventIoDestroyHandle, i),
		seekRecord(nil, i, -1, 1, undefined64), deleteFileRecord(nil, i), beginRecord(nil, i, modeWrite, flagOfCollective, 70000, 7),
		operationRecord(nil, eventIoOperationTest, i, 7), operationRecord(nil, eventIoOperationIssued, i, 7), completeRecord(nil, i, 70000, 7),
		short(nil, eventCommCreate, i), short(nil, eventCommDestroy, i),
	}
}

func compareBytes(t *testing.T, name string, ours, theirs []byte) {
	t.Helper()
	for i := range min(len(ours), len(theirs)) {
		if ours[i] != theirs[i] {
			t.Fatalf("%s: byte %#x: %#x, not %#x", name, i, ours[i], theirs[i])
		}
	}
	if len(ours) != len(theirs) {
		t.Errorf("%s: %d bytes, not %d", name, len(ours), len(theirs))
	}
}

// Parts of a run are archives, too: what has its other side outside is left out, and counted.
func TestParts(t *testing.T) {
	run := testrun.Traced(t, sim.Config{Program: "halo", Ranks: 8, Steps: 20, Periodic: true, Seed: 1})
	for _, sel := range []export.Selection{
		{Procs: []int{1, 2, 5}}, {From: 30, To: 90}, {Time: &export.TimeWindow{From: 20_000, To: 90_000}}, {From: 1 << 40},
	} {
		t.Run(fmt.Sprintf("%+v", sel), func(t *testing.T) {
			printed(t, write(t, run, &export.Job{Selection: sel}))
		})
	}
}

// The bytes of an archive are always the same.
func TestSame(t *testing.T) {
	var sums []string
	for range 2 {
		run := testrun.Traced(t, sim.Config{Program: "random", Ranks: 16, Steps: 20, Seed: 1})
		dir := filepath.Dir(write(t, run, &export.Job{What: []string{Arguments}}))
		sums = append(sums, output(t, "sh", "-c", `cd "$0" && find . -type f | sort | xargs sha256sum`, dir))
	}
	if sums[0] != sums[1] {
		t.Error("the archives differ")
	}
}

// A run without the times of each call is refused.
func TestNoTimes(t *testing.T) {
	run := testrun.Simulated(t, sim.Config{Program: "halo", Ranks: 2, Steps: 2, Seed: 1})
	if err := Write(t.TempDir(), &export.Job{Run: run, Selection: export.Selection{Procs: []int{0, 1}, Thread: -1}}); !errors.Is(err, ErrNoTimes) {
		t.Error(err)
	}
}
