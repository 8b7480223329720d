package main

import (
	"errors"

	"github.com/efg-tools/efg/internal/export"
	"github.com/efg-tools/efg/internal/export/hdtrace"
)

var exportHDTrace = exportFormat{
	name:     "hdtrace",
	about:    "a directory with XML traces and their description for PIOsimHD and HDJumpshot, for runs with the\ntimes of each call",
	writeDir: writeHDTrace,
	owned:    hdtrace.Owns,
	times:    true,
	matches:  unlessRaw,
	what:     []string{hdtrace.Attributes, hdtrace.Requests},
}

func writeHDTrace(dir string, job *export.Job) error {
	err := hdtrace.Write(dir, job)
	if errors.Is(err, hdtrace.ErrNoTimes) {
		return usageError("--format hdtrace: %w", err)
	}
	return err
}
