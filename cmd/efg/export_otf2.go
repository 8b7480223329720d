package main

import (
	"errors"

	"github.com/efg-tools/efg/internal/export"
	"github.com/efg-tools/efg/internal/export/otf2"
)

var exportOTF2 = exportFormat{
	name:     "otf2",
	about:    "a directory with an archive of OTF2 3.0 (Vampir, Scalasca, Pipit), for runs with the times of\neach call",
	writeDir: writeOTF2,
	owned:    otf2.Owns,
	times:    true,
	compat:   true,
	matches:  always,
	what:     []string{otf2.Arguments, otf2.Callsites, otf2.Numbers},
}

func writeOTF2(dir string, job *export.Job) error {
	err := otf2.Write(dir, job)
	if errors.Is(err, otf2.ErrNoTimes) {
		return usageError("--format otf2: %w", err)
	}
	return err
}
