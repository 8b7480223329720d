package groundtruth

import "testing"

const scalapack = "/usr/lib/x86_64-linux-gnu/scalapack/"

// realPrograms come from the Debian packages lammps, hpcc, scalapack-mpi-test and
// netpipe-mpich2: they were not written for this project.
var realPrograms = []app{
	{source: "/usr/bin/lmp", args: []string{"-in", "in.melt", "-log", "none"}, only: "openmpi",
		varies: true, inputs: []string{"in.melt"}},
	{source: "/usr/bin/hpcc", only: "openmpi", varies: true, inputs: []string{"hpccinf.txt"}},
	{source: scalapack + "openmpi-tests/xdlu", only: "openmpi", varies: true, inputs: []string{"LU.dat"}},
	{source: scalapack + "mpich-tests/xdlu", only: "mpich", varies: true, inputs: []string{"LU.dat"}},
	{source: "/usr/bin/NPmpich2", args: []string{"-u", "4096", "-n", "20"}, only: "mpich",
		ranks: 2, varies: true, inputs: []string{}},
}

// TestRealPrograms compares programs that were not written for this project.
func TestRealPrograms(t *testing.T) {
	for _, b := range benches {
		for _, a := range realPrograms {
			if a.only == b.Name {
				t.Run(b.Name+"/"+a.name(), func(t *testing.T) { checkProgram(t, b, a) })
			}
		}
	}
}
