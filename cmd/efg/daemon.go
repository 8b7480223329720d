package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/hook"
	"github.com/efg-tools/efg/internal/daemon"
	"github.com/efg-tools/efg/internal/httpapi"
	"github.com/efg-tools/efg/internal/service"
)

type daemonOptions struct {
	runOptions
	store, spool string
	keepFor, max string
	merge        string
	tables       string
	quiet        time.Duration
	http         httpOptions
	all          allUsersOptions
	child        bool
}

func newDaemon() *cobra.Command {
	var opt daemonOptions
	cmd := &cobra.Command{
		Use:   "daemon",
		Short: "Record every MPI program that is started with the hook preloaded",
		Long: `Record every MPI program of this user on this machine that is started with the hook
preloaded, as in

    LD_PRELOAD=$(efg hook path) mpiexec -n 4 ./app

and keep each job as a run in a store. efg runs lists the runs, efg where and efg top show
running jobs, and all other commands accept the name of a run in place of a file. A web
page and an HTTP API serve both; efg runs prints the address.

The daemon runs until it is interrupted. If it is killed, start it again: nothing that was
recorded is lost. The programs do not depend on it.

With --all-users, root's daemon serves all users of the machine: it starts a daemon for
each user whose programs record, and each user sees only their own runs.`,
		Example: `  efg daemon
  efg daemon --time trace --keep 30d --max 50GB`,
		Args: argCount(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGINT, syscall.SIGTERM)
			defer stop()
			switch {
			case opt.all.on:
				return runAllUsers(ctx, &opt, cmd)
			case opt.child:
				return runChild(ctx, &opt, cmd.ErrOrStderr())
			}
			if err := opt.all.unused(cmd); err != nil {
				return err
			}
			return runDaemon(ctx, &opt, cmd.ErrOrStderr())
		},
	}
	f := cmd.Flags()
	f.StringVar(&opt.store, "store", "", "directory of the runs (default $EFG_STORE, or efg in the user's state directory)")
	f.StringVar(&opt.spool, "spool", "", "directory of the segments of running processes (default $EFG_SPOOL, or /dev/shm/efg-UID)")
	f.DurationVar(&opt.quiet, "quiet", 10*time.Second, "how long to wait for a job without processes while its launcher still runs")
	f.StringVar(&opt.keepFor, "keep", "", "how long to keep runs, as in 30d or 12h (default forever)")
	f.StringVar(&opt.max, "max", "", "maximum space for runs, as in 50GB; the oldest are removed (default unlimited)")
	f.StringVar(&opt.merge, "merge", "256MiB", "merge the parts of a run from several machines if their total size is at most this; or off")
	f.StringVar(&opt.tables, "tables", "", "add each stored run to this `DIRECTORY` of Parquet files, as efg export --append does")
	f.StringVar(&opt.time, "time", "stats", "times to record, as for efg run")
	f.StringVar(&opt.polls, "polls", "exact", "how to record unsuccessful polls, as for efg run")
	f.BoolVar(&opt.queries, "queries", false, "also record local queries")
	f.BoolVar(&opt.buffers, "buffers", false, "record buffer addresses")
	callPathFlag(f, &opt.callpath)
	opt.http.flags(cmd)
	completeWords(cmd, "time", "off", "stats", "trace", "auto")
	completeWords(cmd, "polls", "exact", "totals")
	opt.all.flags(cmd)
	f.BoolVar(&opt.child, "child", false, "serve one user, started by the service for all users")
	f.MarkHidden("child")
	return cmd
}

// limits are a daemon's options, parsed.
type limits struct {
	keep       time.Duration
	max, merge int64
}

// check parses the options that do not depend on the daemon's user.
func (opt *daemonOptions) check() (l limits, err error) {
	if opt.hookTime, err = timeForHook(opt.time); err != nil {
		return l, err
	}
	if opt.polls != "exact" && opt.polls != runfile.PollTotals {
		return l, usageError("--polls %s: want exact or totals", opt.polls)
	}
	if err := checkCallPath(opt.callpath); err != nil {
		return l, err
	}
	if l.keep, err = parseAge(opt.keepFor); err != nil {
		return l, err
	}
	if l.max, err = parseBytes("--max", opt.max); err != nil {
		return l, err
	}
	l.merge = -1
	if opt.merge != "off" {
		if l.merge, err = parseBytes("--merge", opt.merge); err != nil {
			return l, err
		}
	}
	if opt.quiet < 0 {
		return l, usageError("--quiet %s: want a time", opt.quiet)
	}
	_, err = opt.http.listening()
	return l, err
}

func runDaemon(ctx context.Context, opt *daemonOptions, errOut io.Writer) error {
	if ctx == nil {
		ctx = context.Background()
	}
	restoreCollection()
	limits, err := opt.check()
	if err != nil {
		return err
	}
	store, err := opt.store, error(nil)
	if store == "" {
		if store, err = daemon.OwnStore(); err != nil {
			return usageError("%w", err)
		}
	}
	if opt.spool == "" {
		opt.spool = daemon.OwnSpool()
	}
	log := slog.New(slog.NewTextHandler(errOut, nil))
	source := httpapi.NewStore(&daemon.Store{Dir: store}, opt.spool)
	defer source.Close()
	metrics := httpapi.NewMetrics(source)
	metrics.Workers = newWorkers()
	sealed := metrics.Sealed
	if opt.tables != "" {
		keeper, err := newTableKeeper(opt.tables, store, log)
		if err != nil {
			return usageError("--tables %s: %w", opt.tables, err)
		}
		defer inBackground(ctx, keeper.work)()
		sealed = func(sum *daemon.Summary, file string, took time.Duration) {
			metrics.Sealed(sum, file, took)
			keeper.changed()
		}
	}
	notify := newNotifier(log)
	defer context.AfterFunc(ctx, notify.stopping)()
	build := newBackgroundBuild(ctx, errOut)
	defer build.end()
	o := daemon.Options{
		Store: store, Spool: opt.spool, Tool: "efg " + version(), Quiet: opt.quiet, Keep: limits.keep, Max: limits.max, Merge: limits.merge,
		Settings: func() ([][2]string, error) {
			backs, building, err := build.now()
			return opt.howToRecord((&hook.Hook{Backs: backs}).BackVar(), building), err
		},
		Log: log, Sealed: sealed, SealFailed: metrics.Failed, LeftOut: metrics.LeftOut,
		Reader: hook.Reader,
		Ready:  notify.ready, Works: notify.works,
		Serve: func(s *daemon.Store, spool *daemon.Spool) (daemon.Served, func(), error) {
			return opt.http.serveDaemon(s, spool, source, metrics, log)
		},
	}
	if child := opt.http.child; child != nil {
		child.join(&o, opt)
	}
	err = daemon.Run(ctx, o)
	if err != nil && !errors.As(err, new(*exitError)) {
		return &exitError{2, err}
	}
	return err
}

// inBackground starts work, and returns what ends it.
func inBackground(ctx context.Context, work func(context.Context)) (end func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		work(ctx)
	}()
	return func() {
		cancel()
		<-done
	}
}

// howToRecord returns the hook's settings, which efg run would put into the environment.
func (opt *daemonOptions) howToRecord(back string, building bool) [][2]string {
	return [][2]string{
		{service.BackName, back}, {service.BuildingName, flag(building)}, {"EFG_TIME", opt.hookTime}, {"EFG_POLLS", opt.polls},
		{"EFG_QUERIES", flag(opt.queries)}, {"EFG_BUFFERS", flag(opt.buffers)}, {"EFG_CALLPATH", strconv.Itoa(int(opt.callpath))},
	}
}

// storeDir returns the given store, or the user's.
func storeDir(given string) (string, error) {
	if given != "" {
		return given, nil
	}
	dir, err := daemon.DefaultStore()
	if err != nil {
		return "", usageError("%w", err)
	}
	return dir, nil
}

// parseAge reads a time such as 30d, 12h or 90m; "" is 0.
func parseAge(s string) (time.Duration, error) {
	if s == "" {
		return 0, nil
	}
	units := map[byte]time.Duration{'m': time.Minute, 'h': time.Hour, 'd': 24 * time.Hour, 'w': 7 * 24 * time.Hour}
	unit := units[s[len(s)-1]]
	n, err := strconv.ParseUint(s[:len(s)-1], 10, 20)
	if err != nil || unit == 0 || n == 0 {
		return 0, usageError("--keep %s: want a number of days, as in 30d; or w, h, m", s)
	}
	return time.Duration(n) * unit, nil
}

// parseBytes reads a size such as 50GB or 500MiB; "" is 0.
func parseBytes(flag, s string) (int64, error) {
	if s == "" {
		return 0, nil
	}
	number := strings.TrimRight(s, "kKMGTiB")
	units := map[string]float64{
		"B": 1, "kB": 1e3, "KB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12,
		"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40,
	}
	unit := units[s[len(number):]]
	n, err := strconv.ParseFloat(number, 64)
	if err != nil || unit == 0 || !(n > 0) || n*unit >= math.MaxInt64 {
		return 0, usageError("%s %s: want a size, as in 50GB or 500MiB", flag, s)
	}
	return int64(n * unit), nil
}

// findRun returns the run file of a name in the store.
func findRun(name string) (string, error) {
	dir, err := daemon.DefaultStore()
	if err != nil {
		return "", err
	}
	store, err := daemon.OpenStore(dir, false)
	if err != nil {
		return "", daemon.ErrNoRun
	}
	found, err := store.Find(name)
	if err != nil {
		return "", err
	}
	if x, ok := store.Unmerged(found); ok {
		return "", fmt.Errorf("is in parts, %s; efg merge %s joins them", partsText(&x), found)
	}
	return store.RunFile(found), nil
}

// isRunName reports whether an argument that is not a file could be a run's name.
func isRunName(arg string) bool {
	return arg != "" && !strings.ContainsAny(arg, "/.")
}
