package main

import (
	"fmt"

	"github.com/efg-tools/efg/efg"
)

// traceRuns is the number of recordings of a program that are measured.
const traceRuns = 3

// traceBytes is the target for the bytes of the run file per event for times.
const traceBytes = 1.3

// traces writes recordings with and without the times of each event.
func traces(b *bench) error {
	fmt.Printf("\n## Times of each event in the file\n\nBytes that `--time trace` (5 %%) adds to the file with time statistics. "+
		"Medians of %d recordings. Aim: %.1f an event.\n\n", traceRuns, traceBytes)
	fmt.Println("| program | ranks | events | without | with | bytes an event | |\n|---|---:|---:|---:|---:|---:|---|")
	for _, r := range realPrograms {
		var events, without, with, each []float64
		for range traceRuns {
			n, less, more, err := b.traceSizes(r)
			if err != nil {
				return fmt.Errorf("%s: %w", r.name, err)
			}
			events, without, with = append(events, n), append(without, less), append(with, more)
			each = append(each, (more-less)/n)
		}
		fmt.Printf("| %s | %d | %.0f | %.0f | %.0f | %.2f | %s |\n", r.name, r.size(), median(events), median(without), median(with),
			median(each), met(median(each) <= traceBytes))
	}
	return nil
}

// traceSizes records a program and returns its number of events and the sizes of
// its file without and with their times.
func (b *bench) traceSizes(r recording) (events, without, with float64, err error) {
	file, err := b.record(r, "trace")
	if err != nil {
		return 0, 0, 0, err
	}
	procs, meta, err := processes(file)
	if err != nil {
		return 0, 0, 0, err
	}
	more, err := b.written(procs, meta)
	if err != nil {
		return 0, 0, 0, err
	}
	for _, p := range procs {
		for i := range p.Streams {
			events += float64(p.Streams[i].Events)
			withoutTrace(&p.Streams[i])
		}
	}
	less, err := b.written(procs, meta)
	return events, float64(less), float64(more), err
}

// withoutTrace removes the times of each event from a stream.
func withoutTrace(s *efg.Stream) {
	s.Trace = nil
	for i := range s.Nodes {
		s.Nodes[i].Times = nil
	}
}
