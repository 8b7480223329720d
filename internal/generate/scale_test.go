package generate_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/efg-tools/efg/internal/analysis/diff"
	"github.com/efg-tools/efg/internal/generate"
	"github.com/efg-tools/efg/internal/testing/groundtruth"
)

// scaled are programs whose program for another number of ranks is that of a run on so many. line and other are
// the commands for both.
var scaled = []struct {
	line, other string
	from        int
	to          []int
	only        string // the MPI library of large ones: what is tested is in the shape of the grid
}{
	{"c/jacobi.c 40", "c/jacobi.c 40", 4, []int{9}, ""},
	{"c/jacobi.c 40", "c/jacobi.c 40", 9, []int{2, 2}, "openmpi"},
	{"c/grid.c 15 periodic 1 3 3", "c/grid.c 15 periodic 1 4 3", 9, []int{1, 4, 3}, "openmpi"},
	{"c/grid.c 15 null 1 2 2", "c/grid.c 15 null 1 3 3", 4, []int{1, 3, 3}, ""},
	{"c/grid.c 15 open 1 3 3", "c/grid.c 15 open 1 4 4", 9, []int{1, 4, 4}, "mpich"},
	{"c/pcoll.c", "c/pcoll.c", 4, []int{8}, ""},
	{"c/rows.c 3 4", "c/rows.c 5 6", 12, []int{5, 6}, "mpich"},
	{"c/userops.c", "c/userops.c", 4, []int{6}, ""},
}

func TestOtherRanks(t *testing.T) {
	benches, err := groundtruth.Benches(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range benches {
		for _, c := range scaled {
			if c.only != "" && c.only != b.Name {
				continue
			}
			t.Run(b.Name+"/"+strings.ReplaceAll(filepath.Base(c.line), " ", "-"), func(t *testing.T) {
				size := 1
				for _, d := range c.to {
					size *= d
				}
				dir := t.TempDir()
				want := filepath.Join(dir, "want.efg")
				original, _ := record(t, b, nil, want, size, command(t, b, c.other)...)
				app := filepath.Join(dir, "app")
				scale(t, b, app, c.line, c.from, c.to, "")
				compile(t, b, app)
				again, _ := record(t, b, nil, filepath.Join(dir, "again.efg"), size, filepath.Join(app, "app"))
				s, err := diff.NewSequences(original, again, false, func(uint64) {})
				if err != nil {
					t.Fatal(err)
				}
				if !s.Equal() {
					t.Errorf("%+v", s.First)
				}
				r, err := b.Plain(t.Context(), size-1, filepath.Join(app, "app"))
				if err != nil || r.Status == 0 || !strings.Contains(r.Stderr, "this program makes the calls of") {
					t.Errorf("on another number of ranks: status %d: %v\n%s", r.Status, err, r.Stderr)
				}
			})
		}
	}
}

// What does not follow from the places of ranks is refused, with the reason.
func TestNotScaled(t *testing.T) {
	benches, err := groundtruth.Benches(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	b := benches[len(benches)-1]
	for _, c := range []struct {
		line string
		from int
		to   []int
		want string
	}{
		{"c/grid.c 15 open 1 2 2", 4, []int{1, 3, 3}, "rank 1 in the grid 1 × 3 × 3 is where no rank of the run was in the grid 1 × 2 × 2"},
		{"c/grid.c 15 periodic 1 2 2", 4, []int{1, 3, 3}, "is a neighbour in dimension 1 of the grid 1 × 2 × 2, in which both neighbours are the same"},
		{"c/grid.c 15 null 1 3 3", 9, []int{3, 3, 3}, "which has one rank in dimension 0"},
		{"c/grid.c 15 null 1 3 3", 9, []int{16}, "say the dimensions, as in 4x2x2"},
		{"c/jacobi.c 40", 4, []int{2, 2, 2}, "are a grid of 2 dimensions, 2 × 2, not of 3"},
		{"c/loops.c", 4, []int{8}, "MPI_Bcast: argument root: takes several ranks in turn (0, 3)"},
		{"c/farm.c", 4, []int{8}, "MPI_Send: argument dest: takes several ranks in turn"},
		{"c/coll.c", 4, []int{8}, "takes several ranks in turn"},
		{"c/mesh.c", 4, []int{9}, "MPI_Irecv: argument source: takes several ranks in turn (1, 2)"},
	} {
		t.Run(strings.ReplaceAll(filepath.Base(c.line), " ", "-"), func(t *testing.T) {
			scale(t, b, filepath.Join(t.TempDir(), "app"), c.line, c.from, c.to, c.want)
		})
	}
}

// command is the command of a program of testdata and its arguments.
func command(t *testing.T, b *groundtruth.Bench, line string) []string {
	words := strings.Fields(line)
	program, err := b.Build(t.Context(), words[0])
	if err != nil {
		t.Fatal(err)
	}
	return slices.Concat([]string{program}, words[1:])
}

// scale generates a program for other ranks from a run on from ranks; want: what the error says, if there is one.
func scale(t *testing.T, b *groundtruth.Bench, app, line string, from int, to []int, want string) {
	t.Helper()
	if err := os.Mkdir(app, 0o755); err != nil {
		t.Fatal(err)
	}
	run, _ := record(t, b, nil, app+".efg", from, command(t, b, line)...)
	_, err := generate.Write(app, run, &generate.Options{ComputeWith: generate.Spin, Source: "run.efg", Ranks: to})
	switch {
	case want == "" && err != nil:
		t.Fatal(err)
	case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
		t.Errorf("%v, want %s", err, want)
	}
}
