package main

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
)

// pathPart is how many times as large as without call paths a run file may be with them.
const pathPart = 1.3

// withOptions adds options to an efg run command.
func withOptions(command []string, options ...string) []string {
	return slices.Insert(slices.Clone(command), 2, options...)
}

// callPaths measures what recording call paths adds: to the time of a call, and to the run file.
func callPaths(b *bench) error {
	fmt.Printf("\n## Call paths\n\nProcessor time per call, ns: six calls in a loop (bench/mpi/calls.c), that many calls deep, without times, " +
		"without and with `--callpath`. Aim: 10 at a depth of 10.\n\n")
	fmt.Println("| MPI | depth | without | with | added |")
	fmt.Println("|---|---:|---:|---:|---:|")
	for _, m := range b.mpis {
		exe, err := b.build(m, "bench/mpi/calls.c")
		if err != nil {
			return err
		}
		for _, depth := range []int{2, 10, 20, 40} {
			// The path has the calls of deep, and those in main and in shape.
			command := b.recorded("off", exe, "deep", strconv.Itoa(max(depth-2, 1)), "2000000")
			v, added, err := b.alternate(command, withOptions(command, "--callpath"))
			if err != nil {
				return err
			}
			fmt.Printf("| %s | %d | %.1f | %.1f | %.1f |\n", m.name, depth, v[0], v[1], added[1])
		}
	}
	return pathSizes(b)
}

// pathSizes compares run files without and with call paths.
func pathSizes(b *bench) error {
	fmt.Printf("\nBytes of run files (`--time stats`), and their nodes. Aim: at most %.1f times as many bytes.\n\n", pathPart)
	fmt.Println("| program | MPI | ranks | bytes | with call paths | ratio | | nodes | with call paths |")
	fmt.Println("|---|---|---:|---:|---:|---:|---|---:|---:|")
	programs := slices.Concat(realPrograms, []recording{
		{name: "xdlu", ranks: 4, input: "testdata/real/LU.dat", command: []string{"/usr/lib/x86_64-linux-gnu/scalapack/openmpi-tests/xdlu"}},
		{name: "blocklu 24", source: "c/blocklu.c", command: []string{"blocklu", "24"}},
		{name: "halo3d 140", source: "c/halo3d.c", command: []string{"halo3d", "140"}},
	})
	for _, r := range programs {
		m, ok := b.mpi(r.mpi)
		if _, err := os.Stat(r.input); !ok || r.input != "" && err != nil {
			fmt.Printf("| %s | | | | | | %s is not there | | |\n", r.name, r.input)
			continue
		}
		var bytes, nodes [2]int64
		for i, options := range [][]string{nil, {"--callpath"}} {
			r.options = options
			var err error
			if bytes[i], nodes[i], err = b.sizeAndNodes(r); err != nil {
				return fmt.Errorf("%s: %w", r.name, err)
			}
		}
		ratio := float64(bytes[1]) / float64(bytes[0])
		fmt.Printf("| %s | %s | %d | %d | %d | %.2f | %s | %d | %d |\n", r.name, m.name, r.size(), bytes[0], bytes[1], ratio, met(ratio <= pathPart), nodes[0], nodes[1])
	}
	return nil
}

// sizeAndNodes records a program and returns the size of the run file and the number of its nodes.
func (b *bench) sizeAndNodes(r recording) (bytes, nodes int64, err error) {
	file, err := b.record(r, "stats")
	if err != nil {
		return 0, 0, err
	}
	out, err := b.output(b.efg, "info", file, "--json")
	if err != nil {
		return 0, 0, err
	}
	var info struct{ Bytes, Nodes int64 }
	err = json.Unmarshal([]byte(out), &info)
	return info.Bytes, info.Nodes, err
}
