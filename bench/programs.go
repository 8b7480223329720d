package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// mpi is an MPI installation to measure with.
type mpi struct {
	name, cc, run string
	flags         []string // of the launcher, before -n
}

func (b *bench) findMPIs() error {
	for _, m := range []mpi{
		{"Open MPI", "mpicc.openmpi", "mpiexec.openmpi", []string{"--oversubscribe"}},
		{"MPICH", "mpicc.mpich", "mpiexec.mpich", nil},
	} {
		if _, err := exec.LookPath(m.cc); err == nil {
			b.mpis = append(b.mpis, m)
		}
	}
	if len(b.mpis) == 0 {
		return fmt.Errorf("neither mpicc.openmpi nor mpicc.mpich is there")
	}
	return nil
}

func (b *bench) describeMachine() {
	cpu := "unknown processor"
	if data, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for line := range strings.Lines(string(data)) {
			if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == "model name" {
				cpu = strings.TrimSpace(value)
				break
			}
		}
	}
	kernel, _ := os.ReadFile("/proc/sys/kernel/osrelease")
	fmt.Printf("Machine: %s, %d cores, Linux %s, %s. Medians of %d alternating runs.\n",
		cpu, runtime.NumCPU(), strings.TrimSpace(string(kernel)), runtime.Version(), b.pairs)
}

// build compiles a C program.
func (b *bench) build(m mpi, source string, libs ...string) (string, error) {
	out := filepath.Join(b.dir, strings.TrimSuffix(filepath.Base(source), ".c")+"."+m.cc)
	args := append([]string{"-O2", "-w", "-DOMPI_OMIT_MPI1_COMPAT_DECLS=0", "-o", out, source}, libs...)
	cmd := exec.Command(m.cc, args...)
	if text, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s", m.cc, source, err, text)
	}
	return out, nil
}

// output runs a command and returns what it printed.
func (b *bench) output(args ...string) (string, error) {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir = b.dir
	cmd.Env = append(os.Environ(), "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1")
	if b.preload != "" {
		cmd.Env = append(cmd.Env, "LD_PRELOAD="+b.preload)
	}
	var errText bytes.Buffer
	cmd.Stderr = &errText
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w\n%s", strings.Join(args, " "), err, errText.String())
	}
	return string(out), nil
}

// number runs a command that prints one number.
func (b *bench) number(args ...string) (float64, error) {
	out, err := b.output(args...)
	if err != nil {
		return 0, err
	}
	return strconv.ParseFloat(strings.TrimSpace(out), 64)
}

// recorded prepends efg run to a command.
func (b *bench) recorded(time string, args ...string) []string {
	return slices.Concat([]string{b.efg, "run", "--time", time, "-o", filepath.Join(b.dir, "x.efg"), "--"}, args)
}

// alternate runs the commands in turn, pairs times, and returns the medians of each one's
// number and of its difference from the first one's in the same turn.
func (b *bench) alternate(commands ...[]string) (values, added []float64, err error) {
	all := make([][]float64, len(commands))
	diffs := make([][]float64, len(commands))
	for range b.pairs {
		var first float64
		for i, c := range commands {
			v, err := b.number(c...)
			if err != nil {
				return nil, nil, err
			}
			if i == 0 {
				first = v
			}
			all[i] = append(all[i], v)
			diffs[i] = append(diffs[i], v-first)
		}
	}
	for i := range commands {
		values = append(values, median(all[i]))
		added = append(added, median(diffs[i]))
	}
	return values, added, nil
}

func median(v []float64) float64 {
	v = slices.Sorted(slices.Values(v))
	if len(v)%2 == 1 {
		return v[len(v)/2]
	}
	return (v[len(v)/2-1] + v[len(v)/2]) / 2
}
