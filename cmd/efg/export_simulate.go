package main

import (
	"errors"
	"io"

	"github.com/efg-tools/efg/internal/export"
	"github.com/efg-tools/efg/internal/export/simulate"
)

var exportGoal = exportFormat{
	name:  "goal",
	about: "a schedule of a whole run for LogGOPSim and ATLAHS, which simulate networks: collective\ncalls as messages",
	write: func(out io.Writer, job *export.Job) error {
		return unsimulated("goal", simulate.WriteGOAL(out, job))
	},
	what: []string{simulate.Supported},
}

var exportLiballprof = exportFormat{
	name:  "liballprof",
	about: "a directory with traces as liballprof writes them, for LogGOPSim's Schedgen",
	writeDir: func(dir string, job *export.Job) error {
		return unsimulated("liballprof", simulate.WriteLiballprof(dir, job))
	},
	owned: simulate.OwnsLiballprof,
	what:  []string{simulate.Supported},
}

var exportSimGrid = exportFormat{
	name:  "simgrid",
	about: "a directory with time-independent traces of a whole run, for smpirun -replay of SimGrid",
	writeDir: func(dir string, job *export.Job) error {
		return unsimulated("simgrid", simulate.WriteSimGrid(dir, job))
	},
	owned: simulate.OwnsSimGrid,
	what:  []string{simulate.Supported},
}

func unsimulated(format string, err error) error {
	if errors.Is(err, simulate.ErrUnsuitable) {
		return usageError("--format %s: %w", format, err)
	}
	return err
}
