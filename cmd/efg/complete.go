package main

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/efg-tools/efg/internal/daemon"
)

// completeWords registers shell completion of a flag's values.
func completeWords(cmd *cobra.Command, flag string, words ...string) {
	if err := cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic(err) // the command does not have the flag
	}
}

// completer completes arguments.
type completer = func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective)

// completeRuns completes the first most arguments as names of stored runs, of running jobs if
// the command accepts these, and as files.
func completeRuns(most int, running bool) completer {
	return func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
		if len(args) >= most {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		names := storedNames()
		if running {
			for _, j := range daemon.JobsIn("") {
				names = append(names, j.Name())
			}
		}
		names = slices.DeleteFunc(names, func(n string) bool { return !strings.HasPrefix(n, begun) })
		if len(names) == 0 {
			return nil, cobra.ShellCompDirectiveDefault // files, as the shell completes them
		}
		files, err := filepath.Glob(begun + "*.efg")
		if err == nil {
			names = append(names, files...)
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
}

// storedNames are the names that stand for stored runs.
func storedNames() []string {
	dir, err := daemon.DefaultStore()
	if err != nil {
		return nil
	}
	store, err := daemon.OpenStore(dir, false)
	if err != nil {
		return nil
	}
	runs, err := store.List()
	if err != nil || len(runs) == 0 {
		return nil
	}
	names := []string{"last"}
	for i := range runs {
		names = append(names, runs[i].Name)
	}
	return names
}

// prepareBuiltIn turns wrong arguments of cobra's own commands into usage errors.
func prepareBuiltIn(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, cmd := range root.Commands() {
		switch cmd.Name() {
		case "completion":
			cmd.Args = commandRequired
			cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
		case "help":
			cmd.Args = func(_ *cobra.Command, args []string) error {
				found, left, err := root.Find(args)
				if err == nil {
					err = commandRequired(found, left)
				}
				return err
			}
		}
	}
}
