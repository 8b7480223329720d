package main

import (
	"bytes"
	stdflag "flag"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/signature"
)

var update = stdflag.Bool("update", false, "write the expected outputs again")

// sampleEvents records the calls of a rank: a loop with a branch. The words are as in the
// procedures' schemas.
func sampleEvents(t *testing.T, b *efg.Builder, rank uint64, iterations int) {
	t.Helper()
	world := signature.ConstantByName("MPI_COMM_WORLD").Word()
	integer := signature.ConstantByName("MPI_INT").Word()
	add := func(name string, site, object uint64, words ...uint64) {
		p := signature.ProcByName(name)
		w := make([]uint64, len(p.Words))
		w[0] = uint64(signature.MakeHeader(p.ID, signature.C, false, len(w), 0))
		w[1], w[signature.ObjectWord] = site, object
		if copy(w[3:], words) != len(words) || len(w) != 3+len(words) {
			t.Fatalf("%s has %d words", name, len(w))
		}
		if err := b.Add(efg.Input{Words: w}); err != nil {
			t.Fatal(err)
		}
	}
	add("MPI_Init", 0x100, 0)
	for i := range iterations {
		if i%3 == 2 {
			add("MPI_Send", 0x101, world, 0, 10, integer, rank^1, 7)
		} else {
			add("MPI_Recv", 0x102, world, 0, 10, integer, rank^1, 7, rank^1, 7, 40)
		}
		add("MPI_Barrier", 0x103, world)
	}
	add("MPI_Finalize", 0x104, 0)
}

// sampleRun writes a run of three ranks, of which the last was killed, into the
// current directory.
func sampleRun(t *testing.T, name string) {
	t.Helper()
	var procs []*efg.Process
	for rank := range 3 {
		p := &efg.Process{
			Rank: rank, Size: 4, World: 5, PID: 100 + rank, Host: "node", Command: []string{"./app", "9"},
			MPI: "Sample MPI 1.0",
		}
		var defs efg.Definitions
		b := efg.NewBuilder(0, efg.DefaultDemote, &defs)
		sampleEvents(t, b, uint64(rank), 9)
		s, err := b.Stream()
		if err != nil {
			t.Fatal(err)
		}
		s.End = efg.EndFinalized
		if rank == 2 {
			s.End, s.Dropped = efg.EndOpen, 12
		}
		p.Streams, p.Defs = []efg.Stream{*s}, defs.List
		procs = append(procs, p)
	}
	meta := runfile.Meta{
		Tool: "efg test", Command: []string{"mpiexec", "-n", "4", "./app", "9"},
		Started: 1e18, Ended: 1e18 + 15e8, Status: 137, Time: "off",
	}
	for i, line := range []int{10, 14, 16, 18, 21} {
		meta.Sites = append(meta.Sites, runfile.Site{Word: 0x100 + uint64(i), Place: fmt.Sprintf("app.c:%d", line), Func: "main"})
	}
	if err := runfile.WriteRun(name, procs, meta); err != nil {
		t.Fatal(err)
	}
}

// TestReadingCommands compares what the commands print with testdata/golden.
func TestReadingCommands(t *testing.T) {
	golden := goldenDir(t)
	t.Chdir(t.TempDir())
	sampleRun(t, "app.efg")
	checkGolden(t, golden, map[string]string{
		"info":         "info app.efg",
		"info-json":    "info app.efg --json",
		"jsonl":        "reconstruct app.efg --rank 1",
		"part":         "reconstruct app.efg --rank 0-1,2 --from 4 --to 6",
		"text":         "reconstruct app.efg --rank 1 --format text",
		"mtf":          "reconstruct app.efg --rank 1 --format mtf --to 8",
		"verify":       "reconstruct app.efg --verify",
		"verify-rank":  "reconstruct app.efg --verify --rank 1 --thread 0",
		"graph":        "graph app.efg --rank 2",
		"graph-thread": "graph app.efg --rank 0 --thread 0",
	})
}

// Invalid command lines: one clear line, status 2.
func TestReadingMistakes(t *testing.T) {
	t.Chdir(t.TempDir())
	sampleRun(t, "app.efg")
	data, err := os.ReadFile("app.efg")
	if err != nil {
		t.Fatal(err)
	}
	newer := bytes.Clone(data)
	newer[8] = 4
	for name, content := range map[string][]byte{"newer.efg": newer, "text": []byte("hello\n"), "empty": nil} {
		if err := os.WriteFile(name, content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	checkMistakes(t, map[string]string{
		"info none.efg":                              "none.efg: no such file or directory",
		"info .":                                     ".: not an efg run file",
		"info text":                                  "text: not an efg run file",
		"info empty":                                 "empty: not an efg run file",
		"info newer.efg":                             "newer.efg: written by a newer version of efg: format 4, this one reads format 3",
		"info":                                       "efg info: accepts 1 arg(s), received 0",
		"reconstruct none.efg":                       "none.efg: no such file or directory",
		"reconstruct text":                           "text: not an efg run file",
		"reconstruct app.efg --rank 3":               "no rank 3: the run has ranks 0-2",
		"reconstruct app.efg --rank 1-9":             "no rank 3: the run has ranks 0-2",
		"reconstruct app.efg --rank x":               "--rank x: want ranks and ranges of ranks, as in 0-3,7",
		"reconstruct app.efg --rank 3-1":             "--rank 3-1: want ranks and ranges of ranks, as in 0-3,7",
		"reconstruct app.efg --rank 99999999999":     "--rank 99999999999: want ranks and ranges of ranks, as in 0-3,7",
		"reconstruct app.efg --thread 4":             "no thread 4: rank 0 has 1 recorded threads",
		"reconstruct app.efg --format xml":           "--format xml: want jsonl, text or mtf",
		"reconstruct app.efg --from 5 --to 3":        "--to 3: lies before --from 5",
		"reconstruct app.efg --verify --rank 7":      "no rank 7: the run has ranks 0-2",
		"graph app.efg --rank 0-1":                   "--rank 0-1: want one rank",
		"graph app.efg --rank 5":                     "no rank 5: the run has ranks 0-2",
		"graph app.efg --thread 3":                   "no thread 3: rank 0 has 1 recorded threads",
		"graph newer.efg --rank 0":                   "newer.efg: written by a newer version of efg: format 4, this one reads format 3",
		"reconstruct newer.efg --verify --format mt": "--format mt: want jsonl, text or mtf",
	})
}

// A broken file is a failure, not a usage error.
func TestReadingBrokenFiles(t *testing.T) {
	t.Chdir(t.TempDir())
	sampleRun(t, "app.efg")
	data, err := os.ReadFile("app.efg")
	if err != nil {
		t.Fatal(err)
	}
	changed := bytes.Clone(data)
	changed[30] ^= 1
	for name, c := range map[string]struct {
		content []byte
		want    string
	}{
		"cut.efg":     {data[:len(data)-7], "efg: cut.efg: truncated run file\n"},
		"changed.efg": {changed, "corrupt run file"},
	} {
		if err := os.WriteFile(name, c.content, 0o644); err != nil {
			t.Fatal(err)
		}
		_, errOut, status := efgRun(t, nil, "reconstruct", name)
		if status != 1 || !strings.Contains(errOut, c.want) || strings.Count(errOut, "\n") != 1 {
			t.Errorf("%s: status %d, %q", name, status, errOut)
		}
	}
}

// A recording whose hash differs does not verify.
func TestVerifyFindsDifferences(t *testing.T) {
	t.Chdir(t.TempDir())
	var defs efg.Definitions
	b := efg.NewBuilder(0, efg.DefaultDemote, &defs)
	sampleEvents(t, b, 0, 5)
	s, err := b.Stream()
	if err != nil {
		t.Fatal(err)
	}
	s.Hash++
	p := &efg.Process{Size: 1, Streams: []efg.Stream{*s}, Defs: defs.List}
	if err := runfile.WriteRun("x.efg", []*efg.Process{p}, runfile.Meta{}); err != nil {
		t.Fatal(err)
	}
	out, errOut, status := efgRun(t, nil, "reconstruct", "x.efg", "--verify")
	if status != 1 || errOut != "" || !strings.Contains(out, "WRONG") || !strings.Contains(out, "1 of 1 streams differ") {
		t.Errorf("status %d, %q, %q", status, out, errOut)
	}
}

// The graphs are in the DOT language, if a program that knows it is installed.
func TestGraphIsDOT(t *testing.T) {
	out, err := os.ReadFile("testdata/golden/graph.txt")
	if err != nil {
		t.Fatal(err)
	}
	dot, err := exec.LookPath("dot")
	if err != nil {
		if !bytes.HasPrefix(out, []byte("digraph")) || bytes.Count(out, []byte("{")) != bytes.Count(out, []byte("}")) {
			t.Error("not a digraph")
		}
		return
	}
	cmd := exec.Command(dot, "-Tcanon")
	cmd.Stdin = bytes.NewReader(out)
	if msg, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, msg)
	}
}

// A statement that takes too long, needs too much memory, or writes ends with one line that
// says what to do.
func TestSQLLimits(t *testing.T) {
	t.Chdir(t.TempDir())
	timedRun(t, "ring.efg", 4, 20)
	const forever = "with recursive c(x) as (select 1 union all select x + 1 from c) "
	for _, c := range []struct {
		args   []string
		want   string
		status int
	}{
		{[]string{"--time-limit", "10ms", forever + "select count(*) from c"}, "the statement takes longer than 10ms; --time-limit allows more", 1},
		{[]string{"--memory", "40MB", forever + "select x from c order by -x"}, "the statement needs too much memory: more than 38.1 MiB; --memory allows more, and a smaller part of the run needs less", 1},
		{[]string{"select zeroblob(2000000000)"}, "a value is too long: more than 16.0 MiB", 1},
		{[]string{"attach 'x.db' as x"}, "a run can only be read: ATTACH is refused", 2},
		{[]string{"pragma query_only=0; create table x(y)"}, "a run can only be read: PRAGMA query_only is refused", 2},
		{[]string{"create temp table x(y)"}, "a run can only be read: what writes is refused", 2},
		{[]string{"--memory", "x", "select 1"}, "--memory x: want a size, as in 50GB or 500MiB", 2},
		{[]string{"--time-limit", "-1s", "select 1"}, "--time-limit -1s: want a time", 2},
	} {
		_, errOut, status := efgRun(t, nil, append([]string{"sql", "ring.efg"}, c.args...)...)
		if status != c.status || errOut != "efg: "+c.want+"\n" {
			t.Errorf("%q: status %d, %q", c.args, status, errOut)
		}
	}
	if _, err := os.Stat("x.db"); err == nil {
		t.Error("there is a file")
	}
}
