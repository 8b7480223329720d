package hook_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/efg-tools/efg/signature"
)

var (
	callInSource = regexp.MustCompile(`(P?MPI_[A-Z]\w*)\(`)
	callInTool   = regexp.MustCompile(`REAL\((MPI_\w+)\)\(`)
)

// callsIn are the calls in a source file that are recorded, as "PMPI_Send calls.c:21".
func callsIn(t *testing.T, file string, call *regexp.Regexp) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata/pmpi", file))
	if err != nil {
		t.Fatal(err)
	}
	var l []string
	for i, line := range strings.Split(string(text), "\n") {
		for _, m := range call.FindAllStringSubmatch(line, -1) {
			p := signature.ProcByName(strings.TrimPrefix(m[1], "P"))
			if p != nil && p.Class != signature.Query && p.Class != signature.Pass {
				l = append(l, fmt.Sprintf("%s %s:%d", m[1], file, i+1))
			}
		}
	}
	return l
}

// programCalls are the calls of calls.c in the order of its run.
func programCalls(t *testing.T) []string {
	l := callsIn(t, "calls.c", callInSource)
	const inRing, init = 7, 1
	ring, rest := l[:inRing], l[inRing:]
	return slices.Concat(rest[:init], ring, ring, ring, rest[init:])
}

// recordedCalls are the calls of a rank in the same form.
func recordedCalls(t *testing.T, dir, efg string, rank int) []string {
	t.Helper()
	var l []string
	text := command(t, dir, efg, "reconstruct", "--format", "jsonl", "--rank", fmt.Sprint(rank), "calls.efg")
	for line := range strings.Lines(text) {
		var e struct {
			Op, Site string
			PMPI     bool
		}
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatal(err)
		}
		if e.PMPI {
			e.Op = "P" + e.Op
		}
		l = append(l, e.Op+" "+e.Site)
	}
	return l
}

// compareCalls reports the first difference on both ranks, and verifies the file.
func compareCalls(t *testing.T, dir, efg string, want []string) {
	t.Helper()
	command(t, dir, efg, "reconstruct", "--verify", "calls.efg")
	command(t, dir, "sh", "-c", `"$0" dump calls.efg | "$0" assemble - -o again.efg && cmp calls.efg again.efg`, efg)
	command(t, dir, "sh", "-c", `"$0" export calls.efg --format gxl | "$0" import - -o again.efg && cmp calls.efg again.efg`, efg)
	command(t, dir, efg, "check", "calls.efg")
	for rank := range 2 {
		got := recordedCalls(t, dir, efg, rank)
		for i := range max(len(got), len(want)) {
			if i >= len(got) || i >= len(want) || got[i] != want[i] {
				t.Errorf("rank %d, call %d:\n got  %v\n want %v", rank, i, got[min(i, len(got)):], want[min(i, len(want)):])
				break
			}
		}
	}
}

// Calls by PMPI_ names are recorded like those by MPI_ names, each once and with the program's
// callsite, whether a tool is before the hook, after it, or in the program; what the tool sees,
// and the library's own calls, do not change.
func TestPMPI(t *testing.T) {
	efg := buildEfg(t)
	source, err := filepath.Abs("testdata/pmpi")
	if err != nil {
		t.Fatal(err)
	}
	program, tool := programCalls(t), callsIn(t, "tool.c", callInTool)
	for _, mpi := range []string{"openmpi", "mpich"} {
		for _, c := range []struct {
			name    string
			tool    []string // how the tool is compiled; nil if there is none
			link    []string // likewise the program
			preload string
			inTool  bool // the callsites are in the tool
		}{
			{name: "no tool"},
			{name: "in front", tool: []string{"-O0"}, preload: "LD_PRELOAD=./libtool.so"},
			{name: "in front, optimised", tool: []string{"-O2"}, preload: "LD_PRELOAD=./libtool.so"},
			{name: "in front, by MPI names", tool: []string{"-O2", "-DNEXT"}, preload: "LD_PRELOAD=./libtool.so"},
			{name: "behind", tool: []string{"-O2"}, link: []string{"-L.", "-ltool", "-Wl,-rpath,$ORIGIN"}},
			{name: "behind, by MPI names", tool: []string{"-O2", "-DNEXT"}, link: []string{"-L.", "-ltool", "-Wl,-rpath,$ORIGIN"}},
			{name: "in the program", link: []string{source + "/tool.c"}, inTool: true},
		} {
			t.Run(mpi+"/"+c.name, func(t *testing.T) {
				dir := t.TempDir()
				cc := []string{"mpicc." + mpi, "-w", "-g"}
				if c.tool != nil {
					command(t, dir, slices.Concat(cc, c.tool, []string{"-shared", "-fPIC", "-o", "libtool.so", source + "/tool.c", "-ldl"})...)
				}
				command(t, dir, slices.Concat(cc, []string{"-O1", "-o", "calls", source + "/calls.c"}, c.link)...)
				run := []string{"mpiexec." + mpi, "-n", "2", "env", "EFG_TEST=", "./calls", "file"}
				if c.preload != "" {
					run[4] = c.preload
				}
				plain := command(t, dir, run...)
				// LD_PRELOAD already names something before efg run prepends the hook.
				first := run[4]
				run[4] = "EFG_TEST="
				out := command(t, dir, append([]string{"env", first, efg, "run", "-o", "calls.efg", "--"}, run...)...)
				if out != plain {
					t.Errorf("the program printed %q, without efg %q", out, plain)
				}
				want := program
				if c.inTool {
					want = throughTool(program, tool)
				}
				compareCalls(t, dir, efg, want)
			})
		}
	}
}

// throughTool are the calls of a program that contains tool.c: calls by the MPI_ names defined
// there appear there, by PMPI_ names.
func throughTool(program, tool []string) []string {
	var l []string
	for _, call := range program {
		for _, in := range tool {
			if name, _, _ := strings.Cut(in, " "); strings.HasPrefix(call, name+" ") {
				call = "P" + in
			}
		}
		l = append(l, call)
	}
	return l
}

// The same in Fortran.
func TestPMPIFortran(t *testing.T) {
	efg := buildEfg(t)
	source, err := filepath.Abs("testdata/pmpi/calls.F90")
	if err != nil {
		t.Fatal(err)
	}
	ring := []string{"PMPI_Irecv calls.F90:19", "MPI_Send calls.F90:20", "PMPI_Wait calls.F90:21"}
	want := func(init, finalize int) []string {
		return slices.Concat([]string{fmt.Sprint("PMPI_Init calls.F90:", init)}, ring, ring, ring,
			[]string{"MPI_Barrier calls.F90:23", "PMPI_Bcast calls.F90:24", fmt.Sprint("PMPI_Finalize calls.F90:", finalize)})
	}
	// gfortran attributes these calls of mpi_f08 to the beginning of the program.
	calls := map[string][]string{"MPIF": want(14, 26), "F08": want(2, 2)}
	for _, mpi := range []string{"openmpi", "mpich"} {
		for _, api := range []string{"MPIF", "F08"} {
			t.Run(mpi+"/"+api, func(t *testing.T) {
				dir := t.TempDir()
				command(t, dir, "mpifort."+mpi, "-g", "-O0", "-w", "-fallow-argument-mismatch", "-D"+api, "-o", "calls", source)
				if out := command(t, dir, efg, "run", "-o", "calls.efg", "--", "mpiexec."+mpi, "-n", "2", "./calls"); out != "calls: ok\n" {
					t.Errorf("the program printed %q", out)
				}
				compareCalls(t, dir, efg, calls[api])
			})
		}
	}
}
