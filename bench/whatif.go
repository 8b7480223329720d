package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"

	"github.com/efg-tools/efg/internal/jsondoc"
)

// nearby is how far the model of a run may be off.
const nearby = 0.05

// modelledPrograms have two ranks: more would share the processors of small machines, which no model of a
// network describes.
func (b *bench) modelledPrograms() ([]recording, error) {
	input, err := os.ReadFile("testdata/real/hpccinf.txt")
	if err != nil {
		return nil, err
	}
	grid := filepath.Join(b.dir, "hpccinf.txt")
	if err := os.WriteFile(grid, bytes.Replace(input, []byte("2        rows"), []byte("1        rows"), 1), 0o600); err != nil {
		return nil, err
	}
	list := []recording{
		{name: "LAMMPS melt, 250 steps", ranks: 2, input: melt, command: []string{"lmp", "-in", "in.melt"}},
		{name: "pw.x, silicon", ranks: 2, input: "testdata/real/si.in", packed: siliconPotential, command: []string{"pw.x", "-in", "si.in"}},
	}
	for _, mpi := range []string{"Open MPI", "MPICH"} {
		for _, line := range [][]string{{"jacobi", "2000"}, {"mesh", "200"}, {"halo3d", "400"}, {"planewave", "40"}, {"blocklu", "40"}} {
			list = append(list, recording{name: line[0] + " " + line[1], mpi: mpi, ranks: 2, source: "c/" + line[0] + ".c", command: line})
		}
	}
	return append(list, recording{name: "HPCC", ranks: 2, input: grid, command: []string{"hpcc"}}), nil
}

// whatifModel compares what the model of efg whatif says about runs, when typical times stand for the
// recorded ones, with how long they took.
func whatifModel(b *bench) error {
	fmt.Printf("\n## Predictions\n\nThe time of runs of two ranks by the model of `efg whatif --network recorded`, against the recorded time. Of %d runs the shortest, which was disturbed least, and from where to where all are. Aim: within 5 %%.\n\n", b.pairs)
	fmt.Println("| program | MPI | recorded | by the model | from | to | |\n|---|---|---:|---:|---:|---:|---|")
	list, err := b.modelledPrograms()
	if err != nil {
		return err
	}
	for _, r := range list {
		if err := b.modelled(r); err != nil {
			return fmt.Errorf("%s: %w", r.name, err)
		}
	}
	return nil
}

func (b *bench) modelled(r recording) error {
	m, ok := b.mpi(r.mpi)
	if !ok {
		return nil
	}
	for _, file := range []string{r.input, r.packed} {
		if _, err := os.Stat(file); file != "" && err != nil {
			fmt.Printf("| %s | | | | | | %s is not there |\n", r.name, filepath.Base(file))
			return nil
		}
	}
	var off, took []float64
	for range b.pairs {
		file, err := b.record(r, "trace=exact")
		if err != nil {
			return err
		}
		text, err := b.output(b.efg, "whatif", file, "--network", "recorded", "--json")
		if err != nil {
			return err
		}
		var j jsondoc.Whatif
		if err := json.Unmarshal([]byte(text), &j); err != nil {
			return err
		}
		off, took = append(off, 100*(j.Asked.Time/j.Recorded.Time-1)), append(took, j.Recorded.Time/1e6)
	}
	least, most, best := off[0], off[0], 0
	for i, v := range off {
		least, most = min(least, v), max(most, v)
		if took[i] < took[best] {
			best = i
		}
	}
	fmt.Printf("| %s | %s | %.3g ms | %+.1f %% | %+.1f %% | %+.1f %% | %s |\n", r.name, m.name, took[best], off[best], least, most, met(math.Abs(off[best]) <= 100*nearby))
	return nil
}
