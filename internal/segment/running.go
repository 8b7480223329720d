package segment

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/efg-tools/efg/efg"
)

// BeingWritten reports whether a process of this machine still records into a segment:
// it is running, and was neither finalized nor has it exited.
func BeingWritten(path string) bool {
	if !Running(path) {
		return false
	}
	h, err := ReadHeader(path)
	return err != nil || efg.End(h.State) == efg.EndOpen
}

// Running reports whether a process of this machine has mapped the segment. A process that
// merely reuses the number of the segment's process has not, nor has a zombie.
func Running(path string) bool {
	host, pid, ok := ProcessIn(filepath.Base(path))
	if here, err := os.Hostname(); !ok || err != nil || host != strings.ReplaceAll(here, "/", "_") {
		return false
	}
	f, err := os.Open(fmt.Sprintf("/proc/%d/maps", pid))
	if err != nil {
		return false
	}
	defer f.Close()
	abs, err := filepath.Abs(path)
	if err == nil {
		abs, err = filepath.EvalSymlinks(abs)
	}
	if err != nil {
		return false
	}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if strings.HasSuffix(lines.Text(), " "+abs) {
			return true
		}
	}
	return false
}

// ProcessIn parses the host and the process number in a segment's name, HOST.PID.TIME.seg.
func ProcessIn(name string) (host string, pid int, ok bool) {
	parts := strings.Split(name, ".")
	if len(parts) < 4 {
		return "", 0, false
	}
	pid, err := strconv.Atoi(parts[len(parts)-3])
	return strings.Join(parts[:len(parts)-3], "."), pid, err == nil && pid > 0
}
