package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/testing/sim"
)

// Numbers of simulated ranks.
const (
	fewRanks = 1024
	maxRanks = 131072
)

// merged is a simulated run, merged from a file for each node.
type merged struct {
	size    int64
	seconds float64 // of merging
	memory  int64   // peak resident bytes while merging
	info    float64 // milliseconds of efg info
}

// manyRanks compares simulated runs, and measures how long merging takes.
func manyRanks(b *bench) error {
	var all []merged
	names := []string{"periodic", "null", "open"}
	growthTable("Growth to very many ranks")
	for i, c := range []sim.Config{{Periodic: true}, {Null: true}, {}} {
		c.Program, c.Steps = "halo", 100
		var m [2]merged
		for k, ranks := range []int{fewRanks, maxRanks} {
			var err error
			c.Ranks = ranks
			if m[k], err = b.simulated(c); err != nil {
				return err
			}
		}
		growthRow(fmt.Sprintf("halo, %s, 1,024 → 131,072 ranks (simulated)", names[i]), m[0].size, m[1].size, 1.3)
		all = append(all, m[1])
	}
	fmt.Printf("\n## Merging\n\n131,072 simulated ranks in 2,048 files. Aims: 60 s, 1 GiB; `efg info` on the result 100 ms.\n\n")
	fmt.Println("| halo | s | | MiB | | info, ms | |\n|---|---:|---|---:|---|---:|---|")
	for i, m := range all {
		fmt.Printf("| %s | %.1f | %s | %d | %s | %.0f | %s |\n", names[i], m.seconds, met(m.seconds <= 60),
			m.memory>>20, met(m.memory <= 1<<30), m.info, met(m.info <= 100))
	}
	return nil
}

func (b *bench) simulated(c sim.Config) (merged, error) {
	var m merged
	dir := filepath.Join(b.dir, "parts")
	if err := os.Mkdir(dir, 0o755); err != nil {
		return m, err
	}
	defer os.RemoveAll(dir)
	parts, err := c.WriteNodes(dir, runtime.NumCPU())
	if err != nil {
		return m, err
	}
	if err := resetPeak(); err != nil {
		return m, err
	}
	file, start := filepath.Join(dir, "run.efg"), time.Now()
	if err := runfile.MergeRuns(file, parts); err != nil {
		return m, err
	}
	m.seconds = time.Since(start).Seconds()
	if m.memory, err = peak(); err != nil {
		return m, err
	}
	info, err := os.Stat(file)
	if err != nil {
		return m, err
	}
	m.size = info.Size()
	var ms []float64
	for range b.pairs {
		start := time.Now()
		if _, err := b.output(b.efg, "info", file); err != nil {
			return m, err
		}
		ms = append(ms, float64(time.Since(start).Microseconds())/1000)
	}
	m.info = median(ms)
	return m, nil
}

// resetPeak resets the peak of resident memory.
func resetPeak() error {
	runtime.GC()
	return os.WriteFile("/proc/self/clear_refs", []byte("5"), 0)
}

// peak is the peak of resident memory since resetPeak.
func peak() (int64, error) { return peakOf(os.Getpid()) }

// peakOf is the peak of a process's resident memory.
func peakOf(pid int) (int64, error) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(data)) {
		var kib int64
		if n, _ := fmt.Sscanf(line, "VmHWM: %d kB", &kib); n == 1 {
			return kib << 10, nil
		}
	}
	return 0, errors.New("the process has no VmHWM")
}
