package hook

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// compiler is a compiler and what distinguishes it from others of the same name.
type compiler struct {
	path     string
	identity string
}

// cCompiler finds a C compiler.
func cCompiler() (compiler, error) {
	for _, name := range []string{os.Getenv("CC"), "cc", "gcc", "clang"} {
		if name == "" {
			continue
		}
		if path, err := exec.LookPath(name); err == nil {
			return compiler{path: path, identity: path}, nil
		}
	}
	return compiler{}, &MissingError{"no C compiler", "looked for $CC, cc, gcc, clang; on Debian: apt install gcc libc6-dev"}
}

// mpiCompilers finds the MPI compilers, the preferred ones first.
func mpiCompilers() []string {
	var paths []string
	for _, name := range []string{os.Getenv("MPICC"), "mpicc", "mpicc.openmpi", "mpicc.mpich"} {
		if name == "" {
			continue
		}
		if path, err := exec.LookPath(name); err == nil && !slices.Contains(paths, path) {
			paths = append(paths, path)
		}
	}
	return paths
}

// identify asks MPI compilers what they are, all at once. Meanwhile it reads the sources of p, which
// the names of its builds depend on.
func identify(ctx context.Context, paths []string, p *product) []compiler {
	list := make([]compiler, len(paths))
	var asking sync.WaitGroup
	for i, path := range paths {
		asking.Go(func() { list[i] = compiler{path: path, identity: mpiIdentity(ctx, path)} })
	}
	p.digest() // an error in it is reported when it is needed
	asking.Wait()
	return list
}

// mpiIdentity returns what a compiler wrapper would run, and the mpi.h it would use.
func mpiIdentity(ctx context.Context, path string) string {
	show, err := command(ctx, path, "-show").Output()
	if err != nil {
		return path
	}
	id := string(show)
	dirs := []string{"/usr/local/include", "/usr/include"}
	for _, f := range strings.Fields(id) {
		if d, ok := strings.CutPrefix(f, "-I"); ok {
			dirs = append(dirs, d)
		}
	}
	for _, d := range dirs {
		if h, err := os.ReadFile(filepath.Join(d, "mpi.h")); err == nil {
			id += d + "\n" + string(h)
		}
	}
	return id
}

// command returns a command that is killed, with all processes that it started, when ctx is
// done.
func command(ctx context.Context, path string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	return cmd
}

// run runs the compiler in a directory.
func (c compiler) run(ctx context.Context, dir string, args ...string) error {
	cmd := command(ctx, c.path, args...)
	cmd.Dir = dir
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		return &BuildError{c.path, out.String(), fmt.Errorf("%s %s: %w", filepath.Base(c.path), strings.Join(args, " "), err)}
	}
	return nil
}
