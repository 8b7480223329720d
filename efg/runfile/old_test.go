package runfile_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/efg/text"
)

// Files written by earlier versions, of format 2 and of format 3 without event blocks, still
// have their content.
func TestOldFiles(t *testing.T) {
	paths, err := filepath.Glob("testdata/old/*.efg")
	if len(paths) == 0 {
		t.Fatal(err)
	}
	for _, path := range paths {
		r, err := runfile.OpenRun(path)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		if err := runfile.Validate(r); err != nil {
			t.Errorf("%s: %v", path, err)
		}
		var got bytes.Buffer
		if err := text.Dump(&got, r); err != nil {
			t.Fatal(err)
		}
		want, err := os.ReadFile(filepath.Join("../text/testdata", strings.TrimSuffix(filepath.Base(path), ".efg")+".txt"))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got.Bytes(), want) {
			t.Errorf("%s reads as another text", path)
		}
	}
}

// Call paths of a file whose graphs have the numbers of their process's definitions are what they were.
func TestOldCallPaths(t *testing.T) {
	want, err := os.ReadFile("testdata/paths/nested.txt")
	if err != nil {
		t.Fatal(err)
	}
	again := filepath.Join(t.TempDir(), "again.efg")
	if err := runfile.MergeRuns(again, []string{"testdata/paths/nested.efg"}); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"testdata/paths/nested.efg", again} {
		r, err := runfile.OpenRun(path)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		if err := runfile.Validate(r); err != nil {
			t.Errorf("%s: %v", path, err)
		}
		var got bytes.Buffer
		if err := text.Dump(&got, r); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got.Bytes(), want) {
			t.Errorf("%s reads as another text", path)
		}
	}
}

// The times of a file whose intervals are bins, in ns, are what they were.
func TestOldTimes(t *testing.T) {
	r, err := runfile.OpenRun("testdata/times/bins.efg")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if err := runfile.Validate(r); err != nil {
		t.Error(err)
	}
	want, err := os.ReadFile("testdata/times/bins.txt")
	if err != nil {
		t.Fatal(err)
	}
	if got := timesOf(t, r); got != string(want) {
		t.Error("other times")
	}
	merged := filepath.Join(t.TempDir(), "merged.efg")
	if err := runfile.MergeRuns(merged, []string{"testdata/times/bins.efg"}); err != nil {
		t.Fatal(err)
	}
	again, err := runfile.OpenRun(merged)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if got := timesOf(t, again); got != string(want) {
		t.Error("other times after a merge")
	}
}

// timesOf lists start and end of each event, ns since the run began.
func timesOf(t *testing.T, r *runfile.Run) string {
	t.Helper()
	var b strings.Builder
	for i := range r.Procs {
		p, err := r.Process(i)
		if err != nil {
			t.Fatal(err)
		}
		for j := range p.Streams {
			s := &p.Streams[j]
			clock, err := efg.NewClock(s)
			if err != nil {
				t.Fatal(err)
			}
			begin := int64(s.Trace.BeginMono()) + p.Clock
			for w := s.Walk(p.Defs); w.Next(); {
				start, end, err := clock.Next(uint32(w.Node()))
				if err != nil {
					t.Fatal(err)
				}
				fmt.Fprintln(&b, p.Rank, begin+int64(start), begin+int64(end))
			}
		}
	}
	return b.String()
}
