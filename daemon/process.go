package daemon

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
)

// process names a process of this machine for ever: numbers are used again, but not
// with the same start.
type process struct {
	PID   int    `json:"pid"`
	Start uint64 `json:"start"` // clock ticks since the machine was started
}

// status is what /proc tells of a process.
type status struct {
	process
	name   string
	parent int
	gone   bool // a zombie
}

// readStatus reads /proc/PID/stat.
func readStatus(pid int) (s status, ok bool) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return s, false
	}
	open, end := bytes.IndexByte(data, '('), bytes.LastIndexByte(data, ')')
	if open < 0 || end < open {
		return s, false
	}
	fields := strings.Fields(string(data[end+1:]))
	const state, parent, start = 0, 1, 19 // behind the name
	if len(fields) <= start {
		return s, false
	}
	s.name, s.PID, s.gone = string(data[open+1:end]), pid, fields[state] == "Z" || fields[state] == "X"
	s.parent, _ = strconv.Atoi(fields[parent])
	s.Start, err = strconv.ParseUint(fields[start], 10, 64)
	return s, err == nil
}

// running tells whether the process is there and is no zombie.
func (p process) running() bool {
	s, ok := readStatus(p.PID)
	return ok && !s.gone && s.Start == p.Start
}

// launchers are what starts the ranks of one job on a machine, by the first 15
// letters of their names.
var launchers = []string{
	"mpiexec", "mpirun", "orterun", "orted", "prterun", "prted", "prte", "hydra_pmi_proxy", "mpiexec.hydra", "mpiexec.mpich",
	"mpiexec.openmpi", "mpirun.openmpi", "mpirun.mpich", "slurmstepd", "srun", "pmi_proxy", "aprun", "palsd", "flux-shell",
	"mpispawn", "mpirun_rsh",
}

func isLauncher(name string) bool {
	return slices.ContainsFunc(launchers, func(l string) bool { return l[:min(len(l), 15)] == name })
}

// deepest bounds the way up to the launcher.
const deepest = 64

// launcherOf finds the nearest process above that starts ranks.
func launcherOf(pid int) (process, bool) {
	s, ok := readStatus(pid)
	for n := 0; ok && n < deepest && s.parent > 1; n++ {
		if s, ok = readStatus(s.parent); ok && isLauncher(s.name) {
			return s.process, true
		}
	}
	return process{}, false
}
