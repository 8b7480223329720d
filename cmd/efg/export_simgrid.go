package main

import (
	"errors"

	"github.com/efg-tools/efg/internal/export"
	"github.com/efg-tools/efg/internal/export/simgrid"
)

var exportSimGrid = exportFormat{
	name:     "simgrid",
	about:    "a directory with time-independent traces of a whole run, for smpirun -replay of SimGrid",
	writeDir: writeSimGrid,
	owned:    simgrid.Owns,
	what:     []string{simgrid.Supported},
}

func writeSimGrid(dir string, job *export.Job) error {
	err := simgrid.Write(dir, job)
	if errors.Is(err, simgrid.ErrUnsuitable) {
		return usageError("--format simgrid: %w", err)
	}
	return err
}
