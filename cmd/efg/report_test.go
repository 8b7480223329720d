package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"image/png"
	"os"
	"strings"
	"testing"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/draw/heatmap"
	"github.com/efg-tools/efg/internal/draw/raster"
	"github.com/efg-tools/efg/signature"
)

// timedRun writes a run of some ranks with made-up times into the current directory: a
// ring of messages, in which rank 1 waits longer, a reduction, and a file that
// rank 0 writes.
func timedRun(t *testing.T, name string, ranks, iterations int) {
	t.Helper()
	var procs []*efg.Process
	for rank := range ranks {
		var defs efg.Definitions
		b := efg.NewBuilder(0, efg.DefaultDemote, &defs)
		ringEvents(t, b, rank, ranks, iterations)
		s, err := b.Stream()
		if err != nil {
			t.Fatal(err)
		}
		s.End = efg.EndFinalized
		giveTimes(s, rank)
		procs = append(procs, &efg.Process{
			Rank: rank, Size: ranks, World: 5, PID: 100 + rank, Host: "node", Command: []string{"./ring"},
			MPI: "Sample MPI 1.0", Streams: []efg.Stream{*s}, Defs: defs.List,
		})
	}
	meta := runfile.Meta{Tool: "efg test", Command: []string{"mpiexec", "-n", fmt.Sprint(ranks), "./ring"}, Time: "stats"}
	for i, line := range []int{10, 14, 15, 16, 18, 19, 21} {
		meta.Sites = append(meta.Sites, runfile.Site{Word: 0x100 + uint64(i), Place: fmt.Sprintf("ring.c:%d", line), Func: "main"})
	}
	if err := runfile.WriteRun(name, procs, meta); err != nil {
		t.Fatal(err)
	}
}

func ringEvents(t *testing.T, b *efg.Builder, rank, ranks, iterations int) {
	word := func(name string) uint64 { return signature.ConstantByName(name).Word() }
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
	world, integer := word("MPI_COMM_WORLD"), word("MPI_INT")
	next, last := uint64((rank+1)%ranks), uint64((rank+ranks-1)%ranks)
	add("MPI_Init", 0x100, 0)
	for i := range iterations {
		add("MPI_Send", 0x101, world, 0, 256, integer, next, 7)
		add("MPI_Recv", 0x102, world, 0, 256, integer, last, 7, last, 7, 1024)
		if i%10 == 9 {
			add("MPI_Allreduce", 0x103, world, 0, 0, 1, word("MPI_DOUBLE"), word("MPI_SUM"))
		}
	}
	if rank == 0 {
		add("MPI_File_write", 0x105, 1<<24, 0, 4096, word("MPI_BYTE"), 4000)
	}
	add("MPI_Finalize", 0x106, 0)
}

// giveTimes makes the calls of node i take 2^(i+6) ns each, and receives of rank
// 1 four times as long as others.
func giveTimes(s *efg.Stream, rank int) {
	visits := make([]uint64, len(s.Nodes))
	visits[0] = 1
	for i := range s.Nodes {
		for _, e := range s.Nodes[i].Edges {
			visits[e.To] += e.Weight
		}
	}
	for i := range s.Nodes {
		n := &s.Nodes[i]
		bin := i + 3
		if rank == 1 && n.Words[1] == 0x102 {
			bin += 2
		}
		each := uint64(1) << (bin + 3)
		n.Stats = &efg.Stats{Count: visits[i]}
		n.Stats.Dur = efg.Interval{Sum: visits[i] * each, Min: each, Max: each}
		n.Stats.Gap = efg.Interval{Sum: visits[i] * 100, Min: 100, Max: 100}
		n.Stats.Dur.Bins[bin], n.Stats.Gap.Bins[3] = uint32(visits[i]), uint32(visits[i])
	}
}

// TestReports compares what the commands print with testdata/golden.
func TestReports(t *testing.T) {
	golden := goldenDir(t)
	t.Chdir(t.TempDir())
	timedRun(t, "ring.efg", 3, 20)
	timedRun(t, "large.efg", 40, 20)
	timedRun(t, "longer.efg", 3, 25)
	sampleRun(t, "app.efg")
	checkGolden(t, golden, map[string]string{
		"diff":               "diff ring.efg",
		"diff-large":         "diff large.efg --top 3",
		"diff-untimed":       "diff app.efg",
		"diff-json":          "diff ring.efg --json --ranks 0-2",
		"diff-pair":          "diff ring.efg --ranks 0,1",
		"diff-pair-json":     "diff ring.efg --ranks 0,2 --json",
		"diff-pair-untimed":  "diff app.efg --ranks 1,2",
		"diff-runs":          "diff ring.efg large.efg",
		"diff-runs-json":     "diff ring.efg longer.efg --json",
		"diff-runs-rank":     "diff ring.efg longer.efg --ranks 1",
		"diff-runs-same":     "diff ring.efg ring.efg --fail-on structure,time>0%,calls>0,bytes>0B",
		"diff-runs-apart":    "diff ring.efg app.efg",
		"report":             "report ring.efg --histogram",
		"report-large":       "report large.efg --top 3",
		"report-rank":        "report ring.efg --by rank,procedure --rank 1-2",
		"report-untimed":     "report app.efg --histogram",
		"report-json":        "report ring.efg --json --rank 1",
		"matrix":             "matrix ring.efg",
		"matrix-unmatched":   "matrix app.efg",
		"matrix-collectives": "matrix ring.efg --collectives",
		"matrix-large":       "matrix large.efg --top 3 --collectives",
		"matrix-block":       "matrix ring.efg --collectives --from 1-2 --to 0-1",
		"matrix-block-json":  "matrix ring.efg --collectives --from 1-2 --json",
		"matrix-bins":        "matrix large.efg --collectives --from 0-9 --bins 3 --json",
		"matrix-order":       "matrix large.efg --order topology --collectives --from 0-9 --bins 3 --json",
		"matrix-csv":         "matrix ring.efg --csv --collectives",
		"matrix-json":        "matrix large.efg --json --collectives",
	})
}

// Invalid command lines: one clear line, status 2.
func TestReportMistakes(t *testing.T) {
	t.Chdir(t.TempDir())
	sampleRun(t, "app.efg")
	checkMistakes(t, map[string]string{
		"report none.efg":                   "none.efg: no such file or directory",
		"report app.efg --rank 7":           "no rank 7: the run has ranks 0-2",
		"report app.efg --by node":          "--by node: want procedure, callsite, rank, region",
		"report app.efg --top -1":           "--top -1: want a number of rows, or 0 for all",
		"matrix none.efg":                   "none.efg: no such file or directory",
		"matrix app.efg --from 0-99":        "--from, --to: want ranks below 4",
		"matrix app.efg --to 0,5":           "--from, --to: want ranks as in 64-127",
		"matrix app.efg --bins 3":           "--bins 3: want a number of rows, with --json",
		"matrix app.efg --top -1":           "--top -1: want a number of pairs, or 0 for all",
		"matrix app.efg --order size":       "--order size: want rank, host, topology",
		"matrix app.efg --order host --csv": "--order host: want a table, --png, or --json with --bins",
		"matrix app.efg --csv --json":       "--csv and --json: want one of them",
		"matrix app.efg --png no/x":         "open no/x: no such file or directory",
	})
}

// Invalid command lines, and conditions that hold.
func TestDiffStatus(t *testing.T) {
	t.Chdir(t.TempDir())
	sampleRun(t, "app.efg")
	timedRun(t, "ring.efg", 3, 20)
	timedRun(t, "longer.efg", 3, 25)
	for _, c := range []struct {
		args, want string
		status     int
	}{
		{"diff none.efg", "none.efg: no such file or directory", 2},
		{"diff ring.efg none.efg", "none.efg: no such file or directory", 2},
		{"diff", "efg diff: accepts between 1 and 2 arg(s), received 0", 2},
		{"diff app.efg --ranks 0,7", "no rank 7: the run has ranks 0-2", 2},
		{"diff app.efg --ranks 0", "--ranks 0: want at least two ranks", 2},
		{"diff app.efg --ranks a", "--ranks a: want ranks and ranges of ranks, as in 0-3,7", 2},
		{"diff app.efg --top -1", "--top -1: want a number of rows, or 0 for all", 2},
		{"diff app.efg --fail-on structure", "--fail-on structure: wants two files", 2},
		{"diff app.efg ring.efg --fail-on time>1%", "--fail-on time>1%: time was not recorded", 2},
		{"diff app.efg ring.efg --fail-on time>1%,strukture", "--fail-on: want structure, calls, bytes or time\n  time>1%,strukture\n          ^", 2},
		{"diff ring.efg longer.efg --fail-on calls>20%,bytes>1KiB", "--fail-on calls>20%: 133, then 163 (+22.6%); bytes>1KiB: 124 KiB, then 154 KiB (+24.2%)", 1},
		{"diff ring.efg longer.efg --fail-on structure,time>50%", "--fail-on structure: 4 calls or steps in only one run", 1},
		{"diff ring.efg longer.efg --fail-on calls>30,time>50%", "", 0},
		{"diff longer.efg ring.efg --fail-on calls>0,bytes>0%,time>0ns", "", 0},
		{"diff ring.efg app.efg --fail-on structure", "--fail-on structure: 25 calls or steps in only one run", 1},
	} {
		_, errOut, status := efgRun(t, nil, strings.Fields(c.args)...)
		want := ""
		if c.want != "" {
			want = "efg: " + c.want + "\n"
		}
		if errOut != want || status != c.status {
			t.Errorf("%s: status %d, errors %q; want %q", c.args, status, errOut, want)
		}
	}
}

// The machine-readable forms are valid, and agree with each other.
func TestMatrixForms(t *testing.T) {
	t.Chdir(t.TempDir())
	timedRun(t, "ring.efg", 5, 10)
	out, _, _ := efgRun(t, nil, "matrix", "ring.efg", "--csv")
	lines, err := csv.NewReader(strings.NewReader(out)).ReadAll()
	if err != nil || len(lines) != 6 {
		t.Fatalf("%v: %q", err, out)
	}
	var m struct {
		Schema  string
		Ranks   int
		Entries [][4]uint64
	}
	out, _, _ = efgRun(t, nil, "matrix", "ring.efg", "--json")
	if err := json.Unmarshal([]byte(out), &m); err != nil || m.Schema != "efg-matrix/1" || m.Ranks != 5 {
		t.Fatalf("%v: %s", err, out)
	}
	for i, e := range m.Entries {
		if got := fmt.Sprintf("%d,%d,%d,%d", e[0], e[1], e[2], e[3]); got != strings.Join(lines[i+1], ",") {
			t.Errorf("JSON has %s, CSV %v", got, lines[i+1])
		}
	}
}

func TestMatrixPicture(t *testing.T) {
	t.Chdir(t.TempDir())
	timedRun(t, "ring.efg", 5, 10)
	out, errOut, status := efgRun(t, nil, "matrix", "ring.efg", "--png", "ring.png")
	if out != "" || errOut != "" || status != 0 {
		t.Fatalf("status %d, %q, %q", status, out, errOut)
	}
	data, err := os.ReadFile("ring.png")
	if err != nil {
		t.Fatal(err)
	}
	img, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	// A ring: rank 1 sends only to rank 2.
	for to := range 5 {
		x, y := raster.Left+to*64+40, raster.Top+1*64+40
		got := img.At(x, y)
		want := heatmap.Empty
		if to == 2 {
			want = heatmap.Color(1)
		}
		if got != want {
			t.Errorf("colour of 1 to %d is %v, want %v", to, got, want)
		}
	}
}
