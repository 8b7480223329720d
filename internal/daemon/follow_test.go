package daemon

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/efg-tools/efg/internal/testing/sim"
)

// madeSegments are the segments of a simulated job, outside any spool.
func madeSegments(t *testing.T, ranks int) []string {
	t.Helper()
	dir := t.TempDir()
	c := sim.Config{Program: "halo", Ranks: ranks, Steps: 3, Seed: 2}
	if err := c.WriteSegments(feeder, dir, 2); err != nil {
		t.Fatal(err)
	}
	return names(t, dir, "*.seg")
}

func move(t *testing.T, from, dir string) string {
	t.Helper()
	to := filepath.Join(dir, filepath.Base(from))
	if err := os.Rename(from, to); err != nil {
		t.Fatal(err)
	}
	return to
}

// followed returns the number of segments of each job that a follower sees.
func followed(t *testing.T, f *Follower) (list []int) {
	t.Helper()
	jobs, err := f.Jobs()
	if err != nil {
		t.Fatal(err)
	}
	for _, j := range jobs {
		list = append(list, len(j.Segments))
	}
	return list
}

// Added and removed segments are seen at once, without listing the directory; if the kernel
// does not report changes, the directory is listed each time.
func TestFollow(t *testing.T) {
	for _, how := range []string{"told", "listed"} {
		t.Run(how, func(t *testing.T) {
			spool := privateDir(t)
			f := Follow(&Spool{spool})
			defer f.Close()
			if list := followed(t, f); len(list) != 0 {
				t.Fatalf("%v in an empty spool", list)
			}
			if how == "listed" {
				f.tracker.changes.close()
			} else {
				f.tracker.listed = time.Now().Add(time.Hour)
			}
			made := madeSegments(t, 8)
			var there []string
			for i, file := range made {
				there = append(there, move(t, file, spool))
				if list := followed(t, f); !slices.Equal(list, []int{i + 1}) {
					t.Fatalf("%v after %d segments", list, i+1)
				}
			}
			before, err := f.Jobs()
			if err != nil {
				t.Fatal(err)
			}
			if again, err := f.Jobs(); err != nil || how == "told" && &again[0] != &before[0] {
				t.Errorf("nothing has changed, but the list is another: %v", err)
			}
			if err := os.Remove(there[3]); err != nil {
				t.Fatal(err)
			}
			if list := followed(t, f); !slices.Equal(list, []int{7}) || len(before[0].Segments) != 8 {
				t.Errorf("%v after one is gone; an old list has %d", list, len(before[0].Segments))
			}
			// A daemon knows better which segments belong together.
			for i, file := range slices.Delete(there, 3, 4) {
				text := fmt.Sprintf(`{"job":"%v"}`, i < 2)
				if err := (&Spool{spool}).write(filepath.Base(file)+jobExt, []byte(text)); err != nil {
					t.Fatal(err)
				}
			}
			if list := followed(t, f); !slices.Equal(slices.Sorted(slices.Values(list)), []int{2, 5}) {
				t.Errorf("%v after a daemon has told of them", list)
			}
			if err := os.Symlink(made[0], filepath.Join(spool, "link.seg")); err != nil {
				t.Fatal(err)
			}
			for range 2 { // it is seen first, and counted then
				followed(t, f)
			}
			if f.tracker.foreign != 1 {
				t.Errorf("%d that are none of ours", f.tracker.foreign)
			}
		})
	}
}

// If too many changes are pending, the directory is listed; a directory that is gone is an
// error, and one that replaces it is watched again.
func TestFollowLost(t *testing.T) {
	parent := privateDir(t)
	spool := filepath.Join(parent, "spool")
	if err := os.Mkdir(spool, 0o700); err != nil {
		t.Fatal(err)
	}
	f := Follow(&Spool{spool})
	defer f.Close()
	followed(t, f)
	f.tracker.listed = time.Now().Add(time.Hour)
	for i := range 40_000 { // more than the kernel keeps
		name := filepath.Join(spool, fmt.Sprintf(".%d", i%2))
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
	}
	made := madeSegments(t, 8)
	move(t, made[0], spool)
	if list := followed(t, f); !slices.Equal(list, []int{1}) {
		t.Errorf("%v after very many changes", list)
	}
	if err := os.Rename(spool, spool+".old"); err != nil {
		t.Fatal(err)
	}
	if jobs, err := f.Jobs(); err == nil {
		t.Errorf("%d jobs in a directory that is gone", len(jobs))
	}
	if err := os.Mkdir(spool, 0o700); err != nil {
		t.Fatal(err)
	}
	move(t, made[1], spool)
	move(t, made[2], spool)
	if list := followed(t, f); !slices.Equal(list, []int{2}) {
		t.Errorf("%v in the new directory", list)
	}
}
