package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/efg-tools/efg/hook"
	"github.com/efg-tools/efg/internal/segment"
)

func newHook() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "hook",
		Short: "Build the libraries that efg run preloads into programs",
		Args:  commandRequired,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(
		&cobra.Command{
			Use:   "build",
			Short: "Rebuild the hook for every MPI compiler found",
			Long: `Rebuild the hook for every MPI compiler found: $MPICC, mpicc, mpicc.openmpi and
mpicc.mpich. efg run builds what it needs by itself.`,
			Example: "  efg hook build",
			Args:    argCount(cobra.NoArgs),
			RunE:    func(cmd *cobra.Command, _ []string) error { return buildHook(cmd) },
		},
		&cobra.Command{
			Use:   "path",
			Short: "Print the file to preload, building the hook if necessary",
			Long: `Print the file to preload, as in LD_PRELOAD=$(efg hook path). The hook is built if it
does not exist. Programs are recorded while efg daemon is running.`,
			Example: "  efg hook path",
			Args:    argCount(cobra.NoArgs),
			RunE:    func(cmd *cobra.Command, _ []string) error { return hookPath(cmd) },
		},
		&cobra.Command{
			Use:   "include DIR",
			Short: "Write efg.h, efg.f90 and efg.py, with which programs name regions",
			Long: `Write efg.h, for programs in C and C++, the Fortran module efg.f90 and the Python module
efg.py to a directory, which is created if it does not exist. Programs that use them name
regions and attributes, which are recorded in the order of the calls of MPI, and need no
library.`,
			Example: "  efg hook include include",
			Args:    argCount(cobra.ExactArgs(1)),
			RunE:    func(_ *cobra.Command, args []string) error { return writeHeaders(args[0]) },
		},
	)
	return cmd
}

func buildHook(cmd *cobra.Command) error {
	b := newForegroundBuild(cmd.ErrOrStderr())
	defer b.end()
	b.Rebuild = true
	h, err := hook.Ensure(b.ctx, b.Options)
	if err == nil {
		err = keepReader()
	}
	if err != nil {
		return b.problem(err)
	}
	out := cmd.OutOrStdout()
	fmt.Fprintf(out, "front\t\t\t%s\n", h.Front)
	for _, back := range h.Backs {
		fmt.Fprintf(out, "back\t%s\t%s\t%s\n", back.Compiler, back.Soname, back.File)
	}
	return nil
}

func hookPath(cmd *cobra.Command) error {
	b := newForegroundBuild(cmd.ErrOrStderr())
	defer b.end()
	h, err := hook.Ensure(b.ctx, b.Options)
	if err != nil {
		return b.problem(err)
	}
	_, err = fmt.Fprintln(cmd.OutOrStdout(), h.Front)
	return err
}

func writeHeaders(dir string) error {
	err := hook.WriteHeaders(dir)
	if path := (*os.PathError)(nil); errors.As(err, &path) {
		return usageError("%s: %w", path.Path, path.Err)
	}
	return err
}

// keepReader keeps this program beside the hook: it can read what running processes continue to
// record after another version was installed.
func keepReader() error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	return hook.KeepReader(segment.LayoutHash(), program)
}
