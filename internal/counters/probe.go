package counters

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"syscall"
	"unsafe"
)

// perfAttr is the beginning of struct perf_event_attr, of its first version.
type perfAttr struct {
	kind, size           uint32
	config               uint64
	samplePeriod         uint64
	sampleType           uint64
	readFormat           uint64
	flags                uint64
	wakeupEvents, bpType uint32
	bpAddr               uint64
}

const (
	excludeKernel = 1 << 5
	excludeHV     = 1 << 6
	closeOnExec   = 8
)

// open opens a perf event of this thread; tests replace it.
var open = func(c *Counter) error {
	a := perfAttr{kind: c.Source, size: uint32(unsafe.Sizeof(perfAttr{})), config: c.Config, flags: excludeKernel | excludeHV}
	if c.Source == software {
		a.flags = excludeHV
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	none := ^uintptr(0)
	fd, _, err := syscall.Syscall6(perfEventOpen, uintptr(unsafe.Pointer(&a)), 0, none, none, closeOnExec, 0)
	if err != 0 {
		return err
	}
	return syscall.Close(int(fd))
}

// Available divides counters into those that this machine has and that this user may read, and
// others. why is one line about the others, "" if there are none.
func Available(list []Counter) (usable []Counter, why string) {
	var missing []string
	var first error
	for i := range list {
		c := &list[i]
		if c.Source < usage {
			if err := open(c); err != nil {
				missing = append(missing, c.Name)
				if first == nil {
					first = err
				}
				continue
			}
		}
		usable = append(usable, *c)
	}
	if first == nil {
		return usable, ""
	}
	return usable, fmt.Sprintf("not counted: %s: %s", strings.Join(missing, ", "), explain(first))
}

// paranoid is a setting of the kernel.
const paranoid = "/proc/sys/kernel/perf_event_paranoid"

func explain(err error) string {
	switch {
	case errors.Is(err, syscall.ENOENT), errors.Is(err, syscall.EOPNOTSUPP), errors.Is(err, syscall.ENODEV):
		return "this machine has no such hardware counters (virtual machines often have none)"
	case errors.Is(err, syscall.EACCES), errors.Is(err, syscall.EPERM):
		if level, err := os.ReadFile(paranoid); err == nil {
			return fmt.Sprintf("perf events are not allowed (%s is %s; or the container forbids them)", paranoid, strings.TrimSpace(string(level)))
		}
		return "perf events are not allowed"
	case errors.Is(err, syscall.ENOSYS):
		return "the kernel, or the container, has no perf events"
	}
	return err.Error()
}
