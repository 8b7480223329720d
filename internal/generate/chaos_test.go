package generate_test

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/efg-tools/efg/internal/analysis/diff"
	"github.com/efg-tools/efg/internal/testing/groundtruth"
)

// Programs that make random calls are generated from their runs, and run again as recorded: both
// give the same events, and a program that prints how messages arrived prints the same. EFG_SOAK_PROGRAMS
// is how many there are, from seed EFG_SOAK_SEED on.
func TestRandomPrograms(t *testing.T) {
	programs, seed := number(t, "EFG_SOAK_PROGRAMS", 3), number(t, "EFG_SOAK_SEED", 1)
	benches, err := groundtruth.Benches(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range benches {
		for k := range programs {
			line := []string{"c/chaos.c", strconv.Itoa(seed + k), strconv.Itoa(15 + (seed+k)%30)}
			ranks := 2 + (seed+k)%5
			t.Run(b.Name+"/"+line[1], func(t *testing.T) {
				prove(t, b, line, ranks, false)
				open := append(line, "open")
				prove(t, b, open, ranks, true)
				replay(t, b, open, ranks)
			})
		}
	}
}

func number(t *testing.T, variable string, usual int) int {
	text := os.Getenv(variable)
	if text == "" {
		return usual
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		t.Fatalf("%s=%s: want a number", variable, text)
	}
	return n
}

// replay records a program and runs it again as recorded.
func replay(t *testing.T, b *groundtruth.Bench, line []string, ranks int) {
	program, err := b.Build(t.Context(), line[0])
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	args := append([]string{program}, line[1:]...)
	file := filepath.Join(dir, "run.efg")
	first, out := record(t, b, nil, file, ranks, args...)
	again, outAgain := record(t, b, []string{"--replay", file}, filepath.Join(dir, "again.efg"), ranks, args...)
	if out != outAgain {
		t.Errorf("the program prints %q, and run again as recorded %q", out, outAgain)
	}
	s, err := diff.NewSequences(first, again, true, func(uint64) {})
	if err != nil {
		t.Fatal(err)
	}
	if !s.Equal() {
		t.Errorf("run again as recorded: %+v", s.First)
	}
}
