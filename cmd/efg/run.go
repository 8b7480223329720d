package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/hook"
	"github.com/efg-tools/efg/internal/counters"
	"github.com/efg-tools/efg/internal/energy"
	"github.com/efg-tools/efg/internal/merge"
	"github.com/efg-tools/efg/internal/printable"
	"github.com/efg-tools/efg/internal/recording"
)

// runOptions are the options of efg run.
type runOptions struct {
	output   string
	time     string
	polls    string
	queries  bool
	buffers  bool
	callpath uint16
	counters string
	values   bool // of each call
	keep     bool
	require  bool
	replay   replayOptions

	hookTime string // time, in the hook's syntax
	counted  []counters.Counter
	energy   bool // count that of the machine, too
}

func newRun() *cobra.Command {
	var opt runOptions
	cmd := &cobra.Command{
		Use:   "run [flags] [--] COMMAND [ARGUMENT ...]",
		Short: "Run an MPI program and record its calls",
		Long: `Run an MPI program, or a command that starts one, and record every MPI call of every
process in order. The program needs no rebuild; it must use a shared MPI library. Its
input, output and exit status do not change. If it cannot be recorded, it runs
nevertheless, and a message says why.`,
		Example: "  efg run -o jacobi.efg -- mpiexec -n 4 ./jacobi 400",
		Args:    argCount(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := opt.replay.check(cmd.Flags().Changed); err != nil {
				return err
			}
			return run(args, opt, cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	f := cmd.Flags()
	f.SetInterspersed(false)
	f.StringVarP(&opt.output, "output", "o", "run.efg", "file to write")
	f.StringVar(&opt.time, "time", "auto", "times to record: off, stats (per node), trace[=ERROR] (of each call, ERROR in percent, 5 by default), or auto[=BUDGET] (of each call until they take BUDGET in a process, 32MiB by default, then per node)")
	f.StringVar(&opt.polls, "polls", "exact", "how to record unsuccessful polls: exact (each, in order) or totals (counts only)")
	f.BoolVar(&opt.queries, "queries", false, "also record local queries (MPI_Comm_rank, MPI_Get_count ...)")
	f.BoolVar(&opt.buffers, "buffers", false, "record buffer addresses, as region and offset")
	callPathFlag(f, &opt.callpath)
	f.StringVar(&opt.counters, "counters", "", "count at each call: `NAMES`, separated by commas, as instructions, cycles, PAPI_L1_DCM, task-clock, page-faults; or of the machine: energy")
	f.BoolVar(&opt.values, "counter-values", false, "also keep what the counters counted at each call, with its times (--time trace or auto)")
	f.BoolVar(&opt.keep, "keep", false, "keep the directory of segments and print its path")
	f.BoolVar(&opt.require, "require", false, "do not run a command that cannot be recorded; fail if nothing is recorded")
	replayFlags(cmd, &opt.replay)
	completeWords(cmd, "time", "off", "stats", "trace", "auto")
	completeWords(cmd, "polls", "exact", "totals")
	return cmd
}

// maxCallPath is the largest depth of call paths that the hook accepts.
const maxCallPath = 1000

// callPathFlag adds --callpath.
func callPathFlag(f *pflag.FlagSet, depth *uint16) {
	f.Uint16Var(depth, "callpath", 0, "record the call path of each call, at most so many calls of it, `DEPTH`, up to the outermost (64 without a number; at most 1000)")
	f.Lookup("callpath").NoOptDefVal = "64"
}

// checkCallPath checks the argument of --callpath.
func checkCallPath(depth uint16) error {
	if depth > maxCallPath {
		return usageError("--callpath=%d: want at most %d", depth, maxCallPath)
	}
	return nil
}

// checkCounters checks the argument of --counters.
func (opt *runOptions) checkCounters() (err error) {
	if opt.counted, opt.energy, err = counters.Parse(opt.counters); err != nil {
		return usageError("--counters: %w", err)
	}
	if len(opt.counted) > 0 && opt.hookTime == "off" {
		return usageError("--counters needs times: --time off records none")
	}
	return opt.checkValues()
}

// checkValues checks --counter-values: values of each call are kept with its times.
func (opt *runOptions) checkValues() error {
	switch {
	case !opt.values:
		return nil
	case len(opt.counted) == 0:
		return usageError("--counter-values needs --counters that are read at each call")
	case !strings.HasPrefix(opt.hookTime, "trace="):
		return usageError("--counter-values needs times of each call: --time %s has none; use trace or auto", opt.time)
	}
	return nil
}

// availableCounters leaves out, with one line, counters that this machine does not have or the user
// may not read: the run goes on without them. It returns the counters of the machine, nil: none.
func (opt *runOptions) availableCounters(errOut io.Writer) *energy.Meter {
	usable, why := counters.Available(opt.counted)
	if opt.counted = usable; why != "" {
		fmt.Fprintln(errOut, "efg: counters:", why)
	}
	if !opt.energy {
		return nil
	}
	meter, why := energy.Open(energy.Directory())
	if why != "" {
		fmt.Fprintln(errOut, "efg: counters: not counted: energy:", why)
	}
	return meter
}

// run records a command. Its error carries the command's exit status.
func run(args []string, opt runOptions, in io.Reader, out, errOut io.Writer) error {
	var err error
	if opt.hookTime, err = timeForHook(opt.time); err != nil {
		return err
	}
	if opt.polls != "exact" && opt.polls != runfile.PollTotals {
		return usageError("--polls %s: want exact or totals", opt.polls)
	}
	if err := checkCallPath(opt.callpath); err != nil {
		return err
	}
	if err := opt.checkCounters(); err != nil {
		return err
	}
	path, err := exec.LookPath(args[0])
	if err != nil {
		return usageError("%s: %w", args[0], reason(err))
	}
	old, err := opt.prepareReplay(args)
	if err != nil {
		return err
	}
	if old != nil {
		defer old.Close()
	}
	cmd := &exec.Cmd{Path: path, Args: args, Stdin: in, Stdout: printable.Raw(out), Stderr: printable.Raw(errOut)}
	if err := checkOutput(opt.output); errors.As(err, new(*exitError)) {
		return err
	} else if err != nil {
		return runUnrecorded(cmd, err, &opt, errOut)
	}
	build := newForegroundBuild(errOut)
	h, err := build.find(args)
	build.end()
	if err != nil {
		return runUnrecorded(cmd, err, &opt, errOut)
	}
	reportAbandoned(errOut)
	return runRecorded(cmd, h, build, old, &opt, errOut)
}

// runRecorded runs a command with the hook and writes what it has recorded. Its error carries
// the command's exit status. old is the run to follow, nil if there is none.
func runRecorded(cmd *exec.Cmd, h *hook.Hook, build *foregroundBuild, old *runfile.Run, opt *runOptions, errOut io.Writer) error {
	meter := opt.availableCounters(errOut)
	meta := opt.meta(cmd.Args)
	dir, err := recording.Create(recording.Info{
		Output: opt.output, Tool: meta.Tool, Command: meta.Command, Started: meta.Started,
		Time: meta.Time, Polls: meta.Polls, Queries: meta.Queries, Buffers: meta.Buffers, CallPath: meta.CallPath,
		Counters: meta.Counters, Processors: meta.Processors,
	})
	if err != nil {
		return runUnrecorded(cmd, err, opt, errOut)
	}
	if old != nil {
		if err := opt.replay.write(dir.Path, old); err != nil {
			return errors.Join(err, dir.Remove())
		}
	}
	late, err := build.late(h, dir.Path)
	if err != nil {
		dir.Remove()
		return runUnrecorded(cmd, err, opt, errOut)
	}
	signals := holdSignals()
	defer signals.release()
	cmd.Env = hookEnv(os.Environ(), h, dir.Path, *opt)
	go runfile.Prepare(opt.hookTime != "off") // while the program starts: nobody waits for it
	used := meter.Follow()
	unfollow := dir.Follow()
	meta.Status, err = runCommand(cmd, signals)
	unfollow()
	meta.Energy = runfile.EnergyTexts(used())
	late.end()
	if err != nil {
		return errors.Join(usageError("%s: %w", cmd.Args[0], reason(err)), dir.Remove())
	}
	meta.Ended = time.Now().UnixNano()
	opt.replay.report(errOut)
	err = keepRecording(dir, opt, meta, signals, errOut)
	if meta.Status != 0 {
		if err != nil {
			fmt.Fprintln(errOut, "efg:", err)
		}
		return &exitError{status: meta.Status}
	}
	return err
}

// meta returns the metadata of a run that is starting.
func (opt *runOptions) meta(command []string) runfile.Meta {
	meta := runfile.Meta{
		Tool: "efg " + version(), Command: command, Started: time.Now().UnixNano(),
		Time: timeForMeta(opt.hookTime), Queries: opt.queries, Buffers: opt.buffers, CallPath: int(opt.callpath),
		Counters: counters.ForMeta(opt.counted), Processors: merge.ProcessorsHere(),
	}
	if opt.polls == runfile.PollTotals {
		meta.Polls = runfile.PollTotals
	}
	return meta
}

// checkOutput checks before the run that the file can be written. A missing directory is a
// usage error.
func checkOutput(file string) error {
	switch fi, err := os.Stat(file); {
	case err == nil && fi.IsDir():
		return usageError("%s: is a directory", file)
	case err == nil && !fi.Mode().IsRegular():
		return usageError("%s: is not a regular file", file)
	}
	f, err := os.CreateTemp(parent(file), ".efg-*.tmp")
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return usageError("cannot write %s: %w", file, reason(err))
	}
	if err != nil {
		return fmt.Errorf("cannot write %s: %w", file, reason(err))
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// reason removes the operation and the path from an error that is reported with a path.
func reason(err error) error {
	var e *exec.Error
	if errors.As(err, &e) {
		err = e.Err
	}
	var p *os.PathError
	if errors.As(err, &p) {
		err = p.Err
	}
	return err
}
