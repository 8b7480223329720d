package sim

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/efg-tools/efg/efg"
)

// Records of the feeder's input; see bench/core/segments.c.
const (
	recordDef   = 1
	recordEvent = 2
)

// BuildFeeder compiles bench/core/segments.c with the recorder. root is the
// module's directory.
func BuildFeeder(root, exe string) error {
	shim := filepath.Join(root, "hook", "shim")
	sources, err := filepath.Glob(filepath.Join(shim, "core_*.c"))
	if err != nil {
		return err
	}
	args := append([]string{"-std=gnu11", "-O2", "-pthread", "-I", shim, "-o", exe,
		filepath.Join(root, "bench", "core", "segments.c"), filepath.Join(shim, "gen", "schema.c")}, sources...)
	if out, err := exec.Command("cc", args...).CombinedOutput(); err != nil {
		return fmt.Errorf("cc: %w\n%s", err, out)
	}
	return nil
}

// WriteSegments lets the recorder itself write the ranks' segments to dir. feeder is the
// program of BuildFeeder.
func (c Config) WriteSegments(feeder, dir string, workers int) error {
	workers = max(1, min(workers, c.Ranks))
	return parallel(workers, workers, func(worker int) error {
		return c.feed(feeder, dir, worker, workers)
	})
}

// feed feeds every step-th rank from first on.
func (c Config) feed(feeder, dir string, first, step int) error {
	mode := "off"
	switch {
	case c.Trace:
		mode = "trace=500"
	case c.Stats:
		mode = "stats"
	}
	cmd := exec.Command(feeder)
	cmd.Env = append(os.Environ(), "EFG_DIR="+dir, "EFG_TIME="+mode)
	var errText bytes.Buffer
	cmd.Stderr = &errText
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	for r := first; r < c.Ranks && err == nil; r += step {
		var b []byte
		if b, err = c.feederInput(r); err == nil {
			_, err = in.Write(b)
		}
	}
	in.Close()
	if werr := cmd.Wait(); werr != nil {
		return fmt.Errorf("%s: %w\n%s", filepath.Base(feeder), werr, errText.String())
	}
	return err
}

// feederInput is one rank's part of the feeder's input.
func (c Config) feederInput(number int) ([]byte, error) {
	const head = 4 * 8
	b := make([]byte, head)
	defs := 0
	_, err := c.process(number, func(r *rank) {
		for ; defs < len(r.defs.List); defs++ {
			b = appendDef(b, &r.defs.List[defs])
		}
		b = appendEvent(b, &r.event)
	})
	if err != nil {
		return nil, err
	}
	appendWords(b[:0], uint64(number), uint64(c.Ranks), world, uint64(len(b)-head)/8)
	return b, nil
}

// appendDef appends a definition that the program's side makes; the recorder itself makes those
// of arrays.
func appendDef(b []byte, d *efg.Def) []byte {
	if d.Kind == efg.DefVec {
		return b
	}
	b = appendWords(b, recordDef, uint64(d.Kind), d.Word, uint64(len(d.Words)), uint64(len(d.Data)))
	b = appendWords(b, d.Words...)
	b = append(b, d.Data...)
	for len(b)%8 != 0 {
		b = append(b, 0)
	}
	return b
}

func appendEvent(b []byte, e *efg.Input) []byte {
	b = appendWords(b, recordEvent, uint64(len(e.Words)))
	b = appendWords(b, e.Words...)
	b = appendWords(b, uint64(len(e.Vecs)))
	for _, v := range e.Vecs {
		b = appendWords(b, uint64(v.Word), uint64(len(v.Elems)))
		b = appendWords(b, v.Elems...)
	}
	return b
}
