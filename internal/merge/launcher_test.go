package merge

import "testing"

func TestLaunched(t *testing.T) {
	for _, c := range []struct {
		name         string
		env          map[string]string
		rank, number int
		fails        bool
	}{
		{name: "alone", number: 1},
		{"Open MPI", map[string]string{"OMPI_COMM_WORLD_RANK": "3", "OMPI_COMM_WORLD_SIZE": "8", "PMIX_RANK": "3"}, 3, 8, false},
		{"MPICH", map[string]string{"PMI_RANK": "0", "PMI_SIZE": "2"}, 0, 2, false},
		{"mpiexec in a step", map[string]string{"PMI_RANK": "1", "PMI_SIZE": "2", "SLURM_STEP_ID": "0", "SLURM_PROCID": "0", "SLURM_STEP_NUM_TASKS": "1"}, 1, 2, false},
		{"srun", map[string]string{"SLURM_STEP_ID": "0", "SLURM_PROCID": "15", "SLURM_STEP_NUM_TASKS": "16", "SLURM_NTASKS": "64"}, 15, 16, false},
		{"srun with PMIx", map[string]string{"PMIX_RANK": "1", "SLURM_STEP_ID": "7", "SLURM_PROCID": "1", "SLURM_STEP_NUM_TASKS": "2"}, 1, 2, false},
		{"batch script", map[string]string{"SLURM_JOB_ID": "9", "SLURM_PROCID": "0", "SLURM_NTASKS": "16"}, 0, 1, false},
		{"batch step", map[string]string{"SLURM_STEP_ID": "4294967291", "SLURM_PROCID": "0", "SLURM_STEP_NUM_TASKS": "16"}, 0, 1, false},
		{"no size", map[string]string{"PMIX_RANK": "1"}, 0, 0, true},
		{"out of range", map[string]string{"PMI_RANK": "2", "PMI_SIZE": "2"}, 0, 0, true},
		{"no number", map[string]string{"PMI_RANK": "x", "PMI_SIZE": "2"}, 0, 0, true},
	} {
		rank, number, err := Launched(func(name string) string { return c.env[name] })
		if rank != c.rank || number != c.number || (err != nil) != c.fails {
			t.Errorf("%s: %d of %d, %v", c.name, rank, number, err)
		}
	}
}
