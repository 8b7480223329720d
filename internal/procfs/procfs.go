// Package procfs reads the state of processes from Linux's /proc.
package procfs

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// Process identifies a process of this machine uniquely: numbers are reused, but not with the
// same start.
type Process struct {
	PID   int    `json:"pid"`
	Start uint64 `json:"start"` // clock ticks since the machine was started
}

// Status is the content of /proc/PID/stat.
type Status struct {
	Process
	Name   string
	Parent int
	Gone   bool // a zombie
}

// ReadStatus reads /proc/PID/stat. It is not ok if there is no such process.
func ReadStatus(pid int) (s Status, ok bool) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return s, false
	}
	open, end := bytes.IndexByte(data, '('), bytes.LastIndexByte(data, ')')
	if open < 0 || end < open {
		return s, false
	}
	fields := strings.Fields(string(data[end+1:]))
	const state, parent, start = 0, 1, 19 // after the name
	if len(fields) <= start {
		return s, false
	}
	s.Name, s.PID, s.Gone = string(data[open+1:end]), pid, fields[state] == "Z" || fields[state] == "X"
	s.Parent, _ = strconv.Atoi(fields[parent])
	s.Start, err = strconv.ParseUint(fields[start], 10, 64)
	return s, err == nil
}

// Command is the command line of a process; nil if it is unknown.
func Command(pid int) []string {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil || len(data) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(data), "\x00"), "\x00")
}

// Running reports whether the process exists and is not a zombie.
func (p Process) Running() bool {
	s, ok := ReadStatus(p.PID)
	return ok && !s.Gone && s.Start == p.Start
}
