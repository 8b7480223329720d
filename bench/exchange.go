package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// exchange measures the files of efg export.
func exchange(b *bench) error {
	fmt.Printf("\n## Exchange\n\nBytes of what `efg export` makes of run files (`--time off`). All were imported again and " +
		"gave the run file, byte for byte.\n\n")
	fmt.Println("| program | MPI | ranks | events | run file | mtf | mtf / run file | gxl | gxl / event |")
	fmt.Println("|---|---|---:|---:|---:|---:|---:|---:|---:|")
	for _, r := range slices.Concat(realPrograms, miniApps()) {
		if err := b.exchangeRow(r); err != nil {
			return fmt.Errorf("%s: %w", r.name, err)
		}
	}
	return nil
}

func (b *bench) exchangeRow(r recording) error {
	m, ok := b.mpi(r.mpi)
	if _, err := os.Stat(r.input); !ok || r.input != "" && err != nil {
		return nil
	}
	file, err := b.record(r, "off")
	if err != nil {
		return err
	}
	run, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	events, err := b.events(file)
	if err != nil {
		return err
	}
	mtf, err := b.there(file, "mtf", run)
	if err != nil {
		return err
	}
	gxl, err := b.there(file, "gxl", run)
	if err != nil {
		return err
	}
	fmt.Printf("| %s | %s | %d | %d | %d | %d | %.2f | %d | %d |\n", r.name, m.name, r.size(), events, len(run),
		mtf, float64(mtf)/float64(len(run)), gxl, gxl/max(events, 1))
	return nil
}

// events is the number of events of a run file.
func (b *bench) events(file string) (n int64, err error) {
	out, err := b.output(b.efg, "sql", file, "select sum(events) from ranks", "--format", "csv")
	if err != nil {
		return 0, err
	}
	_, number, _ := strings.Cut(out, "\n")
	return strconv.ParseInt(strings.TrimSpace(number), 10, 64)
}

// there exports a run file, imports it again, and returns the size of the exported file.
func (b *bench) there(file, format string, run []byte) (int64, error) {
	doc, again := filepath.Join(b.dir, "doc."+format), filepath.Join(b.dir, "again.efg")
	defer os.Remove(doc)
	if _, err := b.output(b.efg, "export", file, "-o", doc); err != nil {
		return 0, err
	}
	if _, err := b.output(b.efg, "import", doc, "-o", again); err != nil {
		return 0, err
	}
	got, err := os.ReadFile(again)
	if err == nil && !bytes.Equal(got, run) {
		err = fmt.Errorf("%s: another run file came back", format)
	}
	if err != nil {
		return 0, err
	}
	info, err := os.Stat(doc)
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}
