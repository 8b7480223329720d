package live

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/efg-tools/efg/internal/segment"
)

// A process that maps its segment only after it was looked for has not ended: others that wait
// for it do not wait in vain.
func TestStartingProcess(t *testing.T) {
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), fmt.Sprintf("%s.%d.1.seg", host, os.Getpid()))
	if err := os.WriteFile(path, make([]byte, os.Getpagesize()), 0o600); err != nil {
		t.Fatal(err)
	}
	r := &Rank{Segment: &segment.Segment{}, Path: path}
	if r.lookAgain(); r.Running {
		t.Error("running before it maps its segment")
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	mapped, err := unix.Mmap(int(f.Fd()), 0, os.Getpagesize(), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Munmap(mapped)
	if r.lookAgain(); !r.Running {
		t.Error("not running though it maps its segment")
	}
}
