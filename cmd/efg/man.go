package main

import (
	"errors"
	"os"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

func newMan() *cobra.Command {
	return &cobra.Command{
		Use:   "man DIR",
		Short: "Write manual pages",
		Long: `Write a manual page for each command to a folder, which is made if it is not
there. In man1 of a folder in MANPATH man finds them.`,
		Example: "  efg man man1",
		Args:    argCount(cobra.ExactArgs(1)),
		RunE:    func(cmd *cobra.Command, args []string) error { return writeMan(cmd.Root(), args[0]) },
	}
}

func writeMan(root *cobra.Command, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		var path *os.PathError
		if errors.As(err, &path) {
			return usageError("%s: %w", dir, path.Err)
		}
		return err
	}
	root.DisableAutoGenTag = true // it has the day on which the page was made
	date := sourceDate()
	return doc.GenManTree(root, &doc.GenManHeader{Section: "1", Source: "efg", Manual: "efg", Date: &date}, dir)
}

// sourceDate is when the program's source was last changed, as the build recorded
// it: pages of one source are always the same.
func sourceDate() time.Time {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if t, err := time.Parse(time.RFC3339, s.Value); s.Key == "vcs.time" && err == nil {
				return t
			}
		}
	}
	return time.Unix(0, 0).UTC()
}
