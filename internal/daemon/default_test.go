package daemon

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// A daemon started by the user takes precedence over the service for all users, and the
// environment over both.
func TestDefaults(t *testing.T) {
	base := t.TempDir()
	service := filepath.Join(base, "service")
	site := fmt.Sprintf("EFG_SPOOLS=%s/spools\nEFG_STORE=%s/stores/%%U\n", base, base)
	for _, err := range []error{os.Mkdir(service, 0o755), os.WriteFile(filepath.Join(service, "site"), []byte(site), 0o644)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("EFG_STORE", "")
	t.Setenv("EFG_SPOOL", "")
	t.Setenv("XDG_STATE_HOME", filepath.Join(base, "state"))
	check := func(when, want string) {
		t.Helper()
		if got, err := DefaultStore(); err != nil || got != filepath.Join(base, want) {
			t.Errorf("%s: store %s, %v, want %s", when, got, err, want)
		}
	}
	t.Setenv("EFG_SERVICE", filepath.Join(base, "none"))
	check("no service", "state/efg")
	own := DefaultSpool()
	if own != OwnSpool() {
		t.Errorf("no service: spool %s", own)
	}
	t.Setenv("EFG_SERVICE", service)
	check("a service", fmt.Sprintf("stores/%d", os.Geteuid()))
	if !(&Spool{own}).Published() {
		if got, want := DefaultSpool(), fmt.Sprintf("%s/spools/efg-%d", base, os.Geteuid()); got != want {
			t.Errorf("a service: spool %s, want %s", got, want)
		}
	}
	store, err := OpenStore(filepath.Join(base, "state", "efg"), true)
	if err != nil {
		t.Fatal(err)
	}
	lock, err := store.lock("node")
	if err != nil {
		t.Fatal(err)
	}
	check("a daemon of the user's", "state/efg")
	lock.Close()
	check("its end", fmt.Sprintf("stores/%d", os.Geteuid()))
	t.Setenv("EFG_STORE", filepath.Join(base, "mine"))
	t.Setenv("EFG_SPOOL", filepath.Join(base, "spool"))
	check("the environment", "mine")
	if got := DefaultSpool(); got != filepath.Join(base, "spool") {
		t.Errorf("the environment: spool %s", got)
	}
}
