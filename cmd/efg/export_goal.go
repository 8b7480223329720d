package main

import (
	"errors"
	"io"

	"github.com/efg-tools/efg/internal/export"
	"github.com/efg-tools/efg/internal/export/goal"
)

var exportGoal = exportFormat{
	name:  "goal",
	about: "a schedule of a whole run for LogGOPSim and ATLAHS, which simulate networks: collective\ncalls as messages",
	write: func(out io.Writer, job *export.Job) error { return unsimulated("goal", goal.Write(out, job)) },
	what:  []string{goal.Supported},
}

var exportTraces = exportFormat{
	name:     "liballprof",
	about:    "a directory with traces as liballprof writes them, for LogGOPSim's Schedgen",
	writeDir: func(dir string, job *export.Job) error { return unsimulated("liballprof", goal.WriteTraces(dir, job)) },
	owned:    goal.OwnsTraces,
	what:     []string{goal.Supported},
}

func unsimulated(format string, err error) error {
	if errors.Is(err, goal.ErrUnsuitable) {
		return usageError("--format %s: %w", format, err)
	}
	return err
}
