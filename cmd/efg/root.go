package main

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/efg-tools/efg/internal/printable"
)

// exitError ends the program with a status. Its message, if not empty, is printed.
type exitError struct {
	status int
	err    error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit status %d", e.status)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// usageError returns a usage error, a wrong command line or a wrong file named in it, with
// status 2.
func usageError(format string, args ...any) error {
	return &exitError{2, fmt.Errorf(format, args...)}
}

// ownColumn finds lines of an error that begin in the first column, which is reserved for lines
// that begin with efg's prefix.
var ownColumn = regexp.MustCompile(`\n(\S)`)

// execute runs a command line and returns the exit status: 0, 1 for a failure,
// 2 for a usage error, or what the command decides.
func execute(args []string, in io.Reader, out, errOut io.Writer) int {
	root := newRoot()
	root.SetArgs(args)
	root.SetIn(in)
	texts, errTexts := printable.NewWriter(out), printable.NewWriter(errOut)
	root.SetOut(texts)
	root.SetErr(errTexts)
	prepareBuiltIn(root)
	err := root.Execute()
	if err = errors.Join(err, texts.Flush(), errTexts.Flush()); err == nil {
		return 0
	}
	var exit *exitError
	if !errors.As(err, &exit) {
		exit = &exitError{1, err}
	}
	if exit.err != nil {
		fmt.Fprintln(errTexts, "efg:", ownColumn.ReplaceAllString(err.Error(), "\n  $1"))
	}
	return exit.status
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:           "efg",
		Short:         "Record every MPI call of a program, in order, and get it back",
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          commandRequired,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetFlagErrorFunc(flagError)
	for i, g := range commandGroups {
		id := strconv.Itoa(i)
		root.AddGroup(&cobra.Group{ID: id, Title: g.title + ":"})
		for _, create := range g.commands {
			cmd := create()
			cmd.GroupID = id
			root.AddCommand(cmd)
		}
	}
	root.AddCommand(newMan(), newWork())
	return root
}

// commandGroups are the commands as listed in the help. Commands about efg itself, and hidden
// ones, have no group.
var commandGroups = []struct {
	title    string
	commands []func() *cobra.Command
}{
	{"Record", []func() *cobra.Command{newRun, newMerge, newHook, newMeasureNetwork}},
	{"Inspect", []func() *cobra.Command{newInfo, newReconstruct, newQuery, newSQL, newMatrix, newTimeline, newGraph, newTop, newView}},
	{"Compare", []func() *cobra.Command{newDiff, newFleet}},
	{"Explain", []func() *cobra.Command{newReport, newEfficiency, newWaits, newClocks, newWhatif, newPhases, newLoops, newWhere, newCheck, newMCP}},
	{"Export", []func() *cobra.Command{newExport, newImport, newDump, newAssemble, newGenerate}},
	{"Run as a service", []func() *cobra.Command{newDaemon, newRuns, newOpen, newSite}},
}

// argCount turns a wrong number of arguments into a usage error.
func argCount(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if err := check(cmd, args); err != nil {
			return usageError("%s: %w", cmd.CommandPath(), err)
		}
		return nil
	}
}
