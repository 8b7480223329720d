package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/signature"
)

// growth measures how run files grow with steps and ranks.
func growth(b *bench) error {
	growthTable("Growth")
	if err := moreSteps(b); err != nil {
		return err
	}
	return moreRanks(b)
}

func growthTable(title string) {
	fmt.Printf("\n## %s\n\nBytes of run files (`--time off`).\n\n", title)
	fmt.Println("| | from | to | ratio | aim | |\n|---|---:|---:|---:|---:|---|")
}

func growthRow(what string, from, to int64, aim float64) {
	ratio := float64(to) / float64(from)
	fmt.Printf("| %s | %d | %d | %.2f | %.2f | %s |\n", what, from, to, ratio, aim, met(ratio <= aim))
}

func met(ok bool) string {
	if ok {
		return "met"
	}
	return "✗"
}

// recordedSize records a program and returns the size of the run file.
func (b *bench) recordedSize(r recording) (int64, error) {
	file, err := b.record(r, "off")
	if err != nil {
		return 0, fmt.Errorf("%s: %w", r.name, err)
	}
	info, err := os.Stat(file)
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// moreSteps compares runs of one program with one and ten times as many steps.
func moreSteps(b *bench) error {
	for _, r := range []recording{
		{name: "grid, periodic", source: "c/grid.c", ranks: 8, command: []string{"grid", "200", "periodic"}},
		{name: "grid, borders", source: "c/grid.c", ranks: 8, command: []string{"grid", "200", "null"}},
		{name: "lists", source: "c/lists.c", ranks: 8, command: []string{"lists", "200"}},
		{name: "halo3d", source: "c/halo3d.c", ranks: 8, command: []string{"halo3d", "200"}},
		{name: "jacobi", source: "c/jacobi.c", ranks: 8, command: []string{"jacobi", "200"}},
	} {
		from, err := b.recordedSize(r)
		if err != nil {
			return err
		}
		r.command[1] = "2000"
		to, err := b.recordedSize(r)
		if err != nil {
			return err
		}
		growthRow(r.name+", 200 → 2,000 steps", from, to, 1.05)
	}
	return nil
}

// moreRanks compares runs of 8 and of 64 ranks.
func moreRanks(b *bench) error {
	if _, ok := b.mpi("MPICH"); !ok {
		return nil
	}
	for _, x := range []struct {
		border string
		aim    float64
	}{{"periodic", 1.5}, {"null", 2.5}, {"open", 2.5}} {
		r := recording{name: "grid", mpi: "MPICH", source: "c/grid.c", command: []string{"grid", "50", x.border}}
		var sizes []int64
		for _, r.ranks = range []int{8, 64} {
			n, err := b.recordedSize(r)
			if err != nil {
				return err
			}
			sizes = append(sizes, n)
		}
		growthRow(fmt.Sprintf("grid, %s, 8 → 64 ranks (MPICH)", x.border), sizes[0], sizes[1], x.aim)
	}
	return nil
}

// written is the size of the run file of these processes.
func (b *bench) written(procs []*efg.Process, meta runfile.Meta) (int64, error) {
	file := filepath.Join(b.dir, "written.efg")
	if err := runfile.WriteRun(file, procs, meta); err != nil {
		return 0, err
	}
	defer os.Remove(file)
	info, err := os.Stat(file)
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// processes reads all processes of a run file.
func processes(file string) ([]*efg.Process, runfile.Meta, error) {
	run, err := runfile.OpenRun(file)
	if err != nil {
		return nil, runfile.Meta{}, err
	}
	defer run.Close()
	var procs []*efg.Process
	for i := range run.Procs {
		p, err := run.Process(i)
		if err != nil {
			return nil, runfile.Meta{}, err
		}
		procs = append(procs, p)
	}
	return procs, run.Meta, nil
}

// timeStats writes recordings with and without their time statistics.
func timeStats(b *bench) error {
	fmt.Printf("\n## Time statistics in the file\n\nBytes that `--time stats` adds, per node and rank. Aim: 24.\n\n")
	fmt.Println("| program | ranks | nodes | without | with | bytes a node | |\n|---|---:|---:|---:|---:|---:|---|")
	for _, r := range []recording{
		{name: "LAMMPS melt, 100 steps", ranks: 8, input: "testdata/real/in.melt", command: []string{"lmp", "-in", "in.melt"}},
		{name: "HPCC", ranks: 4, input: "testdata/real/hpccinf.txt", command: []string{"hpcc"}},
		{name: "grid", source: "c/grid.c", ranks: 8, command: []string{"grid", "2000", "null"}},
		{name: "amr", source: "c/amr.c", command: []string{"amr", "200"}},
	} {
		file, err := b.record(r, "stats")
		if err != nil {
			return err
		}
		procs, meta, err := processes(file)
		if err != nil {
			return err
		}
		with, err := b.written(procs, meta)
		if err != nil {
			return err
		}
		nodes := 0
		for _, p := range procs {
			for i := range p.Streams {
				for j := range p.Streams[i].Nodes {
					p.Streams[i].Nodes[j].Stats = nil
					nodes++
				}
			}
		}
		without, err := b.written(procs, meta)
		if err != nil {
			return err
		}
		each := float64(with-without) / float64(nodes)
		fmt.Printf("| %s | %d | %d | %d | %d | %.1f | %s |\n", r.name, r.size(), nodes, without, with, each, met(each <= 24))
	}
	return nil
}

// polls compares what random numbers of consecutive polls add to a file with their entropy.
func polls(b *bench) error {
	const rounds = 2000
	r := recording{name: "polls", source: "c/polls.c", command: []string{"polls", strconv.Itoa(rounds)}}
	file, err := b.record(r, "off")
	if err != nil {
		return err
	}
	procs, meta, err := processes(file)
	if err != nil {
		return err
	}
	random, err := b.written(procs, meta)
	if err != nil {
		return err
	}
	runs, bits := 0, 0.0
	for _, lengths := range pollRuns(procs) {
		n, e := entropy(lengths)
		runs += n
		bits += e
	}
	r.command = append(r.command, "equal")
	equal, err := b.recordedSize(r)
	if err != nil {
		return err
	}
	least := bits / 8
	ratio := float64(random-equal) / least
	fmt.Printf("\n## Polling\n\n%d runs of failed polls, their lengths random (exponential, mean 30) or equal. "+
		"Aim: the random ones add 1.2 times their entropy.\n\n", runs)
	fmt.Println("| file, equal | file, random | added | entropy | added / entropy | |\n|---:|---:|---:|---:|---:|---|")
	fmt.Printf("| %d | %d | %d | %.0f | %.2f | %s |\n", equal, random, random-equal, least, ratio, met(ratio <= 1.2))
	return nil
}

// pollRuns counts, for each polling procedure, how often which number of consecutive polls
// found nothing.
func pollRuns(procs []*efg.Process) map[int]map[int]int {
	runs := map[int]map[int]int{}
	for _, p := range procs {
		for i := range p.Streams {
			last, n := 0, 0
			end := func() {
				if n > 0 {
					if runs[last] == nil {
						runs[last] = map[int]int{}
					}
					runs[last][n]++
				}
				n = 0
			}
			w := p.Streams[i].Walk(p.Defs)
			for w.Next() {
				proc, failed := failedPoll(w.Words())
				if !failed || proc != last {
					end()
				}
				if failed {
					last = proc
					n++
				}
			}
			end()
		}
	}
	return runs
}

// failedPoll returns the procedure of an event, and whether it is a poll that has found
// nothing.
func failedPoll(words []uint64) (proc int, failed bool) {
	proc = signature.Header(words[0]).Proc()
	p := signature.ProcByID(proc)
	if p == nil || !p.Poll {
		return proc, false
	}
	for i := range p.Words {
		if name := p.Words[i].Name; name == "flag" || name == "outcount" {
			return proc, words[i] == 0
		}
	}
	return proc, false
}

// entropy is the number of values and the number of bits that they contain if they are drawn
// independently.
func entropy(counts map[int]int) (n int, bits float64) {
	for _, c := range counts {
		n += c
	}
	for _, c := range counts {
		bits -= float64(c) * math.Log2(float64(c)/float64(n))
	}
	return n, bits
}
