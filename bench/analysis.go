package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/testing/sim"
)

// questions are the commands that answer from the graph.
var questions = []string{"report", "matrix", "diff", "check", "phases", "loops"}

// analyses measures the commands that answer from the graph, on a run and on one with ten times
// as many events, and how fast SQL iterates over events.
func analyses(b *bench) error {
	const ranks, steps = 1024, 8500 // about a hundred million events
	fmt.Printf("\n## Answers from the graph\n\nSimulated halo exchange, %d ranks, with time statistics. Aims: 2 s and 1 GiB each; ten times the events take the same time, within 20 %%.\n\n", ranks)
	var files []string
	for _, n := range []int{steps, 10 * steps} {
		file, err := b.simulatedRun(sim.Config{Program: "halo", Ranks: ranks, Steps: n, Stats: true})
		if err != nil {
			return err
		}
		files = append(files, file)
	}
	for _, f := range files {
		n, err := events(f, ranks)
		if err != nil {
			return err
		}
		fmt.Printf("%s: %d events.\n", filepath.Base(f), n)
	}
	fmt.Println("\n| command | s | with ten times the events, s | ratio | MiB | |\n|---|---:|---:|---:|---:|---|")
	for _, q := range questions {
		if err := b.question(q, files); err != nil {
			return err
		}
	}
	return b.sqlSpeed(files[0])
}

// simulatedRun makes a run file of a simulated program.
func (b *bench) simulatedRun(c sim.Config) (string, error) {
	dir, err := os.MkdirTemp(b.dir, "parts-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	if _, err := c.WriteNodes(dir, runtime.NumCPU()); err != nil {
		return "", err
	}
	file := filepath.Join(b.dir, fmt.Sprintf("%s-%d.efg", c.Program, c.Steps))
	if _, err := used(b.efg, "merge", dir, "-o", file); err != nil {
		return "", err
	}
	return file, nil
}

// question measures one command on both files, in turn.
func (b *bench) question(command string, files []string) error {
	seconds := make([][]float64, len(files))
	memory := int64(0)
	for range b.pairs {
		for i, f := range files {
			u, err := used(b.efg, command, f)
			if err != nil {
				return err
			}
			seconds[i] = append(seconds[i], u.wall.Seconds())
			memory = max(memory, u.memory)
		}
	}
	short, long := median(seconds[0]), median(seconds[1])
	ok := long <= 2 && memory <= 1<<30 && long <= 1.2*short
	fmt.Printf("| %s | %.2f | %.2f | %.2f | %d | %s |\n", command, short, long, long/short, memory>>20, met(ok))
	return nil
}

// sqlSpeed measures how many events per second SQL counts when it has to walk, and when it has
// to read arguments.
func (b *bench) sqlSpeed(file string) error {
	fmt.Printf("\n## SQL\n\nMillion events a second of one rank after the other, the first 64. Aim: 3 where events have to be made.\n\n| query | |\n|---|---:|\n")
	events, err := events(file, 64)
	if err != nil {
		return err
	}
	for _, what := range []string{"count(*)", "count(*), max(seq)", "count(bytes)"} {
		query := "select " + what + " from events where rank < 64"
		var seconds []float64
		for range b.pairs {
			u, err := used(b.efg, "sql", file, query)
			if err != nil {
				return err
			}
			seconds = append(seconds, u.wall.Seconds())
		}
		fmt.Printf("| `%s` | %.1f |\n", query, float64(events)/median(seconds)/1e6)
	}
	return nil
}

// events counts the events of the ranks below a limit.
func events(file string, ranks int) (uint64, error) {
	run, err := runfile.OpenRun(file)
	if err != nil {
		return 0, err
	}
	defer run.Close()
	n := uint64(0)
	for i := range run.Procs {
		for _, s := range run.Procs[i].Streams {
			if run.Procs[i].Rank < ranks {
				n += s.Events
			}
		}
	}
	return n, nil
}
