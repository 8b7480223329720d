package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/efg-tools/efg/internal/site"
)

func newSite() *cobra.Command {
	return &cobra.Command{
		Use:   "site DIR",
		Short: "Write systemd units, Slurm scripts and a dashboard for a site",
		Long: `Write what a site needs to record its users' programs without a daemon that they start
themselves: units for systemd, prolog, epilog and plugin for Slurm, and a dashboard for
Grafana. The files start the efg that has written them. docs/systemd.md, docs/slurm.md and
docs/api.md say where to install them.`,
		Example: "  efg site site",
		Args:    argCount(cobra.ExactArgs(1)),
		RunE:    func(_ *cobra.Command, args []string) error { return writeSite(args[0]) },
	}
}

func writeSite(dir string) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	err = site.Write(dir, program)
	if path := new(fs.PathError); errors.As(err, &path) {
		err = fmt.Errorf("%s: %w", path.Path, path.Err)
	}
	if err != nil {
		return usageError("%w", err)
	}
	return nil
}
