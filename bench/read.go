package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
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

// size compares run files with what general compressors make of the linear
// trace.
func size(b *bench) error {
	fmt.Printf("\n## Size\n\nBytes of the run file (--time off) against the JSON Lines of all ranks through `xz -9e` and `zstd -19 --long=27`.\n\n")
	fmt.Println("| program | ranks | events | run file | xz | zstd | file / smaller |")
	fmt.Println("|---|---:|---:|---:|---:|---:|---:|")
	m := b.mpis[0]
	for _, p := range []struct {
		name, input, as string
		ranks           string
		command         []string
	}{
		{"LAMMPS melt", "testdata/real/in.melt", "in.melt", "8", []string{"lmp", "-in", "in.melt"}},
		{"HPCC", "testdata/real/hpccinf.txt", "hpccinf.txt", "4", []string{"hpcc"}},
	} {
		data, err := os.ReadFile(p.input)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(b.dir, p.as), data, 0o644); err != nil {
			return err
		}
		cmd := append(append([]string{m.run}, m.flags...), append([]string{"-n", p.ranks}, p.command...)...)
		if _, err := b.output(b.recorded("off", cmd...)...); err != nil {
			return err
		}
		if err := b.sizes(p.name, p.ranks); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) sizes(name, ranks string) error {
	file := filepath.Join(b.dir, "x.efg")
	info, err := os.Stat(file)
	if err != nil {
		return err
	}
	var trace bytes.Buffer
	cmd := exec.Command(b.efg, "reconstruct", file, "--format", "jsonl")
	cmd.Stdout = &trace
	if err := cmd.Run(); err != nil {
		return err
	}
	xz, err := compressed(trace.Bytes(), "xz", "-9e", "-c")
	if err != nil {
		return err
	}
	zstd, err := compressed(trace.Bytes(), "zstd", "-19", "--long=27", "-q", "-c")
	if err != nil {
		return err
	}
	fmt.Printf("| %s | %s | %d | %d | %d | %d | %.2f |\n", name, ranks, bytes.Count(trace.Bytes(), []byte("\n")),
		info.Size(), xz, zstd, float64(info.Size())/float64(min(xz, zstd)))
	return nil
}

func compressed(data []byte, args ...string) (int64, error) {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdin = bytes.NewReader(data)
	out, err := cmd.StdoutPipe()
	if err != nil {
		return 0, err
	}
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	n, err := io.Copy(io.Discard, out)
	if err != nil {
		return 0, err
	}
	return n, cmd.Wait()
}
