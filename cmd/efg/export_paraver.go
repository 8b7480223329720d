package main

import (
	"errors"

	"github.com/efg-tools/efg/internal/export"
	"github.com/efg-tools/efg/internal/export/paraver"
)

var exportParaver = exportFormat{
	name:     "paraver",
	about:    "a directory with a trace for Paraver and Dimemas, for runs with the times of each call",
	writeDir: writeParaver,
	owned:    paraver.Owns,
	times:    true,
	matches:  paraverMatches,
	what:     []string{paraver.States, paraver.Calls, paraver.Messages},
}

func writeParaver(dir string, job *export.Job) error {
	err := paraver.Write(dir, job)
	if errors.Is(err, paraver.ErrNoTimes) {
		return usageError("--format paraver: %w", err)
	}
	return err
}
