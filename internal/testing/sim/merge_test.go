package sim

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/runfile"
)

// The file is the same whatever the parts, their order and their grouping: the one written for
// all processes at once.
func TestMergeIsTheWhole(t *testing.T) {
	for _, c := range []Config{
		{Program: "halo", Ranks: 300, Steps: 4, Seed: 1},
		{Program: "halo", Ranks: 64, Steps: 5, Seed: 1, Periodic: true, Stats: true},
		{Program: "farm", Ranks: 70, Steps: 20, Seed: 2},
		{Program: "mesh", Ranks: 130, Steps: 12, Seed: 3, Stats: true},
		{Program: "random", Ranks: 20, Steps: 200, Seed: 4},
	} {
		t.Run(fmt.Sprintf("%s-%d", c.Program, c.Ranks), func(t *testing.T) { mergeTest(t, c) })
	}
}

func mergeTest(t *testing.T, c Config) {
	dir := t.TempDir()
	meta, err := c.Meta()
	if err != nil {
		t.Fatal(err)
	}
	var all []*efg.Process
	for p, err := range c.All(2) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
	var whole bytes.Buffer
	if err := runfile.EncodeRun(&whole, all, usedSites(meta, all)); err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(c.Seed, 7))
	for round := range 4 {
		parts := partition(t, rng, dir, all, meta, round)
		for len(parts) > 1 {
			k := min(len(parts), 2+rng.IntN(len(parts)))
			rng.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
			out := filepath.Join(dir, fmt.Sprintf("merged%d-%d.efg", round, len(parts)))
			if err := runfile.MergeRuns(out, parts[:k]); err != nil {
				t.Fatal(err)
			}
			parts = append([]string{out}, parts[k:]...)
		}
		got, err := os.ReadFile(parts[0])
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, whole.Bytes()) {
			t.Fatalf("round %d: %d bytes, %d if written at once", round, len(got), whole.Len())
		}
	}
	verifyWhole(t, whole.Bytes())
}

// partition writes the processes in random parts: in order, or dealt out.
func partition(t *testing.T, rng *rand.Rand, dir string, all []*efg.Process, meta runfile.Meta, round int) []string {
	n := 2 + rng.IntN(6)
	groups := make([][]*efg.Process, n)
	for i, p := range all {
		k := i * n / len(all)
		if round%2 == 1 {
			k = rng.IntN(n)
		}
		groups[k] = append(groups[k], p)
	}
	var parts []string
	for k, g := range groups {
		if len(g) == 0 {
			continue
		}
		path := filepath.Join(dir, fmt.Sprintf("part%d-%d.efg", round, k))
		if err := runfile.WriteRun(path, g, usedSites(meta, g)); err != nil {
			t.Fatal(err)
		}
		parts = append(parts, path)
	}
	return parts
}

func verifyWhole(t *testing.T, data []byte) {
	r, err := runfile.NewRun(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	if err := runfile.Validate(r); err != nil {
		t.Fatal(err)
	}
	v := runfile.NewVerifier(r)
	for i := range r.Procs {
		for _, err := range v.Process(i, []int{0}) {
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := v.Close(); err != nil {
		t.Fatal(err)
	}
}
