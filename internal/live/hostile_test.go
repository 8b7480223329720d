package live

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/efg-tools/efg/internal/testing/groundtruth"
	"github.com/efg-tools/efg/internal/testing/scramble"
)

// killed are the segments of a job that hung and was killed.
func killed(t *testing.T, m groundtruth.MPI, program, how string) (paths []string, whole [][]byte) {
	t.Helper()
	j := launch(t, m, 3, program, how)
	j.until(t, func(c *JobState) bool { return len(c.Deadlocks) > 0 })
	j.kill()
	j.until(t, func(c *JobState) bool { return !c.Running })
	paths, err := Segments(j.dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range paths {
		data, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		whole = append(whole, data)
	}
	return paths, whole
}

// Segments that change arbitrarily while they are read neither crash nor hang the reader: each
// time there is an answer or an error.
func TestChangingSegments(t *testing.T) {
	m := groundtruth.Installed()[1]
	paths, _ := killed(t, m, compile(t, m, "stuck.c"), "wait")
	const magic = 24 // and the fields that identify the layout
	files, err := scramble.Start(paths, magic)
	if err != nil {
		t.Fatal(err)
	}
	read, refused := 0, 0
	for until := time.Now().Add(3 * time.Second); time.Now().Before(until); {
		watch := NewMonitor()
		job, err := Read(paths, 0)
		if err == nil {
			NewJobState(job)
		}
		if err != nil || len(job.Broken) > 0 {
			refused++
		} else {
			read++
		}
		for range 3 {
			watch.Look(paths)
		}
		watch.Close()
	}
	if n := files.Stop(); n < 1000 || read == 0 || refused == 0 {
		t.Errorf("%d changes; read %d times, refused %d times", n, read, refused)
	}
}

// Whatever segments contain, the result is a job state or an error; the time limit of the test
// ensures that it ends.
func TestHostile(t *testing.T) {
	m := groundtruth.Installed()[1]
	program := compile(t, m, "stuck.c")
	rng := rand.New(rand.NewPCG(8, 8))
	for _, how := range []string{"wait", "any", "barrier"} {
		paths, whole := killed(t, m, program, how)
		read := 0
		for round := 0; round < 40 || read < 20 && round < 400; round++ {
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
			if job, err := Read(list, 0); err == nil {
				NewJobState(job)
				read++
			}
		}
		if read < 20 {
			t.Errorf("%s: only %d jobs could be read", how, read)
		}
	}
}
