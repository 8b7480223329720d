package main

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/jsondoc"
	"github.com/efg-tools/efg/signature"
)

// counting is what the tests count: what every Linux has.
const counting = "page-faults,task-clock,context-switches,max-rss"

// recordCounted records a program with counters, two processes of it.
func recordCounted(t *testing.T, m mpi, program string, args ...string) (run *runfile.Run, file, out, errOut string, status int) {
	t.Helper()
	return recordWith(t, m, nil, program, args...)
}

// recordWith is recordCounted with other options, too.
func recordWith(t *testing.T, m mpi, options []string, program string, args ...string) (run *runfile.Run, file, out, errOut string, status int) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "counted.efg")
	command := slices.Concat([]string{"run", "--counters", counting, "-o", file}, options, []string{"--"}, m.launcher, []string{program}, args)
	out, errOut, status = efgRun(t, nil, command...)
	run, err := runfile.OpenRun(file)
	if err != nil {
		t.Fatalf("%v: %s%s", err, out, errOut)
	}
	t.Cleanup(func() { run.Close() })
	throughText(t, file)
	if err := runfile.Validate(run); err != nil {
		t.Fatal(err)
	}
	return run, file, out, errOut, status
}

// countedAt returns the counters of a stream's nodes of a procedure, one after the other.
func countedAt(s *efg.Stream, proc string) (list [][]efg.NodeCounter) {
	for i := range s.Nodes {
		if signature.ProcByID(signature.Header(s.Nodes[i].Words[0]).Proc()).Name == proc {
			list = append(list, s.Nodes[i].Counters)
		}
	}
	return list
}

// Page faults are counted where they occur: those that the program causes and counts itself, of each
// thread, and whatever else it does.
func TestCounters(t *testing.T) {
	for _, m := range mpis {
		program := compileMPI(t, m, "../../../testdata/c/counted.c")
		for _, args := range [][]string{nil, {"close", "fork"}, {"kill"}} {
			t.Run(m.name+" "+strings.Join(args, " "), func(t *testing.T) {
				run, _, out, errOut, status := recordCounted(t, m, program, args...)
				if killed := slices.Contains(args, "kill"); (status != 0) != killed || !killed && withoutBuilds(errOut) != "" {
					t.Fatalf("status %d: %s", status, errOut)
				}
				exact := args == nil
				for i := range run.Procs {
					p, err := run.Process(i)
					if err != nil {
						t.Fatal(err)
					}
					checkFaults(t, p, out, exact)
				}
			})
		}
	}
}

func checkFaults(t *testing.T, p *efg.Process, out string, exact bool) {
	t.Helper()
	if len(p.Counters) != 4 || !p.Counters[0].Read() || p.Counters[0].State != efg.CounterRead {
		t.Fatalf("counters %+v", p.Counters)
	}
	reduce := countedAt(&p.Streams[0], "MPI_Allreduce")[0][0]
	if reduce.Count != 10 || reduce.Before.Min < 100 || reduce.Before.Sum < 1000 || exact && reduce.Before.Sum > 1010 {
		t.Errorf("rank %d: %+v", p.Rank, reduce)
	}
	if exact {
		barrier := countedAt(&p.Streams[0], "MPI_Barrier")[1][0]
		total := reduce.Call.Sum + reduce.Before.Sum + barrier.Before.Sum
		if !slices.ContainsFunc(strings.Split(out, "\n"), func(line string) bool {
			n, err := strconv.ParseUint(strings.TrimPrefix(line, "faults "), 10, 64)
			return err == nil && max(n, total)-min(n, total) <= 5
		}) {
			t.Errorf("rank %d: %d page faults, the program counted %q", p.Rank, total, out)
		}
	}
	for k := 1; k < len(p.Streams); k++ {
		var probe efg.NodeCounter
		for _, c := range countedAt(&p.Streams[k], "MPI_Iprobe") {
			probe.AddOf(&c[0])
		}
		if probe.Count == 0 {
			continue
		}
		if probe.Count != 11 || probe.Before.Sum < 500 || probe.Before.Sum > 530 {
			t.Errorf("rank %d, thread %d: %+v", p.Rank, k, probe)
		}
		return
	}
	t.Errorf("rank %d: no thread with probes", p.Rank)
}

// compileCountedFortran compiles a program that touches pages.
func compileCountedFortran(t *testing.T, m mpi) string {
	t.Helper()
	t.Setenv("OMPI_ALLOW_RUN_AS_ROOT", "1")
	t.Setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
	program := filepath.Join(t.TempDir(), "counted")
	source := filepath.Join("..", "..", "testdata", "fortran", "counted.f90")
	if out, err := exec.Command("mpif90."+m.name, "-g", "-o", program, source).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return program
}

// Programs in Fortran are counted, too.
func TestCountersOfFortran(t *testing.T) {
	for _, m := range mpis {
		t.Run(m.name, func(t *testing.T) {
			run, _, _, errOut, status := recordCounted(t, m, compileCountedFortran(t, m))
			if status != 0 {
				t.Fatal(errOut)
			}
			for i := range run.Procs {
				p, err := run.Process(i)
				if err != nil {
					t.Fatal(err)
				}
				if c := countedAt(&p.Streams[0], "MPI_Allreduce")[0]; c[0].Before.Sum < 2000 && c[3].Before.Sum < 7000 {
					t.Errorf("%+v", c)
				}
			}
		})
	}
}

// The report has the sums, and says what is not known.
func TestCountersReport(t *testing.T) {
	m := mpis[1]
	_, file, _, _, _ := recordCounted(t, m, compileMPI(t, m, "../../../testdata/c/counted.c"))
	out, errOut, status := efgRun(t, nil, "report", file, "--counters", "--json")
	var doc jsondoc.Counters
	if err := json.Unmarshal([]byte(out), &doc); err != nil || status != 0 {
		t.Fatalf("status %d: %v: %s", status, err, errOut)
	}
	faults := map[string]uint64{}
	for _, r := range doc.Rows {
		faults[r.Op] += r.Values[0].Before.Sum
	}
	if faults["MPI_Allreduce"] < 2000 || faults["MPI_Iprobe"] < 1000 || doc.Counters[0].Before < 3000 || doc.IPC != nil {
		t.Errorf("%v of %+v", faults, doc.Counters)
	}
	text, errOut, status := efgRun(t, nil, "report", file, "--counters", "--top", "3")
	for _, want := range []string{"page-faults", "MPI_Allreduce", "main counted.c:", "the first 3 of"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q; status %d, %s:\n%s", want, status, errOut, text)
		}
	}
	out, errOut, status = efgRun(t, nil, "sql", file, "select sum(before) from counters where counter = 'page-faults'", "--format", "csv")
	if want := fmt.Sprint(doc.Counters[0].Before); status != 0 || len(strings.Fields(out)) < 2 {
		t.Errorf("status %d: %s%s; want at least %s", status, out, errOut, want)
	}
	exported, errOut, status := efgRun(t, nil, "export", file, "--format", "csv", "--what", "counters")
	rows, err := csv.NewReader(strings.NewReader(exported)).ReadAll()
	if err != nil || status != 0 || len(rows) < 2 {
		t.Fatalf("status %d, %v: %s%s", status, err, exported, errOut)
	}
	sums := map[string]uint64{}
	for _, r := range rows[1:] {
		n, err := strconv.ParseUint(r[slices.Index(rows[0], "before")], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		sums[r[slices.Index(rows[0], "counter")]] += n
	}
	if fmt.Sprint(sums["page-faults"]) != strings.Fields(out)[1] {
		t.Errorf("exported %v, by SQL %s", sums, out)
	}
}

// Unknown counters are refused before the program starts; those that the machine does not have are named once.
func TestCountersUnknown(t *testing.T) {
	for args, want := range map[string]string{
		"--counters PAPI_TOT":                   `efg: --counters: unknown counter "PAPI_TOT"; known are instructions, cycles, `,
		"--counters instructions,":              `efg: --counters: unknown counter ""`,
		"--time off --counters page-faults":     "efg: --counters needs times: --time off records none\n",
		"--counters r1,r2,r3,r4,r5,r6,r7,r8,r9": "efg: --counters: 9 counters: want at most 8\n",
	} {
		out, errOut, status := efgRun(t, nil, append(append([]string{"run"}, strings.Fields(args)...), "--", "echo", "started")...)
		if status != 2 || out != "" || !strings.HasPrefix(errOut, want) || strings.Count(errOut, "\n") != 1 {
			t.Errorf("%s: status %d, %q, %q", args, status, out, errOut)
		}
	}
}

// Timelines in other formats have what was counted, up to the sums of all calls and of what is before them.
func TestCountersInTimelines(t *testing.T) {
	for _, m := range mpis {
		for _, options := range [][]string{nil, {"--counter-values"}} {
			checkTimelines(t, m, options)
		}
	}
}

func checkTimelines(t *testing.T, m mpi, options []string) {
	t.Run(m.name+strings.Join(options, " "), func(t *testing.T) {
		_, file, _, errOut, status := recordWith(t, m, options, compileMPI(t, m, "../../../testdata/c/callbacks.c"))
		if status != 0 {
			t.Fatal(errOut)
		}
		rows, errOut, status := efgRun(t, nil, "sql", file, "select rank, counter, sum(calls)+sum(before) from counters where thread = 0 group by rank, counter", "--format", "csv")
		if status != 0 {
			t.Fatal(errOut)
		}
		want := map[string]string{}
		for line := range strings.Lines(rows) {
			f := strings.Split(strings.TrimSpace(line), ",")
			want[f[0]+" "+f[1]] = f[2]
		}
		delete(want, "rank counter")
		dir := t.TempDir()
		for format, read := range map[string]func(t *testing.T, name string) map[string]string{"otf2": lastMetrics, "chrome": lastCounters} {
			name := filepath.Join(dir, "a."+format)
			if _, errOut, status := efgRun(t, nil, "export", file, "--format", format, "-o", name); status != 0 {
				t.Fatal(errOut)
			}
			got := read(t, name)
			for key, sum := range want {
				if got[key] != sum && (sum != "0" || format != "chrome") { // which has no track then
					t.Errorf("%s: %s is %s at last, want %s", format, key, got[key], sum)
				}
			}
		}
	})
}

// lastMetrics are the last values of metrics in an OTF2 archive, by "location name": the first location of a rank of a
// program without threads is the rank.
func lastMetrics(t *testing.T, dir string) map[string]string {
	t.Helper()
	out, err := exec.Command("otf2-print", filepath.Join(dir, "traces.otf2")).Output()
	if err != nil {
		t.Fatal(err)
	}
	last := map[string]string{}
	value := regexp.MustCompile(`\("([^"]+)" <\d+>; UINT64; (\d+)\)`)
	for line := range strings.Lines(string(out)) {
		if f := strings.Fields(line); len(f) > 1 && f[0] == "METRIC" {
			for _, v := range value.FindAllStringSubmatch(line, -1) {
				last[f[1]+" "+v[1]] = v[2]
			}
		}
	}
	return last
}

// lastCounters are the last values of counters in a trace for Chrome, by "rank name".
func lastCounters(t *testing.T, name string) map[string]string {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var trace struct {
		TraceEvents []struct {
			Ph, ID, Name string
			Args         map[string]any
		}
	}
	if err := json.Unmarshal(data, &trace); err != nil {
		t.Fatal(err)
	}
	last := map[string]string{}
	for _, e := range trace.TraceEvents {
		if e.Ph != "C" {
			continue
		}
		rank, _, _ := strings.Cut(e.ID, ".")
		for _, v := range e.Args {
			last[rank+" "+e.Name] = fmt.Sprintf("%.0f", v)
		}
	}
	return last
}
