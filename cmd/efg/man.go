package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

func newMan() *cobra.Command {
	return &cobra.Command{
		Use:   "man DIR",
		Short: "Write manual pages",
		Long: `Write a manual page for each command to a directory, which is created if it does
not exist. man finds pages in the directory man1 of each directory in MANPATH.

The pages are dated by SOURCE_DATE_EPOCH, if that is set, or else by the commit that
efg was built from. If neither is known they have no date.`,
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
	root.DisableAutoGenTag = true // the tag contains the day on which the page was generated
	date, err := sourceDate()
	if err != nil {
		return err
	}
	return writePages(root, dir, date)
}

// writePages writes the pages of a command and those below it. With the zero date they
// have none.
func writePages(cmd *cobra.Command, dir string, date time.Time) error {
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			if err := writePages(c, dir, date); err != nil {
				return err
			}
		}
	}
	var page bytes.Buffer
	if err := doc.GenMan(cmd, &doc.GenManHeader{Section: "1", Source: "efg", Manual: "efg", Date: &date}, &page); err != nil {
		return err
	}
	text := page.Bytes()
	if date.IsZero() {
		text = bytes.Replace(text, []byte(date.Format(`"Jan 2006"`)), []byte(`""`), 1)
	}
	name := strings.ReplaceAll(cmd.CommandPath(), " ", "-") + ".1"
	return os.WriteFile(filepath.Join(dir, name), text, 0o644)
}

// sourceDate returns SOURCE_DATE_EPOCH or, if it is not set, the date of the commit that
// the program was built from, or else the zero time: pages of the same source are always
// the same.
func sourceDate() (time.Time, error) {
	if epoch := os.Getenv("SOURCE_DATE_EPOCH"); epoch != "" {
		seconds, err := strconv.ParseInt(epoch, 10, 64)
		if err != nil {
			return time.Time{}, usageError("SOURCE_DATE_EPOCH=%s: want seconds since 1970", epoch)
		}
		return time.Unix(seconds, 0).UTC(), nil
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if t, err := time.Parse(time.RFC3339, s.Value); s.Key == "vcs.time" && err == nil {
				return t.UTC(), nil
			}
		}
	}
	return time.Time{}, nil
}
