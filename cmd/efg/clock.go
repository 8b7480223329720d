package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/analysis"
	"github.com/efg-tools/efg/internal/analysis/clocks"
	"github.com/efg-tools/efg/internal/analysis/match"
	"github.com/efg-tools/efg/internal/printable"
)

// clockFlag is the flag of commands that show times: whose clocks they are by.
func clockFlag(cmd *cobra.Command, clock *string) {
	cmd.Flags().StringVar(clock, "clock", "corrected", "times of several machines: corrected (see efg clocks), or raw, as they were recorded")
	completeWords(cmd, "clock", "corrected", "raw")
}

// checkClock checks the value of --clock.
func checkClock(clock string) error {
	if clock != "corrected" && clock != "raw" {
		return usageError("--clock %s: want corrected or raw", clock)
	}
	return nil
}

// correctClocks makes the times of a run of several machines agree, unless raw ones are wanted.
func correctClocks(ctx context.Context, r *runfile.Run, clock string, errOut io.Writer) error {
	return correctPart(ctx, r, nil, clock, errOut)
}

// correctPart is correctClocks for some processes, as if the others were not in the file; nil stands for all.
func correctPart(ctx context.Context, r *runfile.Run, procs []int, clock string, errOut io.Writer) error {
	if err := checkClock(clock); err != nil || clock == "raw" || !clocks.Needed(r) {
		return err
	}
	bar := newProgress(errOut, "events", 0)
	rep, err := clocks.CorrectPart(ctx, r, procs, func(done, total uint64) { bar.part("events", done, total) })
	bar.close()
	if errors.Is(err, match.ErrNoTimes) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("correcting clocks, without which --clock raw does: %w", err)
	}
	if hosts := notAligned(rep); len(hosts) > 0 {
		fmt.Fprintf(errOut, "efg: the clocks of these machines are only as right as their wall clocks, efg clocks says why: %s\n", strings.Join(hosts, ", "))
	}
	return nil
}

// notAligned are the machines with selected ranks, but for the first one, of whose clocks nothing is known. Of many
// some are named.
func notAligned(rep *clocks.Report) (hosts []string) {
	const most = 4
	more := 0
	machines := slices.DeleteFunc(slices.Clone(rep.Machines), func(m clocks.Machine) bool { return len(m.Ranks) == 0 })
	for _, m := range machines[min(1, len(machines)):] {
		switch {
		case m.Aligned:
		case len(hosts) == most:
			more++
		default:
			hosts = append(hosts, printable.Line(m.Host))
		}
	}
	if more > 0 {
		hosts = append(hosts, fmt.Sprintf("%d others", more))
	}
	return hosts
}

// withClocks returns a computation for overRanks that corrects clocks first.
func withClocks[T any](clock string, errOut io.Writer, compute func(*runfile.Run, []int, ...analysis.Progress) (T, error)) func(*runfile.Run, []int, ...analysis.Progress) (T, error) {
	return func(r *runfile.Run, procs []int, progress ...analysis.Progress) (result T, err error) {
		if err := correctClocks(context.Background(), r, clock, errOut); err != nil {
			return result, err
		}
		return compute(r, procs, progress...)
	}
}
