package hook_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// rangesRecorded is what the ranges of a program become, without callsites and times.
const rangesRecorded = `"op":"MPI_Init","args":{},"out":{}
"op":"efg_region_begin","args":{"name":"assembly"},"out":{}
"op":"efg_region_begin","args":{"name":"solve"},"out":{}
"op":"efg_attribute_int","args":{"name":"payload","value":-17},"out":{}
"op":"efg_attribute_string","args":{"name":"mark","value":"here"},"out":{}
"op":"MPI_Barrier","args":{"comm":"MPI_COMM_WORLD"},"out":{}
"op":"efg_region_end","args":{},"out":{}
"op":"efg_region_end","args":{},"out":{}
"op":"efg_region_begin","args":{"name":"registered"},"out":{}
"op":"efg_attribute_double","args":{"name":"payload","value":0.5},"out":{}
"op":"efg_region_begin","args":{"name":"naïve"},"out":{}
"op":"efg_region_end","args":{},"out":{}
"op":"efg_region_end","args":{},"out":{}
"op":"MPI_Finalize","args":{},"out":{}
`

// The ranges of a program that uses NVTX become regions; where it is not recorded, and where the library is
// not preloaded, NVTX does nothing.
func TestNVTX(t *testing.T) {
	efg := buildEfg(t)
	source, err := filepath.Abs("testdata/nvtx/ranges.c")
	if err != nil {
		t.Fatal(err)
	}
	rest := regexp.MustCompile(`(?m)^{"rank":0,"thread":0,"seq":\d+,|,"site":"[^"]*".*$`)
	site := regexp.MustCompile(`"site":"([^":]*)`)
	for _, mpi := range []string{"openmpi", "mpich"} {
		t.Run(mpi, func(t *testing.T) {
			dir := t.TempDir()
			command(t, dir, "mpicc."+mpi, "-std=gnu11", "-O2", "-g", "-Wall", "-Wextra", "-o", "ranges", source, "-ldl")
			const alone = "-2 -2 -2 -2 -2 -2 alone\n"
			if out := command(t, dir, "./ranges"); out != alone {
				t.Errorf("alone it printed %q", out)
			}
			out := command(t, dir, efg, "run", "-o", "ranges.efg", "--", "./ranges")
			if !strings.Contains(out, "0 1 1 0 0 1 injected\n") {
				t.Errorf("recorded it printed %q", out)
			}
			got := command(t, dir, efg, "reconstruct", "--format", "jsonl", "ranges.efg")
			if text := rest.ReplaceAllString(got, ""); text != rangesRecorded {
				t.Errorf("recorded\n%swant\n%s", text, rangesRecorded)
			}
			for _, m := range site.FindAllStringSubmatch(got, -1) {
				if m[1] != "ranges.c" {
					t.Errorf("a callsite is in %s", m[1])
				}
			}
			front := strings.TrimSpace(command(t, dir, efg, "hook", "path"))
			t.Setenv("NVTX_INJECTION64_PATH", front)
			if out := command(t, dir, "./ranges"); out != alone {
				t.Errorf("without the library preloaded it printed %q", out)
			}
			if _, err := os.Stat(front); err != nil {
				t.Error(err)
			}
		})
	}
}
