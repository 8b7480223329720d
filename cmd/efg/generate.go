package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/efg-tools/efg/hook"
	"github.com/efg-tools/efg/internal/durable"
	"github.com/efg-tools/efg/internal/generate"
)

type generateOptions struct {
	output, compute, computeWith, ranks string
}

func newGenerate() *cobra.Command {
	var opt generateOptions
	cmd := &cobra.Command{
		Use:   "generate FILE -o DIRECTORY",
		Short: "Write an MPI program in C that makes the calls of a run",
		Long: `Write an MPI program in C that makes the calls of a run, with a Makefile: loops of the
graph are loops, classes of ranks are functions. Recorded again on as many ranks, the
program has the same calls, in order, with the same arguments and results; efg diff
--ignore site,time proves it.

With --ranks it is for another number of ranks, if what they do follows from where they
are in a grid; otherwise it says what does not.

Between calls the program computes as long as the recorded one did, on average at each
place; --compute scales that. What cannot be reproduced is refused, with the reason.
docs/replay.md says more.`,
		Example: `  efg generate jacobi.efg -o jacobi-app
  efg generate jacobi.efg -o jacobi-quick --compute none
  efg generate jacobi.efg -o jacobi-64 --ranks 64
  efg generate jacobi.efg -o jacobi-half --compute 0.5 --compute-with sleep`,
		Args:              argCount(cobra.ExactArgs(1)),
		ValidArgsFunction: completeRuns(1, false),
		RunE: func(cmd *cobra.Command, args []string) error {
			return generateProgram(args[0], &opt, cmd.ErrOrStderr())
		},
	}
	f := cmd.Flags()
	f.StringVarP(&opt.output, "output", "o", "", "write the program into this `DIRECTORY`")
	f.StringVar(&opt.compute, "compute", "1", "`FACTOR` of the recorded times between calls, or none")
	f.StringVar(&opt.computeWith, "compute-with", generate.Spin, "how to spend them: spin or sleep")
	f.StringVar(&opt.ranks, "ranks", "", "write it for `N` ranks, or for a grid of them as in 8x4, where that follows from the run")
	completeWords(cmd, "compute", "none", "1", "0.5")
	completeWords(cmd, "compute-with", generate.Spin, generate.Sleep)
	return cmd
}

// options checks the flags.
func (opt *generateOptions) options(path string) (*generate.Options, error) {
	header, err := hook.Header()
	if err != nil {
		return nil, err
	}
	to := &generate.Options{ComputeWith: opt.computeWith, Source: filepath.Base(path), Header: header}
	if opt.output == "" {
		return nil, usageError("-o: want a directory for the program")
	}
	if opt.compute != "none" {
		factor, err := strconv.ParseFloat(opt.compute, 64)
		if err != nil || !(factor >= 0 && factor <= 1e6) {
			return nil, usageError("--compute %s: want a factor, or none", opt.compute)
		}
		to.Compute = factor
	}
	if to.ComputeWith != generate.Spin && to.ComputeWith != generate.Sleep {
		return nil, usageError("--compute-with %s: want spin or sleep", opt.computeWith)
	}
	if opt.ranks != "" {
		total := 1
		for _, text := range strings.Split(opt.ranks, "x") {
			n, err := strconv.Atoi(text)
			if err != nil || n < 1 || n > maxGenerated/total || len(to.Ranks) == maxGrid {
				return nil, usageError("--ranks %s: want a number of ranks up to %d, or a grid as in 8x4", opt.ranks, maxGenerated)
			}
			total *= n
			to.Ranks = append(to.Ranks, n)
		}
	}
	return to, nil
}

const (
	maxGenerated = 1 << 20 // ranks of a generated program, other than those of the run
	maxGrid      = 4       // dimensions of their grid
)

func generateProgram(path string, opt *generateOptions, errOut io.Writer) error {
	to, err := opt.options(path)
	if err != nil {
		return err
	}
	run, err := openRun(path)
	if err != nil {
		return err
	}
	defer run.Close()
	var differs *generate.Differences
	err = durable.WriteDir(opt.output, isGenerated, func(dir string) (err error) {
		differs, err = generate.Write(dir, run, to)
		return err
	})
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if n := differs.Inside; n > 0 {
		fmt.Fprintf(errOut, "efg: left out: %s that functions of the program made inside MPI calls, as reduction operations or error handlers; those of the generated program make none\n", pluralOf(n, "call"))
	}
	if open := differs.Open; len(open) > 0 {
		fmt.Fprintf(errOut, "efg: MPI leaves outcomes open, so the program may have other events than the run, or wait forever; efg run --replay %s --generated forces them: %s\n", path, strings.Join(open, ", "))
	}
	return nil
}

// isGenerated reports whether a directory holds a program that this command wrote.
func isGenerated(dir string) bool {
	file, err := os.Open(filepath.Join(dir, "main.c"))
	if err != nil {
		return false
	}
	defer file.Close()
	head, err := io.ReadAll(io.LimitReader(file, 4096))
	return err == nil && bytes.Contains(head, []byte("Written by efg generate."))
}
