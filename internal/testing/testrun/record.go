package testrun

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/testing/groundtruth"
)

// Program is a program of testdata that is recorded.
type Program struct {
	Source string // as in "c/jacobi.c"
	Args   string // DIR stands for a directory of its own
	Ranks  int    // 0 means 4
	MPI    string // the only MPI library to record it with; "" means each
	Time   string // as for efg run; "" means the default
	Path   string // --callpath or --callpath=N of efg run; "" means that no call paths are recorded
	Fails  bool   // its status need not be 0
	Skew   *Skew
}

// Skew makes the second half of a program's ranks ones of another machine. Its clock is Offset ns
// ahead of CLOCK_MONOTONIC when that begins, and PPM parts per million faster.
type Skew struct {
	Offset, PPM int64
}

// Recording is a program that was recorded.
type Recording struct {
	Program int // its number in the list
	MPI     string
	Run     *runfile.Run
	Stdout  string
	Dir     string // the directory that DIR stands for

	bench   *groundtruth.Bench
	program *Program
}

// Record records programs with the installed MPI libraries, and calls check with each
// recording, in a subtest.
func Record(t *testing.T, programs []Program, check func(t *testing.T, r *Recording)) {
	t.Helper()
	benches, err := groundtruth.Benches(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, bench := range benches {
		for i := range programs {
			p := &programs[i]
			if p.MPI != "" && p.MPI != bench.Name {
				continue
			}
			name := strings.TrimSpace(filepath.Base(p.Source) + " " + p.Args)
			if p.Time != "" {
				name += "-" + p.Time
			}
			name += p.Path
			t.Run(bench.Name+"/"+strings.ReplaceAll(name, " ", "-"), func(t *testing.T) {
				r := record(t, bench, p)
				r.Program = i
				check(t, r)
			})
		}
	}
}

func record(t *testing.T, bench *groundtruth.Bench, p *Program) *Recording {
	t.Helper()
	program, err := bench.Build(t.Context(), p.Source)
	if err != nil {
		t.Fatal(err)
	}
	own := t.TempDir()
	file := filepath.Join(own, "run.efg")
	var flags []string
	if p.Time != "" {
		flags = []string{"--time", p.Time}
	}
	if p.Path != "" {
		flags = append(flags, p.Path)
	}
	ranks := p.Ranks
	if ranks == 0 {
		ranks = 4
	}
	line := append([]string{program}, strings.Fields(strings.ReplaceAll(p.Args, "DIR", own))...)
	run := bench.RecordedWith
	if s := p.Skew; s != nil {
		run = func(ctx context.Context, flags []string, file string, n int, prog ...string) (groundtruth.Result, error) {
			return bench.RecordedSkewed(ctx, s.Offset, s.PPM, flags, file, n, prog...)
		}
	}
	result, err := run(t.Context(), flags, file, ranks, line...)
	if err != nil {
		t.Fatal(err)
	}
	if result.Status != 0 && !p.Fails {
		t.Fatalf("status %d\n%s", result.Status, result.Stderr)
	}
	return &Recording{MPI: bench.Name, Run: Open(t, file), Stdout: result.Stdout, Dir: own, bench: bench, program: p}
}

// Again records the program once more, for one whose times a busy machine has changed.
func (r *Recording) Again(t *testing.T) *Recording {
	t.Helper()
	again := record(t, r.bench, r.program)
	again.Program = r.Program
	return again
}
