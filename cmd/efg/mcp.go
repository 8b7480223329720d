package main

import (
	"context"
	"errors"
	"io"
	"os/exec"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"

	efgmcp "github.com/efg-tools/efg/internal/mcp"
	"github.com/efg-tools/efg/internal/printable"
)

func newMCP() *cobra.Command {
	return &cobra.Command{
		Use:   "mcp",
		Short: "Answer an assistant's questions about runs (Model Context Protocol)",
		Long: `Answer questions about run files over the Model Context Protocol, on standard input and
output: for assistants that start this command. Its tools only read: info, report, waits,
efficiency, diff, query, sql and where, with the answers that these commands write as
JSON, up to 256 KiB each. It ends when its input ends. See docs/mcp.md.`,
		Example: `  efg mcp < /dev/null`,
		Args:    argCount(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			server := efgmcp.NewServer(version(), runSelf)
			err := server.Run(cmd.Context(), &mcp.IOTransport{Reader: io.NopCloser(cmd.InOrStdin()), Writer: open{printable.Raw(cmd.OutOrStdout())}})
			if errors.Is(err, context.Canceled) {
				return nil
			}
			return err
		},
	}
}

// open is a writer that need not be closed.
type open struct{ io.Writer }

// Close does nothing.
func (open) Close() error { return nil }

// runSelf runs a command of efg in a process of its own, which ends with the context: no question can
// harm the next.
func runSelf(ctx context.Context, args []string, out, errOut *efgmcp.Output) (status int, err error) {
	cmd := exec.CommandContext(ctx, "/proc/self/exe", args...)
	cmd.Stdout, cmd.Stderr = out, errOut
	err = cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode(), nil
	}
	return 0, err
}
