package hook

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
)

// hasName finds names in what a compiler prints about gen/has.h.
var hasName = regexp.MustCompile(`\befg_has_(\w+)\.`)

// lackingFlags returns the flags BK_NO_... for the names that a compiler's mpi.h lacks. dir is
// for temporary files.
func lackingFlags(ctx context.Context, c compiler, dir string) ([]string, error) {
	text, err := sources.ReadFile("shim/gen/has.h")
	if err != nil {
		return nil, err
	}
	src := filepath.Join(dir, "has")
	defer os.RemoveAll(src)
	if err := errors.Join(os.Mkdir(src, 0o755), os.WriteFile(filepath.Join(src, "has.c"), text, 0o644)); err != nil {
		return nil, err
	}
	var lacks []string
	for { // compilers stop after a number of errors
		err := c.run(ctx, src, slices.Concat(commonFlags, mpiFlags, lacks, []string{"-w", "-c", "-o", "has.o", "has.c"})...)
		var failed *BuildError
		if err == nil || !errors.As(err, &failed) {
			return lacks, err
		}
		before := len(lacks)
		for _, m := range hasName.FindAllStringSubmatch(failed.Output, -1) {
			if flag := "-DBK_NO_" + m[1]; !slices.Contains(lacks, flag) {
				lacks = append(lacks, flag)
			}
		}
		if len(lacks) == before {
			return nil, err
		}
	}
}
