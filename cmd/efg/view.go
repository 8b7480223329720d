package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"os/signal"
	"slices"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/efg-tools/efg/internal/httpapi"
	"github.com/efg-tools/efg/internal/web"
)

func newView() *cobra.Command {
	var opt httpOptions
	cmd := &cobra.Command{
		Use:   "view FILE...",
		Short: "Show runs as a web page on this machine",
		Long: `Show run files as a web page, and answer queries about them over HTTP, until it is
interrupted. It prints the address to open. Only this machine can reach it, and only with
the token in the address. See docs/api.md.`,
		Example: `  efg view jacobi.efg
  efg view jacobi.efg traced.efg`,
		Args:              argCount(cobra.MinimumNArgs(1)),
		ValidArgsFunction: completeRuns(math.MaxInt, false),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGINT, syscall.SIGTERM)
			defer stop()
			return view(ctx, args, &opt, cmd.OutOrStdout())
		},
	}
	opt.flags(cmd)
	return cmd
}

func view(ctx context.Context, args []string, opt *httpOptions, out io.Writer) error {
	if opt.address == "off" {
		return usageError("--http off: nothing to serve")
	}
	where, err := opt.listening()
	if err != nil {
		return err
	}
	token := httpapi.NewToken()
	if opt.token != "" {
		if token, err = httpapi.ReadToken(opt.token); err != nil {
			return usageError("--token: %w", err)
		}
	}
	files, err := viewed(args)
	if err != nil {
		return err
	}
	l, err := where.Listen()
	if err != nil {
		return usageError("%w", err)
	}
	s := httpapi.New(httpapi.Options{Runs: files, Page: web.Files(), Token: token, Hosts: opt.hosts, Beyond: l.Beyond, Sources: !l.Beyond, Workers: newWorkers(), Fleet: openFleetCache()})
	fmt.Fprintln(out, withToken(l.Address(), token))
	return l.Serve(ctx, s)
}

// viewed opens the files to be shown.
func viewed(args []string) (*httpapi.Files, error) {
	paths := slices.Clone(args)
	for i, arg := range args {
		r, err := openRun(arg) // for its errors
		if err != nil {
			return nil, err
		}
		r.Close()
		if _, err := os.Stat(arg); errors.Is(err, fs.ErrNotExist) {
			if paths[i], err = findRun(arg); err != nil {
				return nil, usageError("%s: %w", arg, err)
			}
		}
	}
	return httpapi.NewFiles(args, paths)
}
