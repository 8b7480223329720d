package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os/exec"

	"github.com/spf13/cobra"

	"github.com/efg-tools/efg/internal/daemon"
	"github.com/efg-tools/efg/internal/httpapi"
)

func newOpen() *cobra.Command {
	var store, spool string
	var browser bool
	cmd := &cobra.Command{
		Use:   "open [RUN]",
		Short: "Print the address of a run in the daemon's web page",
		Long: `Print the address at which the running daemon shows a run or a running job, or the list
of all. The address contains the token that grants access: do not share it. To view a run
file without a daemon, see efg view.`,
		Example: `  efg open
  efg open last`,
		Args:              argCount(cobra.MaximumNArgs(1)),
		ValidArgsFunction: completeRuns(1, true),
		RunE: func(cmd *cobra.Command, args []string) error {
			name := ""
			if len(args) > 0 {
				name = args[0]
			}
			address, err := runAddress(store, spool, name)
			if err != nil {
				return err
			}
			fmt.Fprintln(cmd.OutOrStdout(), address)
			if browser {
				return startBrowser(address, cmd.ErrOrStderr())
			}
			return nil
		},
	}
	f := cmd.Flags()
	f.StringVar(&store, "store", "", "directory of the runs (default $EFG_STORE, or efg in the user's state directory)")
	f.StringVar(&spool, "spool", "", "directory of the segments (default: the daemon's)")
	f.BoolVar(&browser, "browser", false, "also open it with xdg-open")
	return cmd
}

// runAddress is the address of a run, or of the list if name is empty, in the page of the
// store's daemon.
func runAddress(dir, spool, name string) (string, error) {
	dir, err := storeDir(dir)
	if err != nil {
		return "", err
	}
	wakeService(dir)
	store, err := daemon.OpenStore(dir, false)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", usageError("%w", err)
	}
	if err != nil || !store.Served() {
		return "", usageError("no daemon is running for %s: efg view FILE shows a run without one", dir)
	}
	page := pageAddress(store)
	if page == "" {
		return "", usageError("the daemon for %s has no web page: it was started with --http off", dir)
	}
	if name == "" {
		return page, nil
	}
	// A running job, or a complete name; otherwise a prefix of one.
	if entry, err := httpapi.NewStore(store, spool).Find(name); err == nil && entry != nil {
		name = entry.Name
	} else {
		found, err := store.Find(name)
		if err != nil {
			return "", usageError("%s: %w", name, err)
		}
		name = found
	}
	return page + "#/runs/" + url.PathEscape(name), nil
}

// pageAddress returns the address of the web page of a store's daemon, with its token if that
// can be read; "" if there is none.
func pageAddress(store *daemon.Store) string {
	state, err := store.State()
	if err != nil || state.HTTP == "" {
		return ""
	}
	token, err := httpapi.ReadToken(state.TokenFile)
	if err != nil {
		return state.HTTP
	}
	return withToken(state.HTTP, token)
}

func startBrowser(address string, errOut io.Writer) error {
	cmd := exec.Command("xdg-open", address)
	cmd.Stderr = errOut
	if err := cmd.Run(); err != nil {
		return &exitError{1, fmt.Errorf("xdg-open: %w", err)}
	}
	return nil
}
