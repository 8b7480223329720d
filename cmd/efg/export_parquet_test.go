package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// tables are the files of a dataset.
func tables(t *testing.T, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*", "run=*", "part.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	blocks, err := filepath.Glob(filepath.Join(dir, "*", "run=*", "block=*", "part.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	return append(files, blocks...)
}

func TestExportParquet(t *testing.T) {
	assembled(t, "traced")
	for _, args := range [][]string{{"-o", "all"}, {"--append", "store"}} {
		if _, errOut, status := efgRun(t, nil, append([]string{"export", "a.efg", "--format", "parquet"}, args...)...); status != 0 || errOut != "" {
			t.Fatalf("%v: %d, %s", args, status, errOut)
		}
		if n := len(tables(t, args[1])); n != 8 {
			t.Errorf("%v: %d files", args, n)
		}
	}
	_, errOut, status := efgRun(t, nil, "export", "a.efg", "--format", "parquet", "--append", "store")
	if status != 0 || errOut != "efg: store has the run already\n" {
		t.Errorf("%d, %s", status, errOut)
	}
	if _, errOut, status := efgRun(t, nil, "export", "a.efg", "--format", "parquet", "-o", "all", "--what", "nodes,run"); status != 0 || errOut != "" {
		t.Errorf("%d, %s", status, errOut)
	}
	if n := len(tables(t, "all")); n != 2 {
		t.Errorf("%d files", n)
	}
}

// A run without the times of each call has no messages and waits, which is said.
func TestExportParquetWithoutTimes(t *testing.T) {
	assembled(t, "farm")
	_, errOut, status := efgRun(t, nil, "export", "a.efg", "--format", "parquet", "-o", "all")
	if status != 0 || !strings.HasPrefix(errOut, "efg: no messages and waits") || len(tables(t, "all")) != 6 {
		t.Errorf("%d, %s, %v", status, errOut, tables(t, "all"))
	}
}

func TestExportParquetErrors(t *testing.T) {
	assembled(t, "farm")
	if err := os.MkdirAll("other/dir", 0o755); err != nil {
		t.Fatal(err)
	}
	for want, args := range map[string]string{
		"--append other: is not a directory of these tables": "--format parquet --append other",
		"other: exists, and is something else":               "--format parquet -o other",
		"--append and -o: want one":                          "--format parquet --append s -o t",
		"--append: adds whole runs":                          "--format parquet --append s --rank 0",
		"--append: --format gxl does not":                    "--format gxl --append s",
		"--what x: want events":                              "--format parquet -o s --what x",
		"-o DIRECTORY is missing":                            "--format parquet",
	} {
		_, errOut, status := efgRun(t, nil, append([]string{"export", "a.efg"}, strings.Fields(args)...)...)
		if status != 2 || !strings.Contains(errOut, want) || strings.Count(errOut, "\n") != 1 {
			t.Errorf("%s: %d, %q, want %q", args, status, errOut, want)
		}
	}
}
