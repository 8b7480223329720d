package main

import (
	"fmt"
	"path/filepath"
	"time"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/reconstruct"
)

// read measures reconstruction, on one core.
func read(b *bench) error {
	m := b.mpis[0]
	exe, err := b.build(m, "bench/mpi/calls.c")
	if err != nil {
		return err
	}
	file := filepath.Join(b.dir, "read.efg")
	if _, err := b.output(b.efg, "run", "-o", file, "--", exe, "six", "1", "6000000"); err != nil {
		return err
	}
	fmt.Printf("\n## Reconstruction\n\nMillion events a second, one core, of a loop of six calls.\n\n")
	var walk, lines []float64
	for range b.pairs {
		w, err := eventsPerSecond(file, func(*reconstruct.Event) {})
		if err != nil {
			return err
		}
		var buf []byte
		l, err := eventsPerSecond(file, func(e *reconstruct.Event) { buf = e.AppendJSON(buf[:0]) })
		if err != nil {
			return err
		}
		walk, lines = append(walk, w/1e6), append(lines, l/1e6)
	}
	fmt.Printf("| through the iterator | as JSON Lines |\n|---:|---:|\n| %.1f | %.1f |\n", median(walk), median(lines))
	return nil
}

func eventsPerSecond(file string, each func(*reconstruct.Event)) (float64, error) {
	run, err := efg.OpenRun(file)
	if err != nil {
		return 0, err
	}
	defer run.Close()
	r, err := reconstruct.NewRun(run)
	if err != nil {
		return 0, err
	}
	p, err := r.Process(0)
	if err != nil {
		return 0, err
	}
	n, t := 0, time.Now()
	for e, err := range p.Events(0, reconstruct.Options{}) {
		if err != nil {
			return 0, err
		}
		each(e)
		n++
	}
	return float64(n) / time.Since(t).Seconds(), nil
}
