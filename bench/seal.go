package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// seal measures what efg run itself takes, from its start until the run file is written: the recorded
// command only copies segments that were recorded before.
func seal(b *bench) error {
	m := b.mpis[0]
	exe, err := b.build(m, "testdata/c/jacobi.c", "-lm")
	if err != nil {
		return err
	}
	fmt.Printf("\n## efg run's own time\n\n16 ranks of jacobi 100, %s, %d alternating runs; without that of the command. Target: 30 ms elapsed.\n\n", m.name, 3*b.pairs)
	fmt.Println("| times | segments, KB | elapsed, ms | processor, ms |\n|---|---:|---:|---:|")
	for _, times := range []string{"stats", "auto"} {
		dir, err := os.MkdirTemp(b.dir, "segments-")
		if err != nil {
			return err
		}
		launch := slices.Concat([]string{m.run}, m.flags, []string{"-n", "16", exe, "100"})
		if _, err := b.output(b.recorded(times, slices.Concat([]string{"sh", "-c", `to=$0; "$@" && cp "$EFG_DIR"/*.seg "$to"`, dir}, launch)...)...); err != nil {
			return err
		}
		if err := b.sealRow(times, dir, exe); err != nil {
			return err
		}
	}
	return nil
}

// sealRow measures the recording of the segments in dir, of exe.
func (b *bench) sealRow(times, dir, exe string) error {
	files, err := filepath.Glob(filepath.Join(dir, "*.seg"))
	if err != nil {
		return err
	}
	size := int64(0)
	for _, f := range files {
		st, err := os.Stat(f)
		if err != nil {
			return err
		}
		size += st.Size()
	}
	scratch, err := os.MkdirTemp(b.dir, "scratch-")
	if err != nil {
		return err
	}
	command := []string{"sh", "-c", `cp "$0"/*.seg "${EFG_DIR:-$1}"`, dir, scratch, exe}
	var wall, processor []float64
	for range 3 * b.pairs {
		alone, err := used(command...)
		if err != nil {
			return err
		}
		all, err := used(b.recorded(times, command...)...)
		if err != nil {
			return err
		}
		wall = append(wall, ms(all.wall-alone.wall))
		processor = append(processor, ms(all.processor-alone.processor))
	}
	fmt.Printf("| %s | %d | %.0f | %.0f |\n", times, size/1000, median(wall), median(processor))
	return nil
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
