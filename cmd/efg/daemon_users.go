package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/coreos/go-systemd/v22/activation"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/efg-tools/efg/hook"
	"github.com/efg-tools/efg/internal/daemon/multiuser"
	"github.com/efg-tools/efg/internal/service"
)

// allUsersOptions are the options of root's daemon that serves all users.
type allUsersOptions struct {
	on       bool
	children int
	idle     time.Duration
}

func (o *allUsersOptions) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.BoolVar(&o.on, "all-users", false, "as root: record the programs of all users, each with their own daemon")
	f.IntVar(&o.children, "children", 64, "with --all-users: maximum number of users' daemons at a time")
	f.DurationVar(&o.idle, "idle", 5*time.Minute, "with --all-users: how long to keep an idle daemon of a user")
}

// unused rejects flags that require --all-users.
func (o *allUsersOptions) unused(cmd *cobra.Command) error {
	for _, name := range []string{"children", "idle"} {
		if cmd.Flags().Changed(name) {
			return usageError("--%s: is for --all-users", name)
		}
	}
	return nil
}

// forChildren are the flags that a service passes to its children.
var forChildren = []string{"quiet", "keep", "max", "merge", "time", "polls", "queries", "buffers", "callpath", "http", "http-host"}

// childArgs are the given flags that are meant for children.
func childArgs(cmd *cobra.Command) []string {
	var args []string
	cmd.Flags().Visit(func(f *pflag.Flag) {
		switch {
		case !slices.Contains(forChildren, f.Name):
		case f.Value.Type() == "stringSlice":
			list, _ := cmd.Flags().GetStringSlice(f.Name)
			args = append(args, "--"+f.Name+"="+strings.Join(list, ","))
		default:
			args = append(args, "--"+f.Name+"="+f.Value.String())
		}
	})
	return args
}

// checkAllUsers rejects options that cannot apply to all users.
func (opt *daemonOptions) checkAllUsers(cmd *cobra.Command) error {
	if _, err := opt.check(); err != nil {
		return err
	}
	for _, name := range []string{"token", "tls-cert", "tls-key", "tables", "child"} {
		if cmd.Flags().Changed(name) {
			return usageError("--%s: cannot be set for all users at once", name)
		}
	}
	if a := opt.http.address; a != "off" && a != "127.0.0.1:0" {
		return usageError("--http %s: the users' pages cannot share one address: want 127.0.0.1:0, which gives each user a port, or off", a)
	}
	return nil
}

func runAllUsers(ctx context.Context, opt *daemonOptions, cmd *cobra.Command) error {
	if err := opt.checkAllUsers(cmd); err != nil {
		return err
	}
	restoreCollection()
	program, err := os.Executable()
	if err != nil {
		return err
	}
	given, err := activation.Listeners()
	if err != nil {
		return usageError("sockets of systemd: %w", err)
	}
	if os.Getenv("XDG_CACHE_HOME") == "" {
		os.Setenv("XDG_CACHE_HOME", "/var/cache") // root's own is not readable by others
	}
	errOut := cmd.ErrOrStderr()
	log := slog.New(slog.NewTextHandler(errOut, nil))
	notify := newNotifier(log)
	defer context.AfterFunc(ctx, notify.stopping)()
	build := newBackgroundBuild(ctx, errOut)
	defer build.end()
	o := multiuser.Options{
		Dir: service.Dir(), Store: opt.store, Spools: opt.spool, Program: program, Args: childArgs(cmd), Children: opt.all.children, Idle: opt.all.idle,
		Settings: func() ([][2]string, error) {
			backs, building, err := build.now()
			if err == nil {
				err = forAll(backs)
			}
			return opt.howToRecord((&hook.Hook{Backs: backs}).BackVar(), building), err
		},
		Given: given, Log: log, Output: errOut, Ready: notify.text, Works: notify.works,
	}
	if o.Store == "" {
		o.Store = multiuser.DefaultStore
	}
	if o.Spools == "" {
		o.Spools = service.DefaultSpools
	}
	if err := multiuser.Run(ctx, o); err != nil {
		return &exitError{2, err}
	}
	return nil
}

// forAll checks that all users can load back ends.
func forAll(backs []hook.Back) error {
	for _, b := range backs {
		for path, need := b.File, os.FileMode(0o004); path != "/"; path, need = filepath.Dir(path), 0o001 {
			fi, err := os.Stat(path)
			if err != nil {
				return err
			}
			if fi.Mode()&need == 0 {
				return fmt.Errorf("%s: users cannot read what is in %s: set XDG_CACHE_HOME to a directory that they can read", b.File, path)
			}
		}
	}
	return nil
}
