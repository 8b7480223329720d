package httpapi

import (
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"

	"golang.org/x/sys/unix"
)

// limitSelf limits the memory of this process, makes it the first to be killed when the machine
// runs out of memory, and lowers its priority.
func limitSelf(memory int64) {
	if memory > 0 {
		debug.SetMemoryLimit(memory / 10 * 9) // collect garbage harder before it fails
		// If the system does not let a process limit itself, only the above applies.
		_ = unix.Setrlimit(unix.RLIMIT_DATA, &unix.Rlimit{Cur: uint64(memory), Max: uint64(memory)})
	}
	os.WriteFile("/proc/self/oom_score_adj", []byte("800"), 0)
	const nice = 10
	tasks, _ := filepath.Glob("/proc/self/task/*") // a thread inherits the niceness of the one that starts it
	for _, task := range tasks {
		if tid, err := strconv.Atoi(filepath.Base(task)); err == nil {
			_ = unix.Setpriority(unix.PRIO_PROCESS, tid, nice)
		}
	}
}
