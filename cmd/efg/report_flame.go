package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"github.com/efg-tools/efg/internal/analysis/flame"
	flamedraw "github.com/efg-tools/efg/internal/draw/flame"
)

// flameMeasures say what a flame graph is of.
var flameMeasures = map[flame.Measure]string{
	flame.Time: "time in MPI, without MPI_Init and MPI_Finalize", flame.Waiting: "time in calls that wait", flame.Delay: "waiting of others that is caused here",
	flame.Bytes: "bytes that calls send, receive, read and write", flame.Calls: "calls",
}

// reportFlame writes a flame graph.
func reportFlame(ctx context.Context, path string, opt *reportOptions, errOut io.Writer) error {
	if filepath.Ext(opt.flame) != ".svg" {
		return usageError("--flame %s: want a name that ends in .svg", opt.flame)
	}
	of := flame.Measure(opt.of)
	if !slices.Contains(flame.Measures, of) {
		return usageError("--of %s: want time, waiting, delay, bytes or calls", opt.of)
	}
	r, err := openShown(path, opt.data())
	if err != nil {
		return err
	}
	defer r.Close()
	r = opt.depth.of(r, path, errOut)
	if of == flame.Waiting || of == flame.Delay {
		if err := correctClocks(ctx, r, "corrected", errOut); err != nil {
			return err
		}
	}
	bar := newProgress(errOut, "ranks", uint64(len(r.Procs)))
	t, err := flame.New(ctx, of, bar.show, r)
	bar.close()
	if errors.Is(err, flame.ErrNoTimes) {
		return usageError("%s: --of %s: %w", path, of, err)
	}
	if err != nil {
		return err
	}
	title := fmt.Sprintf("%s: %s", filepath.Base(path), flameMeasures[of])
	return writePicture(opt.flame, func(w io.Writer) error { return flamedraw.SVG(w, t, title) })
}
