package hook

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/efg-tools/efg/internal/testing/mpilib"
)

// The hand-written C compiles without warnings, for every MPI.
func TestNoWarnings(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "shim")
	if err := extract(dir); err != nil {
		t.Fatal(err)
	}
	cc, err := cCompiler()
	if err != nil {
		t.Fatal(err)
	}
	lacks := func(c compiler) []string {
		l, err := lackingFlags(t.Context(), c, t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	check := func(c compiler, flags []string, patterns ...string) {
		t.Helper()
		files, err := matching(patterns...)
		if err != nil {
			t.Fatal(err)
		}
		args := append([]string{"-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-I."}, flags...)
		if err := c.run(t.Context(), dir, append(args, files...)...); err != nil {
			t.Error(err)
		}
	}
	check(cc, commonFlags, "front*.c")
	for _, name := range mpilib.Compilers {
		c := compiler{path: name}
		check(c, slices.Concat(mpiFlags, commonFlags, lacks(c)), "back*.c", "core*.c", "gen/constants.c", "gen/schema.c")
	}
}
