package main

import (
	"errors"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/efg/text"
)

func newDump() *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   "dump FILE [-o TEXT]",
		Short: "Write everything that is in a run file as text",
		Long: `Write everything that is in a run file as lines of text: metadata, source
places, and of each process its definitions and the graph of each thread, with
sequences as they are folded. docs/text.md describes the lines. efg assemble
makes the run file of them again.`,
		Example: `  efg dump jacobi.efg -o jacobi.txt
  efg dump jacobi.efg | grep -c " node "`,
		Args:              argCount(cobra.ExactArgs(1)),
		ValidArgsFunction: completeRuns(1, false),
		RunE: func(cmd *cobra.Command, args []string) error {
			return dump(args[0], output, cmd.OutOrStdout())
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "", "write to this file")
	return cmd
}

func dump(path, output string, out io.Writer) error {
	r, err := openRun(path)
	if err != nil {
		return err
	}
	defer r.Close()
	if output == "" {
		return text.Dump(out, r)
	}
	f, err := os.Create(output)
	if err != nil {
		return usageError("%w", err)
	}
	if err := errors.Join(text.Dump(f, r), f.Close()); err != nil {
		os.Remove(output)
		return err
	}
	return nil
}

func newAssemble() *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   "assemble TEXT -o FILE",
		Short: "Make a run file of the text that efg dump wrote",
		Long: `Make a run file of the text that efg dump wrote, or that somebody changed or
wrote by hand; "-" reads it from the standard input. The text is checked first:
what is wrong is told with line and column, and no file is written. The text of
a file that this version wrote gives the same bytes again.`,
		Example: "  efg dump jacobi.efg | efg assemble - -o again.efg",
		Args:    argCount(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if output == "" {
				return usageError("efg assemble: -o FILE is missing")
			}
			return assemble(args[0], output, cmd.InOrStdin())
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "", "the run file")
	return cmd
}

func assemble(path, output string, in io.Reader) error {
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return usageError("%w", err)
		}
		defer f.Close()
		in = f
	}
	file, err := text.Parse(path, in)
	if err != nil {
		return &exitError{2, err}
	}
	return runfile.WriteRun(output, file.Procs, file.Meta)
}
