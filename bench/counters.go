package main

import (
	"fmt"
	"os/exec"
	"path/filepath"
)

// pairAim is how many ns a pair of readings of a counter may take, at the start and the end of a call.
const pairAim = 30

// counted are the counters whose cost is measured: as the hook is told, and how many pairs of readings they make.
var counted = []struct {
	name, counters string
	pmu            bool
	pairs          int
}{
	{"none", "", false, 0},
	{"1 by rdpmc", "a::0:0", true, 1},
	{"2 by rdpmc", "a::0:0,b::0:1", true, 2},
	{"4 by rdpmc", "a::0:0,b::0:1,c::0:2,d::0:3", true, 4},
	{"task-clock", "a:ns:257:0", false, 1},
	{"page-faults", "a::256:2", false, 1},
	{"page-faults, context-switches, max-rss", "a::256:2,b::256:3,c:KiB:256:4", false, 3},
	{"cpu-migrations, by read", "a::1:4", false, 1},
}

// counters measures what counting adds to the recorder alone.
func counters(b *bench) error {
	sources, err := filepath.Glob("hook/shim/core_*.c")
	if err != nil {
		return err
	}
	exe := filepath.Join(b.dir, "counters")
	args := append([]string{"-std=gnu11", "-O2", "-pthread", "-I", "hook/shim", "-DEFG_TEST_RDPMC", "-DEFG_RDPMC(c)=((void)(c),__builtin_ia32_rdtsc())",
		"-Wl,--wrap=syscall", "-Iinternal/segment/testdata", "-o", exe, "bench/core/bench.c", "bench/core/pmu.c", "hook/shim/gen/schema.c"}, sources...)
	if out, err := exec.Command("cc", args...).CombinedOutput(); err != nil {
		return fmt.Errorf("cc: %w\n%s", err, out)
	}
	fmt.Printf("\n## Counters\n\nProcessor time per event of the recorder alone, ns, six calls in a loop (bench/core/bench.c) with time statistics. "+
		"rdpmc stands for a mocked page and rdtsc in its place. Aim: %d ns for each pair of readings by rdpmc.\n\n", pairAim)
	fmt.Println("| counters | ns | added | a pair of readings | |")
	fmt.Println("|---|---:|---:|---:|---|")
	ns := make([][]float64, len(counted))
	for range b.pairs {
		for i, c := range counted {
			command := []string{"env", "EFG_COUNTERS=" + c.counters}
			if c.pmu {
				command = append(command, "BENCH_PMU=1")
			}
			if err := runRecorder(b.dir, "stats", append(command, exe, "400000", "six"), func(_ string, v, _ float64) { ns[i] = append(ns[i], v) }); err != nil {
				return err
			}
		}
	}
	for i, c := range counted {
		var added []float64
		for k := range ns[i] {
			added = append(added, ns[i][k]-ns[0][k])
		}
		pair, mark := "", ""
		if c.pairs > 0 {
			each := median(added) / float64(c.pairs)
			pair = fmt.Sprintf("%.1f", each)
			if c.pmu {
				mark = met(each <= pairAim)
			}
		}
		fmt.Printf("| %s | %.1f | %.1f | %s | %s |\n", c.name, median(ns[i]), median(added), pair, mark)
	}
	return nil
}
