package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/efg-tools/efg/internal/daemon"
	"github.com/efg-tools/efg/internal/merge"
)

func newMerge() *cobra.Command {
	var opt mergeOptions
	cmd := &cobra.Command{
		Use:   "merge [flags] PART ... | RUN | --recover [DIR ...]",
		Short: "Merge run files or segments of one launch",
		Long: `Merge the recordings of one launch into one run file: run files (.efg) of its nodes,
segments (.seg) of its processes, and directories of such files. The result does not
depend on their order or grouping. Memory use is bounded, whatever their number.

Given the name of a run of efg daemon that is in parts, and no -o, it merges the parts
that exist in the store.

Started several times by a launcher, as in srun -N16 efg merge ... or
mpiexec -n 16 efg merge ..., the processes share the work. An interrupted merge resumes
when it is started again.

With --recover it writes the run files of recordings that efg run left in /dev/shm or
$TMPDIR because it was killed or could not write the file: of all of them, or of those in
the given directories. With --discard it removes them instead.`,
		Example:           "  efg merge parts -o run.efg",
		ValidArgsFunction: completeRuns(1, false),
		RunE:              func(cmd *cobra.Command, args []string) error { return runMerge(cmd, args, &opt) },
	}
	f := cmd.Flags()
	f.StringVarP(&opt.Output, "output", "o", "run.efg", "file to write")
	f.BoolVar(&opt.SkipBroken, "skip-broken", false, "skip and report files that cannot be read, and exit with status 1")
	f.BoolVar(&opt.leftBehind, "recover", false, "write the run files of recordings that killed efg runs left behind")
	f.BoolVar(&opt.discard, "discard", false, "with --recover: remove them instead")
	f.StringVar(&opt.worker, "worker", "", "this is worker `K/N`, counted from 0 (default: as set by the launcher)")
	return cmd
}

// mergeOptions are the options of efg merge.
type mergeOptions struct {
	merge.Options
	worker     string
	leftBehind bool // --recover
	discard    bool
}

func runMerge(cmd *cobra.Command, args []string, opt *mergeOptions) error {
	out, errOut, named := cmd.OutOrStdout(), cmd.ErrOrStderr(), cmd.Flags().Changed("output")
	if opt.leftBehind {
		left := recoverOptions{discard: opt.discard}
		if named {
			left.output = opt.Output
		}
		return recoverRuns(args, &left, out, errOut)
	}
	if err := argCount(cobra.MinimumNArgs(1))(cmd, args); err != nil {
		return err
	}
	if opt.discard {
		return usageError("--discard: goes with --recover only")
	}
	var err error
	if opt.Worker, opt.Workers, err = workerOf(opt.worker); err != nil {
		return &exitError{2, err}
	}
	if len(args) == 1 && isRunName(args[0]) {
		if _, err := os.Lstat(args[0]); errors.Is(err, fs.ErrNotExist) {
			return mergeRun(args[0], opt.Options, named, out, errOut)
		}
	}
	return mergeParts(args, opt.Options, out, errOut)
}

// workerOf returns this process's number among those that share the work.
func workerOf(given string) (worker, workers int, err error) {
	if given == "" {
		return merge.Launched(os.Getenv)
	}
	var rest string
	n, _ := fmt.Sscanf(given+" ", "%d/%d%s", &worker, &workers, &rest)
	if n != 2 || worker < 0 || worker >= workers {
		return 0, 0, fmt.Errorf("--worker %s: want K/N, with K from 0 to N-1", given)
	}
	return worker, workers, nil
}

// mergeRun merges the parts of a run in the store, into the store or into a given file.
func mergeRun(name string, opt merge.Options, elsewhere bool, out, errOut io.Writer) error {
	dir, err := daemon.DefaultStore()
	if err != nil {
		return usageError("%w", err)
	}
	store, err := daemon.OpenStore(dir, false)
	if err != nil {
		return usageError("%w", err)
	}
	found, err := store.Find(name)
	if err != nil {
		return usageError("%s: %w", name, err)
	}
	parts, err := store.Parts(found)
	if err != nil {
		return err
	}
	if len(parts) == 0 {
		return usageError("%s: is not in parts", found)
	}
	if elsewhere {
		return mergeParts(parts, opt, out, errOut)
	}
	opt.Tool = "efg " + version()
	opt.Log = func(line string) { fmt.Fprintln(errOut, "efg:", line) }
	if err := store.Merge(found, opt); err != nil || opt.Worker > 0 {
		return err
	}
	x, err := store.Summary(found)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%s: %s, from %s\n", found, partsText(&x), plural(len(x.Parts), "part"))
	return nil
}

func mergeParts(args []string, opt merge.Options, out, errOut io.Writer) error {
	opt.Tool = "efg " + version()
	opt.Log = func(line string) { fmt.Fprintln(errOut, "efg:", line) }
	r, err := merge.Run(args, opt)
	var argument *merge.ArgumentError
	if errors.As(err, &argument) {
		return &exitError{2, err}
	}
	if err != nil || !r.Written {
		return err
	}
	for _, path := range r.Running {
		fmt.Fprintf(errOut, "efg: %s: its process is still running; the file has what it recorded so far\n", path)
	}
	for _, what := range r.LeftOut {
		fmt.Fprintln(errOut, "efg: left out:", what)
	}
	if r.Dropped > 0 {
		fmt.Fprintf(errOut, "efg: %d events were not recorded for lack of space\n", r.Dropped)
	}
	fmt.Fprintf(out, "%s: %d processes, from %d files\n", opt.Output, r.Processes, r.Files)
	if len(r.LeftOut) > 0 {
		return &exitError{status: 1}
	}
	return nil
}
