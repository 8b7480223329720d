package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/replay"
)

// replayOptions are the options of efg run that make it follow a recording.
type replayOptions struct {
	file         string
	onDivergence string
	atEnd        string
	force        bool
	generated    bool

	path string // of the file that the hook reads; "" if nothing is followed
}

// replayFlags adds the flags of a replay.
func replayFlags(cmd *cobra.Command, opt *replayOptions) {
	f := cmd.Flags()
	f.StringVar(&opt.file, "replay", "", "run as recorded in `FILE`: messages and requests that MPI leaves open go as they went there")
	f.StringVar(&opt.onDivergence, "on-divergence", "free", "with --replay, what to do when a process makes another call than was recorded: free (the run goes on as usual), stop (the process, for a debugger) or abort")
	f.StringVar(&opt.atEnd, "at-end", "free", "with --replay, what to do at the end of a recording that was cut short: free or stop")
	f.BoolVar(&opt.force, "force", false, "with --replay, accept another command, and do not compare callsites")
	f.BoolVar(&opt.generated, "generated", false, "with --replay, the command runs the program that efg generate wrote from FILE")
	completeWords(cmd, "on-divergence", "free", "stop", "abort")
	completeWords(cmd, "at-end", "free", "stop")
}

// check checks the flags; changed reports whether a flag was given.
func (opt *replayOptions) check(changed func(flag string) bool) error {
	words := map[string][]string{"on-divergence": {"free", "stop", "abort"}, "at-end": {"free", "stop"}}
	for _, name := range []string{"on-divergence", "at-end", "force", "generated"} {
		if opt.file == "" && changed(name) {
			return usageError("--%s: only with --replay", name)
		}
	}
	for name, value := range map[string]string{"on-divergence": opt.onDivergence, "at-end": opt.atEnd} {
		if !slices.Contains(words[name], value) {
			return usageError("--%s %s: want %s", name, value, strings.Join(words[name], " or "))
		}
	}
	for _, name := range []string{"polls", "queries", "buffers", "callpath"} {
		if opt.file != "" && changed(name) {
			return usageError("--%s: a replay is recorded as %s was", name, opt.file)
		}
	}
	return nil
}

// prepareReplay reads the recording to follow, and has the run recorded as it was.
func (opt *runOptions) prepareReplay(args []string) (*runfile.Run, error) {
	r := &opt.replay
	if r.file == "" {
		return nil, nil
	}
	run, err := openRun(r.file)
	if err != nil {
		return nil, err
	}
	if err := opt.suits(run, args); err != nil {
		run.Close()
		return nil, err
	}
	opt.queries, opt.buffers, opt.callpath = run.Meta.Queries, run.Meta.Buffers, uint16(run.Meta.CallPath)
	if opt.polls = "exact"; run.Meta.Polls != "" {
		opt.polls = run.Meta.Polls
	}
	return run, nil
}

// suits reports why a run cannot be followed.
func (opt *runOptions) suits(run *runfile.Run, args []string) error {
	r := &opt.replay
	if a, err := os.Stat(r.file); err == nil {
		if b, err := os.Stat(opt.output); err == nil && os.SameFile(a, b) {
			return usageError("-o %s: is the recording to follow; name another file", opt.output)
		}
	}
	if len(run.Procs) == 0 {
		return usageError("%s: has no processes", r.file)
	}
	if !r.force && !r.generated && !slices.Equal(run.Meta.Command, args) {
		return usageError("%s: was recorded of another command, %q; --force follows it nevertheless", r.file, strings.Join(run.Meta.Command, " "))
	}
	return nil
}

// write writes the file that the hook follows into the directory of the recording.
func (r *replayOptions) write(dir string, run *runfile.Run) error {
	options := uint32(0)
	set := func(bit uint32, on bool) {
		if on {
			options |= bit
		}
	}
	set(replay.OptionPlaces, !r.force && !r.generated)
	set(replay.OptionGenerated, r.generated)
	set(replay.OptionTotals, run.Meta.Polls == runfile.PollTotals)
	set(replay.OptionStop, r.onDivergence == "stop")
	set(replay.OptionAbort, r.onDivergence == "abort")
	set(replay.OptionStopAtEnd, r.atEnd == "stop")
	path := filepath.Join(dir, "replay")
	if err := replay.Write(path, run, options); err != nil {
		return fmt.Errorf("%s: %w", r.file, err)
	}
	r.path = path
	return nil
}

// report says in one line how far the run was as recorded.
func (r *replayOptions) report(out io.Writer) {
	if r.path == "" {
		return
	}
	result, err := replay.Read(r.path)
	if err != nil {
		fmt.Fprintln(out, "efg: replay:", err)
		return
	}
	fmt.Fprintln(out, "efg: replay:", result.Summary())
}
