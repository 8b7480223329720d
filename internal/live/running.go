package live

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Running tells whether a process of this machine still has a segment in its memory.
// The number of a process may be given anew, and the process may be a zombie: then it
// has not.
func Running(path string) bool {
	host, pid, ok := parseName(filepath.Base(path))
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

// parseName reads a segment's name, HOST.PID.TIME.seg.
func parseName(name string) (host string, pid int, ok bool) {
	parts := strings.Split(name, ".")
	if len(parts) < 4 {
		return "", 0, false
	}
	pid, err := strconv.Atoi(parts[len(parts)-3])
	return strings.Join(parts[:len(parts)-3], "."), pid, err == nil && pid > 0
}
