package segment

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"unsafe"

	"github.com/efg-tools/efg/efg"
)

// A segment is being written while the process in its name has mapped it and its recording is
// not over. A process with that number is not sufficient: numbers are reused.
func TestBeingWritten(t *testing.T) {
	dir := t.TempDir()
	p := newProgram(7, 4)
	p.run(100)
	if out, err := feedCommand(feeder(t), dir, p.encode(), 6, "1").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	files, _ := filepath.Glob(filepath.Join(dir, "*.seg"))
	if len(files) != 1 {
		t.Fatalf("%d segments", len(files))
	}
	if BeingWritten(files[0]) {
		t.Error("that of a process that is gone")
	}
	data, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	setState := func(end efg.End) {
		binary.LittleEndian.PutUint32(data[unsafe.Offsetof(Header{}.State):], uint32(end))
	}
	host, _, _ := ProcessIn(filepath.Base(files[0]))
	mine := filepath.Join(dir, fmt.Sprintf("%s.%d.1.seg", host, os.Getpid()))
	setState(efg.EndOpen)
	if err := os.WriteFile(mine, data, 0o600); err != nil {
		t.Fatal(err)
	}
	if BeingWritten(mine) {
		t.Error("that of a process whose number another one has now")
	}
	f, err := os.OpenFile(mine, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	mapped, err := syscall.Mmap(int(f.Fd()), 0, len(data), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	if !BeingWritten(mine) {
		t.Error("not that of a process that records")
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	if !BeingWritten(filepath.Join(link, filepath.Base(mine))) {
		t.Error("not by another path")
	}
	setState(efg.EndFinalized)
	copy(mapped, data)
	if BeingWritten(mine) || !Running(mine) {
		t.Error("that of a process that goes on after MPI_Finalize")
	}
	setState(efg.EndOpen)
	copy(mapped, data)
	if err := syscall.Munmap(mapped); err != nil {
		t.Fatal(err)
	}
	if BeingWritten(mine) {
		t.Error("that of a process that does not have it any more")
	}
}

func TestProcessIn(t *testing.T) {
	for _, c := range []struct {
		name, host string
		pid        int
		ok         bool
	}{
		{"n1.77.1a2b.seg", "n1", 77, true},
		{"n1.cluster.org.77.1a2b.seg", "n1.cluster.org", 77, true},
		{"n1.x.1a2b.seg", "n1", 0, false},
		{"n1.-4.1a2b.seg", "n1", -4, false},
		{"77.1.seg", "", 0, false},
	} {
		host, pid, ok := ProcessIn(c.name)
		if host != c.host || pid != c.pid || ok != c.ok {
			t.Errorf("%s: %q, %d, %v", c.name, host, pid, ok)
		}
	}
}
