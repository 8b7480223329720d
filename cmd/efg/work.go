package main

import (
	"context"
	"os/exec"

	"github.com/spf13/cobra"

	"github.com/efg-tools/efg/internal/httpapi"
	"github.com/efg-tools/efg/internal/printable"
)

// newWork returns the internal command that newWorkers starts.
func newWork() *cobra.Command {
	return &cobra.Command{
		Use:   "work",
		Short: "Answer a query about a large run for efg daemon or efg view",
		Long: `Answer a query about a large run in a separate process for efg daemon or efg view,
which start this command.`,
		Hidden: true,
		Args:   argCount(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			restoreCollection()
			return httpapi.Work(cmd.InOrStdin(), printable.Raw(cmd.OutOrStdout()))
		},
	}
}

// newWorkers makes workers that run this program's executable, as it was at the start.
func newWorkers() *httpapi.Workers {
	return httpapi.NewWorkers(func(ctx context.Context) *exec.Cmd {
		return exec.CommandContext(ctx, "/proc/self/exe", "work")
	})
}
