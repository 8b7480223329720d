package hook_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A program in each language with regions that nest, recur, belong to a thread, are not balanced, and in the middle of
// which it is killed, if its last argument is kill.
var regionPrograms = []struct{ file, compiler, flags, text string }{
	{"named.c", "mpicc", "-pthread", `#include "efg.h"
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
static void level(int n)
{
    efg_region_begin("level");
    MPI_Pcontrol(n);
    if (n > 0) level(n - 1);
    efg_region_end("level");
}
static void *work(void *unused)
{
    efg_region_begin("in thread");
    MPI_Pcontrol(7);
    efg_region_end("in thread");
    return unused;
}
int main(int argc, char **argv)
{
    int provided;
    pthread_t t;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    efg_region_begin("program");
    level(2);
    pthread_create(&t, NULL, work, NULL);
    pthread_join(t, NULL);
    efg_region_end("program");
    efg_region_end("never begun");
    efg_region_begin("open");
    MPI_Pcontrol(8);
    if (argc > 1) raise(SIGKILL);
    MPI_Finalize();
    return 0;
}
`},
	{"named.f90", "mpifort", "include/efg.f90 -fopenmp", `module work
  use mpi
  use efg
  implicit none
contains
  recursive subroutine level(n)
    integer, intent(in) :: n
    call efg_region_begin("level")
    call MPI_Pcontrol(n)
    if (n > 0) call level(n - 1)
    call efg_region_end("level")
  end subroutine
end module
program named
  use omp_lib
  use work
  use iso_c_binding
  implicit none
  interface
    integer(c_int) function c_raise(number) bind(C, name="raise")
      import
      integer(c_int), value :: number
    end function
  end interface
  integer :: ierr, provided
  call MPI_Init_thread(MPI_THREAD_MULTIPLE, provided, ierr)
  call efg_region_begin("program")
  call level(2)
  !$omp parallel num_threads(2)
  if (omp_get_thread_num() == 1) then
    call efg_region_begin("in thread")
    call MPI_Pcontrol(7)
    call efg_region_end("in thread")
  end if
  !$omp end parallel
  call efg_region_end("program")
  call efg_region_end("never begun")
  call efg_region_begin("open")
  call MPI_Pcontrol(8)
  if (command_argument_count() > 0) ierr = c_raise(9_c_int)
  call MPI_Finalize(ierr)
end program
`},
	{"named.py", "", "", `import ctypes, os, signal, sys, threading
ctypes.CDLL(sys.argv[1], mode=ctypes.RTLD_GLOBAL)
mpi = ctypes.CDLL(None)
import efg
def level(n):
    with efg.region("level"):
        mpi.MPI_Pcontrol(n)
        if n > 0:
            level(n - 1)
@efg.region("in thread")
def work():
    mpi.MPI_Pcontrol(7)
mpi.MPI_Init_thread(None, None, 3, ctypes.byref(ctypes.c_int()))
with efg.region("program"):
    level(2)
    t = threading.Thread(target=work)
    t.start()
    t.join()
efg.region_end("never begun")
efg.region_begin("open")
mpi.MPI_Pcontrol(8)
if len(sys.argv) > 2:
    os.kill(os.getpid(), signal.SIGKILL)
mpi.MPI_Finalize()
`},
}

// What reports have of each region: visits, and calls with those of the regions in it. Outside of all is MPI_Init_thread.
const namedRegions = `: 0 visits, 1 calls
in thread: 1 visits, 1 calls
open: 1 visits, %d calls
program/level/level/level: 1 visits, 1 calls
program/level/level: 1 visits, 2 calls
program/level: 1 visits, 3 calls
program: 1 visits, 3 calls
`

// Regions of programs in all languages are the same, also of a killed one, and those that are not balanced are reported.
func TestRegionsOfPrograms(t *testing.T) {
	efg := buildEfg(t)
	for mpi, library := range map[string]string{"openmpi": "libmpi.so.40", "mpich": "libmpich.so.12"} {
		for _, p := range regionPrograms {
			t.Run(mpi+"/"+p.file, func(t *testing.T) {
				dir := t.TempDir()
				command(t, dir, efg, "hook", "include", "include")
				if err := os.WriteFile(filepath.Join(dir, p.file), []byte(p.text), 0o644); err != nil {
					t.Fatal(err)
				}
				program := []string{"./named"}
				if p.compiler != "" {
					command(t, dir, append(append([]string{p.compiler + "." + mpi, "-O1", "-g", "-Iinclude", "-o", "named"}, strings.Fields(p.flags)...), p.file)...)
				} else {
					t.Setenv("PYTHONPATH", filepath.Join(dir, "include"))
					program = []string{"python3", p.file, library}
				}
				command(t, dir, append([]string{efg, "run", "-o", "whole.efg", "--"}, program...)...)
				run := exec.Command(efg, append(append([]string{"run", "-o", "killed.efg", "--"}, program...), "kill")...)
				run.Dir = dir
				if out, err := run.CombinedOutput(); err == nil {
					t.Errorf("the killed program succeeded: %s", out)
				}
				for _, name := range []string{"whole", "killed"} {
					testRegions(t, dir, efg, name)
				}
			})
		}
	}
}

func testRegions(t *testing.T, dir, efg, name string) {
	t.Helper()
	var report struct {
		Regions []struct {
			Region []string
			Visits int
			All    struct{ Calls int }
		}
	}
	if err := json.Unmarshal([]byte(command(t, dir, efg, "report", name+".efg", "--by", "region", "--json")), &report); err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, r := range report.Regions {
		if r.Region == nil {
			t.Errorf("%s: a region without names", name)
		}
		lines = append(lines, fmt.Sprintf("%s: %d visits, %d calls\n", strings.Join(r.Region, "/"), r.Visits, r.All.Calls))
	}
	slices.Sort(lines)
	ends := map[string]int{"whole": 1, "killed": 0}[name] // MPI_Finalize
	if got, want := strings.Join(lines, ""), fmt.Sprintf(namedRegions, 1+ends); got != want {
		t.Errorf("%s: regions\n%swant\n%s", name, got, want)
	}
	check := exec.Command(efg, "check", name+".efg", "--json")
	check.Dir = dir
	out, err := check.Output()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 1 {
		t.Errorf("%s: efg check: %v: %s", name, err, out)
	}
	var found struct{ Findings []struct{ Kind, Text string } }
	if err := json.Unmarshal(out, &found); err != nil {
		t.Fatal(err)
	}
	var texts []string
	for _, f := range found.Findings {
		if f.Kind == "region not balanced" {
			texts = append(texts, f.Text)
		}
	}
	slices.Sort(texts)
	want := []string{`began the region "open", which was never ended`, `ended the region "never begun", and none was open`}
	if !slices.Equal(texts, want[1-ends:]) { // where a program is killed, regions are open
		t.Errorf("%s: found %q", name, texts)
	}
}
