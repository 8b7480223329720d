package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"

	"github.com/efg-tools/efg/internal/testing/sim"
)

// generated measures efg generate: how long it takes for a run of many events, and how long the programs are.
func generated(b *bench) error {
	c := sim.Config{Program: "halo", Ranks: 1024, Steps: 77_000, Periodic: true}
	dir, err := os.MkdirTemp(b.dir, "parts-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if _, err := c.WriteNodes(dir, runtime.NumCPU()); err != nil {
		return err
	}
	file := filepath.Join(b.dir, "regular.efg")
	if _, err := used(b.efg, "merge", dir, "-o", file); err != nil {
		return err
	}
	fmt.Printf("\n## Generated programs\n\nAims: 10 s and 1 GiB for 1,024 simulated ranks of `halo` with 1,032,913,920 events.\n\n")
	fmt.Println("| run | ranks | s | MiB | lines | KB |\n|---|---:|---:|---:|---:|---:|")
	if err := b.generatedRow(c.Program, c.Ranks, file); err != nil {
		return err
	}
	for _, r := range realPrograms {
		file, err := b.record(r, "stats")
		if err != nil {
			return err
		}
		if err := b.generatedRow(r.name, r.ranks, file); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) generatedRow(name string, ranks int, file string) error {
	app := filepath.Join(b.dir, "app")
	var seconds []float64
	var most int64
	for range b.pairs {
		u, err := used(b.efg, "generate", file, "-o", app)
		if err != nil {
			return err
		}
		seconds, most = append(seconds, u.wall.Seconds()), max(most, u.memory)
	}
	text, err := os.ReadFile(filepath.Join(app, "main.c"))
	if err != nil {
		return err
	}
	fmt.Printf("| %s | %d | %.2f | %d | %d | %d |\n", name, ranks, median(seconds), most>>20, bytes.Count(text, []byte("\n")), len(text)/1000)
	return nil
}

// replayed measures what forcing outcomes adds to a call that is recorded.
func replayed(b *bench) error {
	fmt.Printf("\n## Replay\n\nProcessor time per call, ns: one rank, messages to itself, 6 of 8 calls with an outcome that is forced (bench/mpi/forced.c).\n")
	fmt.Printf("Aim: at most 100 added to the program alone.\n\n")
	fmt.Println("| MPI | alone | added by recording | added by replay, which is recorded, too |\n|---|---:|---:|---:|")
	for _, m := range b.mpis {
		exe, err := b.build(m, "bench/mpi/forced.c")
		if err != nil {
			return err
		}
		command := []string{exe, "2000000"}
		first := filepath.Join(b.dir, "first.efg")
		record := exec.Command(b.efg, append([]string{"run", "--time", "stats", "-o", first, "--"}, command...)...)
		if out, err := record.CombinedOutput(); err != nil {
			return fmt.Errorf("%w\n%s", err, out)
		}
		again := append([]string{b.efg, "run", "--time", "stats", "--replay", first, "-o", filepath.Join(b.dir, "again.efg"), "--"}, command...)
		v, added, err := b.alternate(command, b.recorded("stats", command...), again)
		if err != nil {
			return err
		}
		fmt.Printf("| %s | %.1f | %.1f | %.1f |\n", m.name, v[0], added[1], added[2])
	}
	return nil
}
