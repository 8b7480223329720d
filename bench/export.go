package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
)

// eventsOf finds the number of events of a location in what otf2-print says.
var eventsOf = regexp.MustCompile(`# Events: (\d+)`)

// exportTraces measures efg export --format otf2, and efg import of what it writes.
func exportTraces(b *bench) error {
	var imports []string
	fmt.Printf("\n## OTF2\n\n`efg export --format otf2` of runs with the times of each call; events are those of the archive. Aim: 5 million a second and core. Of %d runs the median.\n\n", b.pairs)
	fmt.Println("| program | MPI | calls | events | bytes / event | processor time, s | Mevents / s and core | | memory, MiB |")
	fmt.Println("|---|---|---:|---:|---:|---:|---:|---|---:|")
	for _, mpi := range []string{"Open MPI", "MPICH"} {
		for _, line := range [][]string{{"jacobi", "40000"}, {"halo3d", "20000"}, {"coll", "2000"}} {
			rows, err := b.exported(recording{name: line[0] + " " + line[1], mpi: mpi, source: "c/" + line[0] + ".c", command: line})
			if err != nil {
				return fmt.Errorf("%s: %w", line[0], err)
			}
			imports = append(imports, rows...)
		}
	}
	fmt.Printf("\n`efg import` of these archives.\n\n")
	fmt.Println("| program | MPI | `--time` | archive, bytes | run file, bytes | processor time, s | Mevents / s and core | memory, MiB |")
	fmt.Println("|---|---|---|---:|---:|---:|---:|---:|")
	for _, row := range imports {
		fmt.Println(row)
	}
	return nil
}

// exported measures the export of a recording, and returns the rows about the import.
func (b *bench) exported(r recording) (imports []string, err error) {
	m, ok := b.mpi(r.mpi)
	if !ok {
		return nil, nil
	}
	file, err := b.record(r, "trace")
	if err != nil {
		return nil, err
	}
	calls, err := b.events(file)
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(b.dir, "archive.otf2")
	defer os.RemoveAll(dir)
	seconds, memory, err := b.timed("export", file, "-o", dir)
	if err != nil {
		return nil, err
	}
	events, size, err := b.archive(dir)
	if err != nil {
		return nil, err
	}
	rate := events / seconds / 1e6
	fmt.Printf("| %s | %s | %d | %.0f | %.1f | %.2f | %.1f | %s | %.0f |\n", r.name, m.name, calls, events, size/events, seconds, rate, met(rate >= 5), memory)
	for _, times := range []string{"stats", "trace=exact"} {
		again := filepath.Join(b.dir, "again.efg")
		seconds, memory, err := b.timed("import", filepath.Join(dir, "traces.otf2"), "--time", times, "-o", again)
		if err != nil {
			return nil, err
		}
		st, err := os.Stat(again)
		if err != nil {
			return nil, err
		}
		imports = append(imports, fmt.Sprintf("| %s | %s | %s | %.0f | %d | %.2f | %.1f | %.0f |", r.name, m.name, times, size, st.Size(), seconds, events/seconds/1e6, memory))
	}
	return imports, nil
}

// timed runs efg several times, and returns the medians of processor time in seconds and of memory in MiB.
func (b *bench) timed(args ...string) (float64, float64, error) {
	var seconds, memory []float64
	for range b.pairs {
		u, err := used(append([]string{b.efg}, args...)...)
		if err != nil {
			return 0, 0, err
		}
		seconds, memory = append(seconds, u.processor.Seconds()), append(memory, float64(u.memory>>20))
	}
	return median(seconds), median(memory), nil
}

// archive returns the number of events of an archive, and the size of their files in bytes.
func (b *bench) archive(dir string) (events, size float64, err error) {
	text, err := b.output("otf2-print", "-G", filepath.Join(dir, "traces.otf2"))
	if err != nil {
		return 0, 0, err
	}
	for _, found := range eventsOf.FindAllStringSubmatch(text, -1) {
		n, err := strconv.ParseFloat(found[1], 64)
		if err != nil {
			return 0, 0, err
		}
		events += n
	}
	files, err := filepath.Glob(filepath.Join(dir, "traces", "*.evt"))
	for _, f := range files {
		if st, err := os.Stat(f); err == nil {
			size += float64(st.Size())
		}
	}
	return events, size, err
}
