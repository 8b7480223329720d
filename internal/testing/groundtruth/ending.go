package groundtruth

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"
)

// markVar is in the environment of everything that a run starts. Launchers start ranks in
// sessions of their own, which may outlive the launchers: nothing else identifies these
// processes.
const markVar = "EFG_TEST_RUN"

var runs atomic.Int64

// newMark returns a value that distinguishes the processes of a run from all others.
func newMark() string {
	return fmt.Sprintf("%s=%d.%d.%d", markVar, os.Getpid(), time.Now().UnixNano(), runs.Add(1))
}

// marked lists the processes with a mark in their environment. Zombies have none.
func marked(mark string) (pids []int) {
	files, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		return nil // the pattern is valid
	}
	for _, f := range files {
		env, err := os.ReadFile(f)
		if err != nil {
			continue // it has ended
		}
		for _, v := range bytes.Split(env, []byte{0}) {
			if string(v) == mark {
				if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(f))); err == nil {
					pids = append(pids, pid)
				}
				break
			}
		}
	}
	return pids
}

// endAll kills the processes with a mark, and those that they start meanwhile.
func endAll(mark string) error {
	for range 1000 {
		pids := marked(mark)
		if len(pids) == 0 {
			return nil
		}
		for _, pid := range pids {
			syscall.Kill(pid, syscall.SIGKILL) // unless it has ended
		}
		time.Sleep(10 * time.Millisecond)
	}
	return fmt.Errorf("processes %v do not end", marked(mark))
}
