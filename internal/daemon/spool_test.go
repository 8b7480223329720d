package daemon

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A spool into which nothing would be recorded is rejected, with the command that repairs it.
func TestSpoolRepair(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "spool")
	repair := func(want string) {
		t.Helper()
		_, err := OpenSpool(dir, true)
		if err == nil || !strings.HasPrefix(err.Error(), dir+": ") {
			t.Fatalf("%v", err)
		}
		command := err.Error()[strings.LastIndex(err.Error(), ": ")+2:]
		if command != want {
			t.Fatalf("%v: want %s", err, want)
		}
		if out, err := exec.Command("sh", "-c", command).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		if _, err := OpenSpool(dir, true); err != nil {
			t.Errorf("after %s: %v", command, err)
		}
	}
	if _, err := OpenSpool(dir, true); err != nil {
		t.Fatal(err)
	}
	for _, mode := range []os.FileMode{0o701, 0o750, 0o777} {
		if err := os.Chmod(dir, mode); err != nil {
			t.Fatal(err)
		}
		repair("chmod 700 " + dir)
	}
	if err := errors.Join(os.Remove(dir), os.WriteFile(dir, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	repair("rm " + dir)
	if os.Geteuid() != 0 {
		return
	}
	if err := os.Chown(dir, 1, 1); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenSpool(dir, true); err == nil || !strings.Contains(err.Error(), "belongs to another user, ") || !strings.Contains(err.Error(), "rm -r "+dir) {
		t.Errorf("%v", err)
	}
}
