package live

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/efg-tools/efg/internal/groundtruth"
)

// Whatever is in segments, the roll is called in the end, or there is an error.
func TestHostile(t *testing.T) {
	m := groundtruth.Installed()[1]
	program := compile(t, m, "stuck.c")
	rng := rand.New(rand.NewPCG(8, 8))
	for _, how := range []string{"wait", "any", "barrier"} {
		j := launch(t, m, 3, program, how)
		j.until(t, func(c *RollCall) bool { return len(c.Deadlocks) > 0 })
		j.kill()
		j.until(t, func(c *RollCall) bool { return !c.Running })
		paths, err := Segments(j.dir)
		if err != nil {
			t.Fatal(err)
		}
		var whole [][]byte
		for _, p := range paths {
			data, err := os.ReadFile(p)
			if err != nil {
				t.Fatal(err)
			}
			whole = append(whole, data)
		}
		read := 0
		for until := time.Now().Add(time.Second); time.Now().Before(until); {
			dir := t.TempDir()
			for i, p := range paths {
				data := slices.Clone(whole[i])
				for range rng.IntN(3) {
					data[24+rng.IntN(8000)] ^= byte(1 << rng.IntN(8))
				}
				if err := os.WriteFile(filepath.Join(dir, filepath.Base(p)), data, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			list, err := Segments(dir)
			if err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			if job, err := Read(list, 0); err == nil {
				NewRollCall(job)
				read++
			}
			if took := time.Since(began); took > 2*time.Second {
				t.Errorf("took %v", took)
			}
		}
		if read < 20 {
			t.Errorf("%s: only %d jobs could be read", how, read)
		}
	}
}
