package httpapi

import (
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"

	"golang.org/x/sys/unix"
)

// limitSelf lets this process take only so much memory, be the first that is ended when
// the machine has none left, and work only when others do not.
func limitSelf(memory int64) {
	if memory > 0 {
		debug.SetMemoryLimit(memory / 10 * 9) // collect harder before it fails
		// Where the system does not let a process limit itself, the above is what there is.
		_ = unix.Setrlimit(unix.RLIMIT_DATA, &unix.Rlimit{Cur: uint64(memory), Max: uint64(memory)})
	}
	os.WriteFile("/proc/self/oom_score_adj", []byte("800"), 0)
	const nice = 10
	tasks, _ := filepath.Glob("/proc/self/task/*") // a thread is as nice as the one that starts it
	for _, task := range tasks {
		if tid, err := strconv.Atoi(filepath.Base(task)); err == nil {
			_ = unix.Setpriority(unix.PRIO_PROCESS, tid, nice)
		}
	}
}
