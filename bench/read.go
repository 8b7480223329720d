package main

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/efg-tools/efg/efg/runfile"
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
	return windows(b, exe)
}

// windows measures how long it takes to open a file and to read 100 events from
// its start, middle and end.
func windows(b *bench, exe string) error {
	fmt.Printf("\n## Windows\n\nMilliseconds from opening a run file to the last of 100 events as JSON Lines, and KiB read.\n\n")
	fmt.Printf("| events | file, bytes | from event | ms | KiB read |\n|---:|---:|---:|---:|---:|\n")
	for _, args := range [][]string{{"six", "1", "20000000"}, {"random", "64", "20000000"}} {
		file := filepath.Join(b.dir, "window.efg")
		if _, err := b.output(append([]string{b.efg, "run", "--time", "off", "-o", file, "--", exe}, args...)...); err != nil {
			return err
		}
		run, err := runfile.OpenRun(file)
		if err != nil {
			return err
		}
		events := run.Procs[0].Streams[0].Events
		run.Close()
		for _, from := range []uint64{1_000_000, events / 2, events - 100} {
			var ms []float64
			read := 0
			for range b.pairs {
				t := time.Now()
				if read, err = window(file, from); err != nil {
					return err
				}
				ms = append(ms, time.Since(t).Seconds()*1e3)
			}
			fmt.Printf("| %d | %d | %d | %.1f | %d |\n", events, run.Size(), from, median(ms), read>>10)
		}
	}
	return nil
}

// countingFile counts the bytes read.
type countingFile struct {
	*os.File
	n int
}

func (f *countingFile) ReadAt(b []byte, at int64) (int, error) {
	f.n += len(b)
	return f.File.ReadAt(b, at)
}

func window(file string, from uint64) (read int, err error) {
	f, err := os.Open(file)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return 0, err
	}
	counted := &countingFile{File: f}
	run, err := runfile.NewRun(counted, st.Size())
	if err != nil {
		return 0, err
	}
	r, err := reconstruct.NewRun(run)
	if err != nil {
		return 0, err
	}
	p, err := r.Process(0)
	if err != nil {
		return 0, err
	}
	var line []byte
	for e, err := range p.Events(0, reconstruct.Options{From: from, To: from + 100}) {
		if err != nil {
			return 0, err
		}
		line = e.AppendJSON(line[:0])
	}
	return counted.n, nil
}

func eventsPerSecond(file string, each func(*reconstruct.Event)) (float64, error) {
	run, err := runfile.OpenRun(file)
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
