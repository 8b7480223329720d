// Package groundtruth compares what efg says about a program with a second record of the same
// run that shares no code and no table with efg: the linear logger of testdata/logger. It
// builds the logger and the test programs with the MPI libraries that are installed, runs them,
// and compares the logger's lines with the output of `efg reconstruct --format jsonl`, event by
// event.
package groundtruth

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// MPI is an installed MPI library with its compilers and launcher.
type MPI struct {
	Name    string // "openmpi", "mpich"
	CC, FC  string
	Launch  []string // before the number of ranks
	Library string   // soname
	Env     []string
}

// Installed returns the MPI libraries that the tests need. All of them must be installed: make
// test does that.
func Installed() []MPI {
	return []MPI{
		{Name: "openmpi", CC: "mpicc.openmpi", FC: "mpif90.openmpi",
			Launch: []string{"mpiexec.openmpi", "--oversubscribe", "-n"}, Library: "libmpi.so.40",
			Env: []string{"OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1",
				"OMPI_MCA_btl_base_warn_component_unused=0"}},
		{Name: "mpich", CC: "mpicc.mpich", FC: "mpif90.mpich",
			Launch: []string{"mpiexec.mpich", "-n"}, Library: "libmpich.so.12",
			Env: []string{"FI_LOG_LEVEL=error"}},
	}
}

// withRemoved makes Open MPI's mpi.h declare the procedures that MPI-3 removed, which the
// library still has.
const withRemoved = "-DOMPI_OMIT_MPI1_COMPAT_DECLS=0"

// Root returns the module's root directory.
func Root() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for ; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", errors.New("no go.mod above the working directory")
		}
	}
}

// command runs a tool and returns its standard output.
func command(ctx context.Context, dir, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	var out, errs bytes.Buffer
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &out, &errs
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, errs.String())
	}
	return out.String(), nil
}

// BuildLogger generates and compiles the logger for one MPI library in dir and
// returns the shared library's path.
func BuildLogger(ctx context.Context, m MPI, root, dir string) (string, error) {
	src := filepath.Join(root, "testdata", "logger")
	sem, err := loadSemantics(filepath.Join(src, "semantics.tbl"))
	if err != nil {
		return "", err
	}
	probe := filepath.Join(dir, "probe.c")
	if err := os.WriteFile(probe, []byte("#include <mpi.h>\n"), 0o644); err != nil {
		return "", err
	}
	text, err := command(ctx, dir, m.CC, "-E", "-P", withRemoved, probe)
	if err != nil {
		return "", err
	}
	macros, err := command(ctx, dir, m.CC, "-E", "-dM", withRemoved, probe)
	if err != nil {
		return "", err
	}
	protos, err := parsePrototypes(text)
	if err != nil {
		return "", err
	}
	c, err := generate(sem, protos, namedConstants(macros, text), m.Library)
	if err != nil {
		return "", err
	}
	wrappers := filepath.Join(dir, "wrappers.c")
	if err := os.WriteFile(wrappers, []byte(c), 0o644); err != nil {
		return "", err
	}
	lib := filepath.Join(dir, "liblogger.so")
	return lib, compileLogger(ctx, m, src, dir, wrappers, lib)
}

// compileLogger compiles without the MPI library: the logger finds it at run time.
func compileLogger(ctx context.Context, m MPI, src, dir, wrappers, lib string) error {
	show, err := command(ctx, dir, m.CC, "-show")
	if err != nil {
		return err
	}
	flags := []string{"-fPIC", "-g", "-std=gnu11", "-Wall", "-Wextra", "-Werror",
		"-Wno-deprecated-declarations", withRemoved, "-I", src}
	for _, f := range strings.Fields(show) {
		if strings.HasPrefix(f, "-I") {
			flags = append(flags, f)
		}
	}
	// the wrappers are many and do little
	object := wrappers + ".o"
	if _, err = command(ctx, dir, "gcc", append(flags, "-O0", "-c", wrappers, "-o", object)...); err != nil {
		return err
	}
	link := append(flags, "-O2", "-shared", "-o", lib, object)
	for _, f := range []string{"logger.c", "values.c", "output.c", "paths.c", "annotations.c"} {
		link = append(link, filepath.Join(src, f))
	}
	_, err = command(ctx, dir, "gcc", append(link, "-ldl", "-lpthread")...)
	return err
}

// Result is how a run ended and what it wrote.
type Result struct {
	Stdout, Stderr string
	Status         int
}

// Run starts prog on n ranks; preload, if not empty, is prepended to LD_PRELOAD in the ranks'
// environment; before is prepended to the launcher's command. After two minutes, or when ctx is
// done, everything that was started is killed.
func Run(ctx context.Context, m MPI, before []string, env []string, n int, prog ...string) (Result, error) {
	ctx, cancel := context.WithTimeout(ctx, 120*time.Second)
	defer cancel()
	line := append(append([]string{}, before...), m.Launch...)
	line = append(append(line, fmt.Sprint(n)), prog...)
	cmd := exec.CommandContext(ctx, line[0], line[1:]...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	mark := newMark()
	cmd.Env = append(append(append(os.Environ(), m.Env...), env...), mark)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) } // launchers clean up
	cmd.WaitDelay = 2 * time.Second
	err := cmd.Run()
	r := Result{Stdout: out.String(), Stderr: errs.String(), Status: cmd.ProcessState.ExitCode()}
	var exit *exec.ExitError
	if errors.As(err, &exit) && ctx.Err() == nil {
		err = nil
	}
	if ctx.Err() != nil {
		err = fmt.Errorf("%s: was ended: %w\n%s", strings.Join(line, " "), ctx.Err(), r.Stderr)
		err = errors.Join(err, endAll(mark))
	}
	return r, err
}
