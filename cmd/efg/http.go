package main

import (
	"context"
	"log/slog"
	"net/url"
	"path/filepath"
	"sync"

	"github.com/coreos/go-systemd/v22/activation"
	"github.com/spf13/cobra"

	"github.com/efg-tools/efg/internal/daemon"
	"github.com/efg-tools/efg/internal/httpapi"
	"github.com/efg-tools/efg/internal/web"
)

// httpOptions configure where and to whom HTTP is served.
type httpOptions struct {
	address, token, cert, key string
	hosts                     []string
	child                     *childMode // nil for a daemon that no service has started
}

func (o *httpOptions) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.address, "http", "127.0.0.1:0", "address of the web page and API; port 0: any free port; off: none")
	f.StringVar(&o.token, "token", "", "token `FILE`: the token that clients must send (default: a new token)")
	f.StringVar(&o.cert, "tls-cert", "", "`FILE` with the certificate for https")
	f.StringVar(&o.key, "tls-key", "", "`FILE` with the certificate's key")
	f.StringSliceVar(&o.hosts, "http-host", nil, "additional host names that browsers may use for this machine")
}

// listening checks the flags.
func (o *httpOptions) listening() (*httpapi.Listening, error) {
	l := &httpapi.Listening{TCP: o.address, Cert: o.cert, Key: o.key}
	if (o.cert == "") != (o.key == "") {
		return nil, usageError("--tls-cert and --tls-key: want both")
	}
	if o.address == "off" || o.address == "" {
		l.TCP = ""
		return l, nil
	}
	inside, err := httpapi.Loopback(o.address)
	if err != nil {
		return nil, usageError("--http %s: %w", o.address, err)
	}
	if !inside && o.token == "" {
		return nil, usageError("--http %s: is reachable from other machines: want --token FILE", o.address)
	}
	return l, nil
}

// withToken returns the address with the token, for browsers.
func withToken(address, token string) string { return address + "?token=" + url.QueryEscape(token) }

// serveDaemon serves a daemon's runs over TCP with a persistent token, and at a socket in its
// spool. It returns the addresses, and a function that stops serving.
func (o *httpOptions) serveDaemon(store *daemon.Store, spool *daemon.Spool, source httpapi.Runs, metrics *httpapi.Metrics, log *slog.Logger) (daemon.Served, func(), error) {
	none := daemon.Served{}
	where, err := o.listening()
	if err != nil {
		return none, nil, err
	}
	where.Unix = spool.HTTPSocket()
	if where.Given, err = activation.Listeners(); err != nil {
		return none, nil, usageError("sockets of systemd: %w", err)
	}
	file, read := o.tokenFile(store), httpapi.ReadToken
	if o.token == "" {
		read = httpapi.KeepToken
	}
	if o.child != nil {
		if err := o.child.checkStart(where, file); err != nil {
			return none, nil, err
		}
	}
	token, err := read(file)
	if err != nil {
		return none, nil, usageError("%w", err)
	}
	l, err := where.Listen()
	if err != nil {
		return none, nil, usageError("%w", err)
	}
	if l.Beyond && o.token == "" { // systemd's
		l.Close()
		return none, nil, usageError("a socket of systemd is reachable from other machines: want --token FILE")
	}
	s := httpapi.New(httpapi.Options{
		Runs: source, Page: web.Files(), Token: token, Hosts: o.hosts, Beyond: l.Beyond, Sources: !l.Beyond && o.child == nil, Metrics: metrics, Workers: metrics.Workers, Fleet: openFleetCache(), Scratch: store.Dir, Log: log,
	})
	if o.child != nil {
		o.child.server = s
	}
	ctx, cancel := context.WithCancel(context.Background())
	var work sync.WaitGroup
	work.Go(func() {
		if err := l.Serve(ctx, s); err != nil {
			log.Error("HTTP has ended", "problem", err)
		}
	})
	work.Go(func() { metrics.Work(ctx) })
	served := daemon.Served{HTTP: l.Address(), TokenFile: file, Socket: where.Unix}
	if served.HTTP != "" {
		log.Info("page", "address", served.HTTP, "token", "efg runs prints it") // logs may be readable by others
	}
	return served, func() { cancel(); work.Wait() }, nil
}

// tokenFile returns the given token file, or that of the store.
func (o *httpOptions) tokenFile(store *daemon.Store) string {
	if o.token == "" {
		return store.TokenFile()
	}
	path, err := filepath.Abs(o.token)
	if err != nil { // the working directory is gone
		return o.token
	}
	return path
}
