package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"time"

	"github.com/efg-tools/efg/internal/testing/sim"
)

// mergeCommand measures efg merge: of run files with times, which consist mainly of statistics,
// and of segments.
func mergeCommand(b *bench) error {
	fmt.Printf("\n## efg merge\n\nSimulated ranks of `halo`. Aims: 60 s, 1 GiB; `efg info` on the result 100 ms of processor time.\n\n")
	fmt.Println("| ranks | parts | s | processor, s | | MiB | | info, ms | |\n|---:|---|---:|---:|---|---:|---|---:|---|")
	nodes := sim.Config{Program: "halo", Ranks: maxRanks, Steps: 20, Stats: true}
	if err := b.mergeRow("2,048 run files, time statistics", nodes, func(dir string) error {
		_, err := nodes.WriteNodes(dir, runtime.NumCPU())
		return err
	}); err != nil {
		return err
	}
	feeder := filepath.Join(b.dir, "feeder")
	if err := sim.BuildFeeder(".", feeder); err != nil {
		return err
	}
	for _, stats := range []bool{false, true} {
		c := sim.Config{Program: "halo", Ranks: 4096, Steps: 20, Stats: stats}
		name := "4,096 segments"
		if stats {
			name += ", time statistics"
		}
		if err := b.mergeRow(name, c, func(dir string) error { return c.WriteSegments(feeder, dir, runtime.NumCPU()) }); err != nil {
			return err
		}
	}
	return nil
}

// mergeRow merges the files that prepare has put into a directory.
func (b *bench) mergeRow(name string, c sim.Config, prepare func(dir string) error) error {
	dir, err := os.MkdirTemp(b.dir, "parts-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := prepare(dir); err != nil {
		return err
	}
	file := filepath.Join(b.dir, "merged.efg")
	merge, err := used(b.efg, "merge", dir, "-o", file)
	if err != nil {
		return err
	}
	var ms []float64
	for range b.pairs {
		info, err := used(b.efg, "info", file)
		if err != nil {
			return err
		}
		ms = append(ms, info.processor.Seconds()*1000)
	}
	fmt.Printf("| %d | %s | %.1f | %.1f | %s | %d | %s | %.0f | %s |\n", c.Ranks, name, merge.wall.Seconds(), merge.processor.Seconds(),
		met(merge.wall <= time.Minute), merge.memory>>20, met(merge.memory <= 1<<30), median(ms), met(median(ms) <= 100))
	return nil
}

// usage is the resources that a command has used.
type usage struct {
	wall, processor time.Duration
	// memory is the peak resident memory in bytes. The system includes the memory of this
	// program when it started the command: smaller values cannot be measured.
	memory int64
}

func used(args ...string) (usage, error) {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stderr = os.Stderr
	start := time.Now()
	if err := cmd.Run(); err != nil {
		return usage{}, fmt.Errorf("%q: %w", args, err)
	}
	u := usage{wall: time.Since(start), processor: cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()}
	r, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		return u, errors.New("the system does not tell a command's memory")
	}
	u.memory = r.Maxrss << 10
	return u, nil
}
