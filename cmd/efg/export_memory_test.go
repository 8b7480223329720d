package main

import (
	"encoding/csv"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/efg-tools/efg/internal/testing/sim"
)

// manyRanks makes a.efg, of several machines, with the times of each call.
func manyRanks(t *testing.T) {
	t.Helper()
	t.Chdir(t.TempDir())
	if err := os.Mkdir("parts", 0o755); err != nil {
		t.Fatal(err)
	}
	parts, err := sim.Config{Program: "halo", Ranks: 256, Steps: 2, Seed: 1, Periodic: true}.TracedNodes("parts", 2)
	if err != nil {
		t.Fatal(err)
	}
	if _, errOut, status := efgRun(t, nil, append([]string{"merge", "-o", "a.efg"}, parts...)...); status != 0 {
		t.Fatal(errOut)
	}
	if err := os.RemoveAll("parts"); err != nil {
		t.Fatal(err)
	}
}

// Of more ranks than fit into the memory that is allowed, each format either writes all, needing no more memory for
// more ranks, or is rejected with one line before anything is written.
func TestExportOfManyRanks(t *testing.T) {
	manyRanks(t)
	streamed := []string{"extrap", "goal", "gxl", "liballprof", "mtf", "simgrid"}
	for _, f := range exportFormats {
		_, errOut, status := efgRun(t, nil, "export", "a.efg", "--format", f.name, "-o", "out", "--memory", "5MiB")
		if slices.Contains(streamed, f.name) {
			if _, err := os.Stat("out"); status != 0 || err != nil {
				t.Errorf("%s: status %d, %s", f.name, status, errOut)
			}
			os.RemoveAll("out")
			continue
		}
		if left, _ := os.ReadDir("."); status != 2 || len(left) != 1 {
			t.Errorf("%s: status %d, %v", f.name, status, left)
		}
		for _, want := range []string{"--memory allows more", "5.00 MiB are allowed", "--rank 0-", "--format mtf"} {
			if strings.Count(errOut, "\n") != 1 || !strings.Contains(errOut, want) {
				t.Errorf("%s: want %q in one line: %s", f.name, want, errOut)
			}
		}
		advised := regexp.MustCompile(`--what events --clock raw|--clock raw`).FindString(errOut)
		if table := f.paths && f.what != nil && slices.Contains(f.what, "messages"); table != (advised != "") {
			t.Errorf("%s: advice %q", f.name, advised)
		}
		if advised == "" {
			continue
		}
		if _, errOut, status := efgRun(t, nil, append([]string{"export", "a.efg", "--format", f.name, "-o", "out", "--memory", "5MiB"}, strings.Fields(advised)...)...); status != 0 {
			t.Errorf("%s %s: %s", f.name, advised, errOut)
		}
		os.RemoveAll("out")
	}
	if _, errOut, status := efgRun(t, nil, "export", "a.efg", "-o", "out.otf2", "--memory", "5"); status != 2 || !strings.Contains(errOut, "want a size") {
		t.Errorf("status %d, %s", status, errOut)
	}
}

// The part that is advised is written by each format, and has the messages among its ranks.
func TestExportOfAdvisedRanks(t *testing.T) {
	manyRanks(t)
	_, errOut, _ := efgRun(t, nil, "export", "a.efg", "-o", "out.otf2", "--memory", "5MiB")
	found := regexp.MustCompile(`--rank 0-(\d+) `).FindStringSubmatch(errOut)
	if found == nil {
		t.Fatal(errOut)
	}
	last, _ := strconv.Atoi(found[1])
	if last < 10 || last > 200 {
		t.Fatalf("a part up to rank %d", last)
	}
	for _, f := range []string{"otf2", "perfetto", "chrome", "paje", "paraver", "hdtrace", "arrow", "parquet"} {
		_, errOut, status := efgRun(t, nil, "export", "a.efg", "--format", f, "-o", "out", "--memory", "5MiB", "--rank", "0-"+found[1])
		if status != 0 || !strings.Contains(errOut, "among the selected ranks only: all 256 together need") {
			t.Errorf("%s: status %d, %s", f, status, errOut)
		}
		os.RemoveAll("out")
	}
	messages := func(args ...string) map[string]bool {
		out, errOut, status := efgRun(t, nil, append([]string{"export", "a.efg", "--format", "csv", "--what", "messages", "--clock", "raw"}, args...)...)
		rows, err := csv.NewReader(strings.NewReader(out)).ReadAll()
		if status != 0 || err != nil || len(rows) == 0 {
			t.Fatal(err, errOut)
		}
		from, to := slices.Index(rows[0], "send_rank"), slices.Index(rows[0], "recv_rank")
		list := map[string]bool{}
		for _, r := range rows[1:] {
			if a, z := rankText(t, r[from]), rankText(t, r[to]); a <= last && z <= last {
				list[strings.Join(r, ",")] = true
			}
		}
		return list
	}
	part, whole := messages("--memory", "5MiB", "--rank", "0-"+found[1]), messages()
	if len(part) != len(whole) || len(part) == 0 {
		t.Errorf("%d messages in the part, of all ranks %d", len(part), len(whole))
	}
	for m := range whole {
		if !part[m] {
			t.Fatalf("not in the part: %s", m)
		}
	}
}

func rankText(t *testing.T, text string) int {
	t.Helper()
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
