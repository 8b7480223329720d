package main

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/efg-tools/efg/internal/daemon"
	"github.com/efg-tools/efg/internal/export/parquet"
)

// tableKeeper adds the runs of a store to a directory of tables, one after another, each in a process of
// its own: what a run needs is then not the daemon's memory, nor its end if there is too little.
type tableKeeper struct {
	dir   string
	store *daemon.Store
	runs  *daemon.Lister
	log   *slog.Logger
	// command is efg with arguments.
	command func(ctx context.Context, args ...string) *exec.Cmd
	wake    chan struct{}
	seen    map[string]bool
}

// tablesEvery is how often a store is looked through for runs that this daemon has not stored itself, as
// those that were merged.
const tablesEvery = time.Minute

func newTableKeeper(dir, store string, log *slog.Logger) (*tableKeeper, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, err
	case len(entries) > 0 && !parquet.Owned(dir):
		return nil, parquet.ErrNotDataset
	}
	from := &daemon.Store{Dir: store}
	return &tableKeeper{
		dir: dir, store: from, runs: daemon.NewLister(from, nil), log: log, wake: make(chan struct{}, 1), seen: map[string]bool{},
		command: func(ctx context.Context, args ...string) *exec.Cmd {
			return exec.CommandContext(ctx, "/proc/self/exe", args...)
		},
	}, nil
}

// changed: there may be a new run.
func (k *tableKeeper) changed() {
	select {
	case k.wake <- struct{}{}:
	default:
	}
}

// work adds runs until the context is done, beginning with those that are in the store.
func (k *tableKeeper) work(ctx context.Context) {
	tick := time.NewTicker(tablesEvery)
	defer tick.Stop()
	for {
		k.round(ctx)
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		case <-k.wake:
		}
	}
}

// round adds the runs that were not tried before.
func (k *tableKeeper) round(ctx context.Context) {
	list, _, err := k.runs.List()
	if err != nil {
		k.log.Warn("runs are not added to tables", "store", k.store.Dir, "problem", err)
		return
	}
	for i := range list {
		name := list[i].Name
		if list[i].Unmerged || k.seen[name] {
			continue
		}
		if ctx.Err() != nil {
			return
		}
		k.seen[name] = true
		if err := k.add(ctx, k.store.RunFile(name)); err != nil && ctx.Err() == nil {
			k.log.Warn("not added to tables", "run", name, "directory", k.dir, "problem", err)
		}
	}
}

// add adds a run, unless it is there.
func (k *tableKeeper) add(ctx context.Context, file string) error {
	cmd := k.command(ctx, "export", file, "--format", "parquet", "--append", k.dir, "--memory", "1TiB") // no limit but the machine's
	var errOut bytes.Buffer
	cmd.Stderr = &errOut
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 10 * time.Second
	if err := cmd.Run(); err != nil {
		if text := strings.TrimSpace(errOut.String()); text != "" {
			return errors.New(text)
		}
		return err
	}
	return nil
}
