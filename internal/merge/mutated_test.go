package merge

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/testing/sim"
)

// Files made from damaged segments can be read to the end: unreadable segments are named and
// left out, and the others are present.
func TestMutatedSegments(t *testing.T) {
	left := 0
	for _, program := range sim.Programs() {
		all := segmentsIn(t, simulate(t, sim.Config{Program: program, Ranks: 2, Steps: 12, Seed: 5, Stats: true}))
		data, err := os.ReadFile(all[1])
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		bad, out := filepath.Join(dir, filepath.Base(all[1])), filepath.Join(dir, "run.efg")
		for seed := range uint64(150) {
			if err := os.WriteFile(bad, mutate(data, rand.New(rand.NewPCG(seed, 3))), 0o644); err != nil {
				t.Fatal(err)
			}
			r, err := Run([]string{all[0], bad}, quick(Options{Output: out, Workers: 1, SkipBroken: true}))
			if err != nil {
				if !errors.As(err, new(*ArgumentError)) { // it claims to be of another run
					t.Fatalf("%s, %d: %v", program, seed, err)
				}
				continue
			}
			left += len(r.LeftOut)
			for _, text := range r.LeftOut {
				if !strings.HasPrefix(text, bad+": ") {
					t.Errorf("%s, %d: left out: %s", program, seed, text)
				}
			}
			if err := walkAll(out, 2-len(r.LeftOut)); err != nil {
				t.Errorf("%s, %d: %v", program, seed, err)
			}
		}
	}
	if left < 50 {
		t.Errorf("only %d were left out", left)
	}
}

// mutate changes some bytes after the header.
func mutate(data []byte, r *rand.Rand) []byte {
	data = append([]byte(nil), data...)
	for range 1 + r.IntN(4) {
		at := 4096 + r.IntN(len(data)-4096)
		for data[at] == 0 && r.IntN(20) > 0 { // most of the file is empty
			at = 4096 + r.IntN(len(data)-4096)
		}
		data[at] = byte(r.IntN(256))
	}
	return data
}

// walkAll iterates over all events of a run of some processes.
func walkAll(file string, procs int) error {
	run, err := runfile.OpenRun(file)
	if err != nil {
		return err
	}
	defer run.Close()
	if len(run.Procs) != procs {
		return fmt.Errorf("%d processes, want %d", len(run.Procs), procs)
	}
	for i := range run.Procs {
		p, err := run.Process(i)
		if err != nil {
			return err
		}
		for k := range p.Streams {
			w := p.Streams[k].Walk(p.Defs)
			for w.Next() && w.Words() != nil {
			}
			if w.Err() != nil {
				return w.Err()
			}
		}
	}
	return nil
}
