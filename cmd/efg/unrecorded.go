package main

import (
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"

	"github.com/efg-tools/efg/hook"
)

// runUnrecorded runs a command that cannot be recorded, and says so, unless recording is
// required or a signal was meant to end everything.
func runUnrecorded(cmd *exec.Cmd, why error, opt *runOptions, errOut io.Writer) error {
	if opt.require || errors.As(why, new(*signalError)) {
		return why
	}
	fmt.Fprintf(errOut, "efg: %s: the program runs unrecorded%s\n", inLine(why), keepOld(opt.output))
	signals := holdSignals()
	defer signals.release()
	status, err := runCommand(cmd, signals)
	if err != nil {
		return usageError("%s: %w", cmd.Args[0], reason(err))
	}
	if status != 0 {
		return &exitError{status: status}
	}
	return nil
}

// inLine is an error as one line.
func inLine(err error) string {
	var failed *hook.BuildError
	if errors.As(err, &failed) {
		return failed.Brief()
	}
	return strings.ReplaceAll(strings.TrimSpace(err.Error()), "\n", "; ")
}
