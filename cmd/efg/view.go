package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"os/signal"
	"slices"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/efg-tools/efg/api"
	"github.com/efg-tools/efg/web"
)

// httpOptions say where and to whom HTTP is spoken.
type httpOptions struct {
	address, token, cert, key string
	hosts                     []string
}

func (o *httpOptions) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.address, "http", "127.0.0.1:0", "address of the web page and API; port 0: a free one; off: none")
	f.StringVar(&o.token, "token", "", "`FILE` with the token that who asks must have (default one that is made)")
	f.StringVar(&o.cert, "tls-cert", "", "`FILE` with the certificate for https")
	f.StringVar(&o.key, "tls-key", "", "`FILE` with the certificate's key")
	f.StringSliceVar(&o.hosts, "http-host", nil, "further names by which browsers may call this machine")
}

// listening checks the flags.
func (o *httpOptions) listening() (*api.Listening, error) {
	l := &api.Listening{TCP: o.address, Cert: o.cert, Key: o.key}
	if (o.cert == "") != (o.key == "") {
		return nil, usageError("--tls-cert and --tls-key: want both")
	}
	if o.address == "off" {
		l.TCP = ""
		return l, nil
	}
	inside, err := api.Loopback(o.address)
	if err != nil {
		return nil, usageError("--http %s: %w", o.address, err)
	}
	if !inside && o.token == "" {
		return nil, usageError("--http %s: can be reached from other machines: want --token FILE", o.address)
	}
	return l, nil
}

// withToken is the address that lets a browser in.
func withToken(address, token string) string { return address + "?token=" + url.QueryEscape(token) }

func newView() *cobra.Command {
	var opt httpOptions
	cmd := &cobra.Command{
		Use:   "view FILE...",
		Short: "Show runs as a web page on this machine",
		Long: `Show run files as a web page, and answer questions about them over HTTP, until it is
interrupted. It prints the address to open. Only this machine can reach it, and only who
has the token in the address; docs/api.md tells more.`,
		Args: argCount(cobra.MinimumNArgs(1)),
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
		return usageError("--http off: then there is nothing to do")
	}
	where, err := opt.listening()
	if err != nil {
		return err
	}
	token := api.NewToken()
	if opt.token != "" {
		if token, err = api.ReadToken(opt.token); err != nil {
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
	s := api.New(api.Options{Runs: files, Page: web.Files(), Token: token, Hosts: opt.hosts, Beyond: l.Beyond})
	fmt.Fprintln(out, withToken(l.Address(), token))
	return l.Serve(ctx, s)
}

// viewed opens what is to be shown.
func viewed(args []string) (*api.Files, error) {
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
	return api.NewFiles(args, paths)
}
