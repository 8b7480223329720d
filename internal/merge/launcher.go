package merge

import (
	"fmt"
	"strconv"
)

// batchStep is the first of the step numbers that Slurm assigns to steps not started by srun:
// the batch script, an interactive shell.
const batchStep = 0xfffffff0

// launchers are the variables in which launchers tell a process its rank and the number of
// processes.
var launchers = []struct{ rank, size string }{
	{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
	{"PMI_RANK", "PMI_SIZE"},
	{"SLURM_PROCID", "SLURM_STEP_NUM_TASKS"},
}

// Launched returns this process's number among those that a launcher started with the same
// command line: 0 of 1 without a launcher.
func Launched(getenv func(string) string) (worker, workers int, err error) {
	for _, l := range launchers {
		rank, size := getenv(l.rank), getenv(l.size)
		if rank == "" || size == "" {
			continue
		}
		if l.rank == "SLURM_PROCID" && !inStep(getenv("SLURM_STEP_ID")) {
			continue // a batch script is process 0 of the job's tasks, but runs alone
		}
		worker, err1 := strconv.Atoi(rank)
		workers, err2 := strconv.Atoi(size)
		if err1 != nil || err2 != nil || worker < 0 || worker >= workers {
			return 0, 0, &ArgumentError{fmt.Errorf("%s=%s, %s=%s: want a rank and how many there are", l.rank, rank, l.size, size)}
		}
		return worker, workers, nil
	}
	if rank := getenv("PMIX_RANK"); rank != "" {
		return 0, 0, &ArgumentError{fmt.Errorf("PMIX_RANK=%s: the launcher does not set the number of workers; pass --worker %s/N", rank, rank)}
	}
	return 0, 1, nil
}

func inStep(step string) bool {
	n, err := strconv.ParseUint(step, 10, 32)
	return err == nil && n < batchStep
}
