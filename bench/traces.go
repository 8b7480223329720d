package main

import (
	"fmt"

	"github.com/efg-tools/efg/efg"
)

// traceRuns is the number of recordings of a program that are measured.
const traceRuns = 3

// traceModes are the modes that are measured, with the targets for the bytes of the run file per
// event for times.
var traceModes = []struct {
	time  string
	bytes float64
}{{"trace", 1.8}, {"trace=exact", 3.5}}

// traces writes recordings with and without the times of each event.
func traces(b *bench) error {
	fmt.Printf("\n## Times of each event in the file\n\nBytes that the times of each event add to the file with time statistics. "+
		"Medians of %d recordings.\n\n", traceRuns)
	fmt.Println("| program | ranks | --time | events | without | with | bytes an event | target | |\n|---|---:|---|---:|---:|---:|---:|---:|---|")
	for _, r := range realPrograms {
		for _, m := range traceModes {
			if err := b.traceRow(r, m.time, m.bytes); err != nil {
				return fmt.Errorf("%s: %w", r.name, err)
			}
		}
	}
	return nil
}

// traceRow writes the sizes of recordings of a program in a mode.
func (b *bench) traceRow(r recording, mode string, target float64) error {
	var events, without, with, each []float64
	for range traceRuns {
		n, less, more, err := b.traceSizes(r, mode)
		if err != nil {
			return err
		}
		events, without, with = append(events, n), append(without, less), append(with, more)
		each = append(each, (more-less)/n)
	}
	fmt.Printf("| %s | %d | %s | %.0f | %.0f | %.0f | %.2f | %.1f | %s |\n", r.name, r.size(), mode, median(events), median(without), median(with),
		median(each), target, met(median(each) <= target))
	return nil
}

// traceSizes records a program and returns its number of events and the sizes of
// its file without and with their times.
func (b *bench) traceSizes(r recording, mode string) (events, without, with float64, err error) {
	file, err := b.record(r, mode)
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
