package daemon

import (
	"slices"

	"github.com/efg-tools/efg/internal/procfs"
)

// launchers are programs that start the ranks of a job on a machine, by the first 15 characters
// of their names.
var launchers = []string{
	"mpiexec", "mpirun", "orterun", "orted", "prterun", "prted", "prte", "hydra_pmi_proxy", "mpiexec.hydra", "mpiexec.mpich",
	"mpiexec.openmpi", "mpirun.openmpi", "mpirun.mpich", "slurmstepd", "srun", "pmi_proxy", "aprun", "palsd", "flux-shell",
	"mpispawn", "mpirun_rsh",
}

func isLauncher(name string) bool {
	return slices.ContainsFunc(launchers, func(l string) bool { return l[:min(len(l), 15)] == name })
}

// helpers are launchers that users do not start: other launchers do, or the system does.
var helpers = []string{"orted", "prted", "prte", "hydra_pmi_proxy", "slurmstepd", "pmi_proxy", "palsd", "flux-shell", "mpispawn"}

// starterOf finds the ancestor launcher that the user started, and its command line.
func starterOf(pid int) (p procfs.Process, command []string) {
	s, ok := procfs.ReadStatus(pid)
	for n := 0; ok && n < deepest && s.Parent > 1; n++ {
		if s, ok = procfs.ReadStatus(s.Parent); ok && isLauncher(s.Name) &&
			!slices.ContainsFunc(helpers, func(h string) bool { return h[:min(len(h), 15)] == s.Name }) {
			return s.Process, procfs.Command(s.PID)
		}
	}
	return procfs.Process{}, nil
}

// deepest bounds the number of ancestors that are examined.
const deepest = 64

// launcherOf finds the nearest ancestor that starts ranks.
func launcherOf(pid int) (procfs.Process, bool) {
	s, ok := procfs.ReadStatus(pid)
	for n := 0; ok && n < deepest && s.Parent > 1; n++ {
		if s, ok = procfs.ReadStatus(s.Parent); ok && isLauncher(s.Name) {
			return s.Process, true
		}
	}
	return procfs.Process{}, false
}
