package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/efg-tools/efg/internal/testing/groundtruth"
)

// calls measures the cost of recording a call.
func calls(b *bench) error {
	fmt.Printf("\n## Added time per MPI call\n\nProcessor time, ns. One rank, calls to itself (bench/mpi/calls.c).\n\n")
	fmt.Println("| MPI | shape | alone | added, no times | added, time statistics | added, times of each call |")
	fmt.Println("|---|---|---:|---:|---:|---:|")
	for _, m := range b.mpis {
		exe, err := b.build(m, "bench/mpi/calls.c")
		if err != nil {
			return err
		}
		for _, shape := range []struct{ name, args string }{
			{"six calls in a loop", "six 1"}, {"one callsite", "cycle 1"}, {"10 in a cycle", "cycle 10"},
			{"100 in a cycle", "cycle 100"}, {"1,000 in a cycle", "cycle 1000"}, {"9,000 in a cycle", "cycle 9000"},
			{"64 in random order", "random 64"}, {"1,000 in random order", "random 1000"},
			{"one callsite, 8 counts and 8 tags in random order", "varied 8"},
		} {
			cmd := append([]string{exe}, append(strings.Fields(shape.args), "2000000")...)
			v, added, err := b.alternate(cmd, b.recorded("off", cmd...), b.recorded("stats", cmd...), b.recorded("auto", cmd...))
			if err != nil {
				return err
			}
			fmt.Printf("| %s | %s | %.1f | %.1f | %.1f | %.1f |\n", m.name, shape.name, v[0], added[1], added[2], added[3])
		}
	}
	return nil
}

// logger measures the six calls under the tests' linear logger, for comparison.
func logger(b *bench) error {
	fmt.Printf("\n## The linear logger, for comparison\n\nThe six calls in a loop under the tests' logger, which writes a line a call; processor time, ns.\n\n")
	fmt.Println("| MPI | alone | added |")
	fmt.Println("|---|---:|---:|")
	root, err := os.Getwd()
	if err != nil {
		return err
	}
	for i, g := range groundtruth.Installed() {
		m := b.mpis[min(i, len(b.mpis)-1)]
		if m.cc != g.CC {
			continue
		}
		exe, err := b.build(m, "bench/mpi/calls.c")
		if err != nil {
			return err
		}
		dir := filepath.Join(b.dir, g.Name)
		if err := os.Mkdir(dir, 0o755); err != nil {
			return err
		}
		lib, err := groundtruth.BuildLogger(context.Background(), g, root, dir)
		if err != nil {
			return err
		}
		cmd := []string{exe, "six", "1", "200000"}
		v, added, err := b.alternate(cmd, append([]string{"env", "LD_PRELOAD=" + lib, "LOGGER_DIR=" + dir}, cmd...))
		if err != nil {
			return err
		}
		fmt.Printf("| %s | %.1f | %.1f |\n", m.name, v[0], added[1])
	}
	return nil
}

// buildRecorder compiles bench/core/bench.c with the recorder.
func (b *bench) buildRecorder() (string, error) {
	exe := filepath.Join(b.dir, "core")
	sources, err := filepath.Glob("hook/shim/core_*.c")
	if err != nil {
		return "", err
	}
	args := append([]string{"-std=gnu11", "-O2", "-pthread", "-I", "hook/shim", "-o", exe, "bench/core/bench.c",
		"hook/shim/gen/schema.c"}, sources...)
	if out, err := exec.Command("cc", args...).CombinedOutput(); err != nil {
		return "", fmt.Errorf("cc: %w\n%s", err, out)
	}
	return exe, nil
}

// recorder measures the recorder without MPI.
func recorder(b *bench) error {
	exe, err := b.buildRecorder()
	if err != nil {
		return err
	}
	fmt.Printf("\n## The recorder alone\n\nProcessor time per event, ns, and growth of the segment after the first rounds (bench/core/bench.c).\n\n")
	fmt.Println("| shape | no times | time statistics | each call's times | bytes per event | with each call's times |")
	fmt.Println("|---|---:|---:|---:|---:|---:|")
	modes := []string{"off", "stats", "trace=500"}
	type row struct{ ns, bytes map[string][]float64 }
	rows := map[string]*row{}
	var order []string
	for range b.pairs {
		for _, mode := range modes {
			if err := runRecorder(b.dir, mode, []string{exe, "2000000"}, func(shape string, ns, bytes float64) {
				r := rows[shape]
				if r == nil {
					r = &row{map[string][]float64{}, map[string][]float64{}}
					rows[shape] = r
					order = append(order, shape)
				}
				r.ns[mode] = append(r.ns[mode], ns)
				r.bytes[mode] = append(r.bytes[mode], bytes)
			}); err != nil {
				return err
			}
		}
	}
	for _, s := range order {
		r := rows[s]
		fmt.Printf("| %s | %.1f | %.1f | %.1f | %.3f | %.3f |\n", s, median(r.ns[modes[0]]), median(r.ns[modes[1]]),
			median(r.ns[modes[2]]), median(r.bytes[modes[0]]), median(r.bytes[modes[2]]))
	}
	return nil
}

func runRecorder(dir, mode string, command []string, add func(shape string, ns, bytes float64)) error {
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Env = append(os.Environ(), "EFG_DIR="+dir, "EFG_TIME="+mode)
	out, err := cmd.Output()
	segments, _ := filepath.Glob(filepath.Join(dir, "*.seg"))
	for _, s := range segments {
		os.Remove(s)
	}
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(out)) {
		var shape string
		var k, n, grown uint64
		var ns float64
		if _, err := fmt.Sscan(line, &shape, &k, &ns, &n, &grown); err != nil {
			return fmt.Errorf("%q: %w", line, err)
		}
		add(fmt.Sprintf("%s of %d", shape, k), ns, float64(grown)/float64(n))
	}
	return nil
}

// irregular measures how an irregular program's segment grows.
func irregular(b *bench) error {
	exe, err := b.buildRecorder()
	if err != nil {
		return err
	}
	fmt.Printf("\n## An irregular program\n\n100 million events, 1,000 signatures in random order (bench/core/bench.c). " +
		"Aim: the segment grows by 3 bytes an event.\n\n")
	fmt.Println("| ns an event | bytes an event | |\n|---:|---:|---|")
	return runRecorder(b.dir, "off", []string{exe, "100000000", "irregular"}, func(_ string, ns, bytes float64) {
		fmt.Printf("| %.1f | %.3f | %s |\n", ns, bytes, met(bytes <= 3))
	})
}

// start measures what recording adds from MPI_Init to MPI_Finalize.
func start(b *bench) error {
	fmt.Printf("\n## Start and stop\n\nMilliseconds from before MPI_Init to after MPI_Finalize, 2 ranks (bench/mpi/start.c).\n\n")
	fmt.Println("| MPI | alone | recorded | added |")
	fmt.Println("|---|---:|---:|---:|")
	for _, m := range b.mpis {
		exe, err := b.build(m, "bench/mpi/start.c")
		if err != nil {
			return err
		}
		cmd := append(append([]string{m.run}, m.flags...), "-n", "2", exe)
		c := *b
		c.pairs = 3 * b.pairs
		v, added, err := c.alternate(cmd, b.recorded("stats", cmd...))
		if err != nil {
			return err
		}
		fmt.Printf("| %s | %.1f | %.1f | %.1f |\n", m.name, v[0], v[1], added[1])
	}
	return nil
}

// memory measures what recording adds to a process's resident memory.
func memory(b *bench) error {
	fmt.Printf("\n## Memory\n\nResident KiB of a process with K callsites, each a node (bench/mpi/calls.c).\n\n")
	fmt.Println("| MPI | callsites | alone | added |")
	fmt.Println("|---|---:|---:|---:|")
	for _, m := range b.mpis {
		exe, err := b.build(m, "bench/mpi/calls.c")
		if err != nil {
			return err
		}
		for _, k := range []string{"1", "2000", "9000"} {
			cmd := []string{exe, "memory", k, "100000"}
			v, added, err := b.alternate(cmd, b.recorded("stats", cmd...))
			if err != nil {
				return err
			}
			fmt.Printf("| %s | %s | %.0f | %.0f |\n", m.name, k, v[0], added[1])
		}
	}
	return nil
}
