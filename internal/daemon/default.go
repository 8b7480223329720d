package daemon

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/efg-tools/efg/internal/service"
)

// DefaultSpool is the spool of a daemon started by the user, or the one that the machine's
// service for all users names, or OwnSpool.
func DefaultSpool() string {
	own := &Spool{OwnSpool()}
	if s, ok := service.Find(); ok && os.Getenv("EFG_SPOOL") == "" && !own.Published() {
		return s.Spool(uint32(os.Geteuid()))
	}
	return own.Dir
}

// OwnSpool is the spool in which the hook looks for the user's daemon: $EFG_SPOOL, or
// /dev/shm/efg-UID.
func OwnSpool() string {
	if dir := os.Getenv("EFG_SPOOL"); dir != "" {
		return dir
	}
	return filepath.Join(service.DefaultSpools, service.SpoolName(uint32(os.Geteuid())))
}

// DefaultStore is $EFG_STORE, or the store of a daemon started by the user, or that of the
// machine's service for all users, or OwnStore.
func DefaultStore() (string, error) {
	if dir := os.Getenv("EFG_STORE"); dir != "" {
		return dir, nil
	}
	own, err := OwnStore()
	s, ok := service.Find()
	if !ok || err == nil && (&Store{own}).Served() {
		return own, err
	}
	return s.MyStore()
}

// OwnStore is the default store of a daemon: $EFG_STORE, or efg in the user's state directory.
func OwnStore() (string, error) {
	if dir := os.Getenv("EFG_STORE"); dir != "" {
		return dir, nil
	}
	if dir := os.Getenv("XDG_STATE_HOME"); dir != "" {
		return filepath.Join(dir, "efg"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("no directory for the store: %w; set EFG_STORE", err)
	}
	return filepath.Join(home, ".local", "state", "efg"), nil
}

// InUseError: the store or spool is in use by another daemon.
type InUseError struct{ text string }

func (e *InUseError) Error() string { return e.text }
