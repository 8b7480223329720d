package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// commandRequired rejects a first argument that is not a command, and suggests the
// command with the most similar name.
func commandRequired(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	if name := nearest(args[0], names); name != "" {
		return usageError("unknown command %q; did you mean %q?", args[0], name)
	}
	return usageError("unknown command %q; see %s --help", args[0], cmd.CommandPath())
}

// flagError makes an error in a flag a usage error. For an unknown flag it suggests the
// one with the most similar name.
func flagError(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) || unknown.GetSpecifiedShortnames() != "" {
		return usageError("%w", err)
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	})
	if name := nearest(unknown.GetSpecifiedName(), names); name != "" {
		err = fmt.Errorf("%w; did you mean --%s?", err, name)
	}
	return usageError("%w", err)
}

// nearest returns the name with the smallest edit distance from word, the first one of several.
// It is "" if none is similar: at most two edits, and at most one for every three letters.
func nearest(word string, names []string) string {
	best, most := "", min(2, (len(word)+2)/3)
	for _, name := range names {
		if d := editDistance(word, name); d < most || d == most && best == "" {
			best, most = name, d
		}
	}
	return best
}

// editDistance is the number of insertions, deletions, substitutions and swaps of
// neighbouring bytes that turn a into b, none of which touches a byte twice.
func editDistance(a, b string) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			substitute := rows[i-1][j-1]
			if a[i-1] != b[j-1] {
				substitute++
			}
			d := min(substitute, rows[i-1][j]+1, rows[i][j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d = min(d, rows[i-2][j-2]+1)
			}
			rows[i][j] = d
		}
	}
	return rows[len(a)][len(b)]
}
