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
		Short: "Write the complete contents of a run file as text",
		Long: `Write the complete contents of a run file as lines of text: metadata, source
locations, and for each process its definitions and the graph of each thread, with
sequences in folded form. docs/text.md describes the lines. efg assemble turns the text
back into a run file.`,
		Example: `  efg dump jacobi.efg -o jacobi.txt
  efg dump jacobi.efg | grep -c " node "`,
		Args:              argCount(cobra.ExactArgs(1)),
		ValidArgsFunction: completeRuns(1, false),
		RunE: func(cmd *cobra.Command, args []string) error {
			return dump(args[0], output, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "", "write to this file")
	return cmd
}

func dump(path, output string, out, errOut io.Writer) error {
	r, err := openRun(path)
	if err != nil {
		return err
	}
	defer r.Close()
	if output == "" {
		bar := progressBeside(out, errOut, uint64(len(r.Procs)))
		defer bar.close()
		return text.Dump(out, r, bar.show)
	}
	bar := newProgress(errOut, "ranks", uint64(len(r.Procs)))
	defer bar.close()
	f, err := os.Create(output)
	if err != nil {
		return usageError("%w", err)
	}
	if err := errors.Join(text.Dump(f, r, bar.show), f.Close()); err != nil {
		os.Remove(output)
		return err
	}
	return nil
}

func newAssemble() *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   "assemble TEXT -o FILE",
		Short: "Create a run file from the output of efg dump",
		Long: `Create a run file from the output of efg dump, possibly edited, or from text written
by hand; "-" reads standard input. The text is checked first: an error is reported with
line and column, and no file is written. The text of a file written by this version
yields the same bytes again.`,
		Example: "  efg dump jacobi.efg | efg assemble - -o again.efg",
		Args:    argCount(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if output == "" {
				return usageError("efg assemble: -o FILE is missing")
			}
			return assemble(args[0], output, cmd.InOrStdin(), cmd.ErrOrStderr())
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "", "the run file")
	return cmd
}

func assemble(path, output string, in io.Reader, errOut io.Writer) error {
	total := uint64(0)
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return usageError("%w", err)
		}
		defer f.Close()
		if fi, err := f.Stat(); err == nil {
			total = uint64(fi.Size())
		}
		in = f
	}
	bar := newProgress(errOut, "bytes", total)
	file, err := text.Parse(path, &watchedReader{in: in, show: bar.show})
	bar.close()
	if err != nil {
		return &exitError{2, err}
	}
	return runfile.WriteRun(output, file.Procs, file.Meta)
}

// watchedReader tells how much has been read.
type watchedReader struct {
	in   io.Reader
	read uint64
	show func(bytes uint64)
}

func (c *watchedReader) Read(p []byte) (int, error) {
	n, err := c.in.Read(p)
	c.read += uint64(n)
	c.show(c.read)
	return n, err
}
