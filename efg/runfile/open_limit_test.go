package runfile_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/testing/sim"
)

// However little memory there is for open groups, a file has the same content, and merging it
// yields the same bytes again.
func TestOpenLimit(t *testing.T) {
	for _, c := range []sim.Config{
		{Program: "mesh", Ranks: 60, Steps: 12, Seed: 3, Stats: true},
		{Program: "halo", Ranks: 100, Steps: 4, Seed: 1},
		{Program: "random", Ranks: 20, Steps: 200, Seed: 4},
	} {
		t.Run(fmt.Sprintf("%s-%d", c.Program, c.Ranks), func(t *testing.T) { limited(t, c) })
	}
}

func limited(t *testing.T, c sim.Config) {
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
	if err := runfile.EncodeRun(&whole, all, meta); err != nil {
		t.Fatal(err)
	}
	for _, limit := range []int{0, 1 << 20} {
		var b bytes.Buffer
		if err := runfile.EncodeWithin(&b, all, meta, limit); err != nil {
			t.Fatal(err)
		}
		if limit == 0 && c.Program == "halo" && b.Len() <= whole.Len() { // whose ranks have much in common
			t.Errorf("%d bytes without room for open groups, %d with: the limit has no effect", b.Len(), whole.Len())
		}
		dir := t.TempDir()
		file, merged := filepath.Join(dir, "limited.efg"), filepath.Join(dir, "merged.efg")
		if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := runfile.MergeRuns(merged, []string{file}); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(merged)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, whole.Bytes()) {
			t.Errorf("limit %d: %d bytes, %d merged; want %d", limit, b.Len(), len(got), whole.Len())
		}
		run, err := runfile.NewRun(bytes.NewReader(b.Bytes()), int64(b.Len()))
		if err != nil {
			t.Fatal(err)
		}
		if err := runfile.Validate(run); err != nil {
			t.Errorf("limit %d: %v", limit, err)
		}
	}
}
