// Command simulate writes recordings of simulated programs on any number of
// ranks; package internal/testing/sim makes them.
//
//	go run ./bench/simulate -program halo -ranks 131072 -steps 100 -o parts
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/efg-tools/efg/internal/testing/sim"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "simulate:", err)
		os.Exit(1)
	}
}

func run() error {
	var c sim.Config
	var grid, out string
	var segments, traced bool
	flag.StringVar(&c.Program, "program", "halo", "one of "+strings.Join(sim.Programs(), ", "))
	flag.IntVar(&c.Ranks, "ranks", 1024, "number of ranks")
	flag.IntVar(&c.Steps, "steps", 100, "steps; of farm, tasks of a worker")
	flag.Uint64Var(&c.Seed, "seed", 1, "of the random numbers")
	flag.StringVar(&grid, "grid", "", "of halo and mesh, as 4x4x2; else as equal as can be")
	flag.BoolVar(&c.Periodic, "periodic", false, "halo: no border")
	flag.BoolVar(&c.Null, "null", false, "halo: MPI_PROC_NULL at the border instead of no call")
	flag.IntVar(&c.Signatures, "signatures", 0, "random: different messages")
	flag.IntVar(&c.Regrid, "regrid", 0, "mesh: steps from change to change")
	flag.BoolVar(&c.Stats, "stats", false, "with time statistics")
	flag.BoolVar(&traced, "traced", false, "periodic halo: with the times of each call, in which no message arrives before it was sent")
	flag.BoolVar(&segments, "segments", false, "write a segment for each rank, made by the recorder, not a run file for each node")
	flag.StringVar(&out, "o", "parts", "directory to write to")
	flag.Parse()
	if grid != "" {
		if _, err := fmt.Sscanf(grid, "%dx%dx%d", &c.Grid[0], &c.Grid[1], &c.Grid[2]); err != nil {
			return fmt.Errorf("grid %q: %w", grid, err)
		}
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	if segments {
		return writeSegments(c, out)
	}
	if traced {
		_, err := c.TracedNodes(out, runtime.NumCPU())
		return err
	}
	_, err := c.WriteNodes(out, runtime.NumCPU())
	return err
}

// writeSegments must be called in the module's directory.
func writeSegments(c sim.Config, out string) error {
	dir, err := os.MkdirTemp("", "efg-simulate-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	feeder := filepath.Join(dir, "segments")
	if err := sim.BuildFeeder(".", feeder); err != nil {
		return err
	}
	return c.WriteSegments(feeder, out, runtime.NumCPU())
}
