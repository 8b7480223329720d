package hook_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/efg-tools/efg/hook"
)

// phases is a program in each language; all make the same annotations and calls.
var phases = []struct{ file, compiler, flags, text string }{
	{"phases.c", "mpicc", "-std=c11 -Wall -Wextra -Werror", `#include <mpi.h>
#include <stdio.h>
#include "efg.h"
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    efg_region_begin("assembly");
    efg_attribute("step", 17);
    efg_attribute("residual", 0.5);
    efg_attribute("kind", "implicit");
    MPI_Barrier(MPI_COMM_WORLD);
    efg_region_end("assembly");
    MPI_Finalize();
    return puts("ok") < 0;
}
`},
	{"phases.cc", "mpicxx", "-std=c++98 -Wall -Wextra -Werror -Wno-long-long -Wno-cast-function-type", `#include <mpi.h>
#include <stdio.h>
#include "efg.h"
static void assembly()
{
    efg::region r("assembly");
    efg_attribute("step", 17);
    efg_attribute("residual", 0.5);
    efg_attribute("kind", "implicit");
    MPI_Barrier(MPI_COMM_WORLD);
}
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    assembly();
    MPI_Finalize();
    return puts("ok") < 0;
}
`},
	{"phases.f90", "mpifort", "include/efg.f90", `program phases
  use mpi
  use efg
  implicit none
  integer :: ierr
  call MPI_Init(ierr)
  call efg_region_begin("assembly")
  call efg_attribute("step", 17)
  call efg_attribute("residual", 0.5)
  call efg_attribute("kind", "implicit")
  call MPI_Barrier(MPI_COMM_WORLD, ierr)
  call efg_region_end("assembly")
  call MPI_Finalize(ierr)
  print '(a)', "ok"
end program
`},
}

// phasesRecorded is what they record, without callsites and times.
const phasesRecorded = `"op":"MPI_Init","args":{},"out":{}
"op":"efg_region_begin","args":{"name":"assembly"},"out":{}
"op":"efg_attribute_int","args":{"name":"step","value":17},"out":{}
"op":"efg_attribute_double","args":{"name":"residual","value":0.5},"out":{}
"op":"efg_attribute_string","args":{"name":"kind","value":"implicit"},"out":{}
"op":"MPI_Barrier","args":{"comm":"MPI_COMM_WORLD"},"out":{}
"op":"efg_region_end","args":{"name":"assembly"},"out":{}
"op":"MPI_Finalize","args":{},"out":{}
`

// Programs in C, C++ and Fortran that are compiled with the files written by efg hook include run
// alone, depend on no library of efg, and are recorded with what they say about themselves.
func TestIncludeFiles(t *testing.T) {
	efg := buildEfg(t)
	rest := regexp.MustCompile(`(?m)^{"rank":0,"thread":0,"seq":\d+,|,"site":"[^"]*".*$`)
	site := regexp.MustCompile(`"site":"([^":]*)`)
	for _, mpi := range []string{"openmpi", "mpich"} {
		for _, p := range phases {
			t.Run(mpi+"/"+p.file, func(t *testing.T) {
				dir := t.TempDir()
				command(t, dir, efg, "hook", "include", "include")
				if err := os.WriteFile(filepath.Join(dir, p.file), []byte(p.text), 0o644); err != nil {
					t.Fatal(err)
				}
				args := append([]string{p.compiler + "." + mpi, "-O2", "-g", "-Iinclude", "-o", "phases"}, strings.Fields(p.flags)...)
				command(t, dir, append(args, p.file)...)
				if out := command(t, dir, "./phases"); out != "ok\n" {
					t.Errorf("alone it printed %q", out)
				}
				if needed := command(t, dir, "readelf", "-d", "phases"); strings.Contains(needed, "efg") {
					t.Errorf("it depends on a library:\n%s", needed)
				}
				for line := range strings.Lines(command(t, dir, "nm", "--undefined-only", "phases")) {
					if strings.Contains(line, " efg_") && !strings.Contains(line, " w ") {
						t.Errorf("it cannot be linked without %s", line)
					}
				}
				command(t, dir, efg, "run", "-o", "phases.efg", "--", "./phases")
				got := command(t, dir, efg, "reconstruct", "--format", "jsonl", "phases.efg")
				if text := rest.ReplaceAllString(got, ""); text != phasesRecorded {
					t.Errorf("recorded\n%swant\n%s", text, phasesRecorded)
				}
				for _, m := range site.FindAllStringSubmatch(got, -1) {
					if m[1] != p.file {
						t.Errorf("a callsite is in %s", m[1])
					}
				}
			})
		}
	}
}

// Files that exist are replaced, and a directory that cannot be written is named.
func TestWriteHeaders(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	for range 2 {
		if err := hook.WriteHeaders(dir); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"efg.h", "efg.f90", "efg.py"} {
		got, err := os.ReadFile(filepath.Join(dir, name))
		want, errWant := os.ReadFile(filepath.Join("include", name))
		if err != nil || errWant != nil || string(got) != string(want) {
			t.Errorf("%s: %v, %v", name, err, errWant)
		}
	}
	if err := hook.WriteHeaders(filepath.Join(dir, "efg.h")); err == nil {
		t.Error("wrote to a file as a directory")
	}
}
